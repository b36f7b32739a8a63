/* cursor.h - answers of more than one message, made one by one so that they never flood a channel. The rows
 * an answer has are fixed when it is asked for.  Layer: process (reporter). */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_CURSOR_H
#define REPORTER_CURSOR_H

#include "ipc/msg.h"
#include "reporter/db.h"
#include "reporter/history.h"

struct cursor;

/* PAUSE for everything that is paused, OPEN_INTENT for every intent without a result, then OPEN_END. */
int cursor_open_intents(struct db *db, struct history *h, struct cursor **ret);
/* All that is remembered of a cluster: MEMO_ROW, ACT_ROW (what was or may have been written within a day;
 * observe: the dry runs instead), SINCE_ROW, then SINCE_END. */
int cursor_since(struct db *db, struct history *h, uint64_t cluster, bool observe, struct cursor **ret);
/* CTL_HISTORY_ROW, newest first (actions by the time of their intent, refusals by when they were last seen),
 * then CTL_END. For a refusal id is 0, intent_at when it was first seen and result_at when last. */
int cursor_history(struct db *db, struct history *h, const struct msg_ctl_history *q, struct cursor **ret);
/* CTL_SHOW_ROW for every column that says something about one action (reporter/statements.def, SHOW), then
 * CTL_END; an unknown number ends with EXIT_CODE_FAILURE and a sentence. */
int cursor_show(struct db *db, struct history *h, const struct msg_ctl_show *q, struct cursor **ret);
void cursor_free(struct cursor **c);

/* Next message of the answer. 1, 0 (the last one was given), or negative errno, which may be tried again. A
 * row that has gone meanwhile is left out. */
int cursor_next(struct cursor *c, struct msg *ret);
/* Give up: *ret ends the answer with an error. False for the answers that another process stands on: those
 * must be tried until they succeed. */
bool cursor_fail(struct cursor *c, struct msg *ret);
/* The answer to a question of the control socket that cannot be begun. */
void cursor_failed(uint64_t conn, struct msg *ret);

#endif
