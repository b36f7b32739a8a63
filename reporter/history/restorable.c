/* restorable.c - see restorable.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/history/restorable.h"

#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/exit.h"
#include "base/rfc3339.h"
#include "base/xalloc.h"
#include "reporter/history/query.h"

/* Why the action cannot be taken back, or NULL. */
static const char *objection(const struct msg_ctl_history_row *a, const struct msg_ctl_restore_row *r,
			     int cluster)
{
	const bool written = a->outcome >= 0 && (OUTCOMES_WRITTEN >> a->outcome) & 1;
	const struct {
		bool holds;
		const char *text;
	} table[] = {
		{ a->action == ACTION_RESTORE, "is itself a restore" },
		{ a->outcome < 0, "has not ended yet" },
		{ a->observe, "was a dry run: nothing was written" },
		{ !written, "wrote nothing, so there is nothing to take back" },
		{ action_desc((enum action_kind)a->action)->target == TARGET_POD,
		  "deleted a pod, and a deleted pod cannot come back: its owner makes a new one" },
		{ !r->want_target[0] || !r->want_uid[0] || r->want_replicas < 1,
		  "did not scale anything down; a Job that was suspended is resumed with kubectl" },
		{ cluster < 0, "belongs to a cluster that is not configured any more" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (table[i].holds)
			return table[i].text;
	return NULL;
}

/* One row about the action of that id: 1, 0 (there is none), or negative errno. */
static int read_row(struct db *db, enum db_stmt stmt, const struct msg *q, enum msg_type type,
		    struct msg *ret)
{
	return db_read_row(
		db_stmt_msg(db, stmt, q, db_i("open", OUTCOME_OPEN), db_i("restore", ACTION_RESTORE)), type,
		ret);
}

static void explain(const struct msg_ctl_history_row *a, struct msg *row)
{
	char when[RFC3339_MAX];

	rfc3339_format(a->intent_at, false, when);
	_cleanup_free_ char *evidence =
		xasprintf("an operator takes back action %" PRIu64 " of %s (%s): %s had %" PRId64 " replicas",
			  a->id, when, a->reason, a->target, a->replicas);

	msg_set(row, ctl_restore_row.reason, reason_code(REASON_RESTORED),
		strlen(reason_code(REASON_RESTORED)));
	msg_set(row, ctl_restore_row.evidence, evidence, strlen(evidence));
}

void restorable_find(struct db *db, const struct history *h, const struct msg_ctl_restore *q, struct msg *ret)
{
	const struct msg question = { .type = MSG_CTL_RESTORE, .u.ctl_restore = *q };
	struct msg past;
	int r = read_row(db, DB_HISTORY_ACTION, &question, MSG_CTL_HISTORY_ROW, &past);

	if (r > 0)
		r = read_row(db, DB_RESTORE_ROW, &question, MSG_CTL_RESTORE_ROW, ret);
	if (r < 0) {
		query_failed(q->conn, ret);
		return;
	}
	if (r == 0) {
		query_make_end(q->conn, EXIT_CODE_FAILURE, QUERY_UNKNOWN_ACTION, ret);
		return;
	}
	const struct msg_ctl_history_row *a = &past.u.ctl_history_row;
	const int cluster = history_cluster_index(h, a->cluster_name);
	const char *why = objection(a, &ret->u.ctl_restore_row, cluster);

	if (!why) {
		ret->u.ctl_restore_row.cluster = (uint64_t)cluster;
		explain(a, ret);
		return;
	}
	_cleanup_free_ char *text = xasprintf("action %" PRIu64 " %s", q->id, why);

	query_make_end(q->conn, EXIT_CODE_FAILURE, text, ret);
}
