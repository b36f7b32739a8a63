/* store.h - what must be remembered about digests so that one slot is never posted twice, also across
 * a crash. A state is committed before the act it announces.
 * Layer: process (reporter). */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_DIGEST_STORE_H
#define REPORTER_DIGEST_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "reporter/history/db.h"
#include "reporter/digest/digest.h"

enum digest_state {
	DIGEST_STATE_CLAIMED,     /* rows are collected; nothing has been sent, or it was certainly refused */
	DIGEST_STATE_SENDING,     /* part `part` may have been sent */
	DIGEST_STATE_DONE,        /* all parts were accepted */
	DIGEST_STATE_EMPTY,       /* nothing to report: nothing was sent */
	DIGEST_STATE_FAILED,      /* given up */
	DIGEST_STATE_UNCONFIRMED, /* in doubt: never sent again */
	DIGEST_STATE_SKIPPED,     /* a later slot was due as well */
	DIGEST_STATE__MAX
};
const char *digest_state_name(enum digest_state s);

/* Progress of one slot (Unix ms). */
struct digest_progress {
	int64_t slot;
	enum digest_state state;
	uint64_t part, parts; /* part counts from 1 */
	uint64_t workloads, pods;
	const char *error;
};

/* 0; -EEXIST (the slot was taken before); negative errno. */
int digest_store_claim(struct db *db, int64_t slot, const char *schedule, bool late);
int digest_store_state(struct db *db, const struct digest_progress *p);
/* Close what an earlier life left behind: slots in "sending" become unconfirmed (*ret_in_doubt counts them).
 * *ret_claimed is the newest slot that was claimed and can be sent now, 0 = none; older ones are skipped. */
int digest_store_recover(struct db *db, uint64_t *ret_in_doubt, int64_t *ret_claimed);
/* Skip a claimed slot in favour of a later one. */
int digest_store_supersede(struct db *db, int64_t slot);

/* Newest slot ever claimed for this schedule, but not before it was armed: since then the schedule is in
 * force. Arms it now when it was not in force. */
int digest_store_arm(struct db *db, const char *schedule, int64_t *ret_last);
/* The duty is off: slots from now on are not missed. */
int digest_store_disarm(struct db *db);

/* Slot of the newest delivered (or empty) digest, 0 = none; when the newest was sent, 0 = never. */
int digest_store_previous(struct db *db, int64_t *ret_slot);
/* Digests since then that were given up or are in doubt. */
int digest_store_lost(struct db *db, int64_t *ret);
int digest_store_last_success(struct db *db, int64_t *ret_ms);

/* Fill in the delta of every row from what the last delivered digest remembered. previous as above. */
int digest_store_deltas(struct db *db, struct digest *d, const struct str_list *clusters, int64_t previous);
/* End a slot as p says and remember the restart counts of `d` for the clusters whose bit is in `answered`, in
 * one transaction. */
int digest_store_finish(struct db *db, const struct digest_progress *p, struct digest *d,
			const struct str_list *clusters, uint64_t answered);

#endif
