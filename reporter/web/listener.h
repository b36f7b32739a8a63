/* listener.h - a small HTTP/1 server for metrics and health: GET and HEAD, one answer a connection. Bound
 * before the sandbox.
 * Layer: process (reporter).
 * Out of descriptors it accepts nothing for a moment: what connects waits.
 * Limits: 64 connections, 8 KiB of request, 5 s from accept to the end of the request and again for the
 * answer, whatever arrives meanwhile. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_WEB_LISTENER_H
#define REPORTER_WEB_LISTENER_H

#include <stddef.h>

struct event_base;
struct web_listener;

#define LISTENER_CONNECTIONS_MAX 64u
#define LISTENER_REQUEST_MAX     8192u
#define LISTENER_TIMEOUT_MS      5000

struct listener_answer {
	int status;
	const char *content_type;
	char *body; /* freed by the listener */
	size_t size;
};
/* path begins with "/" and has no query; query is NULL when there is none. Both end with the call. *ret is a
 * 404 without a body when it begins. */
typedef void listener_fn(void *ctx, const char *path, const char *query, struct listener_answer *ret);

/* address: "127.0.0.1:9464", "[::1]:0", ":9464" (all addresses). Port 0 takes a free one. 0, -EINVAL (no such
 * address) or what bind said. */
int listener_new(struct event_base *base, const char *address, listener_fn *fn, void *ctx,
		 struct web_listener **ret);
void listener_free(struct web_listener **l);
/* "127.0.0.1:43121": where it really listens; borrowed. */
const char *listener_address(const struct web_listener *l);

#endif
