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
#include "cli/commands/history_summary.h"
#include "cli/instance/answers.h"
#include "cli/instance/ctl.h"
#include "cli/instance/leaders.h"
#include "cli/instance/history_rows.h"
#include "cli/view/table.h"
#include "cli/view/json.h"
#include "text/short_line.h"

#define ASK_MS     UINT64_C(30000)
#define FOLLOW_MS  (15 * 60 * INT64_C(1000)) /* changes that are asked for again and again */
#define FOLLOW_MAX 10000

/* A refusal by the watcher is no action yet: it is what the duty would have done. */
static uint64_t action_of(const struct msg_ctl_history_row *h)
{
	return h->id ? h->action : duty_desc((enum duty)h->duty)->action;
}

/* A row of one instance. */
struct item {
	const struct history_rows *of;
	const struct msg_ctl_history_row *h;
	const char *replica; /* NULL: there is one instance */
};

/* What is printed, the newest first. */
struct items {
	struct item *v;
	size_t n;
};

static void add_items(struct items *all, const struct history_rows *of, const char *replica)
{
	all->v = xreallocarray(all->v, all->n + of->n + 1, sizeof(*all->v));
	for (size_t i = 0; i < of->n; i++)
		all->v[all->n++] = (struct item){ of, &of->v[i], replica };
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

	json_object_set_new(row, "outcome", json_string(outcome_name(history_outcome(h))));
	json_object_set_new(row, "action", json_string(output_action(action_of(h))));
	json_object_set_new(row, "quotes", json_of_quotes(i->of->quotes, i->of->n_quotes, h->id));
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
		{ "CLUSTER", 3, COLUMN_ALIKE | COLUMN_BELOW },
		{ "POD", 0, 0 },
		{ "DUTY", 2, COLUMN_BELOW },
		{ "OUTCOME", 0, 0 },
		{ "REASON", 4, COLUMN_BELOW },
		{ "TARGET", 1, COLUMN_BELOW },
		{ "WHY", 1, COLUMN_BELOW },
		{ "DETAIL", 0, COLUMN_WIDE },
	};
	struct table *t = table_new(columns, ARRAY_SIZE(columns));

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
		table_add(t, outcome_color(h), "%s%s", outcome_name(history_outcome(h)),
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
	table_free(&t);
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

static bool holds(const struct history_rows *rows, const struct msg_ctl_history_row *h)
{
	for (size_t i = 0; i < rows->n; i++)
		if (is_same(&rows->v[i], h))
			return true;
	return false;
}

/* Into new, what rows hold and last do not; no action that began before since_ms. It borrows the quotes. */
static void take_new(const struct history_rows *rows, const struct history_rows *last, int64_t since_ms,
		     struct history_rows *new)
{
	new->v = xreallocarray(NULL, rows->n + 1, sizeof(*new->v));
	new->quotes = rows->quotes;
	new->n_quotes = rows->n_quotes;
	for (size_t i = 0; i < rows->n; i++)
		if (!holds(last, &rows->v[i]) && (!rows->v[i].id || rows->v[i].intent_at >= since_ms))
			new->v[new->n++] = rows->v[i];
}

static void print_items(const struct options *o, const struct items *rows, const struct table_view *view)
{
	if (o->output == OUTPUT_JSON && o->follow)
		print_json_lines(rows);
	else if (o->output == OUTPUT_JSON)
		print_json(rows);
	else if (rows->n > 0 || !view->bare)
		print_table(rows, view);
	(void)fflush(stdout);
}

static void print(const struct options *o, const struct history_rows *rows, const struct table_view *view)
{
	struct items all = { 0 };

	add_items(&all, rows, NULL);
	print_items(o, &all, view);
	free(all.v);
}

static void keep_named(const struct options *o, struct history_rows *rows)
{
	size_t n = 0;

	for (size_t i = 0; i < rows->n; i++)
		if (history_is_meant(o, &rows->v[i]))
			rows->v[n++] = rows->v[i];
	rows->n = n;
}

static int ask(const struct options *o, const char *socket, const struct msg *request,
	       struct history_rows *ret)
{
	const int code = ctl_ask(socket, request, ASK_MS, history_rows_take, ret);

	keep_named(o, ret);
	return code;
}

/* Ask for what has changed lately, however long ago it began. */
static int ask_recent(const struct options *o, const struct msg *request, struct history_rows *ret)
{
	struct msg m = *request;
	struct msg_ctl_history *asked = &m.u.ctl_history;

	asked->limit = FOLLOW_MAX;
	asked->since = clock_wall_ms() - FOLLOW_MS;
	asked->changed = true;
	return ask(o, o->socket, &m, ret);
}

/* Every second what is new; until it is interrupted, nobody reads it any more, or the instance is gone. */
static int follow(const struct options *o, const struct msg *request, struct history_rows *last)
{
	struct table_view view = options_view(o);
	int code = EXIT_CODE_OK;

	view.bare = true;
	while (code == EXIT_CODE_OK && !ferror(stdout)) {
		struct history_rows rows = { 0 }, new = { 0 };

		(void)sleep(1);
		code = ask_recent(o, request, &rows);
		take_new(&rows, last, o->since_ms, &new);
		print(o, &new, &view);
		free(new.v);
		if (code == EXIT_CODE_OK) {
			history_rows_done(last);
			*last = rows;
		} else {
			history_rows_done(&rows);
		}
	}
	return code;
}

/* The newest of all, in one order. One that does not answer says why on stderr. The code of the first. */
static int print_joined(const struct options *o, const struct msg *request, const struct table_view *view)
{
	struct history_rows rows[1 + ANSWERS_MAX] = { 0 };
	struct items all = { 0 };
	int first = EXIT_CODE_OK;

	for (size_t i = 0; i <= answers_count(); i++) {
		const int code = ask(o, answers_socket(o->socket, i), request, &rows[i]);

		if (code == EXIT_CODE_OK)
			add_items(&all, &rows[i], answers_replica(i));
		first = first == EXIT_CODE_OK ? code : first;
	}
	if (all.n > 0)
		qsort(all.v, all.n, sizeof(all.v[0]), compare_times);
	if (all.n > request->u.ctl_history.limit)
		all.n = request->u.ctl_history.limit;
	print_items(o, &all, view);
	free(all.v);
	for (size_t i = 0; i <= answers_count(); i++)
		history_rows_done(&rows[i]);
	return first;
}

int command_history(const struct options *o)
{
	struct msg request = { .type = MSG_CTL_HISTORY,
			       .u.ctl_history = { .since = o->since_ms,
						  .limit = o->count ? (uint64_t)o->count : 200,
						  .duty = o->duty,
						  .outcomes = o->outcome < 0 ? OUTCOMES_ALL
									     : UINT64_C(1) << o->outcome,
						  .refusals = o->refusals } };
	const struct table_view view = options_view(o);
	struct history_rows rows = { 0 }, earlier = { 0 };

	request.u.ctl_history.quotes = o->output == OUTPUT_JSON;
	int code = EXIT_CODE_OK;

	if (o->namespaces.n == 1)
		msg_set(&request, ctl_history.ns, o->namespaces.v[0], strlen(o->namespaces.v[0]));
	if (o->clusters.n == 1)
		msg_set(&request, ctl_history.cluster_name, o->clusters.v[0], strlen(o->clusters.v[0]));
	if (o->target)
		msg_set(&request, ctl_history.target, o->target, strlen(o->target));
	if (o->summary || o->by >= 0)
		return o->follow ? command_misuse(o, "%s", TEXT(HISTORY_ONCE))
				 : history_summarize(o, &request);
	if (answers_count() > 0 && !o->follow)
		return print_joined(o, &request, &view);
	if (o->follow) /* asked for first: what comes between the two answers is in the second */
		code = ask_recent(o, &request, &earlier);
	if (code == EXIT_CODE_OK)
		code = ask(o, o->socket, &request, &rows);
	if (code == EXIT_CODE_OK)
		print(o, &rows, &view);
	if (code == EXIT_CODE_OK && o->output != OUTPUT_JSON)
		leaders_tell_others(o->socket, &view);
	if (code == EXIT_CODE_OK && o->follow) {
		history_rows_add(&rows, &earlier);
		code = follow(o, &request, &rows);
	}
	history_rows_done(&earlier);
	history_rows_done(&rows);
	return code;
}
