/* server.h - a scripted HTTP server in a process of its own, plain or TLS; its certificate is made on the
 * spot. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_HTTP_SERVER_H
#define TESTS_HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Seen by both sides. */
struct server_log {
	unsigned connections, requests;
	char last[8192]; /* the last request, whole */
};

struct server_conn {
	int fd;
	void *ssl, *tls; /* tls: what ssl is made from, NULL = plain for ever */
	struct server_log *log;
};

/* Called in the server for each request; 0 = close the connection. */
typedef int server_fn(struct server_conn *c, const char *request);

struct server {
	pid_t pid;
	uint16_t port;
	char url[64], address[64];
	struct server_log *log;
	char *ca_pem; /* TLS: the certificate, for name "api.test" and address 127.0.0.1 */
};

void server_start(struct server *s, server_fn *fn, bool tls);
/* The same for a protocol in which the server speaks first: fn is called once for each connection, with "".
 * late: TLS begins with server_secure(). */
void server_start_talk(struct server *s, server_fn *fn, bool tls, bool late);
/* One line, without its end; false at the end of the connection. It is added to log->last. */
bool server_line(struct server_conn *c, char *ret, size_t size);
/* From here on TLS; false when the peer does not take it. */
bool server_secure(struct server_conn *c);
void server_stop(struct server *s);
void server_send(struct server_conn *c, const char *data, size_t n);
void server_sends(struct server_conn *c, const char *text);
/* Wait until the peer closes. */
void server_drain(struct server_conn *c);

#endif
