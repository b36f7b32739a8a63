/* explain_report.c - see explain_report.h. */
// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/explain_report.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/rfc3339.h"
#include "base/xalloc.h"
#include "cli/view/output.h"
#include "cli/view/json.h"
#include "model/object_events.h"
#include "text/facts_json.h"
#include "text/texts.h"

void explain_report_done(struct explain_report *e)
{
	dry_run_rows_done(&e->live);
	free(e->rows);
	*e = (struct explain_report){ .language = e->language };
}

void explain_add(struct explain_report *e, const char *cluster, const char *pod,
		 const struct msg_ctl_explain_row *row)
{
	e->rows = xreallocarray(e->rows, e->n + 1, sizeof(*e->rows));
	struct explain_row *added = &e->rows[e->n++];

	*added = (struct explain_row){ .ns = e->many ? strlen(cluster) + 2 : 0, .r = *row };
	(void)snprintf(added->cluster, sizeof(added->cluster), "%s", cluster);
	(void)snprintf(added->pod, sizeof(added->pod), "%s%s%s", e->many ? cluster : "", e->many ? ": " : "",
		       pod);
}

bool explain_is_same_cache(const struct explain_report *a, const struct explain_report *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++) {
		const struct msg_ctl_explain_row *x = &a->rows[i].r, *y = &b->rows[i].r;

		if (x->duty != y->duty || x->verdict != y->verdict || x->until != y->until ||
		    x->holds != y->holds || strcmp(a->rows[i].pod, b->rows[i].pod) != 0 ||
		    strcmp(x->reason, y->reason) != 0 || !facts_equal(&x->evidence, &y->evidence))
			return false;
	}
	return true;
}

/* -- the verdict that is printed -- */

struct shown_verdict {
	const char *verdict, *reason;
	const struct facts *facts;
	const char *unclear; /* no worker answered: says so */
	enum table_color color;
	int64_t until;
};

static const struct dry_run_row *live_of(const struct explain_report *e, const struct explain_row *row)
{
	return row->live ? &e->live.v[row->live - 1] : NULL;
}

static struct shown_verdict cached_verdict(const struct msg_ctl_explain_row *r)
{
	static const enum table_color colors[] = { [VERDICT_NONE] = COLOR_DIM,
						   [VERDICT_WAIT] = COLOR_WARN,
						   [VERDICT_ACT] = COLOR_GOOD,
						   [VERDICT_REFUSE] = COLOR_BAD };

	return (struct shown_verdict){ verdict_kind_name((enum verdict_kind)r->verdict),
				       r->reason,
				       &r->evidence,
				       NULL,
				       colors[r->verdict],
				       r->until };
}

/* The worker's word, where it differs from the cache's. */
static struct shown_verdict shown_verdict_of(const struct explain_report *e, const struct explain_row *row)
{
	static const struct {
		const char *verdict;
		enum table_color color;
	} live[OUTCOME__MAX] = { [OUTCOME_GONE] = { "none", COLOR_DIM },
				 [OUTCOME_REFUSED] = { "refuse", COLOR_BAD },
				 [OUTCOME_FORBIDDEN] = { "refuse", COLOR_BAD },
				 [OUTCOME_ANNOUNCED] = { "wait", COLOR_WARN } };
	const struct dry_run_row *l = live_of(e, row);
	struct shown_verdict t = cached_verdict(&row->r);

	if (l && dry_run_was_declined(l)) {
		t = (struct shown_verdict){ live[l->dry_run.outcome].verdict,
					    l->dry_run.reason,
					    &l->dry_run.detail,
					    NULL,
					    live[l->dry_run.outcome].color,
					    0 };
	} else if (l && l->dry_run.id == 0 && row->r.verdict == VERDICT_ACT) {
		t.verdict = NULL;
		t.unclear = phrase(CACHE_ALONE, e->language);
	}
	if (!t.verdict) {
		t.verdict = "unclear";
		t.color = COLOR_BAD;
	}
	return t;
}

bool explain_is_same(const struct explain_report *a, const struct explain_report *b)
{
	if (!explain_is_same_cache(a, b) || a->live.n != b->live.n)
		return false;
	for (size_t i = 0; i < a->n; i++) {
		const struct shown_verdict x = shown_verdict_of(a, &a->rows[i]),
					   y = shown_verdict_of(b, &b->rows[i]);

		if (strcmp(x.verdict, y.verdict) != 0 || strcmp(x.reason, y.reason) != 0)
			return false;
	}
	return true;
}

static const char *result_of(const struct msg_ctl_explain_row *r)
{
	static const char *const names[] = {
		[TRI_UNKNOWN] = "not reached", [TRI_NO] = "decided", [TRI_YES] = "passed"
	};
	return names[r->holds];
}

/* -- JSON -- */

/* The verdict that is printed, and under live what the worker said: null when none was asked, or none has
 * answered. */
static json_t *verdict_json(const struct explain_report *e, const struct explain_row *row)
{
	const struct dry_run_row *l = live_of(e, row);
	const struct shown_verdict t = shown_verdict_of(e, row);
	json_t *verdict = json_of(MSG_CTL_EXPLAIN_ROW, &row->r);
	const char *pod = row->pod + row->ns;
	const size_t ns = strcspn(pod, "/");

	json_object_del(verdict, "pod");
	json_object_del(verdict, "rule");
	json_object_del(verdict, "question");
	json_object_del(verdict, "holds");
	json_object_set_new(verdict, "cluster", row->cluster[0] ? json_string(row->cluster) : json_null());
	json_object_set_new(verdict, "kind", json_string("Pod"));
	json_object_set_new(verdict, "namespace", json_stringn(pod, ns));
	json_object_set_new(verdict, "name", json_string(pod + ns + (pod[ns] == '/')));
	json_object_set(verdict, "cacheVerdict", json_object_get(verdict, "verdict"));
	json_object_set(verdict, "cacheReason", json_object_get(verdict, "reason"));
	json_object_set_new(verdict, "verdict", json_string(t.verdict));
	json_object_set_new(verdict, "reason", json_string(t.reason));
	json_object_set_new(verdict, "evidence", facts_json(t.facts));
	json_object_set_new(verdict, "until", json_time(t.until));
	json_object_set_new(verdict, "live", l ? dry_run_answer_json(l) : json_null());
	json_object_set_new(verdict, "lastRefusal", l ? dry_run_refusal_json(l) : json_null());
	return json_explain_reason(verdict);
}

static void print_json(const struct explain_report *e)
{
	json_t *root = json_array(), *rules = NULL;

	for (size_t i = 0; i < e->n; i++) {
		const struct msg_ctl_explain_row *r = &e->rows[i].r;
		json_t *verdict = r->rule[0] ? NULL : verdict_json(e, &e->rows[i]);

		if (verdict)
			json_array_append_new(root, verdict);
		if (verdict && i + 1 < e->n && e->rows[i + 1].r.rule[0])
			json_object_set_new(verdict, "rules", rules = json_array());
		if (!verdict)
			json_array_append_new(rules,
					      json_pack("{s:s, s:s, s:s, s:o}", "rule", r->rule, "question",
							r->question, "result", result_of(r), "evidence",
							facts_json(&r->evidence)));
	}
	output_json(root);
}

/* -- tables -- */

/* What a check asks; of a guard that blocks: what that means. */
static const char *question_of(const struct msg_ctl_explain_row *r, enum language l)
{
	const enum text question = text_find(STR_C(r->question));

	if (question < TEXT__MAX)
		return text_in(question, l);
	return strcmp(r->reason, reason_code(REASON_NOTHING_TO_DO)) == 0 ? "" : output_sentence(r->reason, l);
}

static void add_rule(struct table *t, const struct explain_row *row, const struct table_view *view)
{
	const char *const results[] = { [TRI_UNKNOWN] = TEXT(RULE_NOT_REACHED),
					[TRI_NO] = TEXT(RULE_DECIDED),
					[TRI_YES] = TEXT(RULE_PASSED) };
	static const enum table_color colors[] = {
		[TRI_UNKNOWN] = COLOR_DIM, [TRI_NO] = COLOR_WARN, [TRI_YES] = COLOR_GOOD
	};
	const struct msg_ctl_explain_row *r = &row->r;
	const char *question = question_of(r, language_of_environment());
	_cleanup_free_ char *facts = output_facts(&r->evidence, view);

	table_add(t, COLOR_NONE, "%s", row->pod);
	table_add(t, COLOR_NONE, "%s", duty_name((enum duty)r->duty));
	table_add(t, COLOR_NONE, "%s", r->rule);
	table_add(t, colors[r->holds], "%s", results[r->holds]);
	table_add(t, r->holds == TRI_UNKNOWN ? COLOR_DIM : COLOR_NONE, "%s%s%s", question,
		  *question && *facts ? ": " : "", facts);
}

static void add_verdict(struct table *t, const struct explain_report *e, const struct explain_row *row,
			const struct table_view *view)
{
	const struct dry_run_row *l = live_of(e, row);
	const struct shown_verdict told = shown_verdict_of(e, row);
	char until[RFC3339_MAX] = "-", refused[DRY_RUN_REFUSAL_MAX] = "";
	_cleanup_free_ char *facts = told.unclear ? xstrdup(told.unclear) : output_facts(told.facts, view);

	if (told.until)
		output_time(view, told.until, until);
	table_add(t, COLOR_NONE, "%s", row->pod);
	table_add(t, COLOR_NONE, "%s", duty_name((enum duty)row->r.duty));
	table_add(t, told.color, "%s", told.verdict);
	table_add(t, COLOR_NONE, "%s", told.reason);
	table_add(t, COLOR_NONE, "%s", until);
	table_add(t, COLOR_NONE, "%s%s%s%s", output_sentence(told.reason, e->language), facts[0] ? ": " : "",
		  facts, l ? dry_run_refusal_text(l, view, refused) : refused);
}

static void print_remedies(const struct explain_report *e, const struct table_view *view)
{
	for (size_t i = 0; i < e->n; i++) {
		const struct msg_ctl_explain_row *r = &e->rows[i].r;

		if (!r->rule[0] && r->verdict == VERDICT_REFUSE && output_remedy(r->reason, e->language)[0])
			table_text(stdout, view, "%s: %s: %s", e->rows[i].pod, r->reason,
				   output_remedy(r->reason, e->language));
	}
	dry_run_rows_print_remedies(&e->live, view);
}

/* -- one sentence first -- */

#define SENTENCES_MAX 10u /* of a workload with many pods */

/* What counts most for its pod comes last. */
static unsigned weight(const struct explain_report *e, const struct explain_row *row)
{
	static const char *const order[] = { "none", "wait", "refuse", "unclear", "act" };
	const char *verdict = shown_verdict_of(e, row).verdict;
	unsigned i = 0;

	while (i + 1 < ARRAY_SIZE(order) && strcmp(order[i], verdict) != 0)
		i++;
	return i;
}

/* The verdict that decides about the pod of row first; *next: where another pod begins. */
static const struct explain_row *deciding(const struct explain_report *e, size_t first, size_t *next)
{
	const struct explain_row *ret = NULL;
	size_t i = first;

	for (; i < e->n && strcmp(e->rows[i].pod, e->rows[first].pod) == 0; i++)
		if (!e->rows[i].r.rule[0] && (!ret || weight(e, &e->rows[i]) > weight(e, ret)))
			ret = &e->rows[i];
	*next = i;
	return ret;
}

/* A duty that only reports: what it counts restarts again and again, and is in a report when it does. */
static void print_report_sentence(const struct explain_row *row, const struct shown_verdict *told,
				  const char *until, const struct table_view *view)
{
	const char *duty = duty_name((enum duty)row->r.duty);
	const char *why = output_sentence(told->reason, language_of_environment());

	if (strcmp(told->verdict, "act") == 0)
		table_text(stdout, view, TEXT(EXPLAIN_REPORTS), row->pod, duty, why);
	else
		table_text(stdout, view, TEXT(EXPLAIN_REPORTS_FROM), row->pod, duty, until, why);
}

static void print_sentence(const struct explain_report *e, const struct explain_row *row,
			   const struct table_view *view)
{
	const struct duty_desc *duty = duty_desc((enum duty)row->r.duty);
	const bool reports = duty->action == ACTION_NONE;
	const char *will =
		reports ? ""
			: phrase_text(object_event_of(duty->action, SCALE_TO_ZERO)->will_phrase, e->language);
	const bool workload = !reports && action_desc(duty->action)->target == TARGET_WORKLOAD;
	const char *its = workload ? TEXT(EXPLAIN_WORKLOAD) : "";
	const struct shown_verdict told = shown_verdict_of(e, row);
	const bool acts = strcmp(told.verdict, "act") == 0;
	char until[RFC3339_MAX] = "";

	if (told.until)
		output_time(view, told.until, until);
	if (reports && (acts || (strcmp(told.verdict, "wait") == 0 && until[0])))
		print_report_sentence(row, &told, until, view);
	else if (acts)
		table_text(stdout, view, TEXT(EXPLAIN_ACT), row->pod, its, will, duty->name,
			   output_sentence(told.reason, e->language));
	else if (strcmp(told.verdict, "wait") == 0 && until[0])
		table_text(stdout, view, TEXT(EXPLAIN_WAIT), row->pod, its, will, duty->name, until,
			   output_sentence(told.reason, e->language));
	else if (strcmp(told.verdict, "unclear") == 0)
		table_text(stdout, view, TEXT(EXPLAIN_UNCLEAR), row->pod, duty->name,
			   told.unclear ? told.unclear : "");
	else if (strcmp(told.verdict, "none") == 0)
		table_text(stdout, view, TEXT(EXPLAIN_NONE), row->pod);
	else
		table_text(stdout, view, TEXT(EXPLAIN_REFUSE), row->pod, duty->name,
			   output_sentence(told.reason, e->language));
}

static void print_sentences(const struct explain_report *e, const struct table_view *view)
{
	size_t pods = 0, next;

	for (size_t i = 0; i < e->n; i = next) {
		const struct explain_row *row = deciding(e, i, &next);

		if (row && pods++ < SENTENCES_MAX)
			print_sentence(e, row, view);
	}
	if (pods > SENTENCES_MAX)
		table_text(stdout, view, TEXT_OF(EXPLAIN_MORE_PODS, pods - SENTENCES_MAX),
			   pods - SENTENCES_MAX);
	printf("\n");
}

static void print_tables(const struct explain_report *e, const struct table_view *view)
{
	static const struct table_column verdict_columns[] = {
		{ "POD", 2, COLUMN_ALIKE | COLUMN_BELOW },
		{ "DUTY", 0, 0 },
		{ "VERDICT", 0, 0 },
		{ "REASON", 0, 0 },
		{ "UNTIL", 0, COLUMN_ALIKE },
		{ "WHY", 1, COLUMN_BELOW },
	};
	static const struct table_column rule_columns[] = {
		{ "POD", 2, COLUMN_ALIKE | COLUMN_BELOW },
		{ "DUTY", 0, 0 },
		{ "RULE", 0, 0 },
		{ "RESULT", 0, 0 },
		{ "FACTS", 1, COLUMN_BELOW },
	};
	_cleanup_(table_free) struct table *verdicts =
		table_new(verdict_columns, ARRAY_SIZE(verdict_columns));
	_cleanup_(table_free) struct table *rules = table_new(rule_columns, ARRAY_SIZE(rule_columns));
	bool any_rule = false;

	for (size_t i = 0; i < e->n; i++)
		if (e->rows[i].r.rule[0] && e->rows[i].r.holds == TRI_UNKNOWN && !view->wide) {
			continue; /* not reached */
		} else if (e->rows[i].r.rule[0]) {
			add_rule(rules, &e->rows[i], view);
			any_rule = true;
		} else {
			add_verdict(verdicts, e, &e->rows[i], view);
		}
	print_sentences(e, view);
	table_print(verdicts, stdout, view);
	if (any_rule) {
		printf("\n");
		table_print(rules, stdout, view);
	}
	print_remedies(e, view);
}

void explain_print(const struct explain_report *e, enum output format, const struct table_view *view)
{
	if (format == OUTPUT_JSON)
		print_json(e);
	else
		print_tables(e, view);
	(void)fflush(stdout);
}
