/* mail.h - one mail to one mail server (SMTP, RFC 5321). libcurl makes the connection: TCP, a proxy, TLS (at
 * once for smtps, by STARTTLS for smtp) and the login (AUTH PLAIN or LOGIN); the five commands that follow
 * are made here, because libcurl would wait for the answer to the last one without going back to the loop,
 * for as long as the server takes (lib/smtp.c, smtp_done).  Layer: http.  Threads and files: none, as
 * http/client.h.
 *
 * Without TLS nothing is sent, unless the server is this host's own. A server is refused that has no
 * certificate for its name.
 *
 * What is certain: a server that has not seen the end of the data has not taken the mail (RFC 5321 4.1.1.4),
 * so whatever ends before is no delivery; what ends between that and the reply is in doubt. */
// SPDX-License-Identifier: Apache-2.0
#ifndef HTTP_MAIL_H
#define HTTP_MAIL_H

#include "http/call.h"

struct event_base;
struct mail;

struct mail_result {
	enum http_failure
		failure; /* HTTP_OK: the server said yes or no; HTTP_CONNECT: no connection, no TLS */
	long status;     /* of the reply that decided, 0 when there was none: 2xx means taken */
	bool sent;       /* the end of the mail has left this host: in doubt when failure is set */
	size_t refused;  /* recipients that were refused while others were not */
	char reply[256]; /* the server's words, may be empty */
	struct http_way way;
	struct facts why; /* why no words of the server count: FACT_PROBLEM and what it names */
	bool put_off;     /* a recipient was refused for the moment (4xx) */
};

struct mail_call {
	const char *from; /* addresses as "name@host" */
	char *const *to;
	size_t n_to;
	const char *message; /* headers and body, lines end with CR LF; what begins with a dot is made safe
				here */
	size_t len;
	bool wait_for_all; /* a recipient that is put off for the moment puts off the mail: nobody gets it */
	void (*on_done)(void *ctx, const struct mail_result *r);
	void *ctx;
};

/* Begins at once; everything is copied. e: base_url is "smtp://user@host:port/NAME" or "smtps://..."; NAME is
 * what this client calls itself in EHLO, "localhost" when there is none; password, address, ca_pem, insecure
 * and proxy as in http/call.h. on_done is called once, later, from the loop; then it is gone. */
struct mail *mail_start(struct event_base *base, const struct http_endpoint *e, const struct mail_call *call);
/* on_done is not called any more. Accepts NULL. */
void mail_cancel(struct mail **m);

#endif
