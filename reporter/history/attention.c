/* attention.c - see attention.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/history/attention.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "model/duties.h"
#include "base/rfc3339.h"
#include "base/xalloc.h"
#include "rules/judge.h"

static bool is_listed(const char *code)
{
	return reason_find(code)->attention == ATTENTION_OBJECT;
}

static int put(struct db *db, enum db_stmt id, const struct msg *m, const char *reason,
	       const char *cluster_name, int64_t now_ms)
{
	sqlite3_stmt *st = db_stmt_msg(db, id, m);

	if (reason)
		db_bind_text(st, "reason", reason);
	db_bind_text(st, "cluster_name", cluster_name);
	db_bind_i64(st, "now", now_ms);
	return db_run(db, st, NULL);
}

static int note_memo(struct db *db, const struct msg *m, const char *cluster_name, int64_t now_ms)
{
	const bool fight = strcmp(m->u.saved.kind, "reverted") == 0;
	const enum reason reason = fight ? REASON_REVERTED : REASON_BREAKER_OPEN;

	const bool lasts = m->u.saved.at && (!fight || m->u.saved.count > 0); /* 0: acted on, not come back */

	if (!fight && strcmp(m->u.saved.kind, "breaker") != 0)
		return 0;
	return put(db, lasts ? DB_NEED_MEMO : DB_NEED_MEMO_OVER, m, reason_code(reason), cluster_name,
		   now_ms);
}

int attention_note(struct db *db, const struct msg *m, const char *cluster_name, int64_t now_ms)
{
	switch (m->type) {
	case MSG_REFUSAL:
		return is_listed(m->u.refusal.reason)
			       ? put(db, DB_NEED_REFUSAL, m, NULL, cluster_name, now_ms)
			       : 0;
	case MSG_RECORD:
		return is_listed(m->u.record.reason) ? put(db, DB_NEED_RECORD, m, NULL, cluster_name, now_ms)
						     : 0;
	case MSG_SAVED:
		return note_memo(db, m, cluster_name, now_ms);
	default:
		return 0;
	}
}

/* The watcher lists its guards by name with how much each holds: "Budget 12, Pause 3". */
bool attention_hold_matters(const char *hold)
{
	return strstr(hold, "Budget ") != NULL;
}

int attention_note_hold(struct db *db, const char *hold, const char *cluster_name, int64_t now_ms)
{
	sqlite3_stmt *st = db_stmt(db, attention_hold_matters(hold) ? DB_NEED_HOLD : DB_NEED_HOLD_OVER);

	db_bind_text(st, "reason", reason_code(REASON_BUDGET_SPENT));
	db_bind_text(st, "detail", hold);
	db_bind_text(st, "cluster_name", cluster_name);
	db_bind_i64(st, "now", now_ms);
	return db_run(db, st, NULL);
}

/* -- the report ------------------------------------------------------------------------------------------ */

struct group {
	char *cluster, *reason, *detail;
	int64_t duty, count, since;
};

static void groups_free(struct group *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(v[i].cluster);
		free(v[i].reason);
		free(v[i].detail);
	}
	free(v);
}

static char *column(sqlite3_stmt *st, int i)
{
	const char *s = (const char *)sqlite3_column_text(st, i);

	return digest_clean(s ? s : "");
}

static int read_groups(struct db *db, struct group **ret, size_t *ret_n)
{
	sqlite3_stmt *st = db_stmt(db, DB_NEEDS_GROUPS);
	struct group *v = NULL;
	size_t n = 0;
	int rc;

	while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
		v = xreallocarray(v, n + 1, sizeof(*v));
		v[n++] = (struct group){ .cluster = column(st, 0),
					 .duty = sqlite3_column_int64(st, 1),
					 .reason = column(st, 2),
					 .count = sqlite3_column_int64(st, 3),
					 .since = sqlite3_column_int64(st, 4),
					 .detail = column(st, 5) };
	}
	(void)sqlite3_reset(st);
	*ret = v;
	*ret_n = n;
	return db_errno(rc);
}

/* "shop/web-1, shop/web-2 and 5 more"; "" when the trouble is not of single objects. */
static char *names_of(struct db *db, const struct group *g)
{
	sqlite3_stmt *st = db_stmt(db, DB_NEEDS_NAMES);
	char *ret = xstrdup("");
	int64_t n = 0;

	db_bind_text(st, "cluster_name", g->cluster);
	db_bind_text(st, "reason", g->reason);
	db_bind_i64(st, "duty", g->duty);
	while (sqlite3_step(st) == SQLITE_ROW) {
		_cleanup_free_ char *ns = column(st, 0), *name = column(st, 1), *before = ret;

		ret = xasprintf("%s%s%s%s%s", before, n++ && *name ? ", " : "", ns, *ns ? "/" : "", name);
	}
	(void)sqlite3_reset(st);
	if (g->count > n) {
		_cleanup_free_ char *before = ret;

		ret = xasprintf("%s and %lld more", before, (long long)(g->count - n));
	}
	return ret;
}

static char *paragraph(struct db *db, const struct group *g, bool name_clusters)
{
	_cleanup_free_ char *names = names_of(db, g);
	const struct reason_desc *reason = reason_find(g->reason);
	const bool one_duty = duty_acts((enum duty)g->duty);
	char since[RFC3339_MAX];

	rfc3339_format(g->since, false, since);
	return xasprintf("! %s%s%s%s%s%s: %s\n%s%s%s  since %s%s%s\n  remedy: %s\n", name_clusters ? "[" : "",
			 name_clusters ? g->cluster : "", name_clusters ? "] " : "",
			 one_duty ? duty_name((enum duty)g->duty) : "", one_duty ? ": " : "", g->reason,
			 reason->text[LANGUAGE_EN].sentence, *names ? "  " : "", names, *names ? "\n" : "",
			 since, *g->detail ? ": " : "", g->detail, reason->text[LANGUAGE_EN].remedy);
}

static void render(struct db *db, const struct group *v, size_t n, bool name_clusters,
		   struct digest_text *ret)
{
	const size_t shown = n < NEEDS_SHOWN ? n : NEEDS_SHOWN;

	ret->n = n ? shown + 1 : 0;
	ret->v = xcalloc(ret->n + 1, sizeof(*ret->v));
	if (n)
		ret->v[0] =
			xasprintf("%zu thing%s need%s a person; each is told once.%s\n", n, n == 1 ? "" : "s",
				  n == 1 ? "s" : "", n > shown ? " Not all are shown: see history." : "");
	for (size_t i = 0; i < shown; i++)
		ret->v[i + 1] = paragraph(db, &v[i], name_clusters);
}

int attention_begin(struct db *db, bool name_clusters, int64_t now_ms, struct digest_text *ret)
{
	sqlite3_stmt *st = db_stmt(db, DB_NEEDS_BEGIN);
	struct group *v = NULL;
	size_t n = 0;

	*ret = (struct digest_text){ 0 };
	db_bind_i64(st, "lasting", NEEDS_LASTING_MS);
	db_bind_i64(st, "now", now_ms);
	int r = db_run(db, st, NULL);

	if (r == 0)
		r = read_groups(db, &v, &n);
	if (r == 0)
		render(db, v, n, name_clusters, ret);
	groups_free(v, n);
	return r;
}

int attention_told(struct db *db)
{
	return db_run(db, db_stmt(db, DB_NEEDS_TOLD), NULL);
}
