/* history.h - what was meant, done and refused: written down before it is acknowledged. Messages that arrive
 * in one run of the loop share one commit (group commit), which an urgent intent need not wait for.
 * Layer: process (reporter), history.  Owns its queue; borrows the database. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_HISTORY_HISTORY_H
#define REPORTER_HISTORY_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "ipc/msg.h"
#include "reporter/history/db.h"

struct history;

/* Most messages waiting for a commit that does not succeed; above it refusals, then everything, is dropped.
 */
#define HISTORY_QUEUE_MAX 32768u

enum history_effect {
	HISTORY_NEW,      /* written now */
	HISTORY_KNOWN,    /* was written before: acknowledge again */
	HISTORY_CONFLICT, /* the id is taken by another object, or it is too early: not written, not
			     acknowledged */
};

/* What one committed message did. cluster_name, duty and observe are those of the intent, for a RECORD too
 * ("", DUTY__MAX and false when its intent is not known). */
struct history_entry {
	const struct msg *m;
	enum history_effect effect;
	const char *cluster_name;
	uint64_t duty;
	bool observe;
};

/* Called for each message, in order, after the commit that holds it. */
typedef void history_committed_fn(void *ctx, const struct history_entry *e);

/* clusters: their names by index; must outlive the history, and may change between two calls. */
struct history *history_new(struct db *db, const struct str_list *clusters,
			    history_committed_fn *on_committed, void *ctx);
/* Accepts NULL. */
void history_free(struct history **h);

/* Name by index ("unknown" when there is none); borrowed from the list of names. */
const char *history_cluster_name(const struct history *h, uint64_t cluster);
/* Index by name, or -1. */
int history_cluster_index(const struct history *h, const char *name);

/* The database, which was not open before, is: what is open in it is counted. Until then nothing is written.
 */
void history_opened(struct history *h);

/* Queue INTENT, RECORD, REFUSAL, FAILING_SINCE, SAVED, SETTLED or PAUSE. False when the queue is full and m
 * was dropped. */
bool history_add(struct history *h, const struct msg *m);
/* Commit everything queued in one transaction and report it. 0 with nothing left; on error nothing was
 * written, all stays queued for another try. */
int history_flush(struct history *h);
/* The same for a part of it, which takes HISTORY_PART_US before it waits for the disk. urgent: of the INTENTs
 * that are not in bulk alone; no other message has to be written before one of them. Returns 1 when some are
 * left. */
int history_flush_part(struct history *h, bool urgent);
#define HISTORY_PART_US 1000u
size_t history_queued(const struct history *h);

/* The last commit succeeded. */
bool history_writable(const struct history *h);
/* Intents on disk without a result. */
uint64_t history_open_intents(const struct history *h);
/* Counts of DB_AT_ZERO_COUNTS or DB_DONE_COUNTS into ret, one for each of the clusters that are configured,
 * in their order. Where to count takes long they are those of up to twenty times as long ago. 0, or negative
 * errno with what was counted until then, and 0 for the others. */
int history_count(const struct history *h, enum db_stmt counts, uint64_t *ret);
/* An operator has paused this duty of this cluster. False when it cannot be read. */
bool history_is_paused(const struct history *h, const char *cluster_name, uint64_t duty);
/* Something of that kind is saved for the cluster. False when it cannot be read. */
bool history_has_saved(const struct history *h, const char *cluster_name, const char *kind);

/* End orphaned intents as unconfirmed: those of clusters that are no longer configured can never be looked at
 * again. *ret is how many. 0 or negative errno. */
int history_end_orphans(struct history *h, uint64_t *ret);
/* Remove what ended before now - *days. Does a bounded amount of work; *ret_more says that some is left.
 * Where the file is nearly full *days becomes less, down to HISTORY_DAYS_MIN, which the budgets look back on.
 */
int history_prune(struct history *h, uint64_t *days, bool *ret_more);
#define HISTORY_DAYS_MIN 2u
/* How long, and how many, restart counts are kept (reporter/report/samples.h). */
#define HISTORY_SAMPLE_DAYS 14
#define HISTORY_SAMPLES_MAX 200000u

#endif
