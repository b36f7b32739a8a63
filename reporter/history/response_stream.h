/* response_stream.h - sends several responses side by side, a few messages a run of the loop each, and waits
 * while the channel is full.  Layer: process (reporter), history. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_HISTORY_RESPONSE_STREAM_H
#define REPORTER_HISTORY_RESPONSE_STREAM_H

#include <stdbool.h>

#include "reporter/history/query.h"

struct event_base;
struct response_stream;

/* Most responses at once. */
#define RESPONSES_MAX 128u
/* Messages of one response in a run of the loop. */
#define RESPONSE_BATCH 64

struct response_stream_ops {
	/* 0; -EAGAIN (response_stream_room follows); any other error ends that response. */
	int (*send)(void *ctx, const struct msg *m);
	/* A row could not be read; it is tried again. */
	void (*trouble)(void *ctx, int err);
};

struct response_stream *response_stream_new(struct event_base *base, const struct response_stream_ops *ops,
					    void *ctx);
/* Accepts NULL. */
void response_stream_free(struct response_stream **s);
/* The query is the stream's from now on. False: too many responses; the query stays the caller's. */
bool response_stream_add(struct response_stream *s, struct query *q);
/* The channel has room again. */
void response_stream_room(struct response_stream *s);

#endif
