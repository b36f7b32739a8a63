/* attention.c - see attention.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/history/attention.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "model/duties.h"
#include "model/guards.h"
#include "model/reasons.h"

/* The guard that saves this kind of state, when what it saves needs an operator at once. */
static const struct guard_desc *saved_guard(const char *kind)
{
	for (enum guard g = 0; g < GUARD__MAX; g++)
		if (strcmp(guard_desc(g)->saved, kind) == 0 &&
		    reason_desc(guard_desc(g)->reason)->attention == ATTENTION_GUARD_NOW)
			return guard_desc(g);
	return NULL;
}

static int note_saved(struct db *db, const struct msg *m, const char *cluster_name)
{
	const struct guard_desc *g = saved_guard(m->u.saved.kind);

	if (!g)
		return 0;
	/* A count of 0: acted on, and nothing came back yet. */
	const bool over = !m->u.saved.at || m->u.saved.count == 0;

	return db_do_msg(db, over ? DB_ATTENTION_SAVED_OVER : DB_ATTENTION_SAVED, m,
			 db_s("reason", reason_code(g->reason)), db_s("cluster_name", cluster_name),
			 db_i("lasting_ms", 0), db_i("duty", duty_parse(STR_C(m->u.saved.key))));
}

static int note_object(struct db *db, enum db_stmt id, const struct msg *m, const char *code,
		       const char *cluster_name)
{
	if (reason_find(code)->attention != ATTENTION_OBJECT)
		return 0;
	return db_do_msg(db, id, m, db_s("reason", code), db_s("cluster_name", cluster_name),
			 db_i("lasting_ms", ATTENTION_LASTING_MS));
}

/* An alarm has the detail of its object, and whom that concerns. */
static int note_record(struct db *db, const struct msg *m, const char *cluster_name)
{
	struct msg with = { .type = MSG_RECORD, .u.record = m->u.record }; /* m is as long as its kind */
	struct fact_value contact;

	if (facts_find(&m->u.record.evidence, FACT_CONTACT, &contact))
		facts_quoted(&with.u.record.detail, FACT_CONTACT, contact.text);
	return note_object(db, DB_ATTENTION_RECORD, &with, m->u.record.reason, cluster_name);
}

int attention_note(struct db *db, const struct msg *m, const char *cluster_name)
{
	switch (m->type) {
	case MSG_REFUSAL:
		return note_object(db, DB_ATTENTION_REFUSAL, m, m->u.refusal.reason, cluster_name);
	case MSG_RECORD:
		return note_record(db, m, cluster_name);
	case MSG_SAVED:
		return note_saved(db, m, cluster_name);
	default:
		return 0;
	}
}

uint64_t attention_guards(uint64_t guards)
{
	uint64_t ret = 0;

	for (enum guard g = 0; g < GUARD__MAX; g++)
		if (reason_desc(guard_desc(g)->reason)->attention == ATTENTION_GUARD)
			ret |= guards & UINT64_C(1) << g;
	return ret;
}

int attention_note_guards(struct db *db, uint64_t guards, const struct facts *detail,
			  const char *cluster_name)
{
	const uint64_t all = attention_guards(UINT64_MAX);
	int r = 0;

	for (enum guard g = 0; r == 0 && g < GUARD__MAX; g++) {
		if (!(all & UINT64_C(1) << g))
			continue;
		r = db_do(db, guards & UINT64_C(1) << g ? DB_ATTENTION_GUARD : DB_ATTENTION_GUARD_OVER,
			  db_s("reason", reason_code(guard_desc(g)->reason)),
			  db_s("cluster_name", cluster_name), db_f("detail", detail),
			  db_i("lasting_ms", ATTENTION_LASTING_MS), db_i("duty", DUTY_ALL));
	}
	return r;
}

/* -- reports -- */

void attention_done(struct attention *a)
{
	for (size_t i = 0; i < a->n; i++) {
		free(a->v[i].cluster);
		free(a->v[i].reason);
		free(a->v[i].detail);
		free(a->v[i].names);
	}
	free(a->v);
	*a = (struct attention){ 0 };
}

/* Columns are those of ATTENTION_GROUPS. */
static int read_groups(sqlite3_stmt *st, struct attention *ret)
{
	int r;

	*ret = (struct attention){ 0 };
	while ((r = db_step(st)) > 0) {
		ret->v = xreallocarray(ret->v, ret->n + 1, sizeof(*ret->v));
		ret->v[ret->n++] = (struct attention_group){ .cluster = db_text_dup(st, 0),
							     .duty = sqlite3_column_int64(st, 1),
							     .reason = db_text_dup(st, 2),
							     .first_at = sqlite3_column_int64(st, 3),
							     .detail = db_facts_dup(st, 4),
							     .names = db_text_dup(st, 5) };
	}
	if (r < 0)
		attention_done(ret);
	return r;
}

int attention_begin(struct db *db, struct attention *ret)
{
	const int r = db_do(db, DB_ATTENTION_BEGIN);

	*ret = (struct attention){ 0 };
	return r < 0 ? r : read_groups(db_stmt(db, DB_ATTENTION_GROUPS, db_i("preview", false)), ret);
}

int attention_preview(struct db *db, struct attention *ret)
{
	return read_groups(db_stmt(db, DB_ATTENTION_GROUPS, db_i("preview", true)), ret);
}

int attention_present(struct db *db, size_t max, struct attention *ret)
{
	return read_groups(db_stmt(db, DB_RECENT_ATTENTION, db_i("limit", max)), ret);
}
