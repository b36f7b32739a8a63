/* test_commands.c - commands against a control socket that answers by a script: what they ask, what they
 * print as JSON and as a table, and their exit codes. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/exit.h"
#include "cli/commands/command.h"
#include "cli/view/output.h"
#include "tests/suite.h"
#include "tests/unit/cli/instance.h"
#include "tests/facts_en.h"

#define QUESTIONS 64 /* more than any command asks */

/* -- the instance -- */

static void set_object(struct msg_ctl_plan_row *r, const char *name, const char *reason)
{
	(void)snprintf(r->ns, sizeof(r->ns), "shop");
	(void)snprintf(r->name, sizeof(r->name), "%s", name);
	(void)snprintf(r->uid, sizeof(r->uid), "uid-%s", name);
	(void)snprintf(r->action_key, sizeof(r->action_key), "uid-%s", name);
	(void)snprintf(r->reason, sizeof(r->reason), "%s", reason);
}

static void send_plan_row(const struct instance_call *c, const char *name, enum verdict_kind verdict,
			  const char *reason)
{
	struct msg m = { .type = MSG_CTL_PLAN_ROW,
			 .u.ctl_plan_row = { .verdict = verdict,
					     .duty = DUTY_EVICTED,
					     .action = ACTION_DELETE,
					     .until = verdict == VERDICT_WAIT ? 1000 : 0 } };

	set_object(&m.u.ctl_plan_row, name, reason);
	instance_send(c, &m);
}

/* Is a workload of the same name scaled down in another cluster, too? */
static bool in_two_clusters;

/* What is wrong with the instance that answers. */
static enum trouble the_trouble = TROUBLE_SINK;

static void answer_status(const struct instance_call *c)
{
	struct msg m = { .type = MSG_CTL_SUPERVISOR,
			 .u.ctl_supervisor = {
				 .version = "1", .phase = "degraded", .observe = true, .started = 1 } };

	instance_send(c, &m);
	m = (struct msg){ .type = MSG_TROUBLE_ROW,
			  .u.trouble_row = { .trouble = the_trouble, .n = 1, .since = 1 } };
	m.u.trouble_row.particulars = quoting("chat");
	instance_send(c, &m);
	m = (struct msg){ .type = MSG_CTL_CLUSTER,
			  .u.ctl_cluster = { .cluster_name = "prod", .judged = true } };
	instance_send(c, &m);
	m = (struct msg){ .type = MSG_WATCH_STATS,
			  .u.watch_stats = { .synced = true, .pods = 7, .blocked = 2 } };
	instance_send(c, &m);
	m = (struct msg){ .type = MSG_CTL_CLUSTER,
			  .u.ctl_cluster = { .cluster = 1, .cluster_name = "stage", .judged = true } };
	if (in_two_clusters)
		instance_send(c, &m);
	m = (struct msg){ .type = MSG_CHILD_STATS,
			  .u.child_stats = {
				  .role = "reporter", .state = "ready", .pid = 5, .sandbox = "off" } };
	instance_send(c, &m);
	/* A weakness that another row stands between is said once all the same. */
	m.u.child_stats =
		(struct msg_child_stats){ .role = "watcher", .state = "ready", .sandbox = "nnp,no landlock" };
	instance_send(c, &m);
	m.u.child_stats = (struct msg_child_stats){ .role = "worker", .state = "ready", .sandbox = "off" };
	instance_send(c, &m);
	m = (struct msg){ .type = MSG_PAUSE, .u.pause = { .duty = -1, .on = true, .at = 1, .by = "eve" } };
	instance_send(c, &m);
	instance_end(c, EXIT_CODE_OK);
}

static const char *the_target = "deployments.apps/shop/web";

static void answer_history(const struct instance_call *c)
{
	struct msg m = { .type = MSG_CTL_HISTORY_ROW,
			 .u.ctl_history_row = { .id = 7,
						.intent_at = 1000,
						.result_at = 2000,
						.cluster_name = "prod",
						.ns = "shop",
						.name = "web",
						.uid = "uid-web",
						.outcome = OUTCOME_DONE,
						.action = ACTION_SCALE_DOWN,
						.duty = DUTY_IMAGE_PULL,
						.replicas = 3,
						.reason = "ImagePull",
						.action_key = "uid-web" } };

	msg_set(&m, ctl_history_row.target, the_target, strlen(the_target));

	if (c->request.u.ctl_history.outcomes >> OUTCOME_DONE & 1)
		instance_send(c, &m);
	m.u.ctl_history_row.id = 5;
	msg_set(&m, ctl_history_row.cluster_name, "stage", 5);
	if (in_two_clusters)
		instance_send(c, &m);
	m.u.ctl_history_row.id = 9;
	msg_set(&m, ctl_history_row.cluster_name, "prod", 4);
	m.u.ctl_history_row.outcome = OUTCOME_REFUSED;
	m.u.ctl_history_row.action = ACTION_DELETE;
	(void)snprintf(m.u.ctl_history_row.reason, 49, "PodReady");
	(void)snprintf(m.u.ctl_history_row.action_key, 64, "uid-no");
	if (c->request.u.ctl_history.outcomes >> OUTCOME_REFUSED & 1)
		instance_send(c, &m);
	instance_end(c, EXIT_CODE_OK);
}

/* The pod "no" is refused by the worker. */
static void answer_dry_run(const struct instance_call *c)
{
	const struct msg_ctl_dry_run *asked = &c->request.u.ctl_dry_run;
	const bool no = strcmp(asked->name, "no") == 0, left = strcmp(asked->name, "left") == 0;
	struct msg m = { .type = MSG_CTL_DRY_RUN_RESULT,
			 .u.ctl_dry_run_result = { .id = asked->id,
						   .outcome = no     ? OUTCOME_REFUSED
							      : left ? OUTCOME_GONE
								     : OUTCOME_WOULD,
						   .replicas = -1,
						   .request = "DELETE /api" } };

	(void)snprintf(m.u.ctl_dry_run_result.reason, 49, no ? "NodeNotReady" : "Evicted");
	instance_send(c, &m);
}

/* What becomes of the workload in the other cluster; NULL: it is put back, too. */
static const struct not_restored {
	enum outcome outcome;
	const char *reason;
	int code; /* of the command, where the first one is put back */
} not_restored[] = {
	{ OUTCOME_REFUSED, "OldPodsTerminating", EXIT_CODE_FAILURE },
	{ OUTCOME_REFUSED, "NotZeroAnymore", EXIT_CODE_OK },
	{ OUTCOME_FAILED, "Restored", EXIT_CODE_FAILURE },
	{ OUTCOME_GONE, "Restored", EXIT_CODE_OK },
}, *the_other;

static void answer_restore(const struct instance_call *c)
{
	struct msg m = { .type = MSG_CTL_DRY_RUN_RESULT,
			 .u.ctl_dry_run_result = { .id = c->request.u.ctl_restore.id,
						   .outcome = c->request.u.ctl_restore.dry ? OUTCOME_WOULD
											   : OUTCOME_DONE,
						   .replicas = -1,
						   .reason = "Restored" } };

	const char *target = the_target;

	if (c->request.u.ctl_restore.want_target[0]) /* by its mark */
		target = c->request.u.ctl_restore.want_target;
	msg_set(&m, ctl_dry_run_result.target, target, strlen(target));
	if (the_other && m.u.ctl_dry_run_result.id == 5) {
		m.u.ctl_dry_run_result.outcome = the_other->outcome;
		msg_set(&m, ctl_dry_run_result.reason, the_other->reason, strlen(the_other->reason));
	}
	instance_send(c, &m);
}

/* The first of two clusters cannot be reached. */
static void answer_marked(const struct instance_call *c)
{
	struct msg m = { .type = MSG_CTL_MARKED_ROW,
			 .u.ctl_marked_row = { .number = 1, .replicas = 2, .target_uid = "u" } };
	const bool is_first = strcmp(c->request.u.ctl_marked.cluster_name, "prod") == 0;

	msg_set(&m, ctl_marked_row.target, "deployments.apps/shop/api", 25);
	if (!is_first)
		instance_send(c, &m);
	instance_end(c, is_first ? EXIT_CODE_UNAVAILABLE : EXIT_CODE_OK);
}

static void send_explain_row(const struct instance_call *c, const char *rule, uint64_t holds)
{
	struct msg m = { .type = MSG_CTL_EXPLAIN_ROW,
			 .u.ctl_explain_row = { .duty = DUTY_EVICTED,
						.verdict = VERDICT_ACT,
						.holds = holds,
						.reason = "Evicted" } };

	m.u.ctl_explain_row.evidence = quoting("phase Failed");
	(void)snprintf(m.u.ctl_explain_row.rule, sizeof(m.u.ctl_explain_row.rule), "%s", rule);
	instance_send(c, &m);
}

static void answer_show(const struct instance_call *c)
{
	static const char *const rows[][2] = {
		{ "id", "7" },   { "duty", "0" },    { "observe", "1" }, { "intent_at", "1000" },
		{ "http", "0" }, { "evidence", "" }, { "detail", "" },   { "cluster_name", "prod" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct msg m = { .type = MSG_CTL_SHOW_ROW };

		msg_set(&m, ctl_show_row.name, rows[i][0], strlen(rows[i][0]));
		msg_set(&m, ctl_show_row.value, rows[i][1], strlen(rows[i][1]));
		if (!*rows[i][1]) /* found a millisecond later again */
			facts_duration(&m.u.ctl_show_row.facts, FACT_LASTED, 3000 + (int64_t)i);
		instance_send(c, &m);
	}
	instance_end(c, EXIT_CODE_OK);
}

static const char *asked_kind; /* that explain has to name; NULL: any */

static void answer(const struct instance_call *c, unsigned nth)
{
	const struct msg sink = { .type = MSG_CTL_SINK_ROW,
				  .u.ctl_sink_row = { .name = "chat", .waiting = 4, .oldest = 1000 } };
	const struct msg tally = { .type = MSG_CTL_TALLY_ROW,
				   .u.ctl_tally_row = {
					   .cluster_name = "prod", .due = 5, .done = 41, .at_zero = 3 } };

	(void)nth;
	switch (c->request.type) {
	case MSG_CTL_STATUS:
		answer_status(c);
		break;
	case MSG_CTL_SINKS:
		instance_send(c, &sink);
		instance_send(c, &tally);
		instance_end(c, EXIT_CODE_OK);
		break;
	case MSG_CTL_PLAN:
		if (strcmp(c->request.u.ctl_plan.cluster_name, "stage") == 0) {
			instance_send(
				c, &(struct msg){ .type = MSG_CTL_PLAN_SEEN, .u.ctl_plan_seen.cluster = 1 });
			instance_end(c, EXIT_CODE_TEMPORARY);
			break;
		}
		send_plan_row(c, "yes", VERDICT_ACT, "Evicted");
		send_plan_row(c, "no", VERDICT_ACT, "Evicted");
		send_plan_row(c, "later", VERDICT_WAIT, "NotYet");
		send_plan_row(c, "paused", VERDICT_WAIT, "Paused");
		if (in_two_clusters)
			send_plan_row(c, "left", VERDICT_WAIT, "Paused");
		instance_end(c, EXIT_CODE_OK);
		break;
	case MSG_CTL_EXPLAIN:
		if (asked_kind && strcmp(c->request.u.ctl_explain.kind, asked_kind) != 0) {
			instance_end(c, EXIT_CODE_INTERNAL);
			break;
		}
		send_explain_row(c, "", TRI_YES);
		send_plan_row(c, "no", VERDICT_ACT, "Evicted");
		send_explain_row(c, "R1", TRI_NO);
		instance_end(c, EXIT_CODE_OK);
		break;
	case MSG_CTL_HISTORY:
		answer_history(c);
		break;
	case MSG_CTL_DRY_RUN:
		answer_dry_run(c);
		break;
	case MSG_CTL_RESTORE:
		answer_restore(c);
		break;
	case MSG_CTL_MARKED:
		answer_marked(c);
		break;
	case MSG_CTL_SHOW:
		answer_show(c);
		break;
	default:
		instance_end(c, c->request.type == MSG_CTL_RELOAD ? EXIT_CODE_TEMPORARY : EXIT_CODE_OK);
	}
}

/* -- the commands -- */

/* What the command prints on stdout. Owned by the caller. */
static char *run(int (*command)(const struct options *o), struct options *o, int code)
{
	char path[128], folder[SUITE_PATH_MAX];
	char *text = calloc(1, 65536);

	(void)setenv("LC_ALL", "C", 1);
	instance_start(path, QUESTIONS, answer);
	o->socket = path;
	suite_folder(folder);
	char *file = suite_file(folder, "out", "");

	ck_assert_ptr_nonnull(freopen(file, "we", stdout));
	output_expect_json(o->output == OUTPUT_JSON);
	ck_assert_int_eq(output_flush(command(o)), code);
	FILE *f = fopen(file, "re");

	ck_assert_ptr_nonnull(f);
	(void)fread(text, 1, 65535, f);
	(void)fclose(f);
	free(file);
	return text;
}

static json_t *run_json(int (*command)(const struct options *o), struct options *o, int code)
{
	o->output = OUTPUT_JSON;
	char *text = run(command, o, code);
	json_t *j = json_loads(text, 0, NULL);

	ck_assert_msg(j != NULL, "%s", text);
	free(text);
	return j;
}

static const char *at(const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));

	return text ? text : "(none)";
}

static json_t *row(const json_t *o, const char *key, size_t i)
{
	return json_array_get(json_object_get(o, key ? key : "items"), i);
}

TEST(status_says_what_hurts)
{
	struct options o = { .command = "status" };
	json_t *j = run_json(command_status, &o, EXIT_CODE_FAILURE);

	ck_assert_str_eq(at(j, "phase"), "degraded");
	ck_assert_str_eq(at(j, "mode"), "observe");
	ck_assert_str_eq(at(row(j, "clusters", 0), "cluster"), "prod");
	ck_assert_int_eq(json_integer_value(json_object_get(row(j, "clusters", 0), "pods")), 7);
	ck_assert(json_is_null(json_object_get(row(j, "clusters", 0), "leader")));
	ck_assert_str_eq(at(row(j, "troubles", 0), "trouble"), "sink");
	ck_assert_str_eq(at(row(j, "troubles", 0), "severity"), "degraded");
	ck_assert_str_eq(at(row(j, "pauses", 0), "by"), "eve");
	ck_assert_str_eq(at(row(j, "sinks", 0), "oldestAt"), "1970-01-01T00:00:01.000Z");
	json_decref(j);
}

TEST(status_of_one_cluster)
{
	struct options o = { .command = "status", .clusters = { { "prod" }, 1 } };
	json_t *j = run_json(command_status, &o, EXIT_CODE_FAILURE);

	ck_assert_uint_eq(json_array_size(json_object_get(j, "clusters")), 1);
	ck_assert_int_eq(json_integer_value(json_object_get(row(j, "clusters", 0), "atZero")), 3);
	json_decref(j);
	o.clusters.v[0] = "elsewhere";
	json_decref(run_json(command_status, &o, EXIT_CODE_USAGE));
}

TEST(status_is_read_by_people)
{
	static const char *const parts[] = {
		"degraded, PAUSED",     "prod",    "chat", "eve", "reporter", "off",
		"3 workloads are at 0", "DONE/24H"
	};
	struct options o = { .command = "status" };
	char *text = run(command_status, &o, EXIT_CODE_FAILURE);

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		ck_assert_msg(strstr(text, parts[i]) != NULL, "%s: %s", parts[i], text);
	const char *once = strstr(text, phrase(STATUS_SANDBOX_OFF, LANGUAGE_EN));

	ck_assert_msg(once && !strstr(once + 1, phrase(STATUS_SANDBOX_OFF, LANGUAGE_EN)), "%s", text);
	free(text);
}

/* What comes first is done first; the worker's word stands above the cache's, and the newest refusal beside
 * it. */
TEST(plan_asks_workers)
{
	the_trouble = TROUBLE_SINK;

	static const char *const wanted[][2] = {
		{ "yes", "now" }, { "later", "later" }, { "paused", "blocked" }, { "no", "refused" }
	};
	struct options o = { .command = "plan", .duty = -1, .detailed_exitcode = 1 };
	json_t *j = run_json(command_plan, &o, EXIT_CODE_DUE);

	ck_assert_uint_eq(json_array_size(json_object_get(j, "items")), ARRAY_SIZE(wanted));
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		ck_assert_str_eq(at(row(j, "items", i), "name"), wanted[i][0]);
		ck_assert_str_eq(at(row(j, "items", i), "when"), wanted[i][1]);
		ck_assert_str_eq(at(row(j, "items", i), "cluster"), "prod");
	}
	const json_t *no = row(j, "items", 3);

	ck_assert_str_eq(at(no, "reason"), "NodeNotReady");
	ck_assert_str_eq(at(json_object_get(no, "live"), "outcome"), "refused");
	ck_assert_str_eq(at(json_object_get(no, "lastRefusal"), "reason"), "PodReady");
	ck_assert(json_is_null(json_object_get(row(j, "items", 1), "live")));
	ck_assert(json_is_null(json_object_get(row(j, "items", 0), "lastRefusal")));
	json_decref(j);
}

/* What was refused within the last hours is asked for: no time before 1970. */
TEST(plan_and_explain_work_where_the_clock_was_never_set)
{
	char *args[] = { (char *)"shop/no" };
	struct options plan = { .command = "plan", .duty = -1 },
		       explain = { .command = "explain", .args = args, .n_args = 1 };

	clock_fake_set(1000, 1000);
	json_decref(run_json(command_plan, &plan, EXIT_CODE_OK));
	json_decref(run_json(command_explain, &explain, EXIT_CODE_OK));
	clock_fake_clear();
}

/* A full disk stops every write: nothing of it is due now. */
TEST(plan_is_blocked_while_nothing_can_be_written)
{
	struct options o = { .command = "plan", .duty = -1 };

	the_trouble = TROUBLE_HISTORY;
	json_t *j = run_json(command_plan, &o, EXIT_CODE_OK);

	ck_assert_str_eq(at(row(j, "stops", 0), "trouble"), "history");
	for (size_t i = 0; i < json_array_size(json_object_get(j, "items")); i++)
		ck_assert_str_ne(at(row(j, "items", i), "when"), "now");
	ck_assert_str_eq(at(row(j, "items", 1), "stoppedBy"), "history");
	json_decref(j);
}

TEST(plan_of_another_cluster)
{
	struct options o = { .command = "plan", .duty = -1, .clusters = { { "elsewhere" }, 1 } };
	json_t *j = run_json(command_plan, &o, EXIT_CODE_USAGE);

	ck_assert_int_eq(json_integer_value(json_object_get(json_object_get(j, "error"), "exitCode")),
			 EXIT_CODE_USAGE);
	json_decref(j);
}

TEST(explain_lets_the_worker_decide)
{
	char *args[] = { (char *)"shop/no" };
	struct options o = { .command = "explain", .args = args, .n_args = 1, .rules = 1 };
	json_t *j = run_json(command_explain, &o, EXIT_CODE_OK);
	const json_t *r = row(j, NULL, 0);

	ck_assert_str_eq(at(r, "verdict"), "refuse");
	ck_assert_str_eq(at(r, "reason"), "NodeNotReady");
	ck_assert_str_eq(at(r, "cacheVerdict"), "act");
	ck_assert_str_eq(at(r, "namespace"), "shop");
	ck_assert_str_eq(at(r, "name"), "no");
	ck_assert_str_eq(at(row(r, "rules", 0), "result"), "decided");
	json_decref(j);
}

static const struct {
	const char *object, *ns, *kind;
} kinds_named[] = {
	{ "shop/web", NULL, "" },
	{ "web", "shop", "" },
	{ "shop/web", "shop", "" },
	{ "sts/web", "shop", "StatefulSet" },
	{ "Deployments/web", "shop", "Deployment" },
	{ "deploy/shop/web", NULL, "Deployment" },
	{ "deployments.apps/shop/web", NULL, "Deployment" },
	{ "pods/shop/web-1", NULL, "Pod" },
	{ "Job.batch/web", "shop", "Job" },
	{ "nonsense/web", "shop", "nonsense" },
	{ "shop/web/x", NULL, "shop" },
	{ "fleets.example.com/shop/web", NULL, "" },
};

TEST_LOOP(explain_asks_for_the_kind, 0, ARRAY_SIZE(kinds_named))
{
	char *args[] = { (char *)(uintptr_t)kinds_named[_i].object };
	struct options o = { .command = "explain", .args = args, .n_args = 1 };

	if (kinds_named[_i].ns)
		o.namespaces = (struct option_names){ { kinds_named[_i].ns }, 1 };
	asked_kind = kinds_named[_i].kind;
	json_decref(run_json(command_explain, &o, EXIT_CODE_OK));
}

TEST(history_is_printed_oldest_first)
{
	struct options o = { .command = "history", .duty = -1, .outcome = -1, .by = -1 };
	json_t *j = run_json(command_history, &o, EXIT_CODE_OK);

	ck_assert_uint_eq(json_array_size(json_object_get(j, "items")), 2);
	ck_assert_str_eq(at(row(j, NULL, 0), "outcome"), "refused"); /* the instance sends the newest first */
	ck_assert_str_eq(at(row(j, NULL, 1), "endedAt"), "1970-01-01T00:00:02.000Z");
	ck_assert_str_eq(at(row(j, NULL, 1), "action"), action_desc(ACTION_SCALE_DOWN)->name);
	json_decref(j);
}

/* The field of the message takes no number below 0, and to restore 0 is no --since at all. */
TEST_LOOP(since_before_1970_is_ever, 0, 4)
{
	static char *times[] = { (char *)"1969-12-31T23:59:59Z", (char *)"0001-01-01T00:00:00Z",
				 (char *)"1970-01-01T00:00:00Z", (char *)"2h" };
	static const struct option_use uses[OPTIONS_MAX] = { { OPTION_SINCE, "x" } };
	char *argv[] = { (char *)"history", (char *)"--since", times[_i], NULL };
	char error[OPTIONS_TEXT_MAX];
	struct options o;

	clock_fake_set(1000, 1000); /* of a host whose clock was never set */
	ck_assert_int_eq(options_parse(uses, 0, false, 3, argv, &o, error), 0);
	clock_fake_clear();
	o.command = "history";
	json_t *j = run_json(command_history, &o, EXIT_CODE_OK);

	ck_assert_uint_eq(json_array_size(json_object_get(j, "items")), 2);
	json_decref(j);
	o.command = "restore";
	o.dry_run = 1;
	j = run_json(command_restore, &o, EXIT_CODE_OK);
	ck_assert_uint_eq(json_array_size(json_object_get(j, "items")), 1);
	json_decref(j);
}

TEST(show_reads_the_columns)
{
	char *args[] = { (char *)"7" };
	struct options o = { .command = "show", .args = args, .n_args = 1 };
	json_t *j = run_json(command_show, &o, EXIT_CODE_OK);

	ck_assert_str_eq(at(j, "mode"), "observe");
	ck_assert_str_eq(at(j, "cluster"), "prod");
	ck_assert_str_eq(at(j, "startedAt"), "1970-01-01T00:00:01.000Z");
	ck_assert(json_is_object(json_object_get(j, "evidence")));
	ck_assert_ptr_null(json_object_get(j, "http"));
	json_decref(j);
}

TEST(show_says_a_thing_once)
{
	char *args[] = { (char *)"7" };
	struct options o = { .command = "show", .args = args, .n_args = 1 };
	char *text = run(command_show, &o, EXIT_CODE_OK);

	ck_assert_msg(strstr(text, "mode") && !strstr(text, "detail"), "%s", text);
	ck_assert_msg(strstr(text, "\ncluster ") && strstr(text, "prod"), "%s", text);
	ck_assert_ptr_null(strstr(strstr(text, "3s") + 1, "3s"));
	free(text);
}

/* Who reads stdout alone does not take it for a plan of all. */
TEST(plan_tells_what_is_left_out_and_what_is_over)
{
	struct options o = { .command = "plan", .duty = -1 };

	in_two_clusters = true;
	char *text = run(command_plan, &o, EXIT_CODE_TEMPORARY);

	ck_assert_msg(strstr(text, "shop/yes") && strstr(text, "cluster stage is left out of the plan"), "%s",
		      text);
	ck_assert_msg(!strstr(text, "cluster stage: looked at"), "%s", text);
	ck_assert_msg(strstr(text, "blocked 1970") && strstr(text, "\ngone ") && !strstr(text, "gone 1970"),
		      "%s", text); /* what is over does not come when the pause ends */
	free(text);
}

TEST(restore_knows_clusters_apart)
{
	struct options o = { .command = "restore", .since_ms = 1, .dry_run = 1 };

	in_two_clusters = true;
	json_t *j = run_json(command_restore, &o, EXIT_CODE_OK);

	ck_assert_uint_eq(json_array_size(json_object_get(j, "items")), 2);
	json_decref(j);
	o.output = OUTPUT_TABLE;
	char *text = run(command_restore, &o, EXIT_CODE_OK);

	ck_assert_msg(strstr(text, "CLUSTER") && strstr(text, "prod") && strstr(text, "stage"), "%s", text);
	free(text);
}

/* The list, and a workload that the history does not know. */
TEST_LOOP(a_cluster_that_does_not_answer_hides_no_mark, 0, 2)
{
	char *args[] = { (char *)"shop/api" };
	const struct options list = { .command = "restore", .list = 1 };
	const struct options one = { .command = "restore", .args = args, .n_args = 1, .dry_run = 1 };
	struct options o = _i == 0 ? list : one;

	in_two_clusters = true;
	char *text = run(command_restore, &o, _i == 0 ? EXIT_CODE_UNAVAILABLE : EXIT_CODE_OK);

	ck_assert_msg(strstr(text, _i == 0 ? "shop/api" : "would") != NULL, "%s", text);
	free(text);
}

TEST_LOOP(restore_is_shown_and_then_done, 0, 2)
{
	char *args[] = { (char *)"shop/web" };
	struct options o = { .command = "restore", .args = args, .n_args = 1, .dry_run = _i == 0, .yes = 1 };
	json_t *j = run_json(command_restore, &o, EXIT_CODE_OK);
	const json_t *r = row(j, "items", 0);

	ck_assert_int_eq(json_is_true(json_object_get(j, "dryRun")), _i == 0);
	ck_assert_int_eq(json_integer_value(json_object_get(r, "id")), 7);
	ck_assert_int_eq(json_integer_value(json_object_get(r, "replicas")), 3); /* of the history */
	ck_assert_str_eq(at(r, "outcome"), _i == 0 ? "would" : "done");
	ck_assert_str_eq(at(r, "target"), "deployments.apps/shop/web");
	json_decref(j);
}

/* As kubectl takes a kind, or as the target begins; another kind of that name is not meant. */
TEST_LOOP(restore_takes_kinds_as_kubectl_does, 0, 7)
{
	static const struct {
		const char *said, *target;
		bool is_meant;
	} kinds[] = {
		{ "sts/shop/web", "statefulsets.apps/shop/web", true },
		{ "StatefulSet/shop/web", "statefulsets.apps/shop/web", true },
		{ "rs/shop/web", "replicasets.apps/shop/web", true },
		{ "rc/shop/web", "replicationcontrollers/shop/web", true },
		{ "fleet/shop/web", "fleets.example.com/shop/web", true },
		{ "sts/shop/web", "deployments.apps/shop/web", false },
		{ "/shop/web", "deployments.apps/shop/web", false },
	};
	char *args[] = { (char *)(uintptr_t)kinds[_i].said };
	struct options o = {
		.command = "restore", .args = args, .n_args = 1, .dry_run = 1, .output = OUTPUT_TABLE
	};

	the_target = kinds[_i].target;
	free(run(command_restore, &o, kinds[_i].is_meant ? EXIT_CODE_OK : EXIT_CODE_FAILURE));
}

/* One that stays at 0 is no success, though others were put back. */
TEST_LOOP(restore_fails_when_a_workload_stays_at_zero, 0, ARRAY_SIZE(not_restored))
{
	struct options o = { .command = "restore", .since_ms = 1, .yes = 1 };

	in_two_clusters = true;
	the_other = &not_restored[_i];
	json_t *j = run_json(command_restore, &o, the_other->code);

	ck_assert_uint_eq(json_array_size(json_object_get(j, "items")), 2);
	ck_assert_str_eq(at(row(j, "items", 0), "outcome"), "done");
	json_decref(j);
}

TEST(pause_says_what_it_did)
{
	char *args[] = { (char *)"deleteEvictedPod", (char *)"prod" };
	struct options o = { .command = "pause", .args = args, .n_args = 2, .reason = "a move" };
	json_t *j = run_json(command_pause, &o, EXIT_CODE_OK);

	ck_assert(json_is_true(json_object_get(j, "paused")));
	ck_assert_str_eq(at(j, "duty"), "deleteEvictedPod");
	ck_assert_str_eq(at(j, "cluster"), "prod");
	ck_assert_str_eq(at(j, "reason"), "a move");
	json_decref(j);
}

TEST_MAIN("cli/commands")
{
	tcase_set_timeout(t, 60);
}
