/* history.c - see history.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/history/history.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "model/duties.h"
#include "base/xalloc.h"
#include "reporter/history/attention.h"

#define DAY_MS INT64_C(86400000)
/* A memory of a failing revision outlives the history: losing it restarts that workload's clock. */
#define SINCE_DAYS  400
#define PRUNE_LIMIT 2000
#define NAME_MAX_   64

struct entry {
	struct msg *m; /* only as long as its own struct */
	enum history_effect effect;
	char cluster_name[NAME_MAX_];
	uint64_t duty;
	bool observe;
};

struct history {
	struct db *db;
	history_committed_fn *on_committed;
	void *ctx;
	struct str_list clusters;
	char spare_name[NAME_MAX_];
	struct entry *queue;
	size_t n, room;
	bool broken;
	uint64_t open;
	int64_t now; /* when the commit under way began */
};

struct history *history_new(struct db *db, history_committed_fn *on_committed, void *ctx)
{
	struct history *h = xcalloc(1, sizeof(*h));
	int64_t open = 0;

	h->db = db;
	h->on_committed = on_committed;
	h->ctx = ctx;
	h->broken = db_number(db, db_stmt(db, DB_OPEN_COUNT), &open) < 0;
	h->open = (uint64_t)open;
	return h;
}

void history_free(struct history **h)
{
	if (!*h)
		return;
	for (size_t i = 0; i < (*h)->n; i++)
		free((*h)->queue[i].m);
	free((*h)->queue);
	str_list_done(&(*h)->clusters);
	free(*h);
	*h = NULL;
}

/* -- clusters -------------------------------------------------------------------------------------------- */

void history_set_clusters(struct history *h, const struct str_list *names)
{
	str_list_done(&h->clusters);
	h->clusters = (struct str_list){ 0 };
	for (size_t i = 0; i < names->n; i++)
		str_list_add(&h->clusters, names->v[i], strlen(names->v[i]));
}

const char *history_cluster_name(struct history *h, uint64_t cluster)
{
	if (cluster < h->clusters.n)
		return h->clusters.v[cluster];
	(void)snprintf(h->spare_name, sizeof(h->spare_name), "cluster-%u", (unsigned)cluster);
	return h->spare_name;
}

int history_cluster_index(const struct history *h, const char *name)
{
	for (size_t i = 0; i < h->clusters.n; i++)
		if (strcmp(h->clusters.v[i], name) == 0)
			return (int)i;
	return -1;
}

/* -- what each message writes ---------------------------------------------------------------------------- */

static int run(struct history *h, enum db_stmt id, struct entry *e, int *ret_changes)
{
	sqlite3_stmt *st = db_stmt_msg(h->db, id, e->m);

	db_bind_i64(st, "now", h->now);
	db_bind_text(st, "cluster_name", e->cluster_name);
	return db_run(h->db, st, ret_changes);
}

/* One of the statements that name an action and nothing else. */
static sqlite3_stmt *of_lease(struct history *h, enum db_stmt id, uint64_t lease)
{
	sqlite3_stmt *st = db_stmt(h->db, id);

	db_bind_i64(st, "id", (int64_t)lease);
	return st;
}

static int apply_intent(struct history *h, struct entry *e)
{
	int changes = 0;
	int64_t one = 0;
	int r = run(h, DB_INTENT_PUT, e, &changes);

	if (r < 0)
		return r;
	e->effect = changes ? HISTORY_NEW : HISTORY_KNOWN;
	if (changes)
		return db_run(h->db, of_lease(h, DB_OPEN_PUT, e->m->u.intent.id), NULL);
	r = db_number(h->db, db_stmt_msg(h->db, DB_INTENT_SAME, e->m), &one);
	if (r == -ENOENT)
		e->effect = HISTORY_CONFLICT;
	return r == -ENOENT ? 0 : r;
}

/* Which cluster and duty a result belongs to stands in its intent. */
static int find_intent(struct history *h, struct entry *e)
{
	sqlite3_stmt *st = of_lease(h, DB_INTENT_OF, e->m->u.record.id);
	const int rc = sqlite3_step(st);

	if (rc == SQLITE_ROW) {
		(void)snprintf(e->cluster_name, sizeof(e->cluster_name), "%s",
			       (const char *)sqlite3_column_text(st, 0));
		e->duty = (uint64_t)sqlite3_column_int64(st, 1);
		e->observe = sqlite3_column_int64(st, 2) != 0;
	}
	(void)sqlite3_reset(st);
	return db_errno(rc);
}

static int apply_record(struct history *h, struct entry *e)
{
	int changes = 0;
	int r = find_intent(h, e);

	if (r == 0)
		r = run(h, DB_RESULT_PUT, e, &changes);
	e->effect = changes ? HISTORY_NEW : HISTORY_KNOWN;
	if (r < 0 || !changes)
		return r;
	return db_run(h->db, of_lease(h, DB_OPEN_END, e->m->u.record.id), NULL);
}

static int apply_refusal(struct history *h, struct entry *e)
{
	return run(h, DB_REFUSAL_PUT, e, NULL);
}

static int apply_failing_since(struct history *h, struct entry *e)
{
	return run(h, e->m->u.failing_since.at ? DB_FAILING_SINCE_PUT : DB_FAILING_SINCE_FORGET, e, NULL);
}

static int apply_saved(struct history *h, struct entry *e)
{
	return run(h, e->m->u.saved.at ? DB_SAVED_PUT : DB_SAVED_FORGET, e, NULL);
}

static int apply_pause(struct history *h, struct entry *e)
{
	return run(h, e->m->u.pause.on ? DB_PAUSE_PUT : DB_PAUSE_FORGET, e, NULL);
}

#define KIND(ID, name)                                                                                       \
	{                                                                                                    \
		MSG_##ID, offsetof(struct msg, u) + sizeof(struct msg_##name), apply_##name                  \
	}
static const struct kind {
	enum msg_type type;
	size_t size;
	int (*apply)(struct history *h, struct entry *e);
} kinds[] = { KIND(INTENT, intent),   KIND(RECORD, record),
	      KIND(REFUSAL, refusal), KIND(FAILING_SINCE, failing_since),
	      KIND(SAVED, saved),     KIND(PAUSE, pause) };

static const struct kind *kind_of(enum msg_type type)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (kinds[i].type == type)
			return &kinds[i];
	return NULL;
}

static uint64_t cluster_of(const struct msg *m)
{
	switch (m->type) {
	case MSG_INTENT:
		return m->u.intent.cluster;
	case MSG_REFUSAL:
		return m->u.refusal.cluster;
	case MSG_SAVED:
		return m->u.saved.cluster;
	default:
		return m->u.failing_since.cluster;
	}
}

/* -- queue ----------------------------------------------------------------------------------------------- */

bool history_add(struct history *h, const struct msg *m)
{
	const struct kind *k = kind_of(m->type);
	const size_t limit = m->type == MSG_REFUSAL ? HISTORY_QUEUE_MAX / 2 : HISTORY_QUEUE_MAX;

	if (!k || h->n >= limit)
		return false;
	if (h->n == h->room) {
		h->room = h->room ? 2 * h->room : 64;
		h->queue = xreallocarray(h->queue, h->room, sizeof(*h->queue));
	}
	h->queue[h->n++] = (struct entry){ .m = xmemdup(m, k->size) };
	return true;
}

static void prepare(struct history *h, struct entry *e)
{
	e->effect = HISTORY_NEW;
	e->cluster_name[0] = '\0';
	e->duty = DUTY__MAX;
	e->observe = false;
	if (e->m->type == MSG_PAUSE) {
		(void)snprintf(e->cluster_name, sizeof(e->cluster_name), "%s", e->m->u.pause.cluster_name);
		return;
	}
	if (e->m->type != MSG_RECORD)
		(void)snprintf(e->cluster_name, sizeof(e->cluster_name), "%s",
			       history_cluster_name(h, cluster_of(e->m)));
	if (e->m->type == MSG_INTENT) {
		e->duty = e->m->u.intent.duty;
		e->observe = e->m->u.intent.observe;
	}
	if (e->m->type == MSG_REFUSAL)
		e->duty = e->m->u.refusal.duty;
}

static int apply_all(struct history *h)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < h->n; i++) {
		prepare(h, &h->queue[i]);
		r = kind_of(h->queue[i].m->type)->apply(h, &h->queue[i]);
		if (r == 0 && h->queue[i].effect == HISTORY_NEW)
			r = attention_note(h->db, h->queue[i].m, h->queue[i].cluster_name, h->now);
	}
	return r;
}

static void report_all(struct history *h)
{
	struct entry *queue = TAKE_PTR(h->queue);
	const size_t n = h->n;

	h->n = h->room = 0;
	for (size_t i = 0; i < n; i++) {
		const struct history_entry e = { queue[i].m, queue[i].effect, queue[i].cluster_name,
						 queue[i].duty, queue[i].observe };

		if (e.effect == HISTORY_NEW && e.m->type == MSG_INTENT)
			h->open++;
		if (e.effect == HISTORY_NEW && e.m->type == MSG_RECORD && e.duty < DUTY__MAX && h->open > 0)
			h->open--;
		h->on_committed(h->ctx, &e);
		free(queue[i].m);
	}
	free(queue);
}

int history_flush(struct history *h)
{
	if (h->n == 0)
		return 0;
	h->now = clock_wall_ms();
	int r = db_begin(h->db);

	if (r == 0)
		r = apply_all(h);
	if (r == 0)
		r = db_commit(h->db);
	h->broken = r < 0;
	if (r < 0)
		db_rollback(h->db);
	else
		report_all(h);
	return r;
}

size_t history_queued(const struct history *h)
{
	return h->n;
}

bool history_writable(const struct history *h)
{
	return !h->broken;
}

uint64_t history_open_intents(const struct history *h)
{
	return h->open;
}

bool history_is_paused(const struct history *h, const char *cluster_name, uint64_t duty)
{
	sqlite3_stmt *st = db_stmt(h->db, DB_PAUSED);
	int64_t n = 0;

	db_bind_text(st, "cluster_name", cluster_name);
	db_bind_i64(st, "duty", (int64_t)duty);
	db_bind_i64(st, "now", clock_wall_ms());
	return db_number(h->db, st, &n) == 0 && n > 0;
}

uint64_t history_count_memos(const struct history *h, const char *cluster_name, const char *kind)
{
	sqlite3_stmt *st = db_stmt(h->db, DB_SAVED_COUNT);
	int64_t n = 0;

	db_bind_text(st, "cluster_name", cluster_name);
	db_bind_text(st, "kind", kind);
	return db_number(h->db, st, &n) == 0 ? (uint64_t)n : 0;
}

int history_next_id(struct history *h, uint64_t *ret)
{
	int64_t next = 0;
	const int r = db_number(h->db, db_stmt(h->db, DB_NEXT_ID), &next);

	*ret = (uint64_t)next;
	return r;
}

/* -- housekeeping ---------------------------------------------------------------------------------------- */

static void end_stray(struct history *h, uint64_t id)
{
	struct msg m = { .type = MSG_RECORD };

	m.u.record = (struct msg_record){ .id = id, .outcome = OUTCOME_UNCONFIRMED, .replicas = -1 };
	m.u.record.at = clock_wall_ms();
	msg_set(&m, record.reason, "ClusterRemoved", strlen("ClusterRemoved"));
	static const char why[] =
		"its cluster is no longer configured, so what became of it cannot be looked up";

	msg_set(&m, record.detail, why, sizeof(why) - 1);
	(void)history_add(h, &m);
}

int history_close_strays(struct history *h, uint64_t *ret)
{
	sqlite3_stmt *st = db_stmt(h->db, DB_OPEN_STRAYS);
	int rc;

	*ret = 0;
	while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
		if (history_cluster_index(h, (const char *)sqlite3_column_text(st, 1)) >= 0)
			continue;
		end_stray(h, (uint64_t)sqlite3_column_int64(st, 0));
		*ret += 1;
	}
	(void)sqlite3_reset(st);
	return rc == SQLITE_DONE ? history_flush(h) : db_errno(rc);
}

int history_prune(struct history *h, uint64_t days, bool *ret_more)
{
	static const enum db_stmt steps[] = { DB_PRUNE_INTENTS, DB_PRUNE_RESULTS, DB_PRUNE_REFUSALS,
					      DB_PRUNE_DIGESTS, DB_PRUNE_SINCE,   DB_PRUNE_MEMOS,
					      DB_PRUNE_PAUSES,  DB_PRUNE_NEEDS };
	const int64_t now = clock_wall_ms();

	*ret_more = false;
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		sqlite3_stmt *st = db_stmt(h->db, steps[i]);
		int changes = 0;

		db_bind_i64(st, "before", now - (int64_t)days * DAY_MS);
		db_bind_i64(st, "long_before", now - SINCE_DAYS * DAY_MS);
		db_bind_i64(st, "limit", PRUNE_LIMIT);
		const int r = db_run(h->db, st, &changes);

		if (r < 0)
			return r;
		*ret_more = *ret_more || changes == PRUNE_LIMIT;
	}
	return 0;
}
