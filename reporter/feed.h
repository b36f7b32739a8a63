/* feed.h - sends the answers of cursors side by side, a few messages a turn, and waits when the channel is
 * full.
 * Layer: process (reporter). */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_FEED_H
#define REPORTER_FEED_H

#include <stdbool.h>

#include "reporter/cursor.h"

struct event_base;
struct feed;

/* Most answers at once. */
#define FEED_ANSWERS_MAX 128u
/* Messages of one answer a turn of the loop. */
#define FEED_TURN 64

struct feed_ops {
	/* 0; -EAGAIN (feed_room follows); any other error ends all answers. */
	int (*send)(void *ctx, const struct msg *m);
	/* A row could not be read; it is tried again. */
	void (*trouble)(void *ctx, int err);
};

struct feed *feed_new(struct event_base *base, const struct feed_ops *ops, void *ctx);
/* Accepts NULL. */
void feed_free(struct feed **f);
/* The cursor is the feed's from now on. False: too many answers; the cursor stays the caller's. */
bool feed_add(struct feed *f, struct cursor *c);
/* The channel has room again. */
void feed_room(struct feed *f);

#endif
