/* explain.c - `explain`: why a pod or workload is acted on, or why not; verdicts and checks are collected and
 * printed alike for a live object and for a file. */
// SPDX-License-Identifier: Apache-2.0
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/exit.h"
#include "base/rfc3339.h"
#include "base/xalloc.h"
#include "cli/command.h"
#include "cli/ctl.h"
#include "cli/explain_file.h"
#include "cli/output.h"
#include "cli/table.h"

struct row {
	char pod[320];
	struct msg_ctl_explain_row r; /* r.rule "": a verdict */
};

struct explain_report {
	struct row *rows;
	size_t n;
};

void explain_add(struct explain_report *e, const char *pod, const struct msg_ctl_explain_row *row)
{
	e->rows = xreallocarray(e->rows, e->n + 1, sizeof(*e->rows));
	e->rows[e->n] = (struct row){ .r = *row };
	(void)snprintf(e->rows[e->n].pod, sizeof(e->rows->pod), "%s", pod);
	e->n++;
}

/* Both say the same. */
static bool is_same(const struct explain_report *a, const struct explain_report *b)
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

static const char *result_of(const struct msg_ctl_explain_row *r)
{
	static const char *const names[] = {
		[TRI_UNKNOWN] = "not reached", [TRI_NO] = "decided", [TRI_YES] = "passed"
	};
	return names[r->holds];
}

/* -- JSON -- */

static json_t *verdict_json(const struct row *row)
{
	const struct msg_ctl_explain_row *r = &row->r;

	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:o}", "pod", row->pod, "duty",
			 duty_name((enum duty)r->duty), "verdict",
			 verdict_kind_name((enum verdict_kind)r->verdict), "reason", r->reason, "sentence",
			 output_sentence(r->reason), "remedy", output_remedy(r->reason), "evidence",
			 r->evidence, "until", output_json_time(r->until));
}

static void print_json(const struct explain_report *e)
{
	json_t *root = json_array(), *rules = NULL;

	for (size_t i = 0; i < e->n; i++) {
		const struct msg_ctl_explain_row *r = &e->rows[i].r;
		json_t *verdict = r->rule[0] ? NULL : verdict_json(&e->rows[i]);

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

static void add_rule(struct table *t, const struct row *row)
{
	static const enum table_color colors[] = {
		[TRI_UNKNOWN] = COLOR_DIM, [TRI_NO] = COLOR_WARN, [TRI_YES] = COLOR_GOOD
	};
	const struct msg_ctl_explain_row *r = &row->r;

	table_add(t, COLOR_NONE, "%s", row->pod);
	table_add(t, COLOR_NONE, "%s", duty_name((enum duty)r->duty));
	table_add(t, COLOR_NONE, "%s", r->rule);
	table_add(t, colors[r->holds], "%s", result_of(r));
	table_add(t, r->holds == TRI_UNKNOWN ? COLOR_DIM : COLOR_NONE, "%s", r->evidence);
}

static void add_verdict(struct table *t, const struct row *row)
{
	static const enum table_color colors[] = { [VERDICT_NONE] = COLOR_DIM,
						   [VERDICT_WAIT] = COLOR_WARN,
						   [VERDICT_ACT] = COLOR_GOOD,
						   [VERDICT_REFUSE] = COLOR_BAD };
	const struct msg_ctl_explain_row *r = &row->r;
	char until[RFC3339_MAX] = "-";

	if (r->until)
		rfc3339_format(r->until, false, until);
	table_add(t, COLOR_NONE, "%s", row->pod);
	table_add(t, COLOR_NONE, "%s", duty_name((enum duty)r->duty));
	table_add(t, colors[r->verdict], "%s", verdict_kind_name((enum verdict_kind)r->verdict));
	table_add(t, COLOR_NONE, "%s", r->reason);
	table_add(t, COLOR_NONE, "%s", until);
	table_add(t, COLOR_NONE, "%s%s%s", output_sentence(r->reason), r->evidence[0] ? ": " : "",
		  r->evidence);
}

static void print_tables(const struct explain_report *e)
{
	static const char *const verdict_headers[] = { "POD", "DUTY", "VERDICT", "REASON", "UNTIL", "WHY" };
	static const char *const rule_headers[] = { "POD", "DUTY", "RULE", "RESULT", "FACTS" };
	struct table *verdicts = table_new(verdict_headers, 6), *rules = table_new(rule_headers, 5);
	const bool color = table_wants_color(stdout);
	bool any_rule = false;

	for (size_t i = 0; i < e->n; i++)
		if (e->rows[i].r.rule[0]) {
			add_rule(rules, &e->rows[i]);
			any_rule = true;
		} else {
			add_verdict(verdicts, &e->rows[i]);
		}
	table_print(verdicts, stdout, color);
	if (any_rule) {
		printf("\n");
		table_print(rules, stdout, color);
	}
	table_free(&verdicts);
	table_free(&rules);
	for (size_t i = 0; i < e->n; i++) {
		const struct msg_ctl_explain_row *r = &e->rows[i].r;

		if (!r->rule[0] && r->verdict == VERDICT_REFUSE && output_remedy(r->reason)[0])
			printf("%s: %s: %s\n", e->rows[i].pod, r->reason, output_remedy(r->reason));
	}
}

/* -- the running instance -- */

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

	if (m->type != MSG_CTL_EXPLAIN_ROW)
		return;
	(void)snprintf(pod, sizeof(pod), "%.*s/%s", (int)q->ns, q->object, r->pod);
	explain_add(q->into, r->pod[0] ? pod : q->object, r);
}

static int ask(const struct options *o, struct explain_report *into)
{
	const char *object = o->args[0];
	struct msg request = { .type = MSG_CTL_EXPLAIN, .u.ctl_explain = { .rules = o->rules } };
	struct question q = { object, strcspn(object, "/"), into };

	msg_set(&request, ctl_explain.ns, object, q.ns);
	msg_set(&request, ctl_explain.name, object + q.ns + 1, strlen(object + q.ns + 1));
	if (o->cluster)
		msg_set(&request, ctl_explain.cluster_name, o->cluster, strlen(o->cluster));
	return ctl_ask(o->socket, &request, 10000, on_row, &q);
}

/* -- the command -- */

/* Once; or again whenever the answer changes, until it is interrupted, or object or instance is gone. */
static int explain(const struct options *o)
{
	struct explain_report last = { 0 };
	int code;

	for (bool again = false;; again = true) {
		struct explain_report r = { 0 };

		code = o->file ? explain_file(o, &r) : ask(o, &r);
		if (code == EXIT_CODE_OK && (!again || !is_same(&r, &last))) {
			if (again && o->output != OUTPUT_JSON)
				printf("\n");
			(o->output == OUTPUT_JSON ? print_json : print_tables)(&r);
			(void)fflush(stdout);
		}
		free(last.rows);
		last = r;
		if (code != EXIT_CODE_OK || !o->watch)
			break;
		(void)sleep(1);
	}
	free(last.rows);
	return code;
}

/* "NAMESPACE/NAME" */
static bool is_object(const char *s)
{
	const char *slash = strchr(s, '/');

	return slash && slash != s && slash[1] != '\0' && strlen(s) <= 300;
}

int command_explain(const struct options *o)
{
	if ((o->n_args == 1) == (o->file != NULL))
		return command_misuse(o, "needs either NAMESPACE/NAME or -f FILE");
	if (o->watch && o->file)
		return command_misuse(o, "--watch follows a live object, not a file");
	if (!o->file && !is_object(o->args[0]))
		return command_misuse(o, "names a pod or workload as NAMESPACE/NAME");
	return explain(o);
}
