/* explain.c - `explain`: why a pod or workload is acted on, or why not. A watcher judges from its cache; what
 * it says would be done now, a worker then judges live. */
// SPDX-License-Identifier: Apache-2.0
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/exit.h"
#include "base/xalloc.h"
#include "cli/commands/command.h"
#include "cli/instance/ctl.h"
#include "cli/instance/instance_status.h"
#include "cli/instance/plan_rows.h"
#include "cli/local/paths.h"
#include "cli/local/yaml_json.h"
#include "cli/view/json.h"
#include "cli/view/output.h"
#include "kube/decode_json.h"
#include "model/object_events.h"
#include "model/rights.h"
#include "rules/judge.h"
#include "text/facts_json.h"
#include "text/texts.h"

/* An answer of the watcher may take this long. */
#define ASK_MS UINT64_C(10000)
/* And one of a worker; after 10 s the supervisor says that there is none. */
#define DRY_RUN_MS UINT64_C(12000)
/* --watch asks the workers again after this time, though the cache says the same. */
#define LIVE_AGAIN_MS UINT64_C(10000)

/* -- what was found -- */

struct explain_row {
	char pod[400];                /* as it is printed: behind the cluster where there are several */
	size_t ns;                    /* where in it the namespace begins */
	char cluster[64];             /* "": it is of a file */
	struct msg_ctl_explain_row r; /* r.rule "": a verdict; its checks follow it */
	size_t live;                  /* of a verdict: 1 + its place among the live rows; 0 = none */
};

/* The same for a live object and for a file. A worker's word stands above the cache's. Zeroed = empty. */
struct report {
	struct explain_row *rows;
	size_t n;
	bool many; /* clusters were looked at */
	struct dry_run_rows live;
};

static void report_done(struct report *e)
{
	dry_run_rows_done(&e->live);
	free(e->rows);
	*e = (struct report){ 0 };
}

/* About the pod "NAMESPACE/NAME" of that cluster ("": of none). The checks of a duty follow its verdict. */
static void add_row(struct report *e, const char *cluster, const char *pod,
		    const struct msg_ctl_explain_row *row)
{
	e->rows = xreallocarray(e->rows, e->n + 1, sizeof(*e->rows));
	struct explain_row *added = &e->rows[e->n++];

	*added = (struct explain_row){ .ns = e->many ? strlen(cluster) + 2 : 0, .r = *row };
	(void)snprintf(added->cluster, sizeof(added->cluster), "%s", cluster);
	(void)snprintf(added->pod, sizeof(added->pod), "%s%s%s", e->many ? cluster : "", e->many ? ": " : "",
		       pod);
}

/* Both caches say the same. */
static bool is_same_cache(const struct report *a, const struct report *b)
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

/* What counts most for its pod comes last. */
enum shown { SHOWN_NONE, SHOWN_WAIT, SHOWN_REFUSE, SHOWN_UNCLEAR, SHOWN_ACT };

static const struct {
	const char *name;
	enum table_color color;
} shown_as[] = {
	[SHOWN_NONE] = { "none", COLOR_DIM },     [SHOWN_WAIT] = { "wait", COLOR_WARN },
	[SHOWN_REFUSE] = { "refuse", COLOR_BAD }, [SHOWN_UNCLEAR] = { "unclear", COLOR_BAD },
	[SHOWN_ACT] = { "act", COLOR_GOOD },
};

struct told {
	enum shown verdict;
	const char *reason;
	const struct facts *facts;
	int64_t until;
	bool of_cache_alone; /* no worker answered */
};

static const struct dry_run_row *live_of(const struct report *e, const struct explain_row *row)
{
	return row->live ? &e->live.v[row->live - 1] : NULL;
}

/* The worker's word, where it differs from the cache's. */
static struct told told_of(const struct report *e, const struct explain_row *row)
{
	static const enum shown cached[VERDICT__MAX] = { [VERDICT_NONE] = SHOWN_NONE,
							 [VERDICT_WAIT] = SHOWN_WAIT,
							 [VERDICT_ACT] = SHOWN_ACT,
							 [VERDICT_REFUSE] = SHOWN_REFUSE };
	static const enum shown declined[PLAN__MAX] = {
		[PLAN_NOW] = SHOWN_ACT,        [PLAN_LATER] = SHOWN_WAIT, [PLAN_BLOCKED] = SHOWN_WAIT,
		[PLAN_REFUSED] = SHOWN_REFUSE, [PLAN_GONE] = SHOWN_NONE,  [PLAN_UNCLEAR] = SHOWN_UNCLEAR
	};
	const struct dry_run_row *l = live_of(e, row);

	if (l && dry_run_was_declined(l))
		return (struct told){ declined[plan_when(l)], l->dry_run.reason, &l->dry_run.detail, 0,
				      false };
	if (row->r.verdict == VERDICT_WAIT && reason_find(row->r.reason)->class == CLASS_REFUSAL)
		/* What it waits for is the time at which it will be refused. */
		return (struct told){ SHOWN_REFUSE, row->r.reason, &row->r.evidence, 0, false };
	const bool alone = l && l->dry_run.id == 0 && row->r.verdict == VERDICT_ACT;

	return (struct told){ alone ? SHOWN_UNCLEAR : cached[row->r.verdict], row->r.reason, &row->r.evidence,
			      row->r.until, alone };
}

/* Both say the same, after the workers were asked. */
static bool is_same(const struct report *a, const struct report *b)
{
	if (!is_same_cache(a, b) || a->live.n != b->live.n)
		return false;
	for (size_t i = 0; i < a->n; i++) {
		const struct told x = told_of(a, &a->rows[i]), y = told_of(b, &b->rows[i]);

		if (x.verdict != y.verdict || strcmp(x.reason, y.reason) != 0)
			return false;
	}
	return true;
}

/* What came of one check. */
static const struct {
	const char *name;
	enum phrase text;
	enum table_color color, of_facts;
} results[TRI__MAX] = {
	[TRI_UNKNOWN] = { "not reached", PHRASE_RULE_NOT_REACHED, COLOR_DIM, COLOR_DIM },
	[TRI_NO] = { "decided", PHRASE_RULE_DECIDED, COLOR_WARN, COLOR_NONE },
	[TRI_YES] = { "passed", PHRASE_RULE_PASSED, COLOR_GOOD, COLOR_NONE },
};

/* -- JSON -- */

/* The verdict that is printed, and under live what the worker said: null when none was asked, or none has
 * answered. */
static json_t *verdict_json(const struct report *e, const struct explain_row *row)
{
	const struct told t = told_of(e, row);
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
	json_object_set_new(verdict, "verdict", json_string(shown_as[t.verdict].name));
	json_object_set_new(verdict, "reason", json_string(t.reason));
	json_object_set_new(verdict, "evidence", facts_json(t.facts));
	json_object_set_new(verdict, "until", json_time(t.until));
	dry_run_set_json(verdict, live_of(e, row));
	return json_explain_reason(verdict);
}

static void print_json(const struct report *e)
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
							r->question, "result", results[r->holds].name,
							"evidence", facts_json(&r->evidence)));
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
	const struct msg_ctl_explain_row *r = &row->r;
	const char *question = question_of(r, language_of_environment());
	_cleanup_free_ char *facts = output_facts(&r->evidence, view);

	table_add(t, COLOR_NONE, "%s", row->pod);
	table_add(t, COLOR_NONE, "%s", duty_name((enum duty)r->duty));
	table_add(t, COLOR_NONE, "%s", r->rule);
	table_add(t, results[r->holds].color, "%s",
		  phrase_text(results[r->holds].text, language_of_environment()));
	table_add(t, results[r->holds].of_facts, "%s%s%s", question, *question && *facts ? TEXT(COLON) : "",
		  facts);
}

static void add_verdict(struct table *t, const struct report *e, const struct explain_row *row,
			const struct table_view *view)
{
	const struct told told = told_of(e, row);
	char until[RFC3339_MAX] = "-";
	_cleanup_free_ char *refused = dry_run_refusal_text(live_of(e, row), view);
	_cleanup_free_ char *facts =
		told.of_cache_alone ? xstrdup(TEXT(CACHE_ALONE)) : output_facts(told.facts, view);

	if (told.until)
		output_time(view, told.until, until);
	table_add(t, COLOR_NONE, "%s", row->pod);
	table_add(t, COLOR_NONE, "%s", duty_name((enum duty)row->r.duty));
	table_add(t, shown_as[told.verdict].color, "%s", shown_as[told.verdict].name);
	table_add(t, COLOR_NONE, "%s", told.reason);
	table_add(t, COLOR_NONE, "%s", until);
	table_add(t, COLOR_NONE, "%s%s%s%s", output_sentence(told.reason, language_of_environment()),
		  facts[0] ? TEXT(COLON) : "", facts, refused);
}

static void print_remedies(const struct report *e, const struct table_view *view)
{
	for (size_t i = 0; i < e->n; i++) {
		const struct msg_ctl_explain_row *r = &e->rows[i].r;
		const struct told told = told_of(e, &e->rows[i]);

		if (!r->rule[0] && told.verdict == SHOWN_REFUSE && told.reason == r->reason &&
		    output_remedy(r->reason, language_of_environment())[0])
			table_text(stdout, view, "%s: %s: %s", e->rows[i].pod, r->reason,
				   output_remedy(r->reason, language_of_environment()));
	}
	dry_run_rows_print_remedies(&e->live, view);
}

/* -- one sentence first -- */

#define SENTENCES_MAX 10u /* of a workload with many pods */

/* The verdict that decides about the pod of row first; *next: where another pod begins. */
static const struct explain_row *deciding(const struct report *e, size_t first, size_t *next)
{
	const struct explain_row *ret = NULL;
	size_t i = first;

	for (; i < e->n && strcmp(e->rows[i].pod, e->rows[first].pod) == 0; i++)
		if (!e->rows[i].r.rule[0] &&
		    (!ret || told_of(e, &e->rows[i]).verdict > told_of(e, ret).verdict))
			ret = &e->rows[i];
	*next = i;
	return ret;
}

/* A duty that only reports: what it counts restarts again and again, and is in a report when it does. */
static void print_sentence(const struct report *e, const struct explain_row *row,
			   const struct table_view *view)
{
	const struct duty_desc *duty = duty_desc((enum duty)row->r.duty);
	const bool reports = duty->action == ACTION_NONE;
	const char *will = reports ? ""
				   : phrase_text(object_event_of(duty->action, SCALE_TO_ZERO)->will_phrase,
						 language_of_environment());
	const bool workload = !reports && action_desc(duty->action)->target == TARGET_WORKLOAD;
	const char *its = workload ? TEXT(EXPLAIN_WORKLOAD) : "";
	const struct told told = told_of(e, row);
	const char *why = output_sentence(told.reason, language_of_environment());
	const bool waits = told.verdict == SHOWN_WAIT && told.until;
	char until[RFC3339_MAX] = "";

	if (told.until)
		output_time(view, told.until, until);
	if (reports && told.verdict == SHOWN_ACT)
		table_text(stdout, view, TEXT(EXPLAIN_REPORTS), row->pod, duty->name, why);
	else if (reports && waits)
		table_text(stdout, view, TEXT(EXPLAIN_REPORTS_FROM), row->pod, duty->name, until, why);
	else if (told.verdict == SHOWN_ACT)
		table_text(stdout, view, TEXT(EXPLAIN_ACT), row->pod, its, will, duty->name, why);
	else if (waits)
		table_text(stdout, view, TEXT(EXPLAIN_WAIT), row->pod, its, will, duty->name, until, why);
	else if (told.verdict == SHOWN_UNCLEAR)
		table_text(stdout, view, TEXT(EXPLAIN_UNCLEAR), row->pod, duty->name,
			   told.of_cache_alone ? TEXT(CACHE_ALONE) : "");
	else if (told.verdict == SHOWN_NONE)
		table_text(stdout, view, TEXT(EXPLAIN_NONE), row->pod);
	else
		table_text(stdout, view, TEXT(EXPLAIN_REFUSE), row->pod, duty->name, why);
}

static void print_sentences(const struct report *e, const struct table_view *view)
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

static void print_tables(const struct report *e, const struct table_view *view)
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

static void print_report(const struct report *e, enum output format, const struct table_view *view)
{
	if (format == OUTPUT_JSON)
		print_json(e);
	else
		print_tables(e, view);
	(void)fflush(stdout);
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

/* What is named in that namespace (NULL: it stands in s), as kubectl names it: NAME, KIND/NAME. Owned by the
 * caller; NULL if it is no name. */
static char *named_object(const char *s, const char *ns)
{
	const char *name = strrchr(s, '/'), *object = ns ? NULL : object_of(s);

	name = name ? name + 1 : s;
	if (ns && *name && strlen(name) < 320)
		return xasprintf("%s/%s", ns, name);
	return object ? xstrdup(object) : NULL;
}

/* Sets the kind that s names, if it does. One with its group that is not known stands in a TARGET of
 * `history` and may be above what the pods name as their owner: then the name alone counts. */
static void set_kind(const char *s, const char *ns, struct msg *ret)
{
	const char *slash = strchr(s, '/');
	const size_t n = slash && (ns || strchr(slash + 1, '/')) ? (size_t)(slash - s) : 0;
	const struct str said = { s, memchr(s, '.', n) ? strcspn(s, ".") : n };
	const char *kind = kind_named(said);

	if (kind)
		msg_set(ret, ctl_explain.kind, kind, strlen(kind));
	else if (said.n == n && !(ns && str_is(said, ns))) /* "NS/NAME -n NS" */
		msg_set(ret, ctl_explain.kind, s, n);
}

struct question {
	const char *object, *cluster;
	size_t ns; /* bytes of the namespace in it */
	struct report *into;
};

/* A workload is answered pod by pod. */
static void on_row(void *ctx, const struct msg *m)
{
	const struct msg_ctl_explain_row *r = &m->u.ctl_explain_row;
	const struct question *q = ctx;
	char pod[320];

	if (m->type == MSG_CTL_PLAN_ROW && q->into->n > 0) { /* the object that the verdict is about */
		dry_run_rows_add(&q->into->live, &m->u.ctl_plan_row);
		q->into->rows[q->into->n - 1].live = q->into->live.n;
	}
	if (m->type != MSG_CTL_EXPLAIN_ROW)
		return;
	(void)snprintf(pod, sizeof(pod), "%.*s/%s", (int)q->ns, q->object, r->pod);
	add_row(q->into, q->cluster, r->pod[0] ? pod : q->object, r);
}

/* Without a word about an object that is not there. */
static int ask_quietly(struct ctl *c, const struct msg *request, struct question *q)
{
	struct msg m = { 0 };
	int code = ctl_send(c, request);

	while (code == EXIT_CODE_OK && (code = ctl_recv(c, ASK_MS, &m)) == EXIT_CODE_OK &&
	       m.type != MSG_CTL_END)
		on_row(q, &m);
	return code == EXIT_CODE_OK ? (int)m.u.ctl_end.code : code;
}

static int ask_cluster(const struct options *o, struct ctl *c, struct question *q, bool quietly)
{
	struct msg request = { .type = MSG_CTL_EXPLAIN, .u.ctl_explain = { .rules = o->rules } };

	msg_set(&request, ctl_explain.ns, q->object, q->ns);
	msg_set(&request, ctl_explain.name, q->object + q->ns + 1, strlen(q->object + q->ns + 1));
	msg_set(&request, ctl_explain.cluster_name, q->cluster, strlen(q->cluster));
	set_kind(o->args[0], o->namespaces.v[0], &request);
	return quietly ? ask_quietly(c, &request, q) : ctl_request(c, &request, ASK_MS, on_row, q);
}

/* The object may be in any of the clusters. Where it is in none, one that could not be asked says why, else
 * the last. */
static int ask_watchers(const struct options *o, const char *object, struct ctl *c, struct report *into)
{
	struct question q = { object, "", strcspn(object, "/"), into };
	struct rows status = { 0 };
	int code = instance_status_request(c, &o->clusters, &status);
	const char *loud = NULL;

	into->many = status.ctl_cluster.n > 1;
	for (size_t i = 0; code == EXIT_CODE_OK && i < status.ctl_cluster.n; i++) {
		q.cluster = status.ctl_cluster.v[i].cluster_name;
		const int answer = into->many ? ask_cluster(o, c, &q, true) : EXIT_CODE_OK;

		if (answer != EXIT_CODE_OK && answer != EXIT_CODE_FAILURE && !loud)
			loud = q.cluster;
	}
	q.cluster = loud ? loud : q.cluster;
	if (code == EXIT_CODE_OK && into->n == 0)
		code = ask_cluster(o, c, &q, false);
	if (loud && code != EXIT_CODE_OK && into->many)
		output_complain(NULL, TEXT(CLUSTER_UNASKED), loud);
	rows_done(&status);
	return code;
}

/* -- a file -- */

struct file_run {
	const struct options *o;
	int64_t now_ms;
	const struct policy *policy;
	char pod[320]; /* "NAMESPACE/NAME" of the one that is judged */
	struct report *into;
};

static void add_file_verdict(struct file_run *f, const struct verdict *v)
{
	struct msg m = { .type = MSG_CTL_EXPLAIN_ROW,
			 .u.ctl_explain_row = { .duty = v->duty, .verdict = v->kind, .until = v->at_ms } };

	msg_set(&m, ctl_explain_row.reason, reason_code(v->reason), strlen(reason_code(v->reason)));
	m.u.ctl_explain_row.evidence = v->evidence;
	add_row(f->into, "", f->pod, &m.u.ctl_explain_row);
}

static void add_file_check(void *ctx, const struct check_report *check)
{
	struct file_run *f = ctx;
	struct msg m = { .type = MSG_CTL_EXPLAIN_ROW,
			 .u.ctl_explain_row = {
				 .duty = check->duty, .holds = check->holds, .evidence = *check->found } };
	const char *question = text_code(check->question);

	msg_set(&m, ctl_explain_row.rule, check->rule, strlen(check->rule));
	msg_set(&m, ctl_explain_row.question, question, strlen(question));
	add_row(f->into, "", f->pod, &m.u.ctl_explain_row);
}

/* Alone in its file, the pod is taken for its whole workload, as the watcher would with this one pod. */
static void judge_one(struct file_run *f, const struct pod_facts *pod)
{
	struct pod_context context = { .stage = STAGE_CACHE,
				       .failing_since = f->o->failing_since_ms,
				       .tally_known = TRI_YES,
				       .pods = 1,
				       .ready = pod->ready };
	struct verdict v;

	for (size_t i = 0; i < DUTY__MAX; i++) {
		const enum duty d = duty_at(i);

		context.failing = judge_fails(d, pod, f->policy, f->now_ms, NULL);
		judge_duty(d, pod, f->policy, &context, f->now_ms, &v);
		add_file_verdict(f, &v);
		if (f->o->rules)
			judge_trace(d, pod, f->policy, &context, f->now_ms, add_file_check, f, &v);
	}
}

static int explain_object(struct file_run *f, json_t *object)
{
	const char *kind = json_string_value(json_object_get(object, "kind"));
	char shown[64];
	struct pod_facts pod;

	if (kind && strcmp(kind, "Pod") != 0) {
		(void)str_copy_printable(shown, sizeof(shown), kind, strlen(kind));
		(void)fprintf(stderr, TEXT(EXPLAIN_OTHER_KIND), f->o->file, shown);
		(void)fputc('\n', stderr);
		return EXIT_CODE_DATA;
	}
	if (decode_pod_json(object, &pod) < 0) {
		(void)fprintf(stderr, TEXT(EXPLAIN_NO_POD), f->o->file);
		(void)fputc('\n', stderr);
		return EXIT_CODE_DATA;
	}
	_cleanup_free_ char *name = xasprintf("%.*s/%.*s", STR_ARG(pod.ns), STR_ARG(pod.name));

	(void)str_copy_printable(f->pod, sizeof(f->pod), name, strlen(name));
	judge_one(f, &pod);
	return EXIT_CODE_OK;
}

static int explain_root(struct file_run *f, json_t *root)
{
	json_t *items = json_object_get(root, "items");
	int code = EXIT_CODE_OK;

	if (!json_is_array(items))
		return explain_object(f, root);
	for (size_t i = 0; i < json_array_size(items) && code == EXIT_CODE_OK; i++)
		code = explain_object(f, json_array_get(items, i));
	return code;
}

static int explain_by(const struct options *o, const struct policy *policy, struct report *into)
{
	struct file_run f = {
		.o = o, .now_ms = o->now_ms ? o->now_ms : clock_wall_ms(), .policy = policy, .into = into
	};
	json_auto_t *root = yaml_json_read(o->file);

	return root ? explain_root(&f, root) : EXIT_CODE_DATA;
}

/* Judge the pods of o->file (YAML or JSON, one or a List; "-" = stdin) by o->config (NULL: the file that
 * `run` takes), at o->now_ms (0: now); o->failing_since_ms 0: no pull failure was seen before. Prints what is
 * wrong; returns the exit code. */
static int explain_file(const struct options *o, struct report *into)
{
	_cleanup_free_ char *path = paths_find_config(o->config);
	_cleanup_(config_done) struct config c = { 0 };
	const int code = paths_load_config(path, &c);

	return code == EXIT_CODE_OK ? explain_by(o, &c.settings.policy, into) : code;
}

/* -- the command -- */

/* Workers and the history; what they do not answer stands as unclear, which is no error. */
static void ask_live(const char *object, struct ctl *c, struct report *r)
{
	char ns[64];

	(void)snprintf(ns, sizeof(ns), "%.*s", (int)strcspn(object, "/"), object);
	dry_run_rows_find_refusals(&r->live, c, ns);
	(void)dry_run_rows_ask_workers(&r->live, c, DRY_RUN_MS);
}

/* Into r, unless the cache says what last said and the workers were asked a moment ago. */
static int take_report(const struct options *o, const char *object, const struct report *last, bool again,
		       uint64_t *asked_ms, struct report *r)
{
	struct ctl *c = NULL;

	if (o->file)
		return explain_file(o, r);
	int code = ctl_open(o->socket, &c);

	if (code == EXIT_CODE_OK)
		code = ask_watchers(o, object, c, r);
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
	struct report last = { 0 };
	uint64_t asked_ms = 0;
	int code;

	for (bool again = false;; again = true) {
		struct report r = { 0 };

		code = take_report(o, object, &last, again, &asked_ms, &r);
		if (code == EXIT_CODE_OK && (!again || (r.n > 0 && !is_same(&r, &last)))) {
			if (again && o->output != OUTPUT_JSON)
				printf("\n");
			print_report(&r, (enum output)o->output, &view);
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
	_cleanup_free_ char *object = o->n_args == 1 ? named_object(o->args[0], o->namespaces.v[0]) : NULL;

	if ((o->n_args == 1) == (o->file != NULL))
		return command_misuse(o, "%s", TEXT(EXPLAIN_NEEDS));
	if (o->watch && o->file)
		return command_misuse(o, "%s", TEXT(EXPLAIN_WATCHES));
	if (!o->file && !object)
		return command_misuse(o, "%s", TEXT(EXPLAIN_NAMES));
	return explain(o, object);
}
