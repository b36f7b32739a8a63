/* explain.c - `explain`: why a pod or workload is acted on, or why not; verdicts and checks are collected and
 * printed alike for a live object and for a file. A watcher judges from its cache; what it says would be
 * done now, a worker then judges live, and the worker's word is the verdict that is printed. */
// SPDX-License-Identifier: Apache-2.0
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/exit.h"
#include "base/rfc3339.h"
#include "base/xalloc.h"
#include "cli/command.h"
#include "cli/ctl.h"
#include "cli/explain_file.h"
#include "cli/live.h"
#include "cli/output.h"
#include "cli/table.h"
#include "model/object_events.h"
#include "model/retell.h"

struct row {
	char pod[320];
	struct msg_ctl_explain_row r; /* r.rule "": a verdict */
	size_t live;                  /* of a verdict: 1 + its place among the live rows; 0 = none */
};

struct explain_report {
	struct row *rows;
	size_t n;
	struct live live;
	enum language language;
};

/* An answer of the watcher may take this long. */
#define ASK_MS UINT64_C(10000)
/* And one of a worker; after 10 s the supervisor says that there is none. */
#define DRY_RUN_MS UINT64_C(12000)
/* --watch asks the workers again after this time, though the cache says the same. */
#define LIVE_AGAIN_MS UINT64_C(10000)

static void report_done(struct explain_report *e)
{
	live_done(&e->live);
	free(e->rows);
	*e = (struct explain_report){ .language = e->language };
}

void explain_add(struct explain_report *e, const char *pod, const struct msg_ctl_explain_row *row)
{
	e->rows = xreallocarray(e->rows, e->n + 1, sizeof(*e->rows));
	e->rows[e->n] = (struct row){ .r = *row };
	(void)snprintf(e->rows[e->n].pod, sizeof(e->rows->pod), "%s", pod);
	e->n++;
}

/* Both caches say the same. */
static bool is_same_cache(const struct explain_report *a, const struct explain_report *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++) {
		const struct msg_ctl_explain_row *x = &a->rows[i].r, *y = &b->rows[i].r;

		if (x->duty != y->duty || x->verdict != y->verdict || x->until != y->until ||
		    x->holds != y->holds || strcmp(a->rows[i].pod, b->rows[i].pod) != 0 ||
		    strcmp(x->reason, y->reason) != 0 || strcmp(x->evidence, y->evidence) != 0)
			return false;
	}
	return true;
}

/* -- the verdict that is printed -- */

struct told {
	const char *verdict, *reason, *facts;
	enum table_color color;
	int64_t until;
};

static const struct live_row *live_of(const struct explain_report *e, const struct row *row)
{
	return row->live ? &e->live.v[row->live - 1] : NULL;
}

static struct told cache_told(const struct msg_ctl_explain_row *r)
{
	static const enum table_color colors[] = { [VERDICT_NONE] = COLOR_DIM,
						   [VERDICT_WAIT] = COLOR_WARN,
						   [VERDICT_ACT] = COLOR_GOOD,
						   [VERDICT_REFUSE] = COLOR_BAD };

	return (struct told){ verdict_kind_name((enum verdict_kind)r->verdict), r->reason, r->evidence,
			      colors[r->verdict], r->until };
}

/* The worker's word, where it differs from the cache's. */
static struct told told_of(const struct explain_report *e, const struct row *row)
{
	static const struct {
		const char *verdict;
		enum table_color color;
	} live[OUTCOME__MAX] = { [OUTCOME_GONE] = { "none", COLOR_DIM },
				 [OUTCOME_REFUSED] = { "refuse", COLOR_BAD },
				 [OUTCOME_FORBIDDEN] = { "refuse", COLOR_BAD },
				 [OUTCOME_ANNOUNCED] = { "wait", COLOR_WARN } };
	const struct live_row *l = live_of(e, row);
	struct told t = cache_told(&row->r);

	if (l && live_was_declined(l)) {
		t = (struct told){ live[l->dry_run.outcome].verdict, l->dry_run.reason, l->dry_run.detail,
				   live[l->dry_run.outcome].color, 0 };
	} else if (l && l->dry_run.id == 0 && row->r.verdict == VERDICT_ACT) {
		t.verdict = NULL;
		t.facts = phrase(CACHE_ALONE, e->language);
	}
	if (!t.verdict) {
		t.verdict = "unclear";
		t.color = COLOR_BAD;
	}
	return t;
}

/* Both say the same, after the workers were asked. */
static bool is_same(const struct explain_report *a, const struct explain_report *b)
{
	if (!is_same_cache(a, b) || a->live.n != b->live.n)
		return false;
	for (size_t i = 0; i < a->n; i++) {
		const struct told x = told_of(a, &a->rows[i]), y = told_of(b, &b->rows[i]);

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

/* What the worker said, null when none was asked; answered: false where none did. */
static json_t *live_json(const struct row *row, const struct live_row *l)
{
	const struct msg_ctl_dry_run_result *d = l ? &l->dry_run : NULL;

	if (!l || !live_is_due(l))
		return json_null();
	return json_pack("{s:b, s:s?, s:s?, s:s?, s:s?, s:s?, s:s?, s:s, s:s}", "answered", d->id != 0,
			 "outcome", d->id ? outcome_name((enum outcome)d->outcome) : NULL, "reason",
			 d->id ? d->reason : NULL, "detail", d->id ? d->detail : NULL, "evidence",
			 d->id ? d->evidence : NULL, "target", d->id ? d->target : NULL, "request",
			 d->id ? d->request : NULL, "cacheVerdict",
			 verdict_kind_name((enum verdict_kind)row->r.verdict), "cacheReason", row->r.reason);
}

static json_t *verdict_json(const struct explain_report *e, const struct row *row)
{
	const struct live_row *l = live_of(e, row);
	const struct told t = told_of(e, row);

	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:o}", "pod", row->pod, "duty",
			 duty_name((enum duty)row->r.duty), "verdict", t.verdict, "reason", t.reason,
			 "sentence", output_sentence(t.reason, LANGUAGE_EN), "remedy",
			 output_remedy(t.reason, LANGUAGE_EN), "evidence", t.facts, "until",
			 output_json_time(t.until), "live", live_json(row, l), "lastRefusal",
			 l ? live_refusal_json(l) : json_null());
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
			json_array_append_new(rules, json_pack("{s:s, s:s, s:s}", "rule", r->rule, "result",
							       result_of(r), "facts", r->evidence));
	}
	output_json(root);
}

/* -- tables -- */

/* What a check asked or a guard says, which an instance says in English; n bytes of it. NULL: it is none. */
static const char *asked_in(const char *text, size_t n, enum language l)
{
	const enum phrase p = phrase_find(text, n);

	if (p < PHRASE__MAX)
		return phrase_text(p, l);
	for (enum reason r = 0; r < REASON__MAX; r++) {
		const char *sentence = reason_desc(r)->text[LANGUAGE_EN].sentence;

		if (strlen(sentence) == n && strncmp(sentence, text, n) == 0)
			return reason_desc(r)->text[l].sentence;
	}
	return NULL;
}

/* "question: facts", or one of them. The question may hold a colon itself. Owned by the caller. */
static char *say_check(const char *text, enum language l)
{
	for (size_t n = strlen(text); l != LANGUAGE_EN && n > 0; n--) {
		const char *asked = text[n] == '\0' || text[n] == ':' ? asked_in(text, n, l) : NULL;

		if (!asked)
			continue;
		_cleanup_free_ char *facts = retell(text[n] ? text + n + 1 + (text[n + 1] == ' ') : "", l);

		return xconcat(asked, *facts ? ": " : "", facts, NULL);
	}
	return retell(text, l);
}

static void add_rule(struct table *t, const struct row *row)
{
	const char *const results[] = { [TRI_UNKNOWN] = TEXT(RULE_NOT_REACHED),
					[TRI_NO] = TEXT(RULE_DECIDED),
					[TRI_YES] = TEXT(RULE_PASSED) };
	static const enum table_color colors[] = {
		[TRI_UNKNOWN] = COLOR_DIM, [TRI_NO] = COLOR_WARN, [TRI_YES] = COLOR_GOOD
	};
	const struct msg_ctl_explain_row *r = &row->r;
	_cleanup_free_ char *said = say_check(r->evidence, language_of_environment());

	table_add(t, COLOR_NONE, "%s", row->pod);
	table_add(t, COLOR_NONE, "%s", duty_name((enum duty)r->duty));
	table_add(t, COLOR_NONE, "%s", r->rule);
	table_add(t, colors[r->holds], "%s", results[r->holds]);
	table_add(t, r->holds == TRI_UNKNOWN ? COLOR_DIM : COLOR_NONE, "%s", said);
}

static void add_verdict(struct table *t, const struct explain_report *e, const struct row *row,
			const struct table_view *view)
{
	const struct live_row *l = live_of(e, row);
	const struct told told = told_of(e, row);
	char until[RFC3339_MAX] = "-", refused[LIVE_REFUSAL_MAX] = "";
	_cleanup_free_ char *facts = retell(told.facts, e->language);

	if (told.until)
		output_time(view, told.until, until);
	table_add(t, COLOR_NONE, "%s", row->pod);
	table_add(t, COLOR_NONE, "%s", duty_name((enum duty)row->r.duty));
	table_add(t, told.color, "%s", told.verdict);
	table_add(t, COLOR_NONE, "%s", told.reason);
	table_add(t, COLOR_NONE, "%s", until);
	table_add(t, COLOR_NONE, "%s%s%s%s", output_sentence(told.reason, e->language), facts[0] ? ": " : "",
		  facts, l ? live_refusal_text(l, view, refused) : refused);
}

static void print_remedies(const struct explain_report *e, const struct table_view *view)
{
	for (size_t i = 0; i < e->n; i++) {
		const struct msg_ctl_explain_row *r = &e->rows[i].r;

		if (!r->rule[0] && r->verdict == VERDICT_REFUSE && output_remedy(r->reason, e->language)[0])
			table_text(stdout, view, "%s: %s: %s", e->rows[i].pod, r->reason,
				   output_remedy(r->reason, e->language));
	}
	live_print_remedies(&e->live, view);
}

/* -- one sentence first -- */

#define SENTENCES_MAX 10u /* of a workload with many pods */

/* What counts most for its pod comes last. */
static unsigned weight(const struct explain_report *e, const struct row *row)
{
	static const char *const order[] = { "none", "wait", "refuse", "unclear", "act" };
	const char *verdict = told_of(e, row).verdict;
	unsigned i = 0;

	while (i + 1 < ARRAY_SIZE(order) && strcmp(order[i], verdict) != 0)
		i++;
	return i;
}

/* The verdict that decides about the pod of row first; *next: where another pod begins. */
static const struct row *deciding(const struct explain_report *e, size_t first, size_t *next)
{
	const struct row *ret = NULL;
	size_t i = first;

	for (; i < e->n && strcmp(e->rows[i].pod, e->rows[first].pod) == 0; i++)
		if (!e->rows[i].r.rule[0] && (!ret || weight(e, &e->rows[i]) > weight(e, ret)))
			ret = &e->rows[i];
	*next = i;
	return ret;
}

static void print_sentence(const struct explain_report *e, const struct row *row,
			   const struct table_view *view)
{
	const struct duty_desc *duty = duty_desc((enum duty)row->r.duty);
	const char *will =
		duty->action == ACTION_NONE
			? TEXT(WILL_REPORT)
			: phrase_text(object_event_of(duty->action, false)->will_phrase, e->language);
	const bool workload =
		duty->action != ACTION_NONE && action_desc(duty->action)->target == TARGET_WORKLOAD;
	const char *its = workload ? TEXT(EXPLAIN_WORKLOAD) : "";
	const struct told told = told_of(e, row);
	_cleanup_free_ char *facts = retell(told.facts, e->language);
	char until[RFC3339_MAX] = "";

	if (told.until)
		output_time(view, told.until, until);
	if (strcmp(told.verdict, "act") == 0)
		table_text(stdout, view, TEXT(EXPLAIN_ACT), row->pod, its, will, duty->name,
			   output_sentence(told.reason, e->language));
	else if (strcmp(told.verdict, "wait") == 0 && until[0])
		table_text(stdout, view, TEXT(EXPLAIN_WAIT), row->pod, its, will, duty->name, until,
			   output_sentence(told.reason, e->language));
	else if (strcmp(told.verdict, "unclear") == 0)
		table_text(stdout, view, TEXT(EXPLAIN_UNCLEAR), row->pod, duty->name, facts);
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
		const struct row *row = deciding(e, i, &next);

		if (row && pods++ < SENTENCES_MAX)
			print_sentence(e, row, view);
	}
	if (pods > SENTENCES_MAX)
		table_text(stdout, view, TEXT(EXPLAIN_MORE_PODS), pods - SENTENCES_MAX);
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
	struct table *verdicts = table_new(verdict_columns, ARRAY_SIZE(verdict_columns));
	struct table *rules = table_new(rule_columns, ARRAY_SIZE(rule_columns));
	bool any_rule = false;

	for (size_t i = 0; i < e->n; i++)
		if (e->rows[i].r.rule[0] && e->rows[i].r.holds == TRI_UNKNOWN && !view->wide) {
			continue; /* not reached */
		} else if (e->rows[i].r.rule[0]) {
			add_rule(rules, &e->rows[i]);
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
	table_free(&verdicts);
	table_free(&rules);
	print_remedies(e, view);
}

/* -- the running instance -- */

/* "NAMESPACE/NAME" of that, or of what `history` shows as TARGET ("deployments.apps/NAMESPACE/NAME"); NULL if
 * it is neither. */
static const char *object_of(const char *s)
{
	const char *name = strrchr(s, '/'), *first = strchr(s, '/');

	if (!name || name == s || name[1] == '\0' || strlen(s) > 400)
		return NULL;
	if (name == first)
		return s;
	return first != s && name > first + 1 && !memchr(first + 1, '/', (size_t)(name - first - 1))
		       ? first + 1
		       : NULL;
}

struct question {
	const char *object;
	size_t ns; /* bytes of the namespace in it */
	struct explain_report *into;
};

/* A workload is answered pod by pod. */
static void on_row(void *ctx, const struct msg *m)
{
	const struct msg_ctl_explain_row *r = &m->u.ctl_explain_row;
	const struct question *q = ctx;
	char pod[320];

	if (m->type == MSG_CTL_PLAN_ROW && q->into->n > 0) { /* the object that the verdict is about */
		live_add(&q->into->live, &m->u.ctl_plan_row);
		q->into->rows[q->into->n - 1].live = q->into->live.n;
	}
	if (m->type != MSG_CTL_EXPLAIN_ROW)
		return;
	(void)snprintf(pod, sizeof(pod), "%.*s/%s", (int)q->ns, q->object, r->pod);
	explain_add(q->into, r->pod[0] ? pod : q->object, r);
}

static int ask(const struct options *o, const char *object, struct ctl *c, struct explain_report *into)
{
	struct msg request = { .type = MSG_CTL_EXPLAIN, .u.ctl_explain = { .rules = o->rules } };
	struct question q = { object, strcspn(object, "/"), into };

	msg_set(&request, ctl_explain.ns, object, q.ns);
	msg_set(&request, ctl_explain.name, object + q.ns + 1, strlen(object + q.ns + 1));
	if (o->cluster)
		msg_set(&request, ctl_explain.cluster_name, o->cluster, strlen(o->cluster));
	return ctl_request(c, &request, ASK_MS, on_row, &q);
}

/* -- the command -- */

/* Workers and the history; what they do not answer stands as unclear, which is no error. */
static void ask_live(const char *object, struct ctl *c, struct explain_report *r)
{
	char ns[64];

	(void)snprintf(ns, sizeof(ns), "%.*s", (int)strcspn(object, "/"), object);
	live_find_refusals(&r->live, c, ns);
	(void)live_ask_workers(&r->live, c, DRY_RUN_MS);
}

/* Into r, unless the cache says what last said and the workers were asked a moment ago. */
static int take(const struct options *o, const char *object, const struct explain_report *last, bool again,
		uint64_t *asked_ms, struct explain_report *r)
{
	struct ctl *c = NULL;

	if (o->file)
		return explain_file(o, r);
	int code = ctl_open(o->socket, &c);

	if (code == EXIT_CODE_OK)
		code = ask(o, object, c, r);
	if (code == EXIT_CODE_OK &&
	    (!again || !is_same_cache(r, last) || clock_boot_ms() - *asked_ms >= LIVE_AGAIN_MS)) {
		ask_live(object, c, r);
		*asked_ms = clock_boot_ms();
	} else {
		report_done(r);
	}
	ctl_close(&c);
	return code;
}

/* Once; or again whenever the answer changes, until it is interrupted, or object or instance is gone. */
static int explain(const struct options *o, const char *object)
{
	const struct table_view view = options_view(o);
	const enum language l = o->output == OUTPUT_JSON ? LANGUAGE_EN : language_of_environment();
	struct explain_report last = { .language = l };
	uint64_t asked_ms = 0;
	int code;

	for (bool again = false;; again = true) {
		struct explain_report r = { .language = l };

		code = take(o, object, &last, again, &asked_ms, &r);
		if (code == EXIT_CODE_OK && (!again || (r.n > 0 && !is_same(&r, &last)))) {
			if (again && o->output != OUTPUT_JSON)
				printf("\n");
			if (o->output == OUTPUT_JSON)
				print_json(&r);
			else
				print_tables(&r, &view);
			(void)fflush(stdout);
		}
		if (r.n > 0) {
			report_done(&last);
			last = r;
		}
		if (code != EXIT_CODE_OK || !o->watch)
			break;
		(void)sleep(1);
	}
	report_done(&last);
	return code;
}

int command_explain(const struct options *o)
{
	const char *object = o->n_args == 1 ? object_of(o->args[0]) : NULL;

	if ((o->n_args == 1) == (o->file != NULL))
		return command_misuse(o, "%s", TEXT(EXPLAIN_NEEDS));
	if (o->watch && o->file)
		return command_misuse(o, "%s", TEXT(EXPLAIN_WATCHES));
	if (!o->file && !object)
		return command_misuse(o, "%s", TEXT(EXPLAIN_NAMES));
	return explain(o, object);
}
