/* test_joined.c - several replicas as one: each cluster as the one knows it that leads it, and one list of
 * what they did. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/exit.h"
#include "cli/commands/command.h"
#include "cli/instance/answers.h"
#include "cli/view/output.h"
#include "tests/suite.h"
#include "tests/unit/cli/instance.h"

#define QUESTIONS 16
#define HOUR_MS   INT64_C(3600000)

/* What a replica knows of a cluster. */
struct known {
	const char *name;
	uint64_t pods;
	bool leads;
};

/* Two that share a and b; only the second knows c, which nobody leads, as d. */
static const struct known own[] = { { "a", 10, true }, { "b", 20, false }, { "d", 40, false } };
static const struct known other[] = {
	{ "b", 21, true }, { "a", 11, false }, { "c", 31, false }, { "d", 41, false }
};

typedef void (*sender)(const void *ctx, const struct msg *m);

static void send_end(sender send, const void *ctx)
{
	const struct msg m = { .type = MSG_CTL_END };

	send(ctx, &m);
}

static void send_status(sender send, const void *ctx, const struct known *known, size_t n)
{
	const struct msg supervisor = { .type = MSG_CTL_SUPERVISOR,
					.u.ctl_supervisor = { .version = "1", .phase = "running" } };

	send(ctx, &supervisor);
	for (size_t i = 0; i < n; i++) {
		struct msg cluster = { .type = MSG_CTL_CLUSTER, .u.ctl_cluster.cluster = i };
		const struct msg watch = { .type = MSG_WATCH_STATS,
					   .u.watch_stats = {
						   .cluster = i, .pods = known[i].pods, .synced = true } };
		struct msg leader = {
			.type = MSG_LEADER,
			.u.leader = { .cluster = i, .leading = known[i].leads, .valid_until = UINT64_MAX }
		};

		if (known[i].name[0] < 'c')
			msg_set(&leader, leader.holder, "a-0_1", 5);
		msg_set(&cluster, ctl_cluster.cluster_name, known[i].name, strlen(known[i].name));
		send(ctx, &cluster);
		send(ctx, &watch);
		send(ctx, &leader);
	}
	send_end(send, ctx);
}

static void send_action(sender send, const void *ctx, uint64_t id, int64_t at, const char *cluster)
{
	struct msg m = { .type = MSG_CTL_HISTORY_ROW,
			 .u.ctl_history_row = { .id = id,
						.intent_at = at,
						.result_at = at,
						.outcome = OUTCOME_DONE,
						.replicas = -1 } };

	msg_set(&m, ctl_history_row.cluster_name, cluster, strlen(cluster));
	msg_set(&m, ctl_history_row.ns, "shop", 4);
	msg_set(&m, ctl_history_row.name, "web", 3);
	msg_set(&m, ctl_history_row.uid, "u", 1);
	msg_set(&m, ctl_history_row.reason, "Evicted", 7);
	send(ctx, &m);
}

/* One pod that is due later, named as the replica. */
static void send_plan(sender send, const void *ctx, uint64_t cluster, const char *pod)
{
	const struct msg seen = { .type = MSG_CTL_PLAN_SEEN,
				  .u.ctl_plan_seen = { .cluster = cluster, .pods = 1, .namespaces = 1 } };
	struct msg m = { .type = MSG_CTL_PLAN_ROW,
			 .u.ctl_plan_row = { .cluster = cluster, .verdict = VERDICT_WAIT, .until = 1000 } };

	msg_set(&m, ctl_plan_row.ns, "shop", 4);
	msg_set(&m, ctl_plan_row.name, pod, strlen(pod));
	msg_set(&m, ctl_plan_row.uid, "u", 1);
	msg_set(&m, ctl_plan_row.action_key, "u", 1);
	msg_set(&m, ctl_plan_row.reason, "NotYet", 6);
	send(ctx, &seen);
	send(ctx, &m);
	send_end(send, ctx);
}

static void send_mark(sender send, const void *ctx, const char *target)
{
	struct msg m = { .type = MSG_CTL_MARKED_ROW, .u.ctl_marked_row = { .number = 1, .replicas = 2 } };

	msg_set(&m, ctl_marked_row.target, target, strlen(target));
	msg_set(&m, ctl_marked_row.target_uid, "u", 1);
	send(ctx, &m);
	send_end(send, ctx);
}

/* -- the first, which listens -- */

static void to_command(const void *ctx, const struct msg *m)
{
	instance_send(ctx, m);
}

static uint64_t own_index(const char *cluster)
{
	uint64_t i = 0;

	while (strcmp(own[i].name, cluster) != 0)
		i++;
	return i;
}

static void answer(const struct instance_call *c, unsigned nth)
{
	(void)nth;
	switch (c->request.type) {
	case MSG_CTL_STATUS:
		send_status(to_command, c, own, ARRAY_SIZE(own));
		break;
	case MSG_CTL_HISTORY:
		send_action(to_command, c, 2, 5 * HOUR_MS, "a");
		send_action(to_command, c, 1, 1 * HOUR_MS, "a");
		send_end(to_command, c);
		break;
	case MSG_CTL_PLAN:
		send_plan(to_command, c, own_index(c->request.u.ctl_plan.cluster_name), "own");
		break;
	case MSG_CTL_MARKED:
		send_mark(to_command, c,
			  c->request.u.ctl_marked.cluster_name[0] == 'd' ? "deployments.apps/s/d"
									 : "deployments.apps/s/own");
		break;
	default:
		instance_end(c, EXIT_CODE_OK);
	}
}

/* -- the second, whose answers are read -- */

static void to_record(const void *ctx, const struct msg *m)
{
	(void)ctx;
	answers_keep(m);
}

static void answer_status(void)
{
	send_status(to_record, NULL, other, ARRAY_SIZE(other));
}

static void answer_history(void)
{
	send_action(to_record, NULL, 2, 4 * HOUR_MS, "b");
	send_action(to_record, NULL, 1, 2 * HOUR_MS, "b");
	send_end(to_record, NULL);
}

static void answer_plan(void)
{
	answer_status();
	for (uint64_t i = 0; i < ARRAY_SIZE(other); i++)
		send_plan(to_record, NULL, i, "other");
	send_end(to_record, NULL); /* of the history: no refusals */
}

static void answer_marked(void)
{
	answer_status();
	send_mark(to_record, NULL, "deployments.apps/s/b");
	send_mark(to_record, NULL, "deployments.apps/s/c");
	send_mark(to_record, NULL, "deployments.apps/s/d");
}

/* What the command prints of both. Owned by the caller. */
static json_t *run(int (*command)(const struct options *o), struct options *o, void (*answer_other)(void),
		   int code)
{
	char socket[128], folder[SUITE_PATH_MAX], file[SUITE_PATH_MAX + 16];

	instance_start(socket, QUESTIONS, answer);
	suite_folder(folder);
	(void)snprintf(file, sizeof(file), "%s/answers", folder);
	ck_assert_ptr_nonnull(freopen(file, "we", stdout));
	printf("ops-pod-cleaner replica a-0\nops-pod-cleaner replica a-1\n");
	(void)fflush(stdout);
	answers_record();
	answer_other();
	ck_assert_int_eq(answers_print(), 0);
	FILE *f = fopen(file, "re");

	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(answers_read(f), EXIT_CODE_OK);
	(void)fclose(f);
	(void)snprintf(file, sizeof(file), "%s/out", folder);
	ck_assert_ptr_nonnull(freopen(file, "we", stdout));
	o->socket = socket;
	o->output = OUTPUT_JSON;
	output_expect_json(true);
	ck_assert_int_eq(output_flush(command(o)), code);
	json_t *j = json_load_file(file, 0, NULL);

	ck_assert_ptr_nonnull(j);
	return j;
}

/* "key/key " of each of a list. Owned by the caller. */
static char *list(const json_t *j, const char *name, const char *key, const char *and)
{
	char *text = calloc(1, 1024);
	json_t *item;
	size_t i;

	json_array_foreach (json_object_get(j, name), i, item)
		(void)snprintf(text + strlen(text), 1024 - strlen(text), "%s/%s ",
			       json_string_value(json_object_get(item, key)),
			       json_string_value(json_object_get(item, and)));
	return text;
}

TEST(clusters_are_shown_by_who_leads_them)
{
	struct options o = { .duty = -1 };
	json_t *j = run(command_status, &o, answer_status, EXIT_CODE_OK);
	char *clusters = list(j, "clusters", "cluster", "replica"),
	     *replicas = list(j, "replicas", "replica", "version");
	const json_t *b = json_array_get(json_object_get(j, "clusters"), 1);

	ck_assert_str_eq(clusters, "a/a-0 b/a-1 d/a-0 c/a-1 ");
	ck_assert_str_eq(replicas, "a-0/1 a-1/1 ");
	ck_assert_int_eq(json_integer_value(json_object_get(b, "pods")), 21);
	ck_assert(json_is_true(json_object_get(json_object_get(b, "leader"), "leading")));
	free(clusters);
	free(replicas);
	json_decref(j);
}

TEST(actions_are_one_list)
{
	struct options o = { .duty = -1, .outcome = -1, .by = -1 };
	json_t *j = run(command_history, &o, answer_history, EXIT_CODE_OK);
	char *rows = list(j, "items", "startedAt", "replica");

	ck_assert_str_eq(rows, "1970-01-01T01:00:00.000Z/a-0 1970-01-01T02:00:00.000Z/a-1 "
			       "1970-01-01T04:00:00.000Z/a-1 1970-01-01T05:00:00.000Z/a-0 ");
	free(rows);
	json_decref(j);
}

TEST(of_all_the_newest)
{
	struct options o = { .duty = -1, .outcome = -1, .by = -1, .count = 2 };
	json_t *j = run(command_history, &o, answer_history, EXIT_CODE_OK);
	char *rows = list(j, "items", "cluster", "replica");

	ck_assert_str_eq(rows, "b/a-1 a/a-0 ");
	free(rows);
	json_decref(j);
}

TEST(summaries_are_added_up)
{
	struct options o = { .duty = -1, .outcome = -1, .by = BY_DUTY, .summary = 1 };
	json_t *j = run(command_history, &o, answer_history, EXIT_CODE_OK);
	const json_t *first = json_array_get(json_object_get(j, "items"), 0);

	ck_assert_int_eq(json_integer_value(json_object_get(first, "actions")), 4);
	json_decref(j);
}

TEST(plans_are_one_list)
{
	struct options o = { .duty = -1 };
	json_t *j = run(command_plan, &o, answer_plan, EXIT_CODE_OK);
	char *rows = list(j, "items", "cluster", "name"), *looked = list(j, "looked", "cluster", "cluster");

	ck_assert_str_eq(rows, "a/own b/other d/own c/other ");
	ck_assert_str_eq(looked, "a/a b/b d/d c/c ");
	ck_assert_uint_eq(json_array_size(json_object_get(j, "leftOut")), 0);
	free(rows);
	free(looked);
	json_decref(j);
}

TEST(marks_are_one_list)
{
	struct options o = { .duty = -1, .list = 1 };
	json_t *j = run(command_restore, &o, answer_marked, EXIT_CODE_OK);
	char *rows = list(j, "items", "cluster", "target");

	ck_assert_str_eq(rows, "a/deployments.apps/s/own d/deployments.apps/s/d b/deployments.apps/s/b "
			       "c/deployments.apps/s/c ");
	free(rows);
	json_decref(j);
}

/* One that answered only in part is not the whole: what the others know is shown, and the exit code tells. */
TEST(who_cannot_answer_is_left_out)
{
	struct options o = { .duty = -1, .outcome = -1, .by = -1 };
	json_t *j = run(command_plan, &o, answer_status, EXIT_CODE_UNAVAILABLE);
	char *rows = list(j, "items", "cluster", "name");

	ck_assert_str_eq(rows, "a/own b/own d/own ");
	free(rows);
	json_decref(j);
}

TEST_MAIN("cli/joined")
{
	tcase_set_timeout(t, 60);
}
