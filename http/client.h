/* client.h - HTTP requests to one server: libcurl multi on libevent, TLS from memory, no file is opened.
 * Layer: http.  Threads: none (names are resolved by the loader and given as addresses).
 * Never asks for compression: watch streams gzip each flush, which curl cannot read (curl issue 22156). */
// SPDX-License-Identifier: Apache-2.0
#ifndef HTTP_CLIENT_H
#define HTTP_CLIENT_H

#include "http/call.h"

struct event_base;
struct http_client;
struct http_request;

struct http_client *http_client_new(struct event_base *base, const struct http_endpoint *e);
/* Cancels what runs (no on_done). Accepts NULL. */
void http_client_free(struct http_client **c);
/* Replace token, certificates, address for requests from now on. Requests that run go on as they began;
 * connections made with another address or client certificate are not used again. */
void http_client_set_endpoint(struct http_client *c, const struct http_endpoint *e);
/* fn is told of every request that is not cancelled, once: before its on_done, or where its bytes are handed
 * on as they arrive before the first of them. It must not call the client. NULL = nobody. */
void http_client_watch(struct http_client *c, http_seen_fn *fn, void *ctx);
/* Starts at once; each request that runs has a connection of its own, and connections are reused until they
 * were idle for a minute. The request belongs to the client and ends with on_done. */
struct http_request *http_client_start(struct http_client *c, const struct http_call *call);
void http_request_cancel(struct http_request **r);

#endif
