/* offline.c - `explain -f FILE`: the rules on the pods of a file, without a cluster. See explain.h. */
// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit.h"
#include "base/xalloc.h"
#include "cli/explain.h"
#include "cli/yaml_json.h"
#include "config/config.h"
#include "config/diag.h"
#include "kube/decode.h"

#define FILE_MAX (16u << 20)

/* The whole file, or NULL after a message. */
static char *read_file(const char *path, size_t *ret_n)
{
	FILE *f = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
	char *buf = NULL;
	size_t n = 0, k;

	if (!f) {
		(void)fprintf(stderr, "%s: cannot be read: %s\n", path, strerrordesc_np(errno));
		return NULL;
	}
	do {
		buf = xreallocarray(buf, n + 65536, 1);
		k = fread(buf + n, 1, 65536, f);
		n += k;
	} while (k > 0 && n <= FILE_MAX);
	const bool bad = ferror(f) != 0;

	if (f != stdin)
		(void)fclose(f);
	if (bad || n > FILE_MAX) {
		(void)fprintf(stderr, "%s: %s\n", path,
			      bad ? "cannot be read (is it a directory?)" : "larger than 16 MiB");
		free(buf);
		return NULL;
	}
	*ret_n = n;
	return buf;
}

struct offline {
	const char *file;
	int64_t now_ms, since_ms;
	bool rules;
	struct explain *into;
};

static void add_verdict(struct explain *e, const struct verdict *v)
{
	explain_add(e, &(struct explain_row){ .duty = v->duty,
					      .verdict = v->kind,
					      .reason = reason_code(v->reason),
					      .until_ms = v->at_ms,
					      .evidence = v->evidence });
}

static void add_check(void *ctx, const struct check_report *told)
{
	_cleanup_free_ char *text =
		xasprintf("%s%s%s", told->name, *told->name && *told->fact ? ": " : "", told->fact);

	explain_add(ctx, &(struct explain_row){ .duty = told->duty,
						.reason = "",
						.evidence = text,
						.rule = told->rule,
						.holds = told->holds });
}

/* Alone in its file, the pod is taken for the whole of its workload, as the watcher would with this one pod.
 */
static void judge_one(const struct pod_facts *pod, const struct policy *policy, const struct offline *o)
{
	uint32_t container;
	const bool failing = judge_is_pull_failure(pod, policy, &container);
	const struct pod_context s = { .stage = STAGE_CACHE,
				       .failing_since = o->since_ms,
				       .tally_known = TRI_YES,
				       .pods = 1,
				       .failing = failing,
				       .ready = pod->ready };
	struct verdict v;

	for (enum duty d = DUTY_EVICTED; d < DUTY__MAX; d++) {
		v = (struct verdict){ 0 };
		if (d < DUTY_RESTARTS)
			judge_duty(d, pod, policy, &s, o->now_ms, &v);
		else
			judge_restarts(pod, policy, o->now_ms, &v, &container);
		add_verdict(o->into, &v);
		if (o->rules)
			judge_trace(d, pod, policy, &s, o->now_ms, add_check, o->into, &v);
	}
}

static int explain_object(json_t *object, const struct policy *policy, const struct offline *o)
{
	const char *kind = json_string_value(json_object_get(object, "kind"));
	struct pod_facts pod;

	if (kind && strcmp(kind, "Pod") != 0) {
		(void)fprintf(stderr, "%s: is a %s: the rules judge pods\n", o->file, kind);
		return EXIT_CODE_DATA;
	}
	if (decode_pod_json(object, &pod) < 0) {
		(void)fprintf(stderr,
			      "%s: is no pod: metadata.name or metadata.uid is missing; "
			      "take it with `kubectl get pod NAME -o yaml`\n",
			      o->file);
		return EXIT_CODE_DATA;
	}
	_cleanup_free_ char *name = xasprintf("%.*s/%.*s", STR_ARG(pod.ns), STR_ARG(pod.name));

	explain_begin(o->into, name);
	judge_one(&pod, policy, o);
	return EXIT_CODE_OK;
}

static int explain_tree(json_t *root, const struct policy *policy, const struct offline *o)
{
	const json_t *items = json_object_get(root, "items");
	int code = EXIT_CODE_OK;
	size_t i;
	json_t *item;

	if (!json_is_array(items))
		return explain_object(root, policy, o);
	json_array_foreach ((json_t *)(uintptr_t)items, i, item)
		if (code == EXIT_CODE_OK)
			code = explain_object(item, policy, o);
	return code;
}

int explain_file(const char *config, const char *file, int64_t now_ms, int64_t failing_since_ms, bool rules,
		 struct explain *into)
{
	const struct offline o = { file, now_ms, failing_since_ms, rules, into };
	struct config c;
	struct diags d = { 0 };
	size_t n = 0;
	int code = EXIT_CODE_CONFIG;
	_cleanup_free_ char *text = NULL, *err = NULL;

	config_init(&c);
	if (config_load(config, &c, &d) < 0) {
		for (size_t i = 0; i < d.n; i++)
			(void)fprintf(stderr, "%s\n", d.v[i].text);
		goto out;
	}
	code = EXIT_CODE_DATA;
	text = read_file(file, &n);
	json_t *root = text ? yaml_json_load(text, n, &err) : NULL;

	if (root)
		code = explain_tree(root, &c.settings.policy, &o);
	else if (text)
		(void)fprintf(stderr, "%s:%s\n", file, err ? err : " is empty");
	json_decref(root);
out:
	diags_done(&d);
	config_done(&c);
	return code;
}
