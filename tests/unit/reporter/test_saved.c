/* test_saved.c - what must outlive every process: reverts, breakers, spent budgets, pauses, actions that are
 * open. */
// SPDX-License-Identifier: Apache-2.0
#include "base/cleanup.h"
#include "base/clock.h"
#include "reporter/web/stats.h"
#include "tests/facts_en.h"
#include "tests/suite.h"
#include "tests/unit/reporter/history_world.h"

static struct msg saved_msg(uint64_t cluster, const char *kind, const char *key, int64_t at)
{
	struct msg m = { .type = MSG_SAVED, .u.saved = { .cluster = cluster, .at = at, .until = at + 5 } };

	m.u.saved.count = 3;
	test_set(&m, saved.kind, kind);
	test_set(&m, saved.key, key);
	facts_count(&m.u.saved.evidence, FACT_SEEN, 3);
	return m;
}

/* Order matters: a watcher acts after SAVED_END, and must know everything by then. */
TEST(saved_state_comes_before_its_end)
{
	const struct msg m[] = {
		saved_msg(0, "reverted", "u1", 100),          saved_msg(0, "breaker", "host:docker.io", 200),
		saved_msg(1, "reverted", "u1", 300),          saved_msg(0, "reverted", "u1", 400),
		saved_msg(0, "breaker", "host:docker.io", 0), world_failing_since(0, "o1", 50)
	};
	struct msg out[8];

	world_write(m, 6);
	world_close();
	world_open();
	ck_assert_uint_eq(world_saved(0, false, out, 8), 3);
	ck_assert_int_eq(out[0].type, MSG_SAVED_ROW);
	ck_assert_str_eq(out[0].u.saved_row.kind, "reverted");
	ck_assert_str_eq(out[0].u.saved_row.key, "u1");
	ck_assert_int_eq(out[0].u.saved_row.at, 400);
	ck_assert_int_eq(out[0].u.saved_row.until, 405);
	ck_assert_uint_eq(out[0].u.saved_row.count, 3);
	ck_assert_str_eq(EN(out[0].u.saved_row.evidence), "seen 3");
	ck_assert_int_eq(out[1].type, MSG_FAILING_SINCE_ROW);
	ck_assert_int_eq(out[2].type, MSG_SAVED_END);
}

TEST(attempt_is_remembered_with_its_clock)
{
	struct msg m = world_failing_since(0, "o1", 100);
	struct msg out[4];

	m.u.failing_since.attempted = 150;
	m.u.failing_since.pulled = true;
	world_write(&m, 1);
	ck_assert_uint_eq(world_saved(0, false, out, 4), 2);
	ck_assert_int_eq(out[0].u.failing_since_row.attempted, 150);
	ck_assert(out[0].u.failing_since_row.pulled);
}

static const struct attempt {
	enum action_kind action;
	enum outcome outcome;
	int64_t failing_since;
	bool counts;
} attempts[] = {
	{ ACTION_FRESH_ATTEMPT, OUTCOME_DONE, WORLD_NOW - 1, true },
	{ ACTION_FRESH_ATTEMPT, OUTCOME_UNCONFIRMED, WORLD_NOW - 1, false },
	{ ACTION_FRESH_ATTEMPT, OUTCOME_WOULD, WORLD_NOW - 1, false },
	{ ACTION_FRESH_ATTEMPT, OUTCOME_DONE, WORLD_NOW + 1, false }, /* of a revision before this one */
	{ ACTION_SCALE_DOWN, OUTCOME_DONE, WORLD_NOW - 1, false },
};

/* Its end came while no watcher was there. */
TEST_LOOP(an_attempt_that_no_watcher_heard_of_is_told, 0, ARRAY_SIZE(attempts))
{
	const struct attempt *a = &attempts[_i];
	struct msg m[] = { world_failing_since(0, "o1", a->failing_since), world_intent(1, 0, "pod"),
			   world_record(1, a->outcome) };
	struct msg out[4];
	size_t n;

	m[1].u.intent.duty = m[0].u.failing_since.duty;
	m[1].u.intent.action = a->action;
	test_set(&m[1], intent.action_key, "o1");
	world_write(m, 3);
	n = world_saved(0, false, out, 4);
	for (size_t i = 0; i < n; i++)
		if (out[i].type == MSG_FAILING_SINCE_ROW)
			ck_assert_int_eq(out[i].u.failing_since_row.attempted, a->counts ? WORLD_NOW : 0);
	ck_assert_int_eq(out[n - 2].type, MSG_FAILING_SINCE_ROW);
}

static size_t count_actions(bool observe)
{
	struct msg out[16];
	size_t n = 0;

	const size_t all = world_saved(0, observe, out, 16);

	for (size_t i = 0; i < all; i++)
		n += out[i].type == MSG_ACTION_ROW;
	return n;
}

/* What budgets were spent on: everything that was or may have been written within a day of now, or of the
 * last. */
TEST(actions_of_the_last_day_are_given)
{
	struct msg m[] = { world_intent(1, 0, "done"),           world_record(1, OUTCOME_DONE),
			   world_intent(2, 0, "open"),           world_intent(3, 0, "doubt"),
			   world_record(3, OUTCOME_UNCONFIRMED), world_intent(4, 0, "refused"),
			   world_record(4, OUTCOME_REFUSED),     world_intent(5, 1, "elsewhere"),
			   world_intent(6, 0, "restored"),       world_intent(7, 0, "dry"),
			   world_intent(8, 0, "dry, ended"),     world_record(8, OUTCOME_WOULD) };

	m[8].u.intent.action = ACTION_RESTORE;
	m[9].u.intent.observe = m[10].u.intent.observe = true;
	world_write(m, 12);
	ck_assert_uint_eq(count_actions(false), 3);
	ck_assert_uint_eq(count_actions(true), 2);
	clock_fake_advance(INT64_C(86400000) - 1);
	ck_assert_uint_eq(count_actions(false), 3);
	clock_fake_advance(1);
	const struct msg last = world_intent(9, 0, "a day later");

	world_write(&last, 1);
	ck_assert_uint_eq(count_actions(false), 1);
}

/* The rest of a deletion was paid for when it was begun. */
TEST(what_is_finished_is_not_spent_twice)
{
	struct msg m[] = { world_intent(1, 0, "u"), world_record(1, OUTCOME_UNCONFIRMED),
			   world_intent(2, 0, "u"), world_record(2, OUTCOME_DONE) };

	m[2].u.intent.finishes = true;
	world_write(m, 4);
	ck_assert_uint_eq(count_actions(false), 1);
}

static size_t unsettled(uint64_t cluster, const char *first)
{
	struct msg out[16];
	size_t n = 0;

	const size_t all = world_saved(cluster, false, out, 16);

	for (size_t i = 0; i < all; i++) {
		if (out[i].type != MSG_UNSETTLED_ROW)
			continue;
		if (n++ == 0)
			ck_assert_str_eq(out[i].u.unsettled_row.uid, first);
		ck_assert_str_eq(out[i].u.unsettled_row.ns, "shop");
		ck_assert_str_eq(out[i].u.unsettled_row.name, "web-1");
	}
	return n;
}

static enum history_effect settle(uint64_t cluster, const char *uid)
{
	struct msg m = { .type = MSG_SETTLED, .u.settled.cluster = cluster };

	test_set(&m, settled.uid, uid);
	world_write(&m, 1);
	return w.seen.effect[w.seen.n - 1];
}

/* As an operator is told. */
static int64_t outcome_of(uint64_t id)
{
	struct msg row;

	ck_assert_int_eq(
		db_read_row(db_stmt(w.db, DB_HISTORY_ACTION, db_i("id", id), db_i("open", OUTCOME_OPEN)),
			    MSG_CTL_HISTORY_ROW, &row),
		1);
	return row.u.ctl_history_row.outcome;
}

/* Only deletions, and not dry runs; kept over a restart until the pod is known to be gone. */
TEST(what_is_not_known_is_followed_until_it_is)
{
	struct msg m[] = { world_intent(1, 0, "doubt"),  world_record(1, OUTCOME_UNCONFIRMED),
			   world_intent(2, 0, "held"),   world_record(2, OUTCOME_MARKED),
			   world_intent(3, 0, "done"),   world_record(3, OUTCOME_DONE),
			   world_intent(4, 0, "scaled"), world_record(4, OUTCOME_UNCONFIRMED),
			   world_intent(5, 0, "dry"),    world_record(5, OUTCOME_MARKED),
			   world_intent(6, 1, "doubt"),  world_record(6, OUTCOME_UNCONFIRMED),
			   world_intent(7, 0, "stuck"),  world_record(7, OUTCOME_UNCONFIRMED) };

	m[6].u.intent.action = ACTION_SCALE_DOWN;
	m[8].u.intent.observe = true;
	m[12].u.intent.action = ACTION_SCALE_DOWN; /* and its pod was deleted: it held up its StatefulSet */
	test_set(&m[13], record.target_uid, "stuck");
	world_write(m, 14);
	ck_assert_uint_eq(unsettled(0, "doubt"), 3);
	world_close();
	world_open();
	ck_assert_uint_eq(unsettled(0, "doubt"), 3);
	ck_assert_int_eq(settle(0, "stuck"), HISTORY_NEW);
	ck_assert_int_eq(outcome_of(7), OUTCOME_DONE);
	ck_assert_int_eq(settle(0, "doubt"), HISTORY_NEW);
	ck_assert_uint_eq(unsettled(0, "held"), 1);
	ck_assert_uint_eq(unsettled(1, "doubt"), 1); /* the same uid in another cluster is another pod */
	ck_assert_int_eq(outcome_of(1), OUTCOME_DONE);
	ck_assert_int_eq(outcome_of(6), OUTCOME_UNCONFIRMED);
	ck_assert_int_eq(settle(0, "held"), HISTORY_NEW);
	ck_assert_int_eq(outcome_of(2), OUTCOME_DONE);
	ck_assert_int_eq(settle(0, "scaled"), HISTORY_NEW); /* nothing to settle: acknowledged all the same */
	ck_assert_int_eq(outcome_of(4), OUTCOME_UNCONFIRMED);
}

/* The result of what finishes it is not there yet: the watcher says it again. */
TEST(settled_too_early)
{
	struct msg m[] = { world_intent(1, 0, "u"), world_record(1, OUTCOME_UNCONFIRMED),
			   world_intent(2, 0, "u"), world_record(2, OUTCOME_UNCONFIRMED) };

	m[2].u.intent.finishes = true;
	world_write(m, 3);
	ck_assert_int_eq(settle(0, "u"), HISTORY_CONFLICT);
	ck_assert_int_eq(outcome_of(1), OUTCOME_UNCONFIRMED);
	world_write(m + 3, 1);
	ck_assert_int_eq(settle(0, "u"), HISTORY_NEW);
	ck_assert_int_eq(outcome_of(1), OUTCOME_DONE);
	ck_assert_int_eq(outcome_of(2), OUTCOME_DONE);
	ck_assert_uint_eq(unsettled(0, "u"), 0);
}

/* Whatever the order of what is known of them: what the API server answered did it. */
TEST(a_pod_is_deleted_once)
{
	struct msg m[] = { world_intent(1, 0, "done"),   world_record(1, OUTCOME_UNCONFIRMED),
			   world_intent(2, 0, "done"),   world_record(2, OUTCOME_DONE),
			   world_intent(3, 0, "marked"), world_record(3, OUTCOME_MARKED),
			   world_intent(4, 0, "marked"), world_record(4, OUTCOME_UNCONFIRMED),
			   world_intent(5, 1, "done"),   world_record(5, OUTCOME_DONE),
			   world_intent(6, 0, "scaled"), world_record(6, OUTCOME_UNCONFIRMED),
			   world_intent(7, 0, "scaled"), world_record(7, OUTCOME_DONE),
			   world_intent(8, 0, "seen"),   world_record(8, OUTCOME_DONE),
			   world_intent(9, 0, "seen"),   world_record(9, OUTCOME_UNCONFIRMED),
			   world_intent(10, 0, "half"),  world_record(10, OUTCOME_UNCONFIRMED),
			   world_intent(11, 0, "half"),  world_record(11, OUTCOME_UNCONFIRMED),
			   world_intent(12, 0, "half"),  world_record(12, OUTCOME_DONE),
			   world_intent(13, 0, "doubt"), world_record(13, OUTCOME_UNCONFIRMED),
			   world_intent(14, 0, "doubt"), world_record(14, OUTCOME_UNCONFIRMED) };

	m[12].u.intent.action = ACTION_SCALE_DOWN; /* of the pod's workload */
	m[20].u.intent.finishes = m[22].u.intent.finishes = true;
	world_write(m, 28);
	ck_assert_uint_eq(unsettled(1, ""), 0); /* what ended at once is not followed for itself */
	ck_assert_int_eq(settle(0, "done"), HISTORY_NEW);
	ck_assert_int_eq(outcome_of(1), OUTCOME_UNCONFIRMED);
	ck_assert_int_eq(outcome_of(2), OUTCOME_DONE);
	ck_assert_int_eq(settle(0, "marked"), HISTORY_NEW);
	ck_assert_int_eq(outcome_of(3), OUTCOME_DONE);
	ck_assert_int_eq(outcome_of(4), OUTCOME_UNCONFIRMED);
	ck_assert_int_eq(settle(0, "scaled"), HISTORY_NEW);
	ck_assert_int_eq(outcome_of(6), OUTCOME_DONE);
	ck_assert_int_eq(settle(0, "seen"), HISTORY_NEW);
	ck_assert_int_eq(outcome_of(8), OUTCOME_DONE);
	ck_assert_int_eq(outcome_of(9), OUTCOME_UNCONFIRMED);
	ck_assert_int_eq(settle(0, "half"), HISTORY_NEW);
	ck_assert_int_eq(settle(0, "doubt"), HISTORY_NEW);
	ck_assert_int_eq(outcome_of(13), OUTCOME_UNCONFIRMED);
	ck_assert_int_eq(outcome_of(14), OUTCOME_DONE);
	for (uint64_t id = 10; id <= 12; id++) /* cut off half-way, and finished */
		ck_assert_int_eq(outcome_of(id), OUTCOME_DONE);
	ck_assert_uint_eq(unsettled(0, ""), 0);
}

TEST(a_pod_is_deleted_once_over_a_restart)
{
	struct msg m[] = { world_intent(1, 0, "u"), world_record(1, OUTCOME_UNCONFIRMED),
			   world_intent(2, 0, "u"), world_record(2, OUTCOME_DONE) };

	world_write(m, 2);
	world_close();
	world_open();
	world_write(m + 2, 2);
	ck_assert_int_eq(settle(0, "u"), HISTORY_NEW);
	ck_assert_int_eq(outcome_of(1), OUTCOME_UNCONFIRMED);
	ck_assert_int_eq(outcome_of(2), OUTCOME_DONE);
}

/* When they ended; what is open may be written at any moment. */
TEST(actions_carry_the_time_of_their_end)
{
	struct msg m[] = { world_intent(1, 0, "done"), world_record(1, OUTCOME_DONE),
			   world_intent(2, 0, "open") };
	struct msg out[4];

	world_write(m, 1);
	clock_fake_advance(5000);
	world_write(m + 1, 2);
	ck_assert_uint_eq(world_saved(0, false, out, 4), 3);
	ck_assert_int_eq(out[0].type, MSG_ACTION_ROW);
	ck_assert_int_eq(out[0].u.action_row.at, WORLD_NOW + 5000);
	ck_assert_int_eq(out[1].type, MSG_ACTION_ROW);
	ck_assert_int_eq(out[1].u.action_row.at, 0);
	ck_assert_int_eq(out[2].type, MSG_SAVED_END);
}

/* What was done last is not a day ago because this host's clock says so, and a day before it still counts. */
TEST(a_clock_set_forward_hides_no_action)
{
	struct msg m[] = { world_intent(1, 0, "a"), world_record(1, OUTCOME_DONE),
			   world_intent(2, 0, "b"), world_record(2, OUTCOME_DONE),
			   world_intent(3, 0, "c"), world_record(3, OUTCOME_DONE) };
	struct msg out[4];

	world_write(m, 2);
	clock_fake_advance(2 * HOUR_MS);
	world_write(m + 2, 2);
	clock_fake_advance(23 * HOUR_MS);
	world_write(m + 4, 2);
	ck_assert_uint_eq(world_saved(0, false, out, 4), 3);
	clock_fake_set(clock_wall_ms() + 40 * 24 * HOUR_MS, clock_boot_ms());
	ck_assert_uint_eq(world_saved(0, false, out, 4), 3);
	ck_assert_int_eq(out[0].u.action_row.at, WORLD_NOW + 2 * HOUR_MS);
}

static struct msg pause_msg(const char *cluster, int64_t duty, bool on, int64_t until)
{
	struct msg m = { .type = MSG_PAUSE,
			 .u.pause = { .duty = duty, .on = on, .at = WORLD_NOW, .until = until } };

	test_set(&m, pause.cluster_name, cluster);
	test_set(&m, pause.by, "uid 0");
	m.u.pause.why = quoting("release");
	return m;
}

TEST(pauses_come_before_the_open_intents)
{
	const struct msg m[] = { world_intent(1, 0, "u1"), pause_msg("", -1, true, 0),
				 pause_msg("prod", 2, true, WORLD_NOW + 10), pause_msg("prod", 1, true, 0),
				 pause_msg("prod", 1, false, 0) };
	struct msg out[8];

	world_write(m, 5);
	ck_assert_uint_eq(w.seen.n, 5); /* each is reported, so that it can be confirmed */
	world_close();
	world_open();
	ck_assert_uint_eq(world_open_intents(out, 8), 4);
	ck_assert_int_eq(out[0].type, MSG_PAUSE);
	ck_assert_str_eq(out[0].u.pause.cluster_name, "");
	ck_assert_int_eq(out[0].u.pause.duty, -1);
	ck_assert(out[0].u.pause.on);
	ck_assert_str_eq(out[0].u.pause.by, "uid 0");
	ck_assert_str_eq(EN(out[0].u.pause.why), "release");
	ck_assert_str_eq(out[1].u.pause.cluster_name, "prod");
	ck_assert_int_eq(out[1].u.pause.until, WORLD_NOW + 10);
	ck_assert_int_eq(out[2].type, MSG_OPEN_INTENT);
	clock_fake_advance(10);
	ck_assert_uint_eq(world_open_intents(out, 8), 3); /* the one with an end has ended */
}

TEST(actions_and_restores_survive_a_crash)
{
	struct msg m = world_intent(9, 0, "u9"), out[4];

	m.u.intent.action = ACTION_RESTORE;
	m.u.intent.reverts = 2;
	m.u.intent.origin = 4;
	m.u.intent.want_replicas = 3;
	test_set(&m, intent.want_target, "deployments.apps/shop/web");
	test_set(&m, intent.want_uid, "d-1");
	world_write(&m, 1);
	world_close();
	world_open();
	ck_assert_uint_eq(world_open_intents(out, 4), 2);
	ck_assert_uint_eq(out[0].u.open_intent.action, ACTION_RESTORE);
	ck_assert_uint_eq(out[0].u.open_intent.reverts, 2);
}

TEST(history_is_found_by_outcome_and_target)
{
	struct msg m[] = { world_intent(1, 0, "u1"), world_record(1, OUTCOME_DONE),
			   world_intent(2, 0, "u2"), world_record(2, OUTCOME_GONE),
			   world_intent(3, 0, "u3"), world_refusal("u9", "X") };
	static const struct {
		uint64_t outcomes;
		const char *target;
		size_t n;
	} cases[] = { { OUTCOMES_ALL, "", 4 },           { 1 << OUTCOME_DONE, "", 1 },
		      { 1 << OUTCOME_GONE, "", 1 },      { OUTCOMES_OPEN, "", 1 },
		      { 1 << OUTCOME_REFUSED, "", 1 },   { 1 << OUTCOME_FAILED, "", 0 },
		      { OUTCOMES_WRITTEN, "", 1 },       { 1 << OUTCOME_DONE | 1 << OUTCOME_GONE, "", 2 },
		      { OUTCOMES_ALL, "pods/x/web", 0 }, { OUTCOMES_ALL, "pods/shop/web-1", 1 } };

	test_set(&m[3], record.target, "pods/shop/web-2");
	world_write(m, 6);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct msg_ctl_history q = {
			.limit = 10, .duty = -1, .refusals = true, .outcomes = cases[i].outcomes
		};
		struct msg out[8];

		(void)snprintf(q.target, sizeof(q.target), "%s", cases[i].target);
		ck_assert_msg(world_query(&q, out, 8) == cases[i].n + 1, "case %zu", i);
	}
}

static void serve(struct stats *f)
{
	struct listener_answer a = { .status = 404 };

	stats_serve(f, w.h, &(struct web_request){ .path = "/metrics" }, &a);
	ck_assert_int_eq(a.share, LISTENER_LARGE);
	ck_assert_int_eq(a.status, 200);
	free(a.body);
}

TEST(guards_are_metrics)
{
	const struct msg m[] = { saved_msg(0, "breaker", "errImagePull", 100),
				 saved_msg(0, "reverted", "u1", 100), pause_msg("staging", 0, true, 0),
				 pause_msg("", 1, true, WORLD_NOW + 10) };
	const struct msg closed = saved_msg(0, "breaker", "errImagePull", 0);
	struct msg stats = { .type = MSG_WATCH_STATS, .u.watch_stats = { .blocked = 7, .reverts = 2 } };
	struct state *state = state_new();
	struct stats f;

	world_write(m, 4);
	stats_init(&f, state, &w.clusters);
	stats_use_settings(&f, false);
	state_put(state, "prod", &stats);
	serve(&f);
	ck_assert_double_eq(metrics_get(f.metrics, METRIC_BLOCKED, METRIC_LABELS("prod")), 7);
	ck_assert_double_eq(metrics_get(f.metrics, METRIC_REVERTS, METRIC_LABELS("prod")), 2);
	ck_assert_double_eq(metrics_get(f.metrics, METRIC_BREAKER_OPEN, METRIC_LABELS("prod")), 1);
	ck_assert_double_eq(metrics_get(f.metrics, METRIC_BREAKER_OPEN, METRIC_LABELS("staging")), 0);
	ck_assert_double_eq(
		metrics_get(f.metrics, METRIC_PAUSED, METRIC_LABELS("deleteEvictedPod", "staging")), 1);
	ck_assert_double_eq(metrics_get(f.metrics, METRIC_PAUSED, METRIC_LABELS("deleteEvictedPod", "prod")),
			    0);
	ck_assert_double_eq(
		metrics_get(f.metrics, METRIC_PAUSED, METRIC_LABELS("deleteTerminatingPod", "prod")), 1);
	world_write(&closed, 1);
	clock_fake_advance(10);
	serve(&f);
	ck_assert_double_eq(metrics_get(f.metrics, METRIC_BREAKER_OPEN, METRIC_LABELS("prod")), 0);
	ck_assert_double_eq(
		metrics_get(f.metrics, METRIC_PAUSED, METRIC_LABELS("deleteTerminatingPod", "prod")), 0);
	stats_done(&f);
	state_free(&state);
}

TEST_MAIN("reporter/saved")
{
	tcase_add_checked_fixture(t, world_setup, world_teardown);
}
