/* told_rows.h - the actions that ended and are not told yet. Of each only what it is counted by is read: its
 * kind, which many of them share. The rest is read of the few that a message shows one by one, or as an
 * example. Layer: process (reporter), outbox. Within the transaction of the caller. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_OUTBOX_TOLD_ROWS_H
#define REPORTER_OUTBOX_TOLD_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/actions.h"
#include "reporter/history/db.h"

enum told_part { PART_NONE, PART_WORKLOAD, PART_FORCED, PART_PODS, PART_FAILED, PART__MAX };

/* What actions are counted by. Of failures that is the reason of the result, of the others the node of the
 * pod and the reason of the nomination; what a part is not counted by is "" or 0. */
struct told_kind {
	enum told_part part;
	enum action_kind action;
	int64_t duty, outcome;
	bool observe;
	char *cluster, *ns, *node, *reason; /* node "" = unknown */
	/* Below told_rows.n_kinds: its own, and that of the kind it is counted with. Failures are counted
	 * whatever their namespace is, which only says whom they concern: their count may be that of no kind.
	 */
	size_t index, count;
	struct told_kind *next; /* of the same hash */
};

struct told_row {
	int64_t id;
	const struct told_kind *kind;
};

#define TOLD_BUCKETS 256

/* Zero-initialised holds nothing. */
struct told_rows {
	struct told_row *v; /* by id; those that were open when others were told come first */
	size_t n;
	uint32_t room;
	bool has_done; /* something else than failures */
	struct told_kind **kinds;
	size_t n_kinds;
	uint32_t kinds_room;
	struct told_kind *buckets[TOLD_BUCKETS];
};

/* All of one action. */
struct told {
	int64_t id, duty, since, outcome, replicas, at, retry_ms;
	enum action_kind action;
	bool observe;
	enum told_part part;
	const char *cluster, *ns, *node;        /* of its kind */
	char *name, *why, *evidence;            /* why, evidence: of the nomination */
	char *reason, *detail, *target, *proof; /* of the result */
};

/* What ended of the actions up_to < id <= newest and of those that were open before. What was done needs no
 * operator any more: with `settles` that is noted as well. 0 or negative errno; *ret is the caller's either
 * way. */
int told_rows_read(struct db *db, int64_t up_to, int64_t newest, bool settles, struct told_rows *ret);
void told_rows_done(struct told_rows *r);

/* *ret borrows from the row's kind. 0 or negative errno; *ret is the caller's either way. */
int told_read(struct db *db, const struct told_row *row, struct told *ret);
void told_done(struct told *t);

#endif
