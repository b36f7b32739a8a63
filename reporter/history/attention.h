/* attention.h - what lasts and only a person can change: a finalizer that stays, a right that is missing, a
 * budget that is full, a fight, an open breaker. Noted with what is written down anyway; told in the next
 * report, once. Layer: process (reporter). */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_HISTORY_ATTENTION_H
#define REPORTER_HISTORY_ATTENTION_H

#include <stdbool.h>
#include <stdint.h>

#include "ipc/msg.h"
#include "reporter/history/db.h"
#include "reporter/digest/digest.h"

/* It has to be seen over this time. */
#define NEEDS_LASTING_MS INT64_C(3600000)
/* Kinds of trouble in one report. */
#define NEEDS_SHOWN 20u

/* Note what a REFUSAL, RECORD or SAVED says, within the transaction of the caller. 0 or negative errno. */
int attention_note(struct db *db, const struct msg *m, const char *cluster_name, int64_t now_ms);
/* Does what holds a cluster's due objects (WATCH_STATS.hold) need a person when it lasts? */
bool attention_hold_matters(const char *hold);
/* Note it when that changes. 0 or negative errno. */
int attention_note_hold(struct db *db, const char *hold, const char *cluster_name, int64_t now_ms);

/* Take what is to be told into a report: paragraphs as digest.h's (the first is a head), n = 0 when there is
 * nothing. 0 or negative errno. */
int attention_begin(struct db *db, bool name_clusters, int64_t now_ms, struct digest_text *ret);
/* The report was delivered: what it held is not told again. Within the transaction of the caller. */
int attention_told(struct db *db);

#endif
