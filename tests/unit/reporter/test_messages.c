/* test_messages.c - what people are told: each action once, what needs an operator as it begins and as it
 * ends, to whom it concerns, whatever dies when. */
// SPDX-License-Identifier: Apache-2.0
#include "tests/facts_en.h"
#include "tests/unit/reporter/message_world.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "model/guards.h"
#include "reporter/history/attention.h"
#include "model/sink_types.h"
#include "reporter/notify/outbox.h"
#include "reporter/notify/action_messages.h"

/* -- actions -- */

TEST(what_was_done_is_told_once_with_the_way_back)
{
	act(1, ACTION_SCALE_DOWN, "shop", "web", OUTCOME_DONE, true);
	act(2, ACTION_FORCE_DELETE, "shop", "db-0", OUTCOME_DONE, true);
	for (uint64_t i = 3; i < 37; i++)
		act(i, ACTION_DELETE, "shop", "cron", OUTCOME_DONE, true);
	tell();
	ck_assert(put && left == ACTIONS_LEFT_NONE);
	(void)told("team");
	HAS("[prod] Scaled 1 workload to 0, force-deleted 1 pod, deleted 34 evicted pods");
	HAS("shop/web (Deployment): scaled from 3 to 0");
	HAS("$ ops-pod-cleaner restore 1\n");
	HAS("since 2023-11-14 22:13 UTC\n");
	HAS("shop/db-0: deleted by force");
	HAS("certificate: pod x");
	HAS("shop, node node-7: 34 pods deleted");
	ck_assert_str_eq(told("pay"), "");
	ck_assert_str_eq(told("reports"), "");
	tell();
	ck_assert(!put);
	ck_assert_str_eq(told("team"), "");
}

TEST(what_is_old_is_not_told_and_what_was_open_is_when_it_ends)
{
	act(1, ACTION_SCALE_DOWN, "shop", "old", OUTCOME_DONE, true);
	ck_assert_int_eq(db_run(db_stmt(w.db, DB_NOTIFIED_MOVE, db_i("newest", 1), db_i("told", 0)), NULL),
			 0);
	act(2, ACTION_SCALE_DOWN, "shop", "slow", OUTCOME_DONE, false);
	act(3, ACTION_SCALE_DOWN, "shop", "fast", OUTCOME_DONE, true);
	tell();
	(void)told("team");
	HAS("shop/fast");
	HAS_NO("shop/slow");
	HAS_NO("shop/old");
	world_close();
	world_open(); /* as after a crash */
	const struct msg end = world_record(2, OUTCOME_UNCONFIRMED);

	world_write(&end, 1);
	tell();
	(void)told("team");
	HAS("not confirmed: scaled from 3 to 0");
	HAS_NO("shop/fast");
	tell();
	ck_assert_str_eq(told("team"), "");
}

/* A forced delete is a warning by its colour; a plain one is not. */
TEST(a_forced_delete_warns)
{
	static const enum action_kind kinds[] = { ACTION_DELETE, ACTION_FORCE_DELETE };
	static const enum tone tones[] = { TONE_INFO, TONE_WARNING };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct outbox_row row;

		act(i + 1, kinds[i], "shop", "db-0", OUTCOME_DONE, true);
		tell();
		ck_assert_int_eq(outbox_next(w.db, "team", &row), 1);
		ck_assert_int_eq(row.document.tone, tones[i]);
		outbox_row_done(&row);
		(void)told("team");
	}
}

TEST(each_hears_of_its_own_in_its_language)
{
	act(1, ACTION_SCALE_DOWN, "pay", "api", OUTCOME_DONE, true);
	act(2, ACTION_SCALE_DOWN, "shop", "web", OUTCOME_WOULD, true);
	tell();
	(void)told("pay");
	HAS("pay/api（Deployment）");
	HAS("副本数已由 3 缩为 0");
	HAS("最新版本的所有 Pod 持续拉取镜像失败");
	HAS_NO("shop");
	(void)told("team");
	HAS("shop/web (Deployment): would be scaled from 3 to 0 (observe mode)");
	HAS_NO("restore 2");
}

/* The workload names whom it concerns: they are mentioned, and can undo it with what they have. */
TEST(whom_a_workload_concerns)
{
	struct msg m[] = { world_intent(1, 0, "u1"), world_record(1, OUTCOME_DONE) };

	m[0].u.intent.duty = DUTY_IMAGE_PULL;
	m[0].u.intent.action = ACTION_SCALE_DOWN;
	test_set(&m[1], record.target, "deployments.apps/shop/web");
	m[1].u.record.replicas = 3;
	facts_quoted(&m[1].u.record.evidence, FACT_CONTACT, STR_LIT("ou_web"));
	facts_time(&m[0].u.intent.evidence, FACT_DEADLINE, WORLD_NOW);
	world_write(m, 2);
	tell();
	struct outbox_row row;

	ck_assert_int_eq(outbox_next(w.db, "team", &row), 1);
	const struct entry *e = &row.document.sections[0].entries[0];

	ck_assert_uint_eq(e->mentions.n, 1);
	ck_assert_str_eq(e->mentions.v[0], "ou_web");
	ck_assert_str_eq(entry_fact(e, "contact"), "ou_web");
	outbox_row_done(&row);
	(void)told("team");
	HAS("kubectl -n shop scale deployments.apps web --replicas=3\n");
	HAS("deadline 2023-11-14 22:13 UTC\n");
}

/* While there is time, whoever reads it can refuse it. */
TEST(what_was_announced_can_be_refused)
{
	act(1, ACTION_SCALE_DOWN, "shop", "web", OUTCOME_ANNOUNCED, true);
	act(2, ACTION_FORCE_DELETE, "shop", "db-0", OUTCOME_ANNOUNCED, true);
	act(3, ACTION_DELETE, "shop", "cron", OUTCOME_ANNOUNCED, true);
	tell();
	(void)told("team");
	HAS("to refuse it: kubectl -n shop annotate deployments.apps web "
	    "ops-pod-cleaner.io/skip=errImagePull\n");
	HAS("to refuse it: kubectl -n shop annotate pods db-0 "
	    "ops-pod-cleaner.io/skip=deleteTerminatingPod\n");
	HAS("refuse it by ops-pod-cleaner.io/skip\n");
	act(4, ACTION_SCALE_DOWN, "shop", "web", OUTCOME_DONE, true);
	tell();
	(void)told("team");
	HAS_NO("to refuse it");
}

TEST(the_title_tells_what_was_done_from_what_would_be)
{
	act(1, ACTION_SCALE_DOWN, "shop", "web", OUTCOME_WOULD, true);
	act(2, ACTION_DELETE, "shop", "cron", OUTCOME_WOULD, true);
	act(3, ACTION_SCALE_DOWN, "pay", "api", OUTCOME_WOULD, true);
	tell();
	(void)told("team");
	HAS("Dry run, would have scaled 2 workloads to 0, deleted 1 evicted pod\n");
	HAS_NO("] Scaled");
	(void)told("pay");
	HAS("观察模式，未执行：1 个工作负载缩容到 0\n");
	act(4, ACTION_SCALE_DOWN, "shop", "back", OUTCOME_WOULD, true);
	act(5, ACTION_SCALE_DOWN, "shop", "front", OUTCOME_DONE, true);
	act(6, ACTION_DELETE, "shop", "cron", OUTCOME_WOULD, true);
	tell();
	(void)told("team");
	HAS("Scaled 1 workload to 0\n");
	HAS("shop/back (Deployment): would be scaled");
}

TEST(the_title_names_the_only_cluster_and_the_entries_do_not)
{
	world_forget_staging();
	settings.cluster_names = w.clusters;
	act(1, ACTION_SCALE_DOWN, "shop", "web", OUTCOME_DONE, true);
	tell();
	(void)told("team");
	HAS("[prod] Scaled 1 workload to 0\n");
	HAS("- shop/web (Deployment)");
}

static int refuse_commit(void *ctx)
{
	(void)ctx;
	return 1;
}

TEST(what_could_not_be_written_down_was_not_put)
{
	sqlite3 *sql = sqlite3_db_handle(db_stmt(w.db, DB_ONE_ROW));

	act(1, ACTION_SCALE_DOWN, "shop", "web", OUTCOME_DONE, true);
	(void)sqlite3_commit_hook(sql, refuse_commit, NULL);
	ck_assert_int_lt(action_messages_put(w.db, &settings, NULL, &put, &left), 0);
	ck_assert(!put);
	(void)sqlite3_commit_hook(sql, NULL, NULL);
	tell();
	ck_assert(put);
	(void)told("team");
	HAS("shop/web (Deployment): scaled from 3 to 0");
}

TEST(many_are_counted)
{
	for (uint64_t i = 1; i <= 8; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "web-%llu", (unsigned long long)i);
		act(i, ACTION_SCALE_DOWN, "shop", name, OUTCOME_DONE, true);
	}
	tell();
	(void)told("team");
	HAS("shop/web-3 ");
	HAS_NO("shop/web-4 ");
	HAS("and 5 more");
	HAS("8 workloads");
}

/* The actions that the n-th entry of the next message for a sink counts. */
static const char *counted(const char *sink, size_t n)
{
	struct outbox_row row;

	text[0] = '\0';
	ck_assert_int_eq(outbox_next(w.db, sink, &row), 1);
	ck_assert_uint_eq(row.document.n_sections, 1);
	const struct section *s = row.document.sections;
	const char *ids = n < s->n ? entry_fact(&s->entries[n], "actionIds") : NULL;

	(void)snprintf(text, sizeof(text), "%s", ids ? ids : "none");
	outbox_row_done(&row);
	return text;
}

static void act_on(uint64_t id, const char *ns, const char *node, enum outcome outcome)
{
	char uid[24];

	(void)snprintf(uid, sizeof(uid), "uid-%llu", (unsigned long long)id);
	struct msg m[2] = { world_intent(id, 0, uid), world_record(id, outcome) };

	m[0].u.intent.duty = DUTY_EVICTED;
	m[0].u.intent.action = ACTION_DELETE;
	test_set(&m[0], intent.ns, ns);
	facts_name(&m[1].u.record.evidence, FACT_POD, STR_LIT("x"));
	if (*node)
		facts_name(&m[1].u.record.evidence, FACT_NODE, STR_C(node));
	world_write(m, 2);
}

TEST(pods_are_counted_by_namespace_and_node_in_their_order)
{
	static const char *const nodes[] = { "node-b", "node-a", "" };

	for (uint64_t i = 0; i < 6; i++)
		act_on(i + 1, "shop", nodes[i % 3], OUTCOME_DONE);
	act_on(7, "pay", "node-b", OUTCOME_DONE);
	tell();
	ck_assert_str_eq(counted("team", 0), "1 4");
	ck_assert_str_eq(counted("team", 1), "2 5");
	ck_assert_str_eq(counted("team", 2), "3 6");
	ck_assert_str_eq(counted("team", 3), "none"); /* `top` are shown */
	ck_assert_str_eq(counted("pay", 0), "7");
	(void)told("team");
	HAS("shop, node node-b: 2 pods");
	HAS("shop, node node-a: 2 pods");
	HAS("shop: 2 pods");
	HAS("and 1 more");
	HAS("Deleted 7 evicted pods");
}

TEST(failures_are_counted_over_the_namespaces_that_concern_a_sink)
{
	for (uint64_t i = 1; i <= 6; i++)
		act_on(i, i % 3 ? "shop" : "pay", i % 2 ? "node-a" : "node-b", OUTCOME_FAILED);
	tell();
	ck_assert_str_eq(counted("team", 0), "1 2 3 4 5 6");
	ck_assert_str_eq(counted("team", 1), "none");
	ck_assert_str_eq(counted("pay", 0), "3 6");
}

TEST(where_nobody_is_told_what_was_done_needs_nobody_all_the_same)
{
	struct msg refusal = world_refusal("uid-9", "Forbidden");
	int64_t objects = 0;

	settings.n_sinks = 0;
	act_on(1, "shop", "node-a", OUTCOME_DONE);
	tell();
	ck_assert(!put && left == ACTIONS_LEFT_NONE);
	refusal.u.refusal.cluster = 0;
	refusal.u.refusal.duty = DUTY_EVICTED;
	test_set(&refusal, refusal.ns, "shop");
	test_set(&refusal, refusal.name, "web-1");
	world_write(&refusal, 1);
	act_on(2, "pay", "node-a", OUTCOME_DONE); /* another one */
	tell();
	ck_assert_int_eq(db_number(db_stmt(w.db, DB_ATTENTION_OBJECTS), &objects), 0);
	ck_assert_int_eq(objects, 1);
	act_on(3, "shop", "node-a", OUTCOME_DONE);
	tell();
	ck_assert_int_eq(db_number(db_stmt(w.db, DB_ATTENTION_OBJECTS), &objects), 0);
	ck_assert_int_eq(objects, 0);
	settings.n_sinks = 1; /* who is told from now on is not told what is old */
	tell();
	ck_assert_str_eq(told("team"), "");
}

/* Many of another cluster, say, of which this sink is told nothing. */
TEST(a_part_that_concerns_nobody_keeps_nothing_waiting)
{
	settings.sinks = &sinks[1];
	settings.n_sinks = 1;
	for (uint64_t i = 1; i <= 2000; i++)
		act(i, ACTION_DELETE, "shop", "cron", OUTCOME_DONE, true);
	act(2001, ACTION_DELETE, "pay", "cron", OUTCOME_DONE, true);
	for (int i = 0; i < 2; i++) {
		tell();
		ck_assert(!put && left == ACTIONS_LEFT_NOW);
	}
	tell();
	ck_assert(put && left == ACTIONS_LEFT_NONE);
}

TEST(a_part_of_failures_keeps_nothing_waiting)
{
	act(1, ACTION_DELETE, "shop", "cron", OUTCOME_DONE, true);
	tell();
	for (uint64_t i = 2; i <= 1001; i++)
		act(i, ACTION_DELETE, "shop", "cron", OUTCOME_FORBIDDEN, true);
	act(1002, ACTION_DELETE, "shop", "cron", OUTCOME_DONE, true);
	tell();
	ck_assert(put && left == ACTIONS_LEFT_NOW);
	tell();
	ck_assert(put && left == ACTIONS_LEFT_NONE);
}

TEST(failures_alone_wait_and_are_told_with_the_next)
{
	act(1, ACTION_SCALE_DOWN, "shop", "web", OUTCOME_DONE, true);
	tell();
	(void)told("team");
	act(2, ACTION_DELETE, "shop", "a", OUTCOME_FORBIDDEN, true);
	act(3, ACTION_DELETE, "shop", "b", OUTCOME_FORBIDDEN, true);
	act(4, ACTION_DELETE, "shop", "c", OUTCOME_GONE, true); /* nothing was done */
	tell();
	ck_assert(!put && left == ACTIONS_LEFT_LATER);
	clock_fake_advance(TELL_FAILURES_MS);
	tell();
	ck_assert(put && left == ACTIONS_LEFT_NONE);
	(void)told("team");
	HAS("2 actions failed");
	HAS("deleteEvictedPod: 2 actions: forbidden");
	tell();
	ck_assert(!put && left == ACTIONS_LEFT_NONE);
}

TEST(nothing_is_told_that_could_not_be_written)
{
	sqlite3 *sql = sqlite3_db_handle(db_stmt(w.db, DB_ONE_ROW));

	act(1, ACTION_SCALE_DOWN, "shop", "web", OUTCOME_DONE, true);
	ck_assert_int_eq(sqlite3_exec(sql, "ALTER TABLE outbox RENAME TO away", NULL, NULL, NULL), SQLITE_OK);
	ck_assert_int_lt(action_messages_put(w.db, &settings, NULL, &put, &left), 0);
	ck_assert_int_eq(sqlite3_exec(sql, "ALTER TABLE away RENAME TO outbox", NULL, NULL, NULL), SQLITE_OK);
	tell();
	(void)told("team");
	HAS("shop/web");
}

/* -- attention -- */

TEST(a_trouble_is_told_as_it_begins_and_as_it_ends)
{
	trouble(TROUBLE_FORBIDDEN, "prod", 1);
	look(MINUTE - 1);
	ck_assert_str_eq(told("team"), "");
	look(1);
	(void)told("team");
	HAS("New: [prod] the API server forbids");
	HAS("[prod] the API server forbids a request that a duty needs (403)");
	HAS("cannot delete pods");
	HAS("what to do: grant the right named above");
	look(HOUR);
	ck_assert_str_eq(told("team"), "");
	trouble(TROUBLE_FORBIDDEN, "prod", 0);
	look(0);
	ck_assert_str_eq(told("team"), "");
	look(MINUTE);
	(void)told("team");
	HAS("Resolved: ");
	HAS("from 2023-11-14 22:13 UTC to 2023-11-14 23:14 UTC");
	(void)told("pay");
	HAS("已恢复：");
	look(DAY);
	ck_assert_str_eq(told("team"), "");
	ck_assert_str_eq(told("reports"), "");
}

TEST(what_comes_and_goes_is_not_told)
{
	for (int i = 0; i < 10; i++) {
		trouble(TROUBLE_CLUSTER_UNSEEN, "prod", 1);
		look(MINUTE / 2);
		trouble(TROUBLE_CLUSTER_UNSEEN, "prod", 0);
		look(MINUTE / 3);
		look(MINUTE);
	}
	ck_assert_str_eq(told("team"), "");
	/* Away for less than a minute it has not ended. */
	trouble(TROUBLE_CLUSTER_UNSEEN, "prod", 1);
	look(MINUTE);
	(void)told("team");
	HAS("cluster unreachable");
	for (int i = 0; i < 5; i++) {
		trouble(TROUBLE_CLUSTER_UNSEEN, "prod", 0);
		look(MINUTE / 2);
		trouble(TROUBLE_CLUSTER_UNSEEN, "prod", 1);
		look(MINUTE / 2);
	}
	ck_assert_str_eq(told("team"), "");
}

TEST(reminded_once_a_day_or_never)
{
	trouble(TROUBLE_FORBIDDEN, "prod", 1);
	look(MINUTE);
	(void)told("team");
	look(DAY - 1);
	ck_assert_str_eq(told("team"), "");
	look(1);
	(void)told("team");
	HAS("Still: ");
	look(HOUR);
	ck_assert_str_eq(told("team"), "");
	settings.remind_ms = 0;
	look(3 * DAY);
	ck_assert_str_eq(told("team"), "");
}

/* What a reminder says is what stands today, not only what stood as it began. */
TEST(a_reminder_tells_of_today)
{
	refuse_long(1, 1);
	look(0);
	(void)told("team");
	HAS("kube-system: dns-1\n");
	refuse_long(1, 2);
	look(0);
	(void)told("team");
	HAS_NO("Still: ");
	look(DAY / 2);
	refuse(1, 2);
	look(DAY / 2 - 1);
	ck_assert_str_eq(told("team"), "");
	look(1);
	(void)told("team");
	HAS("Still: ");
	HAS("kube-system: dns-1, dns-2\n");
}

TEST(a_reminder_of_a_trouble_tells_its_detail_of_today)
{
	trouble(TROUBLE_FORBIDDEN, "prod", 1);
	look(MINUTE);
	(void)told("team");
	HAS("cannot delete pods");
	trouble_of(TROUBLE_FORBIDDEN, "prod", 1, "cannot scale deployments");
	look(HOUR);
	ck_assert_str_eq(told("team"), "");
	look(DAY);
	(void)told("team");
	HAS("Still: ");
	HAS("since 2023-11-14 22:13 UTC\n");
	HAS("cannot scale deployments");
	HAS_NO("cannot delete pods");
}

/* It would forget what stands: it is told again long before the others, and whatever they are told. */
TEST(an_alertmanager_is_told_again_soon)
{
	sinks[0].type = SINK_ALERTMANAGER;
	settings.remind_ms = 0;
	trouble(TROUBLE_FORBIDDEN, "prod", 1);
	look(MINUTE);
	(void)told("team");
	look(HOUR);
	(void)told("team");
	HAS("Still: ");
}

TEST(a_crash_tells_nothing_twice_and_loses_no_end)
{
	trouble(TROUBLE_FORBIDDEN, "prod", 1);
	look(MINUTE);
	(void)told("team");
	start_again();
	look(1000); /* nobody has said yet what stands */
	trouble(TROUBLE_FORBIDDEN, "prod", 1);
	look(MINUTE);
	ck_assert_str_eq(told("team"), "");
	state_free(&state);
	state = state_new(); /* and it ended while nobody looked */
	look(0);
	look(MINUTE);
	(void)told("team");
	HAS("Resolved: ");
}

TEST(an_end_goes_only_where_its_begin_went)
{
	trouble(TROUBLE_FORBIDDEN, "prod", 1);
	settings.n_sinks = 1;
	look(MINUTE);
	(void)told("team");
	HAS("New: ");
	settings.n_sinks = 2;
	trouble(TROUBLE_FORBIDDEN, "prod", 0);
	look(0);
	look(MINUTE);
	(void)told("team");
	HAS("Resolved: ");
	ck_assert_str_eq(told("pay"), "");
}

TEST(a_new_sink_is_told_what_stands)
{
	trouble(TROUBLE_FORBIDDEN, "prod", 1);
	settings.n_sinks = 1;
	look(MINUTE);
	settings.n_sinks = 2;
	look(MINUTE);
	(void)told("pay");
	HAS("新问题：");
}

TEST(guards_pauses_and_objects_need_an_operator_too)
{
	struct facts budget = quoting("Budget 1");
	const struct msg pause = { .type = MSG_PAUSE,
				   .u.pause = { .duty = DUTY_EVICTED, .on = true, .at = WORLD_NOW } };

	facts_time(&budget, FACT_DEADLINE, WORLD_NOW);
	world_write(&pause, 1);
	ck_assert_int_eq(attention_note_guards(w.db, GUARD_BIT(BUDGET), &budget, "prod"), 0);
	act(1, ACTION_DELETE, "pay", "api-1", OUTCOME_FORBIDDEN, true);
	const struct msg forbidden = world_refusal("uid-9", "Forbidden");

	world_write(&forbidden, 1);
	look(MINUTE);
	ck_assert_str_eq(told("team"), "");
	clock_fake_advance(ATTENTION_LASTING_MS);
	world_write(&forbidden, 1);
	look(0);
	(void)told("team");
	HAS("action budget for this period is spent");
	HAS("deadline 2023-11-14 22:13 UTC"); /* in the zone of the message, which is named */
	HAS("permission denied (403)");
	HAS("kube-system: dns-1");
	(void)told("pay");
	HAS("该时段内的操作次数已达上限"); /* which concerns everyone */
	HAS_NO("kube-system");
	look(DAY - ATTENTION_LASTING_MS);
	(void)told("team");
	HAS("deleteEvictedPod: paused for more than a day");
	ck_assert_int_eq(attention_note_guards(w.db, 0, &budget, "prod"), 0);
	look(0);
	look(MINUTE);
	(void)told("team");
	HAS("Resolved: ");
	HAS("action budget for this period is spent");
}

/* The owner of an object is named and mentioned, where the alarm is of that one. */
TEST_LOOP(whom_an_alarm_concerns, 1, 3)
{
	for (uint64_t id = 1; id <= (uint64_t)_i; id++) {
		struct msg m[2] = { world_intent(id, 0, id == 1 ? "uid-1" : "uid-2"),
				    world_record(id, OUTCOME_FORBIDDEN) };

		test_set(&m[0], intent.name, id == 1 ? "api-1" : "api-2");
		test_set(&m[1], record.reason, "Forbidden");
		facts_quoted(&m[1].u.record.evidence, FACT_CONTACT, STR_LIT("ou_api"));
		world_write(m, 2);
		clock_fake_advance(ATTENTION_LASTING_MS);
		m[0].u.intent.id = m[1].u.record.id = id + 10;
		world_write(m, 2);
	}
	look(0);
	struct outbox_row row;

	ck_assert_int_eq(outbox_next(w.db, "team", &row), 1);
	ck_assert_uint_eq(row.document.sections[0].entries[0].mentions.n, _i == 1);
	outbox_row_done(&row);
	(void)told("team");
	HAS("ou_api");
}

TEST(what_was_done_at_last_needs_nobody)
{
	struct msg refusal = world_refusal("uid-9", "Forbidden");

	refusal.u.refusal.cluster = 0;
	test_set(&refusal, refusal.ns, "shop");
	test_set(&refusal, refusal.name, "cron");
	world_write(&refusal, 1);
	clock_fake_advance(ATTENTION_LASTING_MS);
	world_write(&refusal, 1);
	look(0);
	(void)told("team");
	HAS("permission denied (403)");
	act(1, ACTION_DELETE, "shop", "cron", OUTCOME_DONE, true);
	tell();
	look(0);
	look(MINUTE);
	(void)told("team");
	HAS("Resolved: ");
}

TEST(a_sink_that_is_down_is_told_to_the_others)
{
	trouble(TROUBLE_SINK, "", 1); /* which says no more than each sink does */
	team_down_at = clock_wall_ms();
	look(MINUTE);
	(void)told("pay");
	HAS("新问题：");
	HAS("team");
	HAS("code 19024");
	ck_assert_str_eq(told("team"), "");
	team_down_at = 0;
	look(0);
	look(MINUTE);
	(void)told("pay");
	HAS("已恢复：");
	ck_assert_str_eq(told("team"), "");
}

TEST_MAIN("reporter/messages")
{
	tcase_add_checked_fixture(t, tell_setup, tell_teardown);
	tcase_set_timeout(t, 30);
}
