/* restore.c - see restore.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/history/restore.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "model/duties.h"
#include "base/exit.h"
#include "base/rfc3339.h"
#include "base/xalloc.h"

/* The columns of RESTORE_OF. */
struct past {
	char cluster_name[64], target[401], target_uid[64], reason[49];
	struct msg pod; /* CTL_RESTORE_ROW: ns, name, uid, subject */
	int64_t duty, action, observe, outcome, replicas, intent_at;
};

static void end_with(struct msg *ret, uint64_t conn, int code, const char *text)
{
	*ret = (struct msg){ .type = MSG_CTL_END, .u.ctl_end = { .conn = conn, .code = (uint64_t)code } };
	msg_set(ret, ctl_end.text, text, strlen(text));
}

static int read_action(struct db *db, uint64_t id, struct past *ret)
{
	sqlite3_stmt *st = db_stmt(db, DB_RESTORE_OF);

	*ret = (struct past){ .pod = { .type = MSG_CTL_RESTORE_ROW } };
	db_bind_i64(st, "id", (int64_t)id);
	const int rc = sqlite3_step(st);

	if (rc == SQLITE_ROW) {
		const struct {
			char *to;
			size_t size;
			int column;
		} texts[] = { { ret->cluster_name, sizeof(ret->cluster_name), 0 },
			      { ret->target, sizeof(ret->target), 9 },
			      { ret->target_uid, sizeof(ret->target_uid), 10 },
			      { ret->reason, sizeof(ret->reason), 13 } };

		for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
			(void)snprintf(texts[i].to, texts[i].size, "%s",
				       (const char *)sqlite3_column_text(st, texts[i].column));
		ret->duty = sqlite3_column_int64(st, 1);
		ret->action = sqlite3_column_int64(st, 2);
		ret->observe = sqlite3_column_int64(st, 3);
		ret->outcome = sqlite3_column_int64(st, 8);
		ret->replicas = sqlite3_column_int64(st, 11);
		ret->intent_at = sqlite3_column_int64(st, 12);
		db_read_msg(st, &ret->pod);
	}
	(void)sqlite3_reset(st);
	return rc == SQLITE_DONE ? 1 : db_errno(rc);
}

/* Why there is nothing to take back, or NULL. */
static const char *objection(const struct past *a, int cluster)
{
	const bool deleted = action_desc((enum action_kind)a->action)->target == TARGET_POD;
	const bool written = a->outcome == OUTCOME_DONE || a->outcome == OUTCOME_UNCONFIRMED;
	const struct {
		bool holds;
		const char *text;
	} table[] = {
		{ a->action == ACTION_RESTORE, "is itself a restore" },
		{ a->outcome < 0, "has not ended yet" },
		{ a->observe, "was a dry run: nothing was written" },
		{ !written, "wrote nothing, so there is nothing to take back" },
		{ deleted, "deleted a pod, and a deleted pod cannot come back: its owner makes a new one" },
		{ !a->target[0] || !a->target_uid[0] || a->replicas < 1,
		  "did not scale anything down; a Job that was suspended is resumed with kubectl" },
		{ cluster < 0, "belongs to a cluster that is not configured any more" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (table[i].holds)
			return table[i].text;
	return NULL;
}

static void make_row(const struct msg_ctl_restore *q, const struct past *a, int cluster, struct msg *ret)
{
	char when[RFC3339_MAX];

	rfc3339_format(a->intent_at, false, when);
	_cleanup_free_ char *evidence =
		xasprintf("a person takes back action %llu of %s (%s): %s had %lld replicas",
			  (unsigned long long)q->id, when, a->reason, a->target, (long long)a->replicas);

	*ret = a->pod;
	struct msg_ctl_restore_row *r = &ret->u.ctl_restore_row;

	r->conn = q->conn;
	r->dry = q->dry;
	r->cluster = (uint64_t)cluster;
	r->duty = (uint64_t)a->duty;
	r->action = ACTION_RESTORE;
	r->origin = q->id;
	r->want_replicas = a->replicas;
	msg_set(ret, ctl_restore_row.reason, "Restored", strlen("Restored"));
	msg_set(ret, ctl_restore_row.evidence, evidence, strlen(evidence));
	msg_set(ret, ctl_restore_row.want_target, a->target, strlen(a->target));
	msg_set(ret, ctl_restore_row.want_uid, a->target_uid, strlen(a->target_uid));
}

void restore_find(struct db *db, struct history *h, const struct msg_ctl_restore *q, struct msg *ret)
{
	struct past a;
	const int r = read_action(db, q->id, &a);

	if (r < 0) {
		end_with(ret, q->conn, EXIT_CODE_TEMPORARY,
			 "the history cannot be read just now; the log says why");
		return;
	}
	if (r > 0) {
		end_with(ret, q->conn, EXIT_CODE_FAILURE,
			 "no action has this number: see `ops-pod-cleaner history`");
		return;
	}
	const int cluster = history_cluster_index(h, a.cluster_name);
	const char *why = objection(&a, cluster);

	if (!why) {
		make_row(q, &a, cluster, ret);
		return;
	}
	_cleanup_free_ char *text = xasprintf("action %llu %s", (unsigned long long)q->id, why);

	end_with(ret, q->conn, EXIT_CODE_FAILURE, text);
}
