/* run_log.c - see run_log.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/digest/run_log.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "reporter/history/attention.h"
#include "reporter/outbox/outbox.h"

_Static_assert(CLUSTERS_MAX <= 64, "one bit a cluster");

const char *run_state_name(enum run_state s)
{
	static const char *const names[RUN_STATE__MAX] = {
		[RUN_CLAIMED] = "claimed",
		[RUN_DONE] = "done",
		[RUN_EMPTY] = "empty",
		[RUN_SKIPPED] = "skipped",
	};

	return (unsigned)s < RUN_STATE__MAX ? names[s] : "?";
}

int run_log_claim(struct db *db, int64_t due_at, const char *schedule, bool late)
{
	int changes = 0;
	const int r = db_run(db_stmt(db, DB_DIGEST_CLAIM, db_i("due_at", due_at), db_s("schedule", schedule),
				     db_i("late", late)),
			     &changes);

	return r < 0 ? r : changes ? 0 : -EEXIST;
}

/* Write down how far it is. */
static int write_state(struct db *db, const struct scheduled_run *r)
{
	return db_run(db_stmt(db, DB_DIGEST_STATE, db_i("due_at", r->due_at),
			      db_s("state", run_state_name(r->state)), db_i("workloads", r->workloads),
			      db_i("pods", r->pods),
			      db_i("finished_at", r->state == RUN_CLAIMED ? 0 : r->collected_at),
			      db_s("error", r->error ? r->error : "")),
		      NULL);
}

int run_log_supersede(struct db *db, int64_t due_at)
{
	return db_run(db_stmt(db, DB_DIGEST_SUPERSEDE, db_i("due_at", due_at)), NULL);
}

int run_log_recover(struct db *db, uint64_t *ret_in_doubt, int64_t *ret_claimed)
{
	int changes = 0;
	int r = db_run(db_stmt(db, DB_DIGEST_IN_DOUBT), &changes);

	*ret_in_doubt = (uint64_t)changes;
	if (r == 0)
		r = db_number(db_stmt(db, DB_DIGEST_CLAIMED), ret_claimed);
	if (r == 0 && *ret_claimed > 0)
		r = run_log_supersede(db, *ret_claimed);
	return r;
}

int run_log_arm(struct db *db, const char *schedule, int64_t *ret_last)
{
	static const enum db_stmt steps[] = { DB_SCHEDULE_REPLACE, DB_SCHEDULE_ARM, DB_SCHEDULE_LAST };
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(steps); i++) {
		sqlite3_stmt *st = db_stmt(db, steps[i], db_s("schedule", schedule));

		r = steps[i] == DB_SCHEDULE_LAST ? db_number(st, ret_last) : db_run(st, NULL);
	}
	return r;
}

int run_log_disarm(struct db *db)
{
	return db_run(db_stmt(db, DB_SCHEDULE_REPLACE, db_s("schedule", "")), NULL);
}

int run_log_past(struct db *db, struct run_log_past *ret)
{
	sqlite3_stmt *st = db_stmt(db, DB_DIGEST_PAST);
	const int rc = sqlite3_step(st);

	*ret = (struct run_log_past){ 0 };
	if (rc == SQLITE_ROW)
		*ret = (struct run_log_past){ sqlite3_column_int64(st, 0), sqlite3_column_int64(st, 1),
					      sqlite3_column_int64(st, 2), sqlite3_column_int64(st, 3) };
	(void)sqlite3_reset(st);
	return db_errno(rc);
}

int run_log_finish(struct db *db, const struct scheduled_run *run, const struct edition *e,
		   const struct run_message *m, size_t n)
{
	int r = db_begin(db);

	if (r == 0)
		r = write_state(db, run);
	if (r == 0)
		r = edition_remember(e, db);
	if (r == 0)
		r = attention_reported(db);
	for (size_t i = 0; r == 0 && i < n; i++)
		r = outbox_put(db, m[i].sink, &m[i].document);
	return db_end(db, r);
}
