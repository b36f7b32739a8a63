/* run_log.h - what must be remembered about scheduled runs of the digest so that none is reported twice, also
 * across a crash: a run ends in the transaction that puts its messages into the outbox.
 * Layer: process (reporter), digest. A run is named by the time when it is due (Unix ms). */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_DIGEST_RUN_LOG_H
#define REPORTER_DIGEST_RUN_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "reporter/digest/edition.h"
#include "reporter/history/db.h"
#include "reporter/news/document.h"

enum run_state {
	RUN_CLAIMED, /* rows are collected */
	RUN_DONE,    /* its messages are in the outbox */
	RUN_EMPTY,   /* nothing to report */
	RUN_SKIPPED, /* a later run was due as well */
	RUN_STATE__MAX
};
const char *run_state_name(enum run_state s);

struct scheduled_run {
	int64_t due_at;
	enum run_state state;
	uint64_t workloads, pods;
	int64_t collected_at; /* when its rows were complete: its window ends there */
	bool late;
	const char *error, *incomplete; /* incomplete: clusters without a full answer, or "" */
};

/* Begin it. 0; -EEXIST (it was begun before); negative errno. */
int run_log_claim(struct db *db, int64_t due_at, const char *schedule, bool late);
/* Close what was left at the last end of this process. *ret_claimed is the newest run that was claimed and
 * can be reported now, 0 = none; older ones are skipped. What a version without an outbox was sending becomes
 * unconfirmed (*ret_in_doubt counts it). */
int run_log_recover(struct db *db, uint64_t *ret_in_doubt, int64_t *ret_claimed);
/* Skip what was claimed before due_at. */
int run_log_supersede(struct db *db, int64_t due_at);

/* The newest run ever claimed of this schedule, but not before the schedule was armed: since then it is in
 * force. Arms it now when it was not in force. */
int run_log_arm(struct db *db, const char *schedule, int64_t *ret_last);
/* The duty is off: runs from now on are not missed. */
int run_log_disarm(struct db *db);

/* Unix ms; 0 = none, never. */
struct run_log_past {
	int64_t reported;     /* when the newest reported (or empty) run was due */
	int64_t lost;         /* how many since then did not surely arrive, of a version without an outbox */
	int64_t last_success; /* when the newest report was delivered */
	int64_t collected_at; /* when the rows of the newest reported (or empty) run were complete */
};
/* 0, or negative errno with *ret all 0. */
int run_log_past(struct db *db, struct run_log_past *ret);

/* One message of a run; owns what it holds. */
struct run_message {
	char *sink;
	struct document document;
};
/* End a run as r says, put its messages into the outbox and remember what it said (edition_remember), in one
 * transaction. */
int run_log_finish(struct db *db, const struct scheduled_run *r, const struct edition *e,
		   const struct run_message *m, size_t n);

#endif
