/* internal.h - what the files of http/ share.  Layer: http, internal to it. */
// SPDX-License-Identifier: Apache-2.0
#ifndef HTTP_INTERNAL_H
#define HTTP_INTERNAL_H

#include <curl/curl.h>
#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "http/client.h"

/* As many requests as one owner makes at once; more are made, but not kept. */
#define IDLE_HANDLES_MAX 8
/* A connection that was not used for so long is closed. */
#define IDLE_CONN_MAX_S 60

/* An endpoint as curl wants it; shared by the client and by requests that began with it. */
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
	bool is_https, insecure;
	char *problem; /* why no request can be made with it, NULL = none */
	/* Configured, without request: making one is half a request's work. */
	CURL *idle[IDLE_HANDLES_MAX];
	size_t n_idle;
};
struct endpoint *endpoint_new(const struct http_endpoint *e);
struct endpoint *endpoint_ref(struct endpoint *e);
/* All but so many of them. */
void endpoint_free_idle(struct endpoint *e, size_t keep);
void endpoint_unref(struct endpoint **e);

/* The system's trust as PEM, read once by http_global_init; data NULL when none was found. */
struct curl_blob http_system_ca(void);

enum request_state { REQUEST_NEW, REQUEST_RUNNING, REQUEST_CANCELLED, REQUEST_DONE };

struct http_request {
	TAILQ_ENTRY(http_request) entry;
	struct http_client *client;
	struct endpoint *endpoint;
	struct http_call call; /* strings inside are copies or gone */
	enum request_state state;
	CURL *easy;
	struct curl_slist accept, sent_type; /* the first headers; the endpoint's follow them */
	char *body;                          /* to send */
	struct event *idle_timer;
	uint64_t last_byte_ms;
	char error[CURL_ERROR_SIZE];
	const char *problem; /* our own reason for ending it; beats curl's */
	enum http_failure problem_kind;
	/* the response */
	long status;
	char content_type[128];
	int64_t retry_after_ms, server_date_ms;
	size_t header_bytes;
	bool headers_done;
	bool repeatable; /* a method without effect */
	unsigned sends;  /* how often curl began to send it */
	char *received;
	size_t received_len, received_cap;
};

struct http_client {
	struct event_base *base;
	CURLM *multi;
	struct event *timer;   /* curl's */
	struct event *started; /* requests wait in REQUEST_NEW */
	struct event *quiet;   /* looks whether there was no request for IDLE_CONN_MAX_S */
	uint64_t last_end_ms;  /* when the last of the requests ended */
	LIST_HEAD(watch_list, watch) watches;
	struct endpoint *endpoint;
	TAILQ_HEAD(request_list, http_request) requests;
	unsigned depth; /* inside curl or a callback of ours: no curl call that re-enters, no free */
	bool doomed;
};

/* client.c: something happened to a socket that libcurl waits for. */
void client_drive(struct http_client *c, curl_socket_t fd, int events);

/* watch.c: libcurl's sockets in libevent. The first two are libcurl's callbacks, ctx is the client. */
int watch_socket(CURL *easy, curl_socket_t fd, int what, void *ctx, void *assigned);
int watch_close(void *ctx, curl_socket_t fd);

/* request.c */
struct http_request *request_new(struct http_client *c, const struct http_call *call);
void request_free(struct http_request *r);
/* Takes or makes the curl handle. False: r->problem says why not. */
bool request_prepare(struct http_request *r);
/* Its handle is needed no more and is no longer the multi handle's. whole: the exchange went to its end. */
void request_release(struct http_request *r, bool whole);
void request_result(struct http_request *r, CURLcode code, struct http_result *ret);

/* response.c: curl's callbacks */
size_t response_header(char *p, size_t size, size_t n, void *userdata);
size_t response_body(char *p, size_t size, size_t n, void *userdata);

#endif
