/* sender.h - sends what waits in the outbox: for each sink one message at a time, in order, tried again with
 * growing pauses, given up after tell.giveUp. Sinks know nothing of each other: one that is down holds up
 * no other.  Layer: process (reporter), notify. Knows no sockets: it sends by reporter/sinks/delivery.h. Time
 * comes from base/clock.h, everything else goes through outbox_ops. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_NOTIFY_SENDER_H
#define REPORTER_NOTIFY_SENDER_H

#include "config/settings.h"
#include "reporter/notify/outbox.h"
#include "reporter/sinks/sink.h"
#include "text/texts.h"

/* How a delivery ended. */
struct sender_news {
	const char *sink;
	enum news news;
	enum outbox_state state; /* WAITING: it is tried again */
	uint64_t tries;
	const struct facts *error; /* none = it was delivered */
};

struct sender_ops {
	/* Call sender_tick after ms; replaces an earlier wish. */
	void (*wake)(void *ctx, uint64_t ms);
	/* A try ended, and perhaps the message. */
	void (*ended)(void *ctx, const struct sender_news *n);
	/* Messages were given up without a try; the sink may be one that is not configured any more. */
	void (*lost)(void *ctx, const char *sink, uint64_t n, enum text why);
	/* Which sinks get nothing through at present, and why (FACT_EACH): none when all do. Said when that
	 * changes. */
	void (*say_down)(void *ctx, const struct facts *down);
	/* The database failed; nothing was sent, it is tried again. */
	void (*trouble)(void *ctx, int err, const char *what);
	/* After sender_drain returned false: nothing is in flight any more. */
	void (*drained)(void *ctx);
};

struct event_base;
struct sender;

struct sender *sender_new(struct event_base *base, struct db *db, const struct sender_ops *ops, void *ctx);
/* Accepts NULL. */
void sender_free(struct sender **r);
/* The sinks from now on; *s is only read during the call. What waits for one that is not there any more is
 * given up; what runs ends as it began. */
void sender_set(struct sender *r, const struct settings *s);
/* Read what the last end of the process left in the database, which could not be read until now: what was in
 * doubt there, and what waits for sinks that are gone; *s as in the last sender_set(). Before sender_wake().
 */
void sender_recover(struct sender *r, const struct settings *s);
/* From now on send from the outbox of this database, borrowed, and not from that of sender_new(), which
 * cannot be written; NULL: from that again, while sender_is_idle(). Before sender_wake(). */
void sender_set_memory(struct sender *r, struct db *memory);
/* Nothing is on its way. */
bool sender_is_idle(const struct sender *r);
/* Something was put into the outbox: look at once. */
void sender_wake(struct sender *r);
void sender_tick(struct sender *r);
/* The i-th sink: its name; NULL behind the last. Since when nothing gets through to it (Unix ms; 0: it does),
 * and why (none). */
const char *sender_sink(const struct sender *r, size_t i, int64_t *ret_down_at, const struct facts **ret_why);

/* Of what waits, send only what is due, for a moment; what was refused or has to wait is left to the next
 * start. True: nothing is in flight. */
bool sender_drain(struct sender *r);

#endif
