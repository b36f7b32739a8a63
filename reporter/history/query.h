/* query.h - answers of more than one message, made one by one so that they never flood a channel. The rows
 * an answer has are fixed when it is asked for.  Layer: process (reporter). */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_HISTORY_QUERY_H
#define REPORTER_HISTORY_QUERY_H

#include "ipc/msg.h"
#include "reporter/history/db.h"
#include "reporter/history/history.h"

struct query;

/* PAUSE for everything that is paused, OPEN_INTENT for every intent without a result, then OPEN_END. */
int query_open_intents(struct db *db, struct history *h, struct query **ret);
/* All that is remembered of a cluster: SAVED_ROW, ACTION_ROW (what was or may have been written within a day;
 * observe: the dry runs instead), FAILING_SINCE_ROW, then SAVED_END. */
int query_since(struct db *db, struct history *h, uint64_t cluster, bool observe, struct query **ret);
/* CTL_HISTORY_ROW, newest first (actions by the time of their intent, refusals by when they were last seen),
 * then CTL_END. For a refusal id is 0, intent_at when it was first seen and result_at when last. */
int query_history(struct db *db, struct history *h, const struct msg_ctl_history *q, struct query **ret);
/* CTL_SHOW_ROW for every column that says something about one action (reporter/history/statements.def, SHOW),
 * then CTL_END; an unknown number ends with EXIT_CODE_FAILURE and a sentence. */
int query_show(struct db *db, struct history *h, const struct msg_ctl_show *q, struct query **ret);
void query_free(struct query **c);

/* Next message of the answer. 1, 0 (the last one was given), or negative errno, which may be tried again. A
 * row that has gone meanwhile is left out. */
int query_next(struct query *c, struct msg *ret);
/* Give up: *ret ends the answer with an error. False for the answers that another process stands on: those
 * must be tried until they succeed. */
bool query_fail(struct query *c, struct msg *ret);
/* The answer to a question of the control socket that cannot be begun. */
void query_failed(uint64_t conn, struct msg *ret);

#endif
