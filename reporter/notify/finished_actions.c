/* finished_actions.c - see finished_actions.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/notify/finished_actions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fnv.h"
#include "base/str.h"
#include "base/xalloc.h"
#include "model/duties.h"
#include "model/phrases.h"
#include "model/reasons.h"
#include "text/facts_text.h"
#include "text/texts.h"

/* -- kinds -- */

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

static bool are_equal(const struct action_group *a, const struct action_group *b)
{
	return a->part == b->part && a->action == b->action && a->duty == b->duty &&
	       a->outcome == b->outcome && a->observe == b->observe && a->suspended == b->suspended &&
	       strcmp(a->ns, b->ns) == 0 && strcmp(a->node, b->node) == 0 &&
	       strcmp(a->reason, b->reason) == 0 && strcmp(a->cluster, b->cluster) == 0;
}

static const char *keep(struct finished_actions *r, const char *s)
{
	str_list_add(&r->texts, s, strlen(s));
	return r->texts.v[r->texts.n - 1];
}

/* The kind that equals `key`, whose texts are borrowed; it is made when there is none. */
static struct action_group *find_kind(struct finished_actions *r, const struct action_group *key)
{
	const uint64_t h = fnv_text(fnv_text(FNV_START, key->ns), key->node);
	struct action_group **bucket = &r->buckets[h % GROUP_BUCKETS], *k = *bucket;

	while (k && !are_equal(k, key))
		k = k->next;
	if (k)
		return k;
	k = xmemdup(key, sizeof(*key));
	k->cluster = keep(r, key->cluster);
	k->ns = keep(r, key->ns);
	k->node = keep(r, key->node);
	k->reason = keep(r, key->reason);
	k->index = k->count = r->n_kinds;
	k->next = *bucket;
	*bucket = k;
	r->kinds = xgrow(r->kinds, &r->kinds_room, (uint32_t)r->n_kinds, sizeof(struct action_group *));
	r->kinds[r->n_kinds++] = k;
	if (k->part == SECTION_FAILED && *key->ns) {
		struct action_group anywhere = *key;

		anywhere.ns = "";
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

/* From the fact that the worker notes (worker/steps/granted_pod.c). */
static void read_node(sqlite3_stmt *st, int column, char ret[static FACTS_MAX + 1])
{
	const char *proof = sqlite3_column_blob(st, column);
	const struct str bytes = { proof, (size_t)sqlite3_column_bytes(st, column) };
	struct fact_value v = { .text = STR_OF("") };

	(void)facts_find_in(bytes, FACT_NODE, &v);
	(void)snprintf(ret, FACTS_MAX + 1, "%.*s", STR_ARG(v.text));
}

static enum action_kind action_of(sqlite3_stmt *st, int column)
{
	const int64_t action = sqlite3_column_int64(st, column);

	return action >= 0 && action < ACTION__MAX ? (enum action_kind)action : ACTION_DELETE;
}

static void add_row(struct finished_actions *r, sqlite3_stmt *st, const struct action_group *of)
{
	const bool failed = of->part == SECTION_FAILED;
	struct action_group key = *of;
	char node[FACTS_MAX + 1];

	node[0] = '\0';
	if (failed)
		key.action = 0;
	else
		read_node(st, COL_PROOF, node);
	key.suspended = !failed && strcmp(db_text(st, COL_REASON), reason_code(REASON_SUSPENDED)) == 0;
	key.cluster = db_text(st, COL_CLUSTER);
	key.ns = db_text(st, COL_NS);
	key.node = node;
	key.reason = db_text(st, failed ? COL_REASON : COL_WHY);
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
	for (size_t i = 0; i < r->n_kinds; i++)
		free(r->kinds[i]);
	str_list_done(&r->texts);
	free(r->kinds);
	free(r->v);
	*r = (struct finished_actions){ 0 };
}

/* -- one action -- */

int action_details_read(struct db *db, const struct finished_action *row, struct action_details *ret)
{
	const struct db_value id = db_i("id", row->id);
	struct msg m;
	int r = db_read_row(db_stmt(db, DB_OPEN_ROW, id), MSG_INTENT, &m);

	*ret = (struct action_details){ .id = row->id, .kind = row->kind, .intent = m.u.intent };
	if (r >= 0)
		r = db_read_row(db_stmt(db, DB_NOTIFIED_ROW, id, db_i("restore", ACTION_RESTORE)), MSG_RECORD,
				&m);
	ret->result = m.u.record;
	return r < 0 ? r : 0;
}

/* -- titles -- */

static enum tally tally_of(const struct action_group *k)
{
	static const enum tally of_actions[ACTION__MAX] = {
		[ACTION_DELETE] = TALLY_PODS,        [ACTION_FORCE_DELETE] = TALLY_FORCED,
		[ACTION_SCALE_DOWN] = TALLY_SCALED,  [ACTION_RESTORE] = TALLY_RESTORED,
		[ACTION_FRESH_ATTEMPT] = TALLY_PODS,
	};

	if (k->part == SECTION_FAILED)
		return TALLY_FAILED;
	if (k->outcome == OUTCOME_ANNOUNCED)
		return TALLY_ANNOUNCED;
	if (k->suspended)
		return TALLY_SUSPENDED;
	if (k->action == ACTION_DELETE && k->duty == DUTY_EVICTED)
		return TALLY_EVICTED;
	if (k->action == ACTION_DELETE && k->duty == DUTY_FINISHED)
		return TALLY_FINISHED;
	return of_actions[k->action];
}

void action_title_count(struct action_title *t, const struct action_group *k)
{
	t->n[k->observe || k->outcome == OUTCOME_WOULD][tally_of(k)]++;
}

/* "scaled 2 workloads to 0, deleted 5 evicted pods"; "" = none of them. */
static char *counts_of(const struct action_title *t, bool observed, enum language l)
{
	static const enum text says[TALLY__MAX] = {
		[TALLY_SCALED] = TEXT_TITLE_SCALED,     [TALLY_SUSPENDED] = TEXT_TITLE_SUSPENDED,
		[TALLY_RESTORED] = TEXT_TITLE_RESTORED, [TALLY_ANNOUNCED] = TEXT_TITLE_ANNOUNCED,
		[TALLY_FORCED] = TEXT_TITLE_FORCED,     [TALLY_EVICTED] = TEXT_TITLE_EVICTED,
		[TALLY_FINISHED] = TEXT_TITLE_FINISHED, [TALLY_PODS] = TEXT_TITLE_PODS,
		[TALLY_FAILED] = TEXT_TITLE_FAILED,
	};
	char *ret = xstrdup("");

	for (enum tally k = 0; k < TALLY__MAX; k++) {
		struct facts f = { 0 };

		if (t->n[observed][k] == 0)
			continue;
		facts_count(&f, FACT_SEEN, (int64_t)t->n[observed][k]);
		_cleanup_free_ char *count = facts_fill(text_in(says[k], l), &f, NULL), *before = ret;

		ret = *before ? xasprintf(phrase(NEWS_AND, l), before, count) : xstrdup(count);
	}
	return ret;
}

char *action_title_text(const struct action_title *t, const char *cluster, enum language l)
{
	_cleanup_free_ char *prefix = *cluster ? xasprintf("[%s] ", cluster) : xstrdup("");
	_cleanup_free_ char *done = counts_of(t, false, l), *observed = counts_of(t, true, l);
	_cleanup_free_ char *what =
		*done ? xstrdup(done) : xasprintf(phrase(NEWS_OBSERVED_TITLE, l), observed);

	if (*what >= 'a' && *what <= 'z')
		*what = (char)(*what - 'a' + 'A');
	return xconcat(prefix, what, NULL);
}

bool action_title_warns(const struct action_title *t)
{
	uint64_t n = t->n[true][TALLY_FAILED];

	for (enum tally k = 0; k < TALLY__MAX; k++)
		if (k != TALLY_EVICTED && k != TALLY_FINISHED && k != TALLY_PODS)
			n += t->n[false][k];
	return n > 0;
}
