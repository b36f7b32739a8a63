/* runner.h - sends what waits in the outbox: for each sink one message at a time, in order, tried again with
 * growing pauses, given up after tell.giveUp. Sinks know nothing of each other: one that is down holds up
 * no other.  Layer: process (reporter), outbox. Knows no sockets: it sends by reporter/sinks/delivery.h. Time
 * comes from base/clock.h, everything else goes through outbox_ops. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_OUTBOX_RUNNER_H
#define REPORTER_OUTBOX_RUNNER_H

#include "config/settings.h"
#include "reporter/outbox/outbox.h"
#include "reporter/sinks/sink.h"

/* How a delivery ended. */
struct outbox_news {
	const char *sink;
	enum news news;
	enum outbox_state state; /* WAITING: it is tried again */
	int64_t id, made_at;
	uint64_t tries;
	const char *error; /* "" = it was delivered */
};

struct outbox_ops {
	/* Call outbox_runner_tick after ms; replaces an earlier wish. */
	void (*wake)(void *ctx, uint64_t ms);
	/* A try ended, and perhaps the message. */
	void (*ended)(void *ctx, const struct outbox_news *n);
	/* Messages were given up without a try. */
	void (*lost)(void *ctx, const char *sink, uint64_t n, const char *why);
	/* Which sinks get nothing through at present, and why: "" when all do. Said when that changes. */
	void (*say_down)(void *ctx, const char *text);
	/* The database failed; nothing was sent, it is tried again. */
	void (*trouble)(void *ctx, int err, const char *what);
	/* After outbox_runner_drain returned false: nothing is in flight any more. */
	void (*drained)(void *ctx);
};

struct event_base;
struct outbox_runner;

struct outbox_runner *outbox_runner_new(struct event_base *base, struct db *db, const struct outbox_ops *ops,
					void *ctx);
/* Accepts NULL. */
void outbox_runner_free(struct outbox_runner **r);
/* The sinks from now on; *s is only read during the call. What waits for one that is not there any more is
 * given up; what runs ends as it began. */
void outbox_runner_set(struct outbox_runner *r, const struct settings *s);
/* Something was put into the outbox: look at once. */
void outbox_wake(struct outbox_runner *r);
void outbox_runner_tick(struct outbox_runner *r);
/* The i-th sink: its name; NULL behind the last. Since when nothing gets through to it (Unix ms; 0: it does),
 * and why (""). */
const char *outbox_runner_sink(const struct outbox_runner *r, size_t i, int64_t *ret_down_at,
			       const char **ret_why);

/* Send nothing any more. True: nothing is in flight. */
bool outbox_runner_drain(struct outbox_runner *r);

#endif
