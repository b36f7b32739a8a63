/* plan_print.c - see plan.h. */
// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "model/duties.h"
#include "base/rfc3339.h"
#include "cli/output.h"
#include "cli/plan.h"
#include "cli/table.h"

enum plan_when {
	PLAN_NOW,     /* a worker judged it live and would write */
	PLAN_LATER,   /* not due yet */
	PLAN_BLOCKED, /* due, but a guard says not now */
	PLAN_REFUSED, /* due, but a rule or the worker forbids it */
	PLAN_GONE,    /* nothing was left when the worker looked */
	PLAN_UNCLEAR, /* the worker could not find out */
	PLAN__MAX
};

static const char *const when_names[PLAN__MAX] = { "now", "later", "blocked", "refused", "gone", "unclear" };

static enum plan_when dry_run_when(const struct msg_ctl_dry_run_result *t)
{
	static const enum plan_when table[OUTCOME__MAX] = {
		[OUTCOME_DONE] = PLAN_UNCLEAR,        [OUTCOME_GONE] = PLAN_GONE,
		[OUTCOME_REFUSED] = PLAN_REFUSED,     [OUTCOME_CONFLICT] = PLAN_UNCLEAR,
		[OUTCOME_FORBIDDEN] = PLAN_REFUSED,   [OUTCOME_FAILED] = PLAN_UNCLEAR,
		[OUTCOME_UNCONFIRMED] = PLAN_UNCLEAR, [OUTCOME_ANNOUNCED] = PLAN_LATER,
		[OUTCOME_WOULD] = PLAN_NOW,
	};

	return table[t->outcome];
}

bool plan_is_due(const struct plan_row *r)
{
	return r->row.verdict == VERDICT_ACT ||
	       (r->row.verdict == VERDICT_WAIT && strcmp(r->row.reason, "Paused") == 0);
}

/* A worker was asked and said no. */
static bool was_declined(const struct plan_row *r)
{
	return r->dry_run.id && r->dry_run.outcome != OUTCOME_WOULD;
}

static enum plan_when when_of(const struct plan_row *r)
{
	if (was_declined(r))
		return dry_run_when(&r->dry_run);
	if (r->row.verdict == VERDICT_ACT)
		return r->dry_run.id ? PLAN_NOW : PLAN_UNCLEAR;
	if (r->row.verdict == VERDICT_REFUSE)
		return PLAN_REFUSED;
	return reason_find(r->row.reason)->class == CLASS_BLOCKED ? PLAN_BLOCKED : PLAN_LATER;
}

static const char *reason_of(const struct plan_row *r)
{
	return was_declined(r) ? r->dry_run.reason : r->row.reason;
}

static int compare(const void *a, const void *b)
{
	const struct plan_row *x = a, *y = b;
	const int w = (int)when_of(x) - (int)when_of(y);

	if (w != 0)
		return w;
	if (x->row.until != y->row.until)
		return x->row.until < y->row.until ? -1 : 1;
	if (x->row.cluster != y->row.cluster)
		return x->row.cluster < y->row.cluster ? -1 : 1;
	const int ns = strcmp(x->row.ns, y->row.ns);

	return ns ? ns : strcmp(x->row.name, y->row.name);
}

void plan_sort(struct plan *p)
{
	if (p->n > 0)
		qsort(p->v, p->n, sizeof(p->v[0]), compare);
}

typedef size_t counts[DUTY__MAX][PLAN__MAX];

static void count(const struct plan *p, counts ret)
{
	memset(ret, 0, sizeof(counts));
	for (size_t i = 0; i < p->n; i++)
		ret[p->v[i].row.duty][when_of(&p->v[i])]++;
}

/* -- JSON -- */

static json_t *row_json(const struct plan *p, const struct plan_row *r)
{
	const bool asked = r->dry_run.id != 0;
	const char *reason = reason_of(r);
	json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:s, s:s, s:s, s:s, s:s, s:s}", "when",
			      when_names[when_of(r)], "cluster", p->clusters[r->row.cluster], "duty",
			      duty_name((enum duty)r->row.duty), "namespace", r->row.ns, "pod", r->row.name,
			      "uid", r->row.uid, "at", output_json_time(r->row.until), "action",
			      output_action(r->row.action), "reason", reason, "sentence",
			      output_sentence(reason), "remedy", output_remedy(reason), "evidence",
			      r->row.evidence, "resourceVersion", r->row.rv);

	json_object_set_new(o, "since", output_json_time(r->row.since));
	json_object_set_new(o, "reverted", json_integer((json_int_t)r->row.reverts));
	json_object_set_new(o, "target", asked ? json_string(r->dry_run.target) : json_null());
	json_object_set_new(o, "targetUid", asked ? json_string(r->dry_run.target_uid) : json_null());
	json_object_set_new(o, "request", asked ? json_string(r->dry_run.request) : json_null());
	json_object_set_new(o, "replicas",
			    asked && r->dry_run.replicas >= 0 ? json_integer(r->dry_run.replicas)
							      : json_null());
	json_object_set_new(o, "detail", asked ? json_string(r->dry_run.detail) : json_null());
	json_object_set_new(o, "liveEvidence", asked ? json_string(r->dry_run.evidence) : json_null());
	return o;
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
			json_object_set_new(one, when_names[w], json_integer((json_int_t)n[d][w]));
		if (duty_acts(d))
			json_object_set(all, duty_name(d), one);
		json_decref(one);
	}
	return all;
}

static void print_json(const struct plan *p)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < p->n; i++)
		json_array_append_new(rows, row_json(p, &p->v[i]));
	output_json(json_pack("{s:o, s:s, s:o, s:o}", "takenAt", output_json_time(p->taken_ms), "mode",
			      p->observe ? "observe" : "enforce", "counts", counts_json(p), "rows", rows));
}

/* -- table -- */

static void print_counts(const struct plan *p)
{
	static const char *const headers[] = {
		"DUTY", "NOW", "LATER", "BLOCKED", "REFUSED", "GONE", "UNCLEAR"
	};
	struct table *t = table_new(headers, ARRAY_SIZE(headers));
	counts n;

	count(p, n);
	for (size_t i = 0; i < DUTY__MAX; i++) {
		const enum duty d = duty_at(i);

		if (!duty_acts(d))
			continue;
		table_add(t, COLOR_NONE, "%s", duty_name(d));
		for (int w = 0; w < PLAN__MAX; w++)
			table_add(t, n[d][w] ? COLOR_NONE : COLOR_DIM, "%zu", n[d][w]);
	}
	table_print(t, stdout, table_wants_color(stdout));
	table_free(&t);
}

static void add_why(struct table *t, const struct plan_row *r)
{
	const bool other = was_declined(r);
	const char *facts = other ? r->dry_run.detail : r->row.evidence;
	const char *say = output_sentence(reason_of(r));

	table_add(t, COLOR_NONE, "%s%s%s", say, say[0] && facts[0] ? ": " : "", facts);
}

static void print_rows(const struct plan *p, bool wide)
{
	static const char *const headers[] = { "WHEN",   "CLUSTER", "POD", "DUTY",
					       "REASON", "TARGET",  "WHY", "REQUEST" };
	static const enum table_color colors[PLAN__MAX] = { COLOR_GOOD, COLOR_NONE, COLOR_WARN,
							    COLOR_BAD,  COLOR_DIM,  COLOR_BAD };
	struct table *t = table_new(headers, wide ? 8 : 7);

	for (size_t i = 0; i < p->n; i++) {
		const struct plan_row *r = &p->v[i];
		const enum plan_when w = when_of(r);
		char until[RFC3339_MAX], duty[OUTPUT_DUTY_MAX];

		rfc3339_format(r->row.until, false, until);
		table_add(t, colors[w], "%s%s%s", when_names[w], r->row.until ? " " : "",
			  r->row.until ? until : "");
		table_add(t, COLOR_NONE, "%s", p->clusters[r->row.cluster]);
		table_add(t, COLOR_NONE, "%s/%s", r->row.ns, r->row.name);
		output_duty(duty, sizeof(duty), r->row.duty, r->row.action);
		table_add(t, COLOR_NONE, "%s", duty);
		table_add(t, COLOR_NONE, "%s", reason_of(r));
		if (r->dry_run.id && r->dry_run.replicas >= 0)
			table_add(t, COLOR_NONE, "%s (has %" PRId64 ")", r->dry_run.target,
				  r->dry_run.replicas);
		else
			table_add(t, COLOR_NONE, "%s", r->dry_run.id ? r->dry_run.target : "-");
		add_why(t, r);
		if (wide)
			table_add(t, COLOR_DIM, "%s", r->dry_run.id ? r->dry_run.request : "");
	}
	table_print(t, stdout, table_wants_color(stdout));
	table_free(&t);
}

void plan_print(const struct plan *p, enum output output)
{
	if (output == OUTPUT_JSON) {
		print_json(p);
		return;
	}
	if (p->observe)
		printf("mode: observe: nothing of this is written\n\n");
	print_counts(p);
	if (p->n == 0) {
		printf("\nnothing is due, and nothing will be as things are\n");
		return;
	}
	printf("\n");
	print_rows(p, output == OUTPUT_WIDE);
}
