/* recent.h - the newest of the history, at once and bounded, for a page.  Layer: process (reporter), history.
 * Each fills ret with at most max rows, the newest first, and counts them in *ret_n. 0, or negative errno
 * with what was read until then. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_HISTORY_RECENT_H
#define REPORTER_HISTORY_RECENT_H

#include <stddef.h>

#include "ipc/msg.h"
#include "reporter/history/db.h"

/* Most rows of any of these. */
#define RECENT_MAX 128u

int recent_actions(struct db *db, size_t max, struct msg_ctl_history_row *ret, size_t *ret_n);
/* Of watchers; the newest is the one that was seen last. */
int recent_refusals(struct db *db, size_t max, struct msg_ctl_history_row *ret, size_t *ret_n);
/* Pauses that are in force, the oldest first. */
int recent_pauses(struct db *db, size_t max, struct msg_pause *ret, size_t *ret_n);

/* What only an operator can change and what stands now: a guard that blocks, a scale-down that is reverted.
 * Texts are owned by the row. */
struct recent_attention {
	char *cluster, *object, *reason, *detail; /* object: "" = it is about none; reason: its code */
	int64_t since_ms;
};
/* The oldest first. */
int recent_attention(struct db *db, size_t max, struct recent_attention *ret, size_t *ret_n);
void recent_attention_done(struct recent_attention *v, size_t n);

#endif
