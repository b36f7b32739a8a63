/* test_digest_run.c - one run is never posted twice, whatever dies when; a missed one is sent once, late. */
// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "tests/suite.h"
#include "tests/unit/reporter/digest_world.h"

TEST(a_run_is_sent_once_and_on_time)
{
	ck_assert_uint_eq(w.asked, 0);
	ck_assert_uint_eq(w.wake_ms, 10000);
	pass(9999);
	ck_assert_uint_eq(w.asked, 0);
	pass(1);
	ck_assert_uint_eq(w.asked, 1);
	answer();
	ck_assert_uint_eq(w.posts, 1);
	ck_assert_ptr_nonnull(strstr(w.bodies[0], "shop/web (Deployment): 12 restarts"));
	ck_assert_ptr_nonnull(strstr(w.bodies[0], "2023-11-13 09:00:00 +00:00"));
	ck_assert_ptr_null(strstr(w.bodies[0], "late"));
	answer_bot(SINK_ACCEPTED);
	ck_assert_uint_eq(w.ended, 1);
	ck_assert_int_eq(w.last.state, RUN_DONE);
	for (int i = 0; i < 100; i++)
		pass(60000);
	ck_assert_uint_eq(w.posts, 1);
	ck_assert_uint_eq(w.asked, 1);
}

TEST(the_next_one_shows_what_came_since)
{
	reach_post();
	answer_bot(SINK_ACCEPTED);
	(void)start_again();
	pass(DAY_MS);
	answer_row(0, "web-1", 20);
	answer_end(0, true);
	ck_assert_uint_eq(w.posts, 2);
	ck_assert_ptr_nonnull(strstr(w.bodies[1], "20 restarts (+8)"));
	ck_assert_ptr_nonnull(strstr(w.bodies[1], "since the report of 2023-11-13 09:00:00 +00:00"));
}

TEST(nothing_to_say_is_not_said)
{
	pass(10000);
	answer_end(0, true);
	ck_assert_uint_eq(w.posts, 0);
	ck_assert_int_eq(w.last.state, RUN_EMPTY);
	(void)start_again();
	pass(1000);
	ck_assert_uint_eq(w.asked, 1);
}

TEST(killed_while_collecting_it_is_sent_after_a_restart)
{
	pass(10000);
	answer_row(0, "web-1", 12);
	clock_fake_advance(5000);
	ck_assert_uint_eq(start_again(), 0);
	ck_assert_uint_eq(w.asked, 2);
	answer();
	ck_assert_uint_eq(w.posts, 1);
	answer_bot(SINK_ACCEPTED);
	ck_assert_int_eq(w.last.due_at, DUE_AT);
}

TEST(killed_while_a_post_is_on_its_way_it_is_never_sent_again)
{
	char state[32];

	reach_post();
	clock_fake_advance(5000);
	ck_assert_uint_eq(start_again(), 1);
	for (int i = 0; i < 100; i++)
		pass(60000);
	ck_assert_uint_eq(w.asked, 1);
	ck_assert_uint_eq(w.posts, 1);
	kill_it();
	run_state(DUE_AT, state);
	ck_assert_str_eq(state, "unconfirmed");
	ck_assert_uint_eq(start_again(), 0); /* and it is said only once */
}

TEST(killed_while_waiting_for_another_try_it_is_sent_after_a_restart)
{
	reach_post();
	answer_bot(SINK_AGAIN);
	ck_assert_uint_eq(start_again(), 0);
	ck_assert_uint_eq(w.asked, 2);
}

TEST(a_missed_run_is_sent_once_late)
{
	clock_fake_advance(10000 + 3600000);
	(void)start_again();
	ck_assert_uint_eq(w.asked, 1);
	answer();
	ck_assert_ptr_nonnull(strstr(w.bodies[0], "Sent late"));
	answer_bot(SINK_ACCEPTED);
	ck_assert_int_eq(w.last.due_at, DUE_AT);
	ck_assert(w.last.late);
	(void)start_again();
	pass(60000);
	ck_assert_uint_eq(w.asked, 1);
}

TEST(of_many_missed_runs_only_the_last_is_sent)
{
	clock_fake_advance(10000 + 9 * DAY_MS + 3600000);
	(void)start_again();
	ck_assert_uint_eq(w.asked, 1);
	answer();
	answer_bot(SINK_ACCEPTED);
	ck_assert_int_eq(w.last.due_at, DUE_AT + 9 * DAY_MS);
	pass(60000);
	ck_assert_uint_eq(w.asked, 1);
}

TEST(an_unsent_run_yields_to_a_later_one)
{
	char state[32];

	pass(10000); /* claimed */
	clock_fake_advance(DAY_MS);
	(void)start_again();
	ck_assert_uint_eq(w.asked, 2);
	answer();
	answer_bot(SINK_ACCEPTED);
	ck_assert_int_eq(w.last.due_at, DUE_AT + DAY_MS);
	pass(60000);
	ck_assert_uint_eq(w.asked, 2);
	kill_it();
	run_state(DUE_AT, state);
	ck_assert_str_eq(state, "skipped");
	(void)start_again();
}

TEST(a_new_or_switched_off_schedule_misses_nothing)
{
	kill_it();
	clock_fake_advance(10000 + 3600000);
	(void)start_unarmed();
	set_schedule("0 30 9 * * *", true); /* its 09:30 has passed too, but it was not in force */
	ck_assert_uint_eq(w.asked, 0);
	set_schedule("0 0 9 * * *", false);
	pass(2 * DAY_MS);
	ck_assert_uint_eq(w.asked, 0);
	set_schedule("0 0 9 * * *", true);
	ck_assert_uint_eq(w.asked, 0);
}

TEST(a_clock_set_back_repeats_nothing)
{
	reach_post();
	answer_bot(SINK_ACCEPTED);
	clock_fake_advance(-3600000);
	for (int i = 0; i < 120; i++)
		pass(60000);
	ck_assert_uint_eq(w.posts, 1);
	ck_assert_uint_eq(w.asked, 1);
}

TEST(a_silent_cluster_is_waited_for_and_then_named)
{
	clusters = 2;
	(void)start_again();
	pass(10000);
	ck_assert_uint_eq(w.asked, 2);
	answer();
	answer_end(1, false); /* its cache is not complete */
	pass(19999);
	ck_assert_uint_eq(w.posts, 0);
	pass(1);
	ck_assert_uint_eq(w.posts, 1);
	ck_assert_ptr_nonnull(strstr(w.bodies[0], "no full answer from staging"));
	answer_bot(SINK_ACCEPTED);
	ck_assert_str_eq(w.error, "staging|staging");
}

TEST(a_watcher_that_comes_back_is_asked_again)
{
	clusters = 2;
	(void)start_again();
	pass(10000);
	answer_end(0, true);
	digest_runner_synced(run, 1, false);
	pass(5000);
	digest_runner_synced(run, 1, true);
	ck_assert_uint_eq(w.asked, 3);
	answer_row(1, "web-1", 9);
	answer_end(1, true);
	ck_assert_uint_eq(w.posts, 1);
	ck_assert_ptr_null(strstr(w.bodies[0], "Not complete"));
}

TEST(incomplete_caches_are_waited_for_but_not_for_ever)
{
	digest_runner_synced(run, 0, false);
	pass(10000);
	pass(59999);
	ck_assert_uint_eq(w.asked, 0);
	pass(1);
	ck_assert_uint_eq(w.asked, 1);
}

TEST(answers_to_another_question_are_not_counted)
{
	pass(10000);
	w.number--;
	answer();
	w.number++;
	answer_end(7, true);
	ck_assert_uint_eq(w.ended, 0);
	answer_end(0, true);
	ck_assert_int_eq(w.last.state, RUN_EMPTY);
}

TEST(certain_refusals_are_tried_again_with_growing_pauses_and_an_end)
{
	uint64_t before = 0;

	reach_post();
	for (size_t try = 2; try <= DIGEST_TRIES_MAX; try++) {
		answer_bot(SINK_AGAIN);
		ck_assert_uint_gt(w.wake_ms, before / 2);
		before = w.wake_ms;
		pass((int64_t)w.wake_ms - 1);
		ck_assert_uint_eq(w.posts, try - 1);
		pass(1);
		ck_assert_uint_eq(w.posts, try);
	}
	answer_bot(SINK_AGAIN);
	ck_assert_int_eq(w.last.state, RUN_FAILED);
	ck_assert_ptr_nonnull(strstr(w.error, "part 1 of 1, try 5: code 9499, why"));
	pass(3600000);
	ck_assert_uint_eq(w.posts, DIGEST_TRIES_MAX);
}

static const struct {
	enum sink_verdict verdict;
	enum run_state state;
} ends[] = { { SINK_REFUSED, RUN_FAILED }, { SINK_IN_DOUBT, RUN_UNCONFIRMED } };

TEST_LOOP(other_answers_end_it, 0, 2)
{
	reach_post();
	answer_bot(ends[_i].verdict);
	ck_assert_uint_eq(w.ended, 1);
	ck_assert_int_eq(w.last.state, ends[_i].state);
	ck_assert_uint_eq(start_again(), 0);
	pass(3600000);
	ck_assert_uint_eq(w.posts, 1);
}

TEST(parts_are_sent_in_order_within_the_limits)
{
	uint64_t n = 1;

	reach_many_parts();
	while (w.ended == 0) {
		answer_bot(SINK_ACCEPTED);
		if (w.ended == 0 && w.posts == n)
			pass((int64_t)w.wake_ms);
		if (w.ended == 0)
			ck_assert_uint_eq(w.posts, ++n);
	}
	ck_assert_uint_gt(n, 3);
	ck_assert_uint_eq(w.last.parts, n);
	ck_assert_int_eq(w.last.state, RUN_DONE);
	ck_assert_uint_eq(w.last.workloads, 600);
}

TEST(killed_between_parts_nothing_is_repeated)
{
	char state[32];

	reach_many_parts();
	answer_bot(SINK_ACCEPTED);
	ck_assert_uint_eq(w.posts, 2);
	ck_assert_uint_eq(start_again(), 1);
	pass(60000);
	ck_assert_uint_eq(w.posts, 2);
	kill_it();
	run_state(DUE_AT, state);
	ck_assert_str_eq(state, "unconfirmed");
	(void)start_again();
}

TEST(the_next_one_says_what_did_not_get_through)
{
	reach_post();
	answer_bot(SINK_REFUSED);
	pass(DAY_MS);
	answer();
	ck_assert_ptr_nonnull(strstr(w.bodies[1], "1 earlier report did not get through"));
	answer_bot(SINK_ACCEPTED);
	pass(DAY_MS);
	answer();
	ck_assert_ptr_null(strstr(w.bodies[2], "earlier report"));
}

TEST(drain_waits_for_the_post_that_runs)
{
	reach_post();
	ck_assert(!digest_runner_drain(run));
	ck_assert(!w.drained);
	answer_bot(SINK_ACCEPTED);
	ck_assert(w.drained);
	ck_assert_int_eq(w.last.state, RUN_DONE);
}

TEST(drain_leaves_a_collected_run_to_the_next_start)
{
	pass(10000);
	ck_assert(digest_runner_drain(run));
	answer();
	ck_assert_uint_eq(w.posts, 0);
	(void)start_again();
	ck_assert_uint_eq(w.asked, 2);
}

/* Trouble alone is a report; once delivered it is not reported again. */
TEST(what_needs_an_operator_is_sent_once)
{
	need_an_operator();
	pass(10000);
	answer_end(0, true);
	ck_assert_uint_eq(w.posts, 1);
	ck_assert_ptr_nonnull(strstr(w.bodies[0], "1 thing needs an operator"));
	ck_assert_ptr_nonnull(strstr(w.bodies[0], "No workload restarts too often"));
	answer_bot(SINK_REFUSED); /* not delivered: the next one tells it */
	pass(DAY_MS);
	answer();
	ck_assert_uint_eq(w.posts, 2);
	ck_assert_ptr_nonnull(strstr(w.bodies[1], "1 thing needs an operator"));
	ck_assert_ptr_nonnull(strstr(w.bodies[1], "web-1"));
	answer_bot(SINK_ACCEPTED);
	pass(DAY_MS);
	answer_end(0, true);
	ck_assert_uint_eq(w.posts, 2);
	ck_assert_int_eq(w.last.state, RUN_EMPTY);
}

TEST_MAIN("reporter/digest_run")
{
	tcase_add_checked_fixture(t, world_setup, world_teardown);
	tcase_set_timeout(t, 30);
}
