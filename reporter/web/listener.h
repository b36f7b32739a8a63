/* listener.h - a small HTTP/1 server for metrics, health and the status page: GET and HEAD, one answer a
 * connection. Bound before the sandbox. Layer: process (reporter). Out of descriptors it accepts nothing for
 * a moment: what connects waits. Limits: 8 KiB of request; 2 s from accept to the end of the request and 5 s
 * for the answer, whatever arrives meanwhile. Connections that have asked nothing yet, small answers and
 * large ones have a number each: when one more comes, the oldest of the same kind is closed. So slow clients
 * keep nobody out, and who reads metrics slowly keeps no probe of health from its answer. What request.h
 * refuses reaches no answer. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_WEB_LISTENER_H
#define REPORTER_WEB_LISTENER_H

#include <stddef.h>

#include "reporter/web/request.h"

struct event_base;
struct web_listener;

#define LISTENER_REQUEST_MAX 8192u
#define LISTENER_HEAD_MS     2000
#define LISTENER_ANSWER_MS   5000

enum listener_share {
	LISTENER_SMALL, /* answers of a line or so: health, refusals */
	LISTENER_LARGE, /* each holds much memory until it is read: metrics */
	LISTENER_HEADS, /* asked nothing yet */
	LISTENER__MAX
};
/* Connections of a share at once. */
#define LISTENER_SMALL_MAX 32u
#define LISTENER_LARGE_MAX 8u
#define LISTENER_HEADS_MAX 64u

struct listener_answer {
	enum listener_share share;
	int status;
	const char *content_type;
	const char *headers; /* more of them, each ended by "\r\n"; NULL = none */
	char *body;          /* freed by the listener */
	size_t size;
};
/* The request ends with the call. *ret is a 404 without a body when it begins. */
typedef void listener_fn(void *ctx, const struct web_request *request, struct listener_answer *ret);

/* address: "127.0.0.1:9464", "[::1]:0", ":9464" (all addresses). Port 0 takes a free one. 0, -EINVAL (no such
 * address) or what bind said. */
int listener_new(struct event_base *base, const char *address, listener_fn *fn, void *ctx,
		 struct web_listener **ret);
void listener_free(struct web_listener **l);
/* "127.0.0.1:43121": where it really listens; borrowed. */
const char *listener_address(const struct web_listener *l);

#endif
