/* outbox.h - messages that wait to be sent, are sent, or were: one row for each sink and message, written
 * before it is sent, so that none is lost or doubled whatever dies when. Who composes news puts rows here
 * within its own transaction, and says sender_wake() after the commit; the sender sends them. Layer: process
 * (reporter), notify. Borrows the database.  Results: 0 or negative errno, where nothing else is said.
 *
 *	waiting -> sending -> done | given_up | unconfirmed
 *	              '-----> waiting, for another try
 *
 * A state is committed before the act it announces: what is found "sending" at a start is in doubt. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_NOTIFY_OUTBOX_H
#define REPORTER_NOTIFY_OUTBOX_H

#include <stdbool.h>
#include <stdint.h>

#include "reporter/history/db.h"
#include "reporter/news/document.h"

/* Messages that wait for one sink at most: with one more the oldest that waits is given up. */
#define OUTBOX_WAITING_MAX 1000

enum outbox_state {
	OUTBOX_WAITING,
	OUTBOX_SENDING,     /* it may have been delivered */
	OUTBOX_DONE,        /* the sink said yes */
	OUTBOX_GIVEN_UP,    /* certainly not delivered, and not tried again */
	OUTBOX_UNCONFIRMED, /* in doubt for ever */
	OUTBOX_STATE__MAX
};
/* "waiting", "given_up"; "?" outside the range. */
const char *outbox_state_name(enum outbox_state s);

/* A message for the sink of that name, which waits behind all others. Within the transaction of the caller.
 * Its id is given here. */
int outbox_put(struct db *db, const char *sink, const struct document *d);

/* The oldest message of a sink that has not ended. */
struct outbox_row {
	int64_t id;
	enum news news;
	int64_t made_at, next_at; /* Unix ms; it is not tried before next_at */
	uint64_t tries;           /* begun, also before a restart */
	uint64_t doubts;          /* how many of them may have delivered it */
	struct document document; /* with its id */
};
/* 1, 0 (nothing waits, *ret is empty) or negative errno. One whose document cannot be read is given up. */
int outbox_next(struct db *db, const char *sink, struct outbox_row *ret);
void outbox_row_done(struct outbox_row *r);

/* It is sent now. */
int outbox_begin(struct db *db, int64_t id);
/* It waits for another try; in_doubt: this one may have delivered it. */
int outbox_again(struct db *db, int64_t id, int64_t next_at, bool in_doubt, const struct facts *error);
/* It has ended. */
int outbox_end(struct db *db, int64_t id, enum outbox_state state, const struct facts *error);

/* Once, at the start: what was on its way to the sink when this process ended waits for a repetition, or is
 * unconfirmed, which is counted, as its kind of news wants it (model/news.def). knows_ids: it is repeated in
 * any case. */
int outbox_recover(struct db *db, const char *sink, bool knows_ids, uint64_t *ret_unconfirmed);
/* Give up what waits for sinks that are not among these; what is on its way to one is unconfirmed. lost is
 * called once for each sink that loses messages, with how many. 0, or negative errno. */
typedef void outbox_lost_fn(void *ctx, const char *sink, uint64_t n);
int outbox_drop_removed_sinks(struct db *db, const struct str_list *sinks, outbox_lost_fn *lost, void *ctx);
/* Give up the oldest that wait for the sink beyond max. */
int outbox_give_up_excess(struct db *db, const char *sink, uint64_t max, uint64_t *ret);

/* What stands in the outbox of one sink. Unix ms; 0 = none, never. */
struct outbox_stats {
	uint64_t waiting;
	int64_t oldest_at, delivered_at;
	uint64_t lost_reports; /* given up or unconfirmed since the last one that was delivered */
	struct facts error; /* of the newest message that was tried; none = it was delivered, or none was */
};
int outbox_stats(struct db *db, const char *sink, struct outbox_stats *ret);

#endif
