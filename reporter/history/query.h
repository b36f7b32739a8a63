/* query.h - responses of more than one message, made one by one so that they never flood a channel. The rows
 * of a response are fixed when it is asked for.  Layer: process (reporter), history. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_HISTORY_QUERY_H
#define REPORTER_HISTORY_QUERY_H

#include <stdbool.h>

#include "ipc/msg.h"
#include "reporter/history/db.h"
#include "reporter/history/history.h"

struct query;

/* Each returns 0, or negative errno with *ret NULL. db and h must outlive the query. */

/* PAUSE for everything that is paused, OPEN_INTENT for every intent without a result, then OPEN_END. */
int query_open_intents(struct db *db, const struct history *h, struct query **ret);
/* All that is kept for the watcher of a cluster: SAVED_ROW, ACTION_ROW (what was written, may have been,
 * or would have been within a day), SCALED_ROW, FAILING_SINCE_ROW, then SAVED_END. */
int query_saved(struct db *db, const struct history *h, uint64_t cluster, struct query **ret);
/* question is a CTL_HISTORY. CTL_HISTORY_ROW, newest first (actions by the time of their intent, refusals by
 * when they were last seen), then CTL_END. For a refusal id is 0, intent_at when it was first seen and
 * result_at when last. -ETIME: no index leads to them, and to look through all would take too long. */
int query_history(struct db *db, const struct history *h, const struct msg *question, struct query **ret);
/* question is a CTL_SHOW. CTL_SHOW_ROW for every column that says something about one action
 * (reporter/history/statements.def, SHOW), then CTL_END; an unknown number ends with EXIT_CODE_FAILURE and a
 * sentence. */
int query_show(struct db *db, const struct history *h, const struct msg *question, struct query **ret);
/* Accepts NULL. */
void query_free(struct query **q);

/* Next message of the response. 1, 0 (the last one was given), or negative errno, which may be tried again. A
 * row that has gone meanwhile is left out. */
int query_next(struct query *q, struct msg *ret);

/* -- a stream: sends several responses side by side, a few messages a run of the loop each, and waits while
 * the channel is full -- */

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

/* -- answers of one message -- */

/* The end of a response to connection conn of the control socket when the history cannot be read: err says
 * why. */
void query_failed(uint64_t conn, int err, struct msg *ret);

/* What has to be done to take a scale-down back, by what the history knows of it; whether it may be done is
 * judged live by a worker. *ret becomes CTL_RESTORE_ROW (action RESTORE on the action key of the scale-down,
 * with the object, its uid and the replicas it had), or CTL_END with a sentence when there is nothing that
 * could be taken back. */
void query_restorable(struct db *db, const struct history *h, const struct msg_ctl_restore *q,
		      struct msg *ret);

/* -- the newest, at once and bounded, for a page -- */

/* Most rows of any of these. */
#define RECENT_MAX 128u

enum recent {
	RECENT_ACTIONS,  /* struct msg_ctl_history_row */
	RECENT_AT_ZERO,  /* the same: scale-downs of workloads that this program has not put back, the newest
			  * of  each; somebody else may have */
	RECENT_REFUSALS, /* the same, of watchers; the newest is the one that was seen last */
	RECENT_PAUSES,   /* struct msg_pause; those in force, the oldest first */
	RECENT__MAX
};
/* Fill ret with at most max rows of that kind, the newest first, and count them in *ret_n; a row that has
 * gone is left out. 0, or negative errno with what was read until then. */
int recent_rows(struct db *db, enum recent which, size_t max, void *ret, size_t *ret_n);

#endif
