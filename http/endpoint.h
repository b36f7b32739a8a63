/* endpoint.h - where requests go, as libcurl wants it. Shared by the client and the transfers that began with
 * it. Layer: http, internal to it. */
// SPDX-License-Identifier: Apache-2.0
#ifndef HTTP_ENDPOINT_H
#define HTTP_ENDPOINT_H

#include <curl/curl.h>

#include "http/call.h"
#include "text/texts.h"

/* As many requests as one owner makes at once; more are made, but not kept. */
#define IDLE_HANDLES_MAX 8

/* Where `easy` is set up: ok becomes false when libcurl refuses an option. */
#define SET(option, value) (void)(ok = curl_easy_setopt(easy, option, value) == CURLE_OK && ok)

struct endpoint {
	unsigned refs;
	CURLU *origin; /* "https://name:port", name = what the certificate must hold */
	char *prefix;  /* of each request's target */
	bool bare;     /* no path in it */
	char *username, *password;
	char *proxy;
	struct curl_slist *connect_to;
	struct curl_slist *resolve;     /* a name's addresses, for each handle's cache; NULL = none */
	struct curl_slist *headers;     /* that every request has, the last ones of its list */
	struct curl_blob ca, cert, key; /* data NULL = not used */
	bool is_https, is_mail, is_tls_proxy, insecure;
	bool is_near;          /* this host's own */
	struct facts *problem; /* why no request can be made with it, NULL = none */
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
/* Whom a connection to it believes: the certificate must be of its name and of its authority, else of the
 * system's, unless it is insecure. False: libcurl refused an option. */
bool endpoint_set_trust(const struct endpoint *e, CURL *easy);
/* Its proxy, or none, whatever the environment says. An https proxy is believed as the server is, by the same
 * authority (as in client-go, whose transport has one tls.Config for both), and gets no certificate of ours.
 * False: as above. */
bool endpoint_set_proxy(const struct endpoint *e, CURL *easy);
/* Where the way ended of a handle that ended so before anything was sent to the server. */
struct http_way endpoint_way(const struct endpoint *e, CURL *easy, CURLcode code);
/* libcurl's words as a problem, which says so where it is the proxy's, or our own certificate's. */
void endpoint_transport(const struct http_way *way, CURLcode code, const char *words, struct facts *f);
/* Release its idle handles but `keep` of them. */
void endpoint_free_idle(struct endpoint *e, size_t keep);

#endif
