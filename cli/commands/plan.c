/* plan.c - `plan`: what would be done now and when next, by the code that acts: the watchers judge, then a
 * worker does a dry run of each action. */
// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/exit.h"
#include "base/rfc3339.h"
#include "base/xalloc.h"
#include "cli/commands/command.h"
#include "cli/instance/ctl.h"
#include "cli/instance/instance_status.h"
#include "cli/instance/answers.h"
#include "cli/instance/plan_rows.h"
#include "cli/view/output.h"
#include "cli/instance/start.h"
#include "cli/view/table.h"
#include "cli/view/json.h"
#include "text/facts_text.h"
#include "model/duties.h"
#include "model/troubles.h"
#include "text/short_line.h"

static const struct {
	const char *name, *column;
	enum table_color color;
} whens[PLAN__MAX] = {
	[PLAN_NOW] = { "now", "NOW", COLOR_GOOD },
	[PLAN_LATER] = { "later", "LATER", COLOR_NONE },
	[PLAN_BLOCKED] = { "blocked", "BLOCKED", COLOR_WARN },
	[PLAN_REFUSED] = { "refused", "REFUSED", COLOR_BAD },
	[PLAN_GONE] = { "gone", "GONE", COLOR_DIM },
	[PLAN_UNCLEAR] = { "unclear", "UNCLEAR", COLOR_BAD },
};

static const char *reason_of(const struct dry_run_row *r)
{
	return dry_run_was_declined(r) ? r->dry_run.reason : r->row.reason;
}

/* -- printing -- */

typedef size_t counts[DUTY__MAX][PLAN__MAX];

static void count(const struct plan *p, counts ret)
{
	memset(ret, 0, sizeof(counts));
	for (size_t i = 0; i < p->rows.n; i++)
		ret[p->rows.v[i].row.duty][plan_when(&p->rows.v[i])]++;
}

/* -- JSON -- */

static json_t *row_json(const struct plan *p, const struct dry_run_row *r)
{
	json_t *row = json_of(MSG_CTL_PLAN_ROW, &r->row);

	json_object_set_new(row, "when", json_string(whens[plan_when(r)].name));
	json_object_set_new(row, "cluster", json_string(p->clusters[r->row.cluster].name));
	json_object_set_new(row, "reason", json_string(reason_of(r)));
	json_object_set_new(row, "stoppedBy",
			    r->stopped ? json_string(trouble_desc((enum trouble)r->stopped->trouble)->name)
				       : json_null());
	dry_run_set_json(row, r);
	return json_explain_reason(row);
}

static json_t *counts_json(const struct plan *p)
{
	json_t *all = json_object();
	counts n;

	count(p, n);
	for (size_t i = 0; i < DUTY__MAX; i++) {
		const enum duty d = duty_at(i);
		json_t *one = json_object();

		for (int w = 0; w < PLAN__MAX; w++)
			json_object_set_new(one, whens[w].name, json_integer((json_int_t)n[d][w]));
		if (duty_acts(d))
			json_object_set(all, duty_name(d), one);
		json_decref(one);
	}
	return all;
}

/* Clusters of which nothing is in the rows. */
static json_t *left_out_json(const struct plan *p)
{
	json_t *names = json_array();

	for (uint64_t i = 0; i < p->n_clusters; i++)
		if (p->clusters[i].left_out && *p->clusters[i].name)
			json_array_append_new(names, json_string(p->clusters[i].name));
	return names;
}

static json_t *unread_json(const struct plan_cluster *c)
{
	_cleanup_free_ char *why = facts_render_in(&c->unread, LANGUAGE_EN);

	return *why ? json_string(why) : json_null();
}

static json_t *seen_json(const struct plan *p)
{
	json_t *all = json_array();

	for (const struct plan_cluster *c = p->clusters; c < p->clusters + p->n_clusters; c++)
		if (c->has_seen)
			json_array_append_new(
				all, json_pack("{s:s, s:o, s:I, s:I, s:I, s:I}", "cluster", c->name, "unread",
					       unread_json(c), "pods", (json_int_t)c->seen.pods, "namespaces",
					       (json_int_t)c->seen.namespaces, "otherPods",
					       (json_int_t)c->seen.other_pods, "otherNamespaces",
					       (json_int_t)c->seen.other_namespaces));
	return all;
}

static void print_json(const struct plan *p)
{
	json_t *rows = json_array(), *stops = json_array();

	for (size_t i = 0; i < p->rows.n; i++)
		json_array_append_new(rows, row_json(p, &p->rows.v[i]));
	for (size_t i = 0; i < p->n_stops; i++)
		json_array_append_new(stops, json_of(MSG_TROUBLE_ROW, &p->stops[i]));
	output_json(json_pack("{s:o, s:s, s:o, s:o, s:o, s:o, s:o}", "takenAt", json_time(p->taken_ms),
			      "mode", json_mode(p->observe), "leftOut", left_out_json(p), "stops", stops,
			      "looked", seen_json(p), "counts", counts_json(p), "items", rows));
}

/* -- table -- */

/* A duty that is off and has no row is no line. */
static bool is_shown(const struct plan *p, enum duty d, const size_t n[static PLAN__MAX])
{
	size_t rows = 0;

	for (int w = 0; w < PLAN__MAX; w++)
		rows += n[w];
	return duty_acts(d) && (rows > 0 || (p->duties >> d & 1 && (p->o->duty < 0 || p->o->duty == d)));
}

static void print_counts(const struct plan *p, const struct table_view *view)
{
	struct table_column columns[1 + PLAN__MAX] = { { "DUTY", 0, 0 } };
	size_t n_columns = 1, of[PLAN__MAX], sum[PLAN__MAX] = { 0 };
	counts n;

	count(p, n);
	for (size_t d = 0; d < DUTY__MAX; d++)
		for (int w = 0; w < PLAN__MAX; w++)
			sum[w] += n[d][w];
	for (size_t w = 0; w < PLAN__MAX; w++) { /* a column of zeros is none */
		of[n_columns - 1] = w;
		columns[n_columns] = (struct table_column){ whens[w].column, 0, 0 };
		n_columns += sum[w] > 0;
	}
	_cleanup_(table_free) struct table *t = table_new(columns, n_columns);

	for (size_t i = 0; i < DUTY__MAX; i++) {
		const enum duty d = duty_at(i);

		if (!is_shown(p, d, n[d]))
			continue;
		table_add(t, COLOR_NONE, "%s", duty_name(d));
		for (size_t column = 1; column < n_columns; column++) {
			const size_t v = n[d][of[column - 1]];

			table_add(t, v ? COLOR_NONE : COLOR_DIM, "%zu", v);
		}
	}
	table_print(t, stdout, view);
}

static void add_why(struct table *t, const struct dry_run_row *r, const struct table_view *view)
{
	const bool other = dry_run_was_declined(r);
	_cleanup_free_ char *refused = dry_run_refusal_text(r, view);
	_cleanup_free_ char *facts = output_facts(other ? &r->dry_run.detail : &r->row.evidence, view);
	const char *say = output_sentence(reason_of(r), language_of_environment());
	_cleanup_free_ char *at_a_glance =
		r->dry_run.id && !other ? short_line_beside(&r->row.evidence, &r->dry_run.detail,
							    &r->dry_run.evidence, language_of_environment())
					: xstrdup("");

	table_add(t, COLOR_NONE, "%s%s%s%s%s%s%s%s",
		  r->stopped ? trouble_desc((enum trouble)r->stopped->trouble)->name : "",
		  r->stopped ? TEXT(SEMICOLON) : "", say, say[0] && facts[0] ? TEXT(COLON) : "", facts,
		  *at_a_glance ? TEXT(SEMICOLON) : "", at_a_glance, refused);
}

static void print_rows(const struct plan *p, const struct table_view *view)
{
	static const struct table_column columns[] = {
		{ "WHEN", 0, 0 },
		{ "CLUSTER", 4, COLUMN_NAMED | COLUMN_BELOW },
		{ "POD", 0, 0 },
		{ "DUTY", 3, COLUMN_BELOW },
		{ "REASON", 5, COLUMN_BELOW },
		{ "TARGET", 2, COLUMN_BELOW },
		{ "WHY", 1, COLUMN_BELOW },
		{ "REQUEST", 0, COLUMN_WIDE },
	};
	_cleanup_(table_free) struct table *t = table_new(columns, ARRAY_SIZE(columns));

	for (size_t i = 0; i < p->rows.n; i++) {
		const struct dry_run_row *r = &p->rows.v[i];
		const enum plan_when w = plan_when(r);
		const bool comes = r->row.until && (w == PLAN_LATER || w == PLAN_BLOCKED);
		char until[RFC3339_MAX], duty[OUTPUT_DUTY_MAX];

		output_time(view, r->row.until, until);
		table_add(t, whens[w].color, "%s%s%s", whens[w].name, comes ? " " : "", comes ? until : "");
		table_add(t, COLOR_NONE, "%s", p->clusters[r->row.cluster].name);
		table_add(t, COLOR_NONE, "%s/%s", r->row.ns, r->row.name);
		output_duty(duty, sizeof(duty), r->row.duty, r->row.action);
		table_add(t, COLOR_NONE, "%s", duty);
		table_add(t, COLOR_NONE, "%s", reason_of(r));
		if (r->dry_run.id && r->dry_run.replicas >= 0)
			table_add(t, COLOR_NONE, TEXT(HAS_REPLICAS), r->dry_run.target, r->dry_run.replicas);
		else
			table_add(t, COLOR_NONE, "%s", r->dry_run.target[0] ? r->dry_run.target : "-");
		add_why(t, r, view);
		table_add(t, COLOR_DIM, "%s", r->dry_run.id ? r->dry_run.request : "");
	}
	table_print(t, stdout, view);
}

/* The duties that act and are on, or the one that was asked for; NULL: none. */
static char *duties_text(const struct plan *p)
{
	char *text = NULL;

	for (size_t i = 0; i < DUTY__MAX; i++) {
		const enum duty d = duty_at(i);

		if (duty_acts(d) && p->duties >> d & 1 && (p->o->duty < 0 || p->o->duty == d))
			xappend(&text, ", ", duty_name(d));
	}
	return text;
}

static void print_unworked(const struct msg_ctl_plan_seen *seen, const struct table_view *view)
{
	_cleanup_free_ char *pods = xasprintf(TEXT_OF(PLAN_PODS, seen->other_pods), seen->other_pods);
	_cleanup_free_ char *namespaces =
		xasprintf(TEXT_OF(PLAN_NAMESPACES, seen->other_namespaces), seen->other_namespaces);
	uint64_t named = seen->others[0] ? 1 : 0;

	for (const char *c = seen->others; *c; c++)
		named += *c == ',';
	table_text(stdout, view, TEXT(PLAN_SEEN_OTHERS), pods, namespaces, seen->others,
		   named < seen->other_namespaces ? TEXT(PLAN_SEEN_MORE) : "");
}

/* How much of all of them that was, together. Returns false where they are few: then each is told of. */
static bool print_seen_together(const struct plan *p, const char *duties, const struct table_view *view)
{
	uint64_t pods = 0, namespaces = 0;
	size_t n = 0;

	for (const struct plan_cluster *c = p->clusters; c < p->clusters + p->n_clusters; c++) {
		n += c->has_seen;
		pods += c->has_seen ? c->seen.pods : 0;
		namespaces += c->has_seen ? c->seen.namespaces : 0;
	}
	if (!table_is_long(n, view))
		return false;
	_cleanup_free_ char *pods_text = xasprintf(TEXT_OF(PLAN_PODS, pods), pods);
	_cleanup_free_ char *namespaces_text = xasprintf(TEXT_OF(PLAN_NAMESPACES, namespaces), namespaces);

	table_text(stdout, view, TEXT(PLAN_SEEN_MANY), n, pods_text, namespaces_text,
		   duties ? duties : TEXT(NONE));
	return true;
}

/* How much of each cluster that was, or that it was none; of a namespace that nothing is in, or no duty works
 * in, why. */
static void print_seen(const struct plan *p, const struct table_view *view)
{
	_cleanup_free_ char *duties = duties_text(p);
	const bool together = print_seen_together(p, duties, view);

	for (const struct plan_cluster *c = p->clusters; c < p->clusters + p->n_clusters; c++) {
		const struct msg_ctl_plan_seen *seen = &c->seen;
		_cleanup_free_ char *unread = facts_render_in(&c->unread, language_of_environment());
		_cleanup_free_ char *pods = xasprintf(TEXT_OF(PLAN_PODS, seen->pods), seen->pods);
		_cleanup_free_ char *namespaces =
			xasprintf(TEXT_OF(PLAN_NAMESPACES, seen->namespaces), seen->namespaces);

		if (c->left_out && *c->name)
			table_text(stdout, view, TEXT(PLAN_LEFT_OUT), c->name);
		if (!together && c->has_seen && (seen->pods > 0 || p->o->namespaces.n == 0))
			table_text(stdout, view, TEXT(PLAN_SEEN), c->name, pods, namespaces,
				   duties ? duties : TEXT(NONE));
		if (!together && c->has_seen && seen->other_pods > 0 && p->o->namespaces.n == 0)
			print_unworked(seen, view);
		if (c->has_seen && *unread)
			table_text(stdout, view, TEXT(PLAN_UNREAD), c->name, unread);
	}
}

/* A line for each trouble while which nothing is written, with its remedy. */
static void print_stops(const struct plan *p, const struct table_view *view)
{
	const enum language l = language_of_environment();

	for (size_t i = 0; i < p->n_stops; i++) {
		const struct msg_trouble_row *t = &p->stops[i];
		const struct trouble_desc *d = trouble_desc((enum trouble)t->trouble);
		_cleanup_free_ char *in = t->cluster_name[0]
						  ? xasprintf(TEXT(STATUS_IN_CLUSTER), t->cluster_name)
						  : xstrdup("");
		_cleanup_free_ char *detail = facts_render_in(&t->particulars, l);

		table_text(stdout, view, TEXT(PLAN_STOPPED), in, d->text[l].sentence,
			   *detail ? TEXT(COLON) : "", detail, d->text[l].remedy);
	}
}

static void print_text(const struct plan *p, const struct table_view *view)
{
	if (p->observe)
		printf("%s\n\n", TEXT(PLAN_OBSERVE));
	print_stops(p, view);
	if (p->rows.n == 0) {
		printf("%s\n", TEXT(PLAN_NOTHING));
		print_seen(p, view);
		return;
	}
	print_rows(p, view);
	printf("\n");
	print_counts(p, view);
	printf("\n");
	print_seen(p, view);
	dry_run_rows_print_remedies(&p->rows, view);
}

/* Their clocks begin at the first sight of a failure. */
static void print_clock_note(const struct plan *p, const struct table_view *view)
{
	for (size_t i = 0; i < p->rows.n; i++) {
		const struct dry_run_row *r = &p->rows.v[i];

		if (plan_when(r) != PLAN_LATER || duty_workload((enum duty)r->row.duty) < 0)
			continue;
		printf("\n");
		table_text(stdout, view, TEXT(PLAN_CLOCKS), duty_name((enum duty)r->row.duty));
		return;
	}
}

/* What to do with it, without a file yet. */
static void print_next(const struct options *o, const struct table_view *view)
{
	if (o->config)
		return;
	printf("\n");
	table_text(stdout, view, "%s", TEXT(PLAN_NEXT));
	printf("    ops-pod-cleaner run --dry-run --config FILE%s%s%s%s\n",
	       o->kubeconfig ? " --kubeconfig " : "", o->kubeconfig ? o->kubeconfig : "",
	       o->context ? " --context " : "", o->context ? o->context : "");
}

/* What some clusters say is shown whatever is wrong with the others; the exit code tells of these. */
static int print(const struct options *o, const struct plan *p, const struct wait_lost *lost, int code)
{
	const struct table_view view = options_view(o);

	if (p->answered > 0 && o->output == OUTPUT_JSON)
		print_json(p);
	else if (p->answered > 0)
		print_text(p, &view);
	if (p->answered > 0 && o->output != OUTPUT_JSON && lost) {
		print_clock_note(p, &view);
		print_next(o, &view);
	}
	if (code == EXIT_CODE_OK && o->detailed_exitcode && plan_any_due(p))
		return EXIT_CODE_DUE;
	return code == EXIT_CODE_OK && plan_is_forbidden(p) ? EXIT_CODE_TEMPORARY : code;
}

static int show(const struct options *o, const char *socket, const struct wait_lost *lost)
{
	int code;
	struct plan *p = plan_new(o, socket, lost, &code);

	code = print(o, p, lost, code);
	plan_free(&p);
	return code;
}

/* A cluster that one replica cannot tell of is not left out when another does. */
static int show_joined(const struct options *o)
{
	struct plan *of[1 + ANSWERS_MAX];
	int lost = EXIT_CODE_OK, in_part = EXIT_CODE_OK;

	for (size_t i = 0; i <= answers_count(); i++) {
		int code;

		of[i] = plan_new(o, answers_socket(o->socket, i), NULL, &code);
		if (i > 0)
			plan_join(of[0], of[i]);
		if (of[i]->answered == 0 && lost == EXIT_CODE_OK)
			lost = code;
		else if (in_part == EXIT_CODE_OK)
			in_part = code;
	}
	if (lost == EXIT_CODE_OK && plan_leaves_out(of[0]))
		lost = in_part;
	lost = print(o, of[0], NULL, lost);
	for (size_t i = 0; i <= answers_count(); i++)
		plan_free(&of[i]);
	return lost;
}

/* -- after a round -- */

/* Only what is due and not done stays, in its order. */
static void keep_left(struct plan *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->rows.n; i++) {
		const enum plan_when w = plan_when(&p->rows.v[i]);

		if (w == PLAN_NOW || w == PLAN_BLOCKED || w == PLAN_UNCLEAR)
			p->rows.v[n++] = p->rows.v[i];
	}
	p->rows.n = n;
}

int plan_print_left(const struct options *o, const char *socket, size_t *ret_left)
{
	const struct table_view view = options_view(o);
	int code;
	struct plan *p = plan_new(o, socket, NULL, &code);

	keep_left(p);
	*ret_left = p->observe ? 0 : p->rows.n;
	printf(p->observe ? TEXT(PLAN_WOULD) : TEXT(PLAN_LEFT), p->rows.n);
	printf("\n");
	if (code == EXIT_CODE_OK && p->rows.n > 0)
		print_rows(p, &view);
	plan_free(&p);
	return code;
}

/* -- without a running instance -- */

#define TROUBLE_MS 4000u /* one try more than the first */

static int await_and_show(const void *ctx, const char *socket, struct ctl *c)
{
	static const struct wait_limits limits = { .trouble_ms = TROUBLE_MS };
	struct wait_lost lost = { .code = EXIT_CODE_OK };
	const int code = wait_settled(c, &limits, &lost);

	return code == EXIT_CODE_OK ? show(ctx, socket, &lost) : code;
}

/* Every duty that acts, where the options say. */
static char *default_config(const struct option_names *namespaces)
{
	_cleanup_free_ char *ns = option_names_join(namespaces, ",");
	char *text = NULL;

	for (size_t i = 0; i < DUTY__MAX; i++) {
		_cleanup_free_ char *one = xasprintf("%s: {enable: true, namespaces: \"%s\"}\n",
						     duty_name(duty_at(i)), ns ? ns : "*");

		if (duty_acts(duty_at(i)))
			xappend(&text, "", one);
	}
	output_complain(NULL, TEXT(PLAN_NO_CONFIG), ns ? ns : TEXT(PLAN_UNPROTECTED));
	return text;
}

static int run_alone(const struct options *o)
{
	_cleanup_free_ char *config = o->config ? NULL : default_config(&o->namespaces);
	const struct private_instance a = {
		.o = o, .default_config = config, .kind = START_LOOKING, .ask = await_and_show, .ctx = o
	};

	if (o->socket)
		return command_misuse(o, "%s", TEXT(PLAN_ONE_OR_OTHER));
	return private_instance_run(&a);
}

int command_plan(const struct options *o)
{
	if (o->kubeconfig || o->context || o->config)
		return run_alone(o);
	const int code = answers_count() > 0 ? show_joined(o) : show(o, o->socket, NULL);

	leaders_tell_others(o);
	return code;
}
