/* finished_actions.c - see finished_actions.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/notify/finished_actions.h"

#include <stdlib.h>
#include <string.h>

#include "base/fnv.h"
#include "base/str.h"
#include "base/xalloc.h"
#include "model/reasons.h"

/* -- kinds -- */

/* A kind as it stands in a row, which is not copied before it is known to be new. */
struct key {
	struct action_group kind; /* without texts */
	struct str cluster, ns, node, reason;
};

static enum section_kind part_of(const struct action_group *k)
{
	const uint64_t done = OUTCOMES_SPENT | UINT64_C(1) << OUTCOME_ANNOUNCED;

	if (k->outcome == OUTCOME_FAILED || k->outcome == OUTCOME_FORBIDDEN)
		return SECTION_FAILED;
	if (k->outcome < 0 || k->outcome >= OUTCOME__MAX || !(done >> k->outcome & 1))
		return SECTION_NONE;
	if (action_desc(k->action)->target == TARGET_WORKLOAD)
		return SECTION_WORKLOAD;
	return k->action == ACTION_FORCE_DELETE ? SECTION_FORCED : SECTION_PODS;
}

static bool is_of(const struct action_group *k, const struct key *key)
{
	return k->part == key->kind.part && k->action == key->kind.action && k->duty == key->kind.duty &&
	       k->outcome == key->kind.outcome && k->observe == key->kind.observe &&
	       k->suspended == key->kind.suspended && str_is(key->ns, k->ns) && str_is(key->node, k->node) &&
	       str_is(key->reason, k->reason) && str_is(key->cluster, k->cluster);
}

static char *copy(struct str s)
{
	return xstrndup(s.p, s.n);
}

/* The one of this key; it is made when there is none. */
static struct action_group *find_kind(struct finished_actions *r, const struct key *key)
{
	const uint64_t h = fnv_bytes(fnv_bytes(FNV_START, key->ns.p, key->ns.n), key->node.p, key->node.n);
	struct action_group **bucket = &r->buckets[h % GROUP_BUCKETS], *k = *bucket;

	while (k && !is_of(k, key))
		k = k->next;
	if (k)
		return k;
	k = xmemdup(&key->kind, sizeof(key->kind));
	k->cluster = copy(key->cluster);
	k->ns = copy(key->ns);
	k->node = copy(key->node);
	k->reason = copy(key->reason);
	k->index = k->count = r->n_kinds;
	k->next = *bucket;
	*bucket = k;
	r->kinds = xgrow(r->kinds, &r->kinds_room, (uint32_t)r->n_kinds, sizeof(struct action_group *));
	r->kinds[r->n_kinds++] = k;
	if (k->part == SECTION_FAILED && key->ns.n > 0) {
		struct key anywhere = *key;

		anywhere.ns = (struct str){ "", 0 };
		k->count = find_kind(r, &anywhere)->index;
	}
	return k;
}

/* -- rows -- */

/* Columns of NOTIFIED_ROWS. */
enum {
	COL_ID,
	COL_DUTY,
	COL_ACTION,
	COL_OBSERVE,
	COL_OUTCOME,
	COL_CLUSTER,
	COL_NS,
	COL_WHY,
	COL_REASON,
	COL_PROOF
};

static struct str str_of(sqlite3_stmt *st, int column)
{
	const char *s = db_text(st, column);

	return (struct str){ s, (size_t)sqlite3_column_bytes(st, column) };
}

/* From the fact that the worker notes (worker/steps/granted_pod.c). */
static struct str node_of(sqlite3_stmt *st, int column)
{
	const char *proof = sqlite3_column_blob(st, column);
	const struct str bytes = { proof, (size_t)sqlite3_column_bytes(st, column) };
	struct fact_value v;

	return facts_find_in(bytes, FACT_NODE, &v) ? v.text : (struct str){ "", 0 };
}

static enum action_kind action_of(sqlite3_stmt *st, int column)
{
	const int64_t action = sqlite3_column_int64(st, column);

	return action >= 0 && action < ACTION__MAX ? (enum action_kind)action : ACTION_DELETE;
}

static void add_row(struct finished_actions *r, sqlite3_stmt *st, const struct action_group *of)
{
	const bool failed = of->part == SECTION_FAILED;
	struct key key = { .kind = *of,
			   .cluster = str_of(st, COL_CLUSTER),
			   .ns = str_of(st, COL_NS),
			   .node = { "", 0 },
			   .reason = str_of(st, failed ? COL_REASON : COL_WHY) };

	if (failed)
		key.kind.action = 0;
	else
		key.kind.suspended = str_is(str_of(st, COL_REASON), reason_code(REASON_SUSPENDED));
	if (!failed)
		key.node = node_of(st, COL_PROOF);
	r->v = xgrow(r->v, &r->room, (uint32_t)r->n, sizeof(*r->v));
	r->v[r->n++] = (struct finished_action){ sqlite3_column_int64(st, COL_ID), find_kind(r, &key) };
}

/* What was done needs nobody any more. */
static int settle(struct db *db, sqlite3_stmt *st, int64_t outcome)
{
	if (outcome != OUTCOME_DONE && outcome != OUTCOME_GONE)
		return 0;
	return db_do(db, DB_ATTENTION_SETTLED, db_i("id", sqlite3_column_int64(st, COL_ID)));
}

int finished_actions_read(struct db *db, int64_t up_to, int64_t newest, bool settles,
			  struct finished_actions *ret)
{
	sqlite3_stmt *st = db_stmt(db, DB_NOTIFIED_ROWS, db_i("up_to", up_to), db_i("newest", newest));
	int r = 0, settled = 0;

	while (settled == 0 && (r = db_step(st)) > 0) {
		struct action_group kind = { .duty = sqlite3_column_int64(st, COL_DUTY),
					     .action = action_of(st, COL_ACTION),
					     .observe = sqlite3_column_int64(st, COL_OBSERVE) != 0,
					     .outcome = sqlite3_column_int64(st, COL_OUTCOME) };

		kind.part = part_of(&kind);
		if (kind.part != SECTION_NONE)
			add_row(ret, st, &kind);
		if (settles)
			settled = settle(db, st, kind.outcome);
	}
	(void)sqlite3_reset(st);
	return settled < 0 ? settled : r;
}

void finished_actions_done(struct finished_actions *r)
{
	for (size_t i = 0; i < r->n_kinds; i++) {
		struct action_group *k = r->kinds[i];

		free(k->cluster);
		free(k->ns);
		free(k->node);
		free(k->reason);
		free(k);
	}
	free(r->kinds);
	free(r->v);
	*r = (struct finished_actions){ 0 };
}

/* -- one action -- */

static void read_rest(sqlite3_stmt *st, struct action_details *t)
{
	t->action = action_of(st, 0);
	const bool is_restore = t->action == ACTION_RESTORE;

	t->name = db_text_dup(st, 1);
	t->since = sqlite3_column_int64(st, 2);
	t->why = db_text_dup(st, 3);
	db_facts(st, 4, &t->evidence);
	t->target = db_text_dup(st, is_restore ? 5 : 9);
	t->replicas = sqlite3_column_int64(st, is_restore ? 6 : 10);
	t->reason = db_text_dup(st, 7);
	db_facts(st, 8, &t->detail);
	db_facts(st, 11, &t->proof);
	t->at = sqlite3_column_int64(st, 12);
	t->retry_ms = sqlite3_column_int64(st, 13);
}

int action_details_read(struct db *db, const struct finished_action *row, struct action_details *ret)
{
	const struct action_group *k = row->kind;
	sqlite3_stmt *st = db_stmt(db, DB_NOTIFIED_ROW, db_i("id", row->id));
	const int r = db_step(st);

	*ret = (struct action_details){ .id = row->id,
					.duty = k->duty,
					.outcome = k->outcome,
					.observe = k->observe,
					.part = k->part,
					.cluster = k->cluster,
					.ns = k->ns,
					.node = k->node };
	read_rest(st, ret);
	(void)sqlite3_reset(st);
	return r < 0 ? r : 0;
}

void action_details_done(struct action_details *t)
{
	free(t->name);
	free(t->why);
	free(t->reason);
	free(t->target);
}
