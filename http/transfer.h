/* transfer.h - one request and its answer: the curl handle, what it is told, what arrives, what its end
 * means. Layer: http, internal to it. */
// SPDX-License-Identifier: Apache-2.0
#ifndef HTTP_TRANSFER_H
#define HTTP_TRANSFER_H

#include <event2/event.h>
#include <sys/queue.h>

#include "http/endpoint.h"
#include "http/sockets.h"

/* A connection that was not used for so long is closed. */
#define IDLE_CONN_MAX_S 60

enum request_state { REQUEST_NEW, REQUEST_RUNNING, REQUEST_CANCELLED, REQUEST_DONE };

struct http_request {
	TAILQ_ENTRY(http_request) entry;
	struct http_client *client;
	struct endpoint *endpoint;
	struct http_call call; /* strings inside are copies or gone */
	enum request_state state;
	CURL *easy;
	struct curl_slist accept, sent_type; /* the first headers; the endpoint's follow them */
	struct curl_slist *extra;            /* the call's own; n_extra of them */
	size_t n_extra;
	char *body; /* to send */
	struct event *idle_timer;
	uint64_t last_byte_ms, started_us;
	enum api_verb verb;
	bool seen; /* whoever counts was told of it */
	char error[CURL_ERROR_SIZE];
	struct facts *problem; /* owned: our own reason for ending it; beats curl's. NULL none */
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

/* What is behind the client, of client.c and its tests. */
struct http_client {
	CURLM *multi;
	struct event *timer;   /* curl's */
	struct event *started; /* requests wait in REQUEST_NEW */
	struct event *quiet;   /* looks whether there was no request for IDLE_CONN_MAX_S */
	uint64_t last_end_ms;  /* when the last of the requests ended */
	struct sockets sockets;
	struct endpoint *endpoint;
	TAILQ_HEAD(request_list, http_request) requests;
	unsigned depth; /* inside curl or a callback of ours: no curl call that re-enters, no free */
	bool doomed;
	http_seen_fn *seen; /* NULL = nobody counts */
	void *seen_ctx;
};

/* To the client's endpoint, with its curl handle; r->problem says why it can not be made, NULL = none. Of
 * call everything is copied. */
struct http_request *transfer_new(struct http_client *c, const struct http_call *call);
void transfer_free(struct http_request *r);
/* It ends for this reason, unless there is one already. */
void transfer_fail(struct http_request *r, enum http_failure kind, enum text why);
/* Its handle is needed no more and is no longer the multi handle's. whole: the exchange went to its end. */
void transfer_release(struct http_request *r, bool whole);
/* Of a handle that is at work: has an answer to it arrived? A socket is kept from then on. */
bool transfer_is_answered(CURL *easy);
/* Tell whoever counts, once. */
void transfer_note(struct http_request *r, long status);
/* What on_done is told. */
void transfer_result(struct http_request *r, CURLcode code, struct http_result *ret);

#endif
