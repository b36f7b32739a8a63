/* history.c - `history`: what was done, refused or left open, newest last (the reporter sends the newest
 * first). */
// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "model/duties.h"
#include "base/clock.h"
#include "base/exit.h"
#include "base/rfc3339.h"
#include "base/xalloc.h"
#include "cli/view/output.h"
#include "cli/commands/command.h"
#include "cli/instance/answers.h"
#include "cli/instance/ctl.h"
#include "cli/instance/instance_status.h"
#include "cli/view/table.h"
#include "cli/view/json.h"
#include "text/short_line.h"

#define ASK_MS     UINT64_C(30000)
#define ROWS_MAX   100000                    /* of a summary */
#define FOLLOW_MS  (15 * 60 * INT64_C(1000)) /* changes that are asked for again and again */
#define FOLLOW_MAX 10000

/* A refusal by the watcher is no action yet: it is what the duty would have done. */
static uint64_t action_of(const struct msg_ctl_history_row *h)
{
	return h->id ? h->action : duty_desc((enum duty)h->duty)->action;
}

/* OUTCOME__MAX: open. A refusal by the watcher is refused, too. */
static enum outcome outcome_of(const struct msg_ctl_history_row *h)
{
	return h->outcome >= 0 ? (enum outcome)h->outcome : h->id ? OUTCOME__MAX : OUTCOME_REFUSED;
}

/* Several names of one kind are asked for as all: is the row of one that was meant? */
static bool is_meant(const struct options *o, const struct msg_ctl_history_row *h)
{
	return option_names_take(&o->clusters, h->cluster_name) && option_names_take(&o->namespaces, h->ns);
}

/* A row of one instance. */
struct item {
	const struct rows *of;
	const struct msg_ctl_history_row *h;
	const char *replica; /* NULL: there is one instance */
};

/* What is printed, the newest first. */
struct items {
	struct item *v;
	size_t n;
};

static void add_item(struct items *all, const struct rows *of, size_t i, const char *replica)
{
	all->v = xreallocarray(all->v, all->n + 1, sizeof(*all->v));
	all->v[all->n++] = (struct item){ of, &of->ctl_history_row.v[i], replica };
}

/* All that were meant. */
static void add_items(const struct options *o, struct items *all, const struct rows *of, const char *replica)
{
	for (size_t i = 0; i < of->ctl_history_row.n; i++)
		if (is_meant(o, &of->ctl_history_row.v[i]))
			add_item(all, of, i, replica);
}

/* As the reporter orders them. */
static int compare_times(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	const int64_t s = x->h->id ? x->h->intent_at : x->h->result_at,
		      t = y->h->id ? y->h->intent_at : y->h->result_at;

	if (s != t || x->of != y->of)
		return (s < t) - (s > t);
	return (x->h > y->h) - (x->h < y->h);
}

static json_t *row_json(const struct item *i)
{
	const struct msg_ctl_history_row *h = i->h;
	json_t *row = json_of(MSG_CTL_HISTORY_ROW, h);

	json_object_set_new(row, "outcome", json_string(outcome_name(outcome_of(h))));
	json_object_set_new(row, "action", json_string(output_action(action_of(h))));
	json_object_set_new(row, "quotes",
			    json_of_quotes(i->of->ctl_quote_row.v, i->of->ctl_quote_row.n, h->id));
	if (i->replica)
		json_object_set_new(row, "replica", json_string(i->replica));
	return row;
}

/* An object a line. */
static void print_json_lines(const struct items *rows)
{
	output_expect_json(false);
	for (size_t i = rows->n; i-- > 0;) {
		json_t *row = row_json(&rows->v[i]);

		json_object_set_new(row, "apiVersion", json_string(OUTPUT_API_VERSION));
		(void)json_dumpf(row, stdout, JSON_COMPACT);
		(void)fputc('\n', stdout);
		json_decref(row);
	}
}

static void print_json(const struct items *rows)
{
	json_t *root = json_array();

	for (size_t i = rows->n; i-- > 0;)
		json_array_append_new(root, row_json(&rows->v[i]));
	output_json(root);
}

static enum table_color outcome_color(const struct msg_ctl_history_row *h)
{
	switch (h->outcome) {
	case OUTCOME_DONE:
	case OUTCOME_GONE:
		return COLOR_GOOD;
	case OUTCOME_FORBIDDEN:
	case OUTCOME_FAILED:
		return COLOR_BAD;
	default:
		return COLOR_WARN;
	}
}

/* "deployments.apps/shop/web (had 3)"; on a terminal nothing where it is the pod that stands there already.
 */
static void add_target(struct table *t, const struct msg_ctl_history_row *h, const struct table_view *view)
{
	char pod[sizeof(h->target)];

	(void)snprintf(pod, sizeof(pod), "pods/%s/%s", h->ns, h->name);
	const char *target = view->width && strcmp(pod, h->target) == 0 ? "" : h->target;

	if (h->replicas >= 0)
		table_add(t, COLOR_NONE, TEXT(HAD_REPLICAS), target, h->replicas);
	else
		table_add(t, COLOR_NONE, "%s", target);
}

static void print_table(const struct items *rows, const struct table_view *view)
{
	static const struct table_column columns[] = {
		{ "ID", 0, 0 },
		{ "WHEN", 0, 0 },
		{ "REPLICA", 5, COLUMN_FEW | COLUMN_BELOW },
		{ "CLUSTER", 3, COLUMN_NAMED | COLUMN_BELOW },
		{ "POD", 0, 0 },
		{ "DUTY", 2, COLUMN_BELOW },
		{ "OUTCOME", 0, 0 },
		{ "REASON", 4, COLUMN_BELOW },
		{ "TARGET", 1, COLUMN_BELOW },
		{ "WHY", 1, COLUMN_BELOW },
		{ "DETAIL", 0, COLUMN_WIDE },
	};
	_cleanup_(table_free) struct table *t = table_new(columns, ARRAY_SIZE(columns));

	for (size_t i = rows->n; i-- > 0;) {
		const struct msg_ctl_history_row *h = rows->v[i].h;
		char when[RFC3339_MAX], duty[OUTPUT_DUTY_MAX];
		struct facts all;

		history_row_facts(h, &all);
		output_time(view, h->result_at ? h->result_at : h->intent_at, when);
		if (h->id)
			table_add(t, COLOR_NONE, "%" PRIu64, h->id);
		else
			table_add(t, COLOR_NONE, "-");
		table_add(t, COLOR_DIM, "%s", when);
		table_add(t, COLOR_NONE, "%s", rows->v[i].replica ? rows->v[i].replica : "");
		table_add(t, COLOR_NONE, "%s", h->cluster_name);
		table_add(t, COLOR_NONE, "%s/%s", h->ns, h->name);
		output_duty(duty, sizeof(duty), h->duty, action_of(h));
		table_add(t, COLOR_NONE, "%s", duty);
		table_add(t, outcome_color(h), "%s%s", outcome_name(outcome_of(h)),
			  h->observe ? " (observe)" : "");
		table_add(t, COLOR_NONE, "%s", h->reason);
		add_target(t, h, view);
		_cleanup_free_ char *at_a_glance =
			short_line(&h->detail, &h->evidence, language_of_environment());
		_cleanup_free_ char *detail = output_facts(&all, view);
		const bool glance = *at_a_glance && history_row_acted(h);

		table_add(t, COLOR_DIM, "%s", glance ? at_a_glance : "");
		table_add(t, COLOR_DIM, "%s", glance ? "" : detail);
	}
	table_print(t, stdout, view);
}

/* -- following -- */

/* An action counts again when it has ended; a refusal that repeats does not. */
static bool is_same(const struct msg_ctl_history_row *a, const struct msg_ctl_history_row *b)
{
	if (a->id || b->id)
		return a->id == b->id && a->outcome == b->outcome;
	return a->duty == b->duty && strcmp(a->uid, b->uid) == 0 && strcmp(a->reason, b->reason) == 0 &&
	       strcmp(a->cluster_name, b->cluster_name) == 0;
}

static bool holds(const struct rows *rows, const struct msg_ctl_history_row *h)
{
	for (size_t i = 0; i < rows->ctl_history_row.n; i++)
		if (is_same(&rows->ctl_history_row.v[i], h))
			return true;
	return false;
}

static void print_items(const struct options *o, const struct items *rows, const struct table_view *view)
{
	if (o->output == OUTPUT_JSON && o->follow)
		print_json_lines(rows);
	else if (o->output == OUTPUT_JSON)
		print_json(rows);
	else if (rows->n > 0 || !view->bare)
		print_table(rows, view);
	if (o->follow)
		(void)fflush(stdout);
}

/* Ask for what has changed lately, however long ago it began. */
static int ask_recent(const struct options *o, const struct msg *request, struct rows *ret)
{
	struct msg m = *request;
	struct msg_ctl_history *asked = &m.u.ctl_history;

	asked->limit = FOLLOW_MAX;
	asked->since = clock_wall_ago(FOLLOW_MS);
	asked->changed = true;
	return ctl_ask(o->socket, &m, ASK_MS, rows_take, ret);
}

/* Every second what is new, which neither `earlier` nor `last` holds, but no action that began before
 * --since; until it is interrupted, nobody reads it any more, or the instance is gone. */
static int follow(const struct options *o, const struct msg *request, struct rows *earlier, struct rows *last)
{
	struct table_view view = options_view(o);
	int code = EXIT_CODE_OK;

	view.bare = true;
	while (code == EXIT_CODE_OK && !ferror(stdout)) {
		struct rows rows = { 0 };
		struct items new = { 0 };

		(void)sleep(1);
		code = ask_recent(o, request, &rows);
		for (size_t i = 0; i < rows.ctl_history_row.n; i++) {
			const struct msg_ctl_history_row *h = &rows.ctl_history_row.v[i];

			if (is_meant(o, h) && !holds(earlier, h) && !holds(last, h) &&
			    (!h->id || h->intent_at >= o->since_ms))
				add_item(&new, &rows, i, NULL);
		}
		print_items(o, &new, &view);
		free(new.v);
		rows_done(earlier);
		rows_done(last);
		*last = rows;
	}
	return code;
}

/* Of each instance; of several the newest in one order. One that does not answer says why on stderr. The code
 * of the first. */
static int print_all(const struct options *o, const struct msg *request,
		     struct rows rows[static 1 + ANSWERS_MAX])
{
	const struct table_view view = options_view(o);
	const bool joined = answers_count() > 0 && !o->follow;
	struct items all = { 0 };
	int first = EXIT_CODE_OK;

	for (size_t i = 0; i == 0 || (joined && i <= answers_count()); i++) {
		const int code = ctl_ask(answers_socket(o->socket, i), request, ASK_MS, rows_take, &rows[i]);

		if (code == EXIT_CODE_OK)
			add_items(o, &all, &rows[i], joined ? answers_replica(i) : NULL);
		first = first == EXIT_CODE_OK ? code : first;
	}
	if (joined && all.n > 0)
		qsort(all.v, all.n, sizeof(all.v[0]), compare_times);
	if (joined && all.n > request->u.ctl_history.limit)
		all.n = request->u.ctl_history.limit;
	if (joined || first == EXIT_CODE_OK)
		print_items(o, &all, &view);
	free(all.v);
	return first;
}

/* -- counted: a line for each duty, namespace, node, cluster or reason -- */

struct group {
	char name[254];
	uint64_t n[OUTCOME__MAX + 1]; /* by outcome; the last: open */
	uint64_t all;
	int64_t last_ms;
};

struct summary {
	const struct options *o;
	enum option_by by;
	json_t *places; /* in v, by name */
	struct group *v;
	size_t n;
};

static int compare_counts(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	return x->all != y->all ? (x->all < y->all) - (x->all > y->all) : strcmp(x->name, y->name);
}

/* The name of the line that a row is counted in; "-" where the evidence names no node: an eviction is no
 * matter of its node alone. */
static void name_line(const struct msg_ctl_history_row *h, enum option_by by, char ret[static 254])
{
	const char *const names[] = {
		[BY_DUTY] = duty_name((enum duty)h->duty),
		[BY_NAMESPACE] = h->ns,
		[BY_NODE] = "-",
		[BY_CLUSTER] = h->cluster_name,
		[BY_REASON] = h->reason,
	};
	struct str name = STR_C(names[by]);
	struct fact_value v;
	struct facts all;

	if (by == BY_NODE) {
		history_row_facts(h, &all);
		name = facts_find(&all, FACT_NODE, &v) ? v.text : name;
	}
	(void)snprintf(ret, 254, "%.*s", STR_ARG(name));
}

static struct group *group_of(struct summary *s, const char *name)
{
	const json_t *place = json_object_get(s->places, name);

	if (place)
		return &s->v[json_integer_value(place)];
	json_object_set_new(s->places, name, json_integer((json_int_t)s->n));
	s->v = xreallocarray(s->v, s->n + 1, sizeof(*s->v));
	s->v[s->n] = (struct group){ 0 };
	(void)snprintf(s->v[s->n].name, sizeof(s->v[0].name), "%s", name);
	return &s->v[s->n++];
}

static void take(void *ctx, const struct msg *m)
{
	const struct msg_ctl_history_row *h = &m->u.ctl_history_row;
	struct summary *s = ctx;
	char name[254];

	if (m->type != MSG_CTL_HISTORY_ROW || !is_meant(s->o, h))
		return;
	name_line(h, s->by, name);
	struct group *g = group_of(s, name);
	const int64_t at = h->result_at ? h->result_at : h->intent_at;
	const uint64_t times = !h->id && h->seen > 1 ? h->seen : 1; /* a refusal that repeats is one row */

	g->n[outcome_of(h)] += times;
	g->all += times;
	g->last_ms = at > g->last_ms ? at : g->last_ms;
}

/* -- printing -- */

static void print_summary_json(const struct summary *s)
{
	json_t *root = json_array();

	for (size_t i = 0; i < s->n; i++) {
		const struct group *g = &s->v[i];
		json_t *outcomes = json_object();

		for (enum outcome k = 0; k <= OUTCOME__MAX; k++)
			if (g->n[k] > 0)
				json_object_set_new(outcomes, outcome_name(k),
						    json_integer((json_int_t)g->n[k]));
		json_array_append_new(root, json_pack("{s:s, s:I, s:o, s:o}",
						      option_value_at(OPTION_BY, (int)s->by), g->name,
						      "actions", (json_int_t)g->all, "outcomes", outcomes,
						      "last", json_time(g->last_ms)));
	}
	output_json(root);
}

/* "done 12, refused 3". Owned by the caller. */
static char *outcomes_text(const struct group *g)
{
	char *ret = NULL;

	for (enum outcome k = 0; k <= OUTCOME__MAX; k++) {
		_cleanup_free_ char *one = xasprintf("%s %" PRIu64, outcome_name(k), g->n[k]);

		if (g->n[k] > 0)
			xappend(&ret, ", ", one);
	}
	return ret;
}

static void print_summary(const struct summary *s, const struct table_view *view)
{
	static const char *const names[] = { "DUTY", "NAMESPACE", "NODE", "CLUSTER", "REASON" };
	const struct table_column columns[] = {
		{ names[s->by], 0, 0 },
		{ "ACTIONS", 0, 0 },
		{ "LAST", 1, COLUMN_BELOW },
		{ "OUTCOMES", 0, COLUMN_FLOWS },
	};
	_cleanup_(table_free) struct table *t = table_new(columns, ARRAY_SIZE(columns));

	for (size_t i = 0; i < s->n; i++) {
		_cleanup_free_ char *outcomes = outcomes_text(&s->v[i]);
		char when[RFC3339_MAX];

		output_time(view, s->v[i].last_ms, when);
		table_add(t, COLOR_NONE, "%s", s->v[i].name);
		table_add(t, COLOR_NONE, "%" PRIu64, s->v[i].all);
		table_add(t, COLOR_DIM, "%s", when);
		table_add(t, COLOR_NONE, "%s", outcomes);
	}
	table_print(t, stdout, view);
}

/* Ask for the rows, count them as they arrive, and print, most first: an exit code. */
static int summarize(const struct options *o, const struct msg *request)
{
	const struct table_view view = options_view(o);
	struct summary s = { .o = o,
			     .by = o->by < 0 ? BY_DUTY : (enum option_by)o->by,
			     .places = json_object() };
	struct msg m = *request;

	m.u.ctl_history.limit = o->count ? (uint64_t)o->count : ROWS_MAX;
	int code = EXIT_CODE_OK;

	for (size_t i = 0; code == EXIT_CODE_OK && i <= answers_count(); i++)
		code = ctl_ask(answers_socket(o->socket, i), &m, ASK_MS, take, &s);
	if (s.n > 0)
		qsort(s.v, s.n, sizeof(s.v[0]), compare_counts);
	if (code == EXIT_CODE_OK && o->output == OUTPUT_JSON)
		print_summary_json(&s);
	else if (code == EXIT_CODE_OK)
		print_summary(&s, &view);
	json_decref(s.places);
	free(s.v);
	return code;
}

/* -- the command -- */

int command_history(const struct options *o)
{
	struct msg request = { .type = MSG_CTL_HISTORY,
			       .u.ctl_history = { .since = o->since_ms,
						  .limit = o->count ? (uint64_t)o->count : 200,
						  .duty = o->duty,
						  .outcomes = o->outcome < 0 ? OUTCOMES_ALL
									     : UINT64_C(1) << o->outcome,
						  .refusals = o->refusals,
						  .quotes = o->output == OUTPUT_JSON } };
	struct rows rows[1 + ANSWERS_MAX] = { 0 }, earlier = { 0 };
	int code = EXIT_CODE_OK;

	if (o->namespaces.n == 1)
		msg_set(&request, ctl_history.ns, o->namespaces.v[0], strlen(o->namespaces.v[0]));
	if (o->clusters.n == 1)
		msg_set(&request, ctl_history.cluster_name, o->clusters.v[0], strlen(o->clusters.v[0]));
	if (o->target)
		msg_set(&request, ctl_history.target, o->target, strlen(o->target));
	if (o->summary || o->by >= 0)
		return o->follow ? command_misuse(o, "%s", TEXT(HISTORY_ONCE)) : summarize(o, &request);
	if (o->follow) /* asked for first: what comes between the two answers is in the second */
		code = ask_recent(o, &request, &earlier);
	if (code == EXIT_CODE_OK)
		code = print_all(o, &request, rows);
	if (code == EXIT_CODE_OK)
		leaders_tell_others(o);
	if (code == EXIT_CODE_OK && o->follow)
		code = follow(o, &request, &earlier, &rows[0]);
	rows_done(&earlier);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		rows_done(&rows[i]);
	return code;
}
