/* response_stream.h - sends the answers of cursors side by side, a few messages a turn, and waits when the
 * channel is full. Layer: process (reporter). */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_HISTORY_RESPONSE_STREAM_H
#define REPORTER_HISTORY_RESPONSE_STREAM_H

#include <stdbool.h>

#include "reporter/history/query.h"

struct event_base;
struct response_stream;

/* Most answers at once. */
#define FEED_ANSWERS_MAX 128u
/* Messages of one answer a turn of the loop. */
#define FEED_TURN 64

struct response_stream_ops {
	/* 0; -EAGAIN (response_stream_room follows); any other error ends all answers. */
	int (*send)(void *ctx, const struct msg *m);
	/* A row could not be read; it is tried again. */
	void (*trouble)(void *ctx, int err);
};

struct response_stream *response_stream_new(struct event_base *base, const struct response_stream_ops *ops,
					    void *ctx);
/* Accepts NULL. */
void response_stream_free(struct response_stream **f);
/* The cursor is the feed's from now on. False: too many answers; the cursor stays the caller's. */
bool response_stream_add(struct response_stream *f, struct query *c);
/* The channel has room again. */
void response_stream_room(struct response_stream *f);

#endif
