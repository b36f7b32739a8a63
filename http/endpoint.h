/* endpoint.h - where requests go, as libcurl wants it. Shared by the client and the transfers that began with
 * it. Layer: http, internal to it. */
// SPDX-License-Identifier: Apache-2.0
#ifndef HTTP_ENDPOINT_H
#define HTTP_ENDPOINT_H

#include <curl/curl.h>

#include "http/call.h"

/* As many requests as one owner makes at once; more are made, but not kept. */
#define IDLE_HANDLES_MAX 8

struct endpoint {
	unsigned refs;
	CURLU *origin; /* "https://name:port", name = what the certificate must hold */
	char *prefix;  /* of each request's target */
	bool bare;     /* no path in it */
	char *username, *password;
	char *proxy;
	struct curl_slist *connect_to;
	struct curl_slist *headers;     /* that every request has, the last ones of its list */
	struct curl_blob ca, cert, key; /* data NULL = not used */
	bool is_https, is_mail, insecure;
	bool is_near;  /* this host's own */
	char *problem; /* why no request can be made with it, NULL = none */
	/* Configured, without request: making one is half a request's work. */
	CURL *idle[IDLE_HANDLES_MAX];
	size_t n_idle;
};

/* Everything in e is copied. One that cannot be used has a problem. */
struct endpoint *endpoint_new(const struct http_endpoint *e);
/* The same of a mail server (http/mail.h). */
struct endpoint *endpoint_new_mail(const struct http_endpoint *e);
struct endpoint *endpoint_ref(struct endpoint *e);
void endpoint_unref(struct endpoint **e);
/* Release its idle handles but `keep` of them. */
void endpoint_free_idle(struct endpoint *e, size_t keep);

#endif
