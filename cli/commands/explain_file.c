/* explain_file.c - see command.h. */
// SPDX-License-Identifier: Apache-2.0

#include "cli/commands/command.h"
#include "cli/commands/explain_report.h"
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/exit.h"
#include "base/xalloc.h"
#include "cli/local/paths.h"
#include "cli/local/yaml_json.h"
#include "cli/view/output.h"
#include "config/config.h"
#include "config/diag.h"
#include "kube/decode_json.h"
#include "rules/judge.h"

struct file_run {
	const struct options *o;
	int64_t now_ms;
	const struct policy *policy;
	char pod[320]; /* "NAMESPACE/NAME" of the one that is judged */
	struct explain_report *into;
};

static void add_verdict(struct file_run *f, const struct verdict *v)
{
	struct msg m = { .type = MSG_CTL_EXPLAIN_ROW,
			 .u.ctl_explain_row = { .duty = v->duty, .verdict = v->kind, .until = v->at_ms } };

	msg_set(&m, ctl_explain_row.reason, reason_code(v->reason), strlen(reason_code(v->reason)));
	m.u.ctl_explain_row.evidence = v->evidence;
	explain_add(f->into, "", f->pod, &m.u.ctl_explain_row);
}

static void add_check(void *ctx, const struct check_report *check)
{
	struct file_run *f = ctx;
	struct msg m = { .type = MSG_CTL_EXPLAIN_ROW,
			 .u.ctl_explain_row = {
				 .duty = check->duty, .holds = check->holds, .evidence = *check->found } };
	const char *question = text_code(check->question);

	msg_set(&m, ctl_explain_row.rule, check->rule, strlen(check->rule));
	msg_set(&m, ctl_explain_row.question, question, strlen(question));
	explain_add(f->into, "", f->pod, &m.u.ctl_explain_row);
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
		add_verdict(f, &v);
		if (f->o->rules)
			judge_trace(d, pod, f->policy, &context, f->now_ms, add_check, f, &v);
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

static int explain_by(const struct options *o, const struct policy *policy, struct explain_report *into)
{
	struct file_run f = {
		.o = o, .now_ms = o->now_ms ? o->now_ms : clock_wall_ms(), .policy = policy, .into = into
	};
	json_auto_t *root = yaml_json_read(o->file);

	return root ? explain_root(&f, root) : EXIT_CODE_DATA;
}

int explain_file(const struct options *o, struct explain_report *into)
{
	_cleanup_free_ char *found = o->config ? NULL : paths_find_config();
	struct config c;
	struct diags d = { 0 };
	int code = EXIT_CODE_CONFIG;

	config_init(&c);
	if (config_load(o->config ? o->config : found, &c, &d) == 0)
		code = explain_by(o, &c.settings.policy, into);
	else
		output_diags(&d, false);
	diags_done(&d);
	config_done(&c);
	return code;
}
