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
#include "cli/commands/explain_report.h"
#include "cli/local/paths.h"
#include "cli/local/yaml_json.h"
#include "cli/view/output.h"
#include "kube/decode_json.h"
#include "rules/judge.h"

/* An answer of the watcher may take this long. */
#define ASK_MS UINT64_C(10000)
/* And one of a worker; after 10 s the supervisor says that there is none. */
#define DRY_RUN_MS UINT64_C(12000)
/* --watch asks the workers again after this time, though the cache says the same. */
#define LIVE_AGAIN_MS UINT64_C(10000)

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

struct question {
	const char *object, *cluster;
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
		dry_run_rows_add(&q->into->live, &m->u.ctl_plan_row);
		q->into->rows[q->into->n - 1].live = q->into->live.n;
	}
	if (m->type != MSG_CTL_EXPLAIN_ROW)
		return;
	(void)snprintf(pod, sizeof(pod), "%.*s/%s", (int)q->ns, q->object, r->pod);
	explain_add(q->into, q->cluster, r->pod[0] ? pod : q->object, r);
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
	return quietly ? ask_quietly(c, &request, q) : ctl_request(c, &request, ASK_MS, on_row, q);
}

/* The object may be in any of the clusters. Where it is in none, one that could not be asked says why, else
 * the last. */
static int ask_watchers(const struct options *o, const char *object, struct ctl *c,
			struct explain_report *into)
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
	rows_done(&status);
	return code;
}

/* -- a file -- */

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

/* Judge the pods of o->file (YAML or JSON, one or a List; "-" = stdin) by o->config (NULL: the file that
 * `run` takes), at o->now_ms (0: now); o->failing_since_ms 0: no pull failure was seen before. Prints what is
 * wrong; returns the exit code. */
static int explain_file(const struct options *o, struct explain_report *into)
{
	_cleanup_free_ char *path = paths_find_config(o->config);
	_cleanup_(config_done) struct config c = { 0 };
	const int code = paths_load_config(path, &c);

	return code == EXIT_CODE_OK ? explain_by(o, &c.settings.policy, into) : code;
}

/* -- the command -- */

/* Workers and the history; what they do not answer stands as unclear, which is no error. */
static void ask_live(const char *object, struct ctl *c, struct explain_report *r)
{
	char ns[64];

	(void)snprintf(ns, sizeof(ns), "%.*s", (int)strcspn(object, "/"), object);
	dry_run_rows_find_refusals(&r->live, c, ns);
	(void)dry_run_rows_ask_workers(&r->live, c, DRY_RUN_MS);
}

/* Into r, unless the cache says what last said and the workers were asked a moment ago. */
static int take_report(const struct options *o, const char *object, const struct explain_report *last,
		       bool again, uint64_t *asked_ms, struct explain_report *r)
{
	struct ctl *c = NULL;

	if (o->file)
		return explain_file(o, r);
	int code = ctl_open(o->socket, &c);

	if (code == EXIT_CODE_OK)
		code = ask_watchers(o, object, c, r);
	if (code == EXIT_CODE_OK &&
	    (!again || !explain_is_same_cache(r, last) || clock_boot_ms() - *asked_ms >= LIVE_AGAIN_MS)) {
		ask_live(object, c, r);
		*asked_ms = clock_boot_ms();
	} else {
		explain_report_done(r);
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

		code = take_report(o, object, &last, again, &asked_ms, &r);
		if (code == EXIT_CODE_OK && (!again || (r.n > 0 && !explain_is_same(&r, &last)))) {
			if (again && o->output != OUTPUT_JSON)
				printf("\n");
			explain_print(&r, (enum output)o->output, &view);
		}
		if (r.n > 0) {
			explain_report_done(&last);
			last = r;
		}
		if (code != EXIT_CODE_OK || !o->watch)
			break;
		(void)sleep(1);
	}
	explain_report_done(&last);
	return code;
}

int command_explain(const struct options *o)
{
	_cleanup_free_ char *object =
		o->n_args == 1 ? named_object(o->args[0], option_first(&o->namespaces)) : NULL;

	if ((o->n_args == 1) == (o->file != NULL))
		return command_misuse(o, "%s", TEXT(EXPLAIN_NEEDS));
	if (o->watch && o->file)
		return command_misuse(o, "%s", TEXT(EXPLAIN_WATCHES));
	if (!o->file && !object)
		return command_misuse(o, "%s", TEXT(EXPLAIN_NAMES));
	return explain(o, object);
}
