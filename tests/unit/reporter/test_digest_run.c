/* test_digest_run.c - one run is never posted twice, whatever dies when; a missed one is sent once, late. */
// SPDX-License-Identifier: Apache-2.0
#include <errno.h>

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
	ck_assert_uint_eq(messages(), 1);
	ck_assert_ptr_nonnull(strstr(message(), "shop/web (Deployment): RESTARTS 12"));
	ck_assert_ptr_nonnull(strstr(message(), " to 2023-11-13 09:00 (UTC), cluster prod"));
	ck_assert_ptr_null(strstr(message(), "late"));
	end_message(OUTBOX_DONE);
	ck_assert_uint_eq(w.ended, 1);
	ck_assert_int_eq(w.last.state, RUN_DONE);
	for (int i = 0; i < 100; i++)
		pass(60000);
	ck_assert_uint_eq(messages(), 1);
	ck_assert_uint_eq(w.asked, 1);
}

TEST(the_next_one_shows_what_came_since)
{
	reach_end();
	end_message(OUTBOX_DONE);
	start_again();
	pass(DAY_MS);
	answer_count(20);
	ck_assert_uint_eq(messages(), 2);
	ck_assert_ptr_nonnull(strstr(message(),
				     "Ongoing: about as many restarts an hour as in the last report, or "
				     "fewer\n- shop/web (Deployment): restarted 8× (0.3/h), RESTARTS 20"));
	ck_assert_ptr_nonnull(strstr(
		message(), "From 2023-11-13 09:00 to 2023-11-14 09:00 (UTC), cluster prod\nRestarts: 8."));
}

TEST(nothing_to_say_is_not_said)
{
	pass(10000);
	answer_end(0, true);
	ck_assert_uint_eq(messages(), 0);
	ck_assert_int_eq(w.last.state, RUN_EMPTY);
	start_again();
	pass(1000);
	ck_assert_uint_eq(w.asked, 1);
}

TEST(killed_while_collecting_it_is_sent_after_a_restart)
{
	pass(10000);
	answer_row(0, "web-1", 12);
	clock_fake_advance(5000);
	start_again();
	ck_assert_uint_eq(w.asked, 2);
	answer();
	ck_assert_uint_eq(messages(), 1);
	end_message(OUTBOX_DONE);
	ck_assert_int_eq(w.last.due_at, DUE_AT);
}

TEST(a_missed_run_is_sent_once_late)
{
	clock_fake_advance(10000 + 3600000);
	start_again();
	ck_assert_uint_eq(w.asked, 1);
	answer();
	ck_assert_ptr_nonnull(strstr(message(), "Sent late"));
	end_message(OUTBOX_DONE);
	ck_assert_int_eq(w.last.due_at, DUE_AT);
	ck_assert(w.last.late);
	start_again();
	pass(60000);
	ck_assert_uint_eq(w.asked, 1);
}

TEST(of_many_missed_runs_only_the_last_is_sent)
{
	clock_fake_advance(10000 + 9 * DAY_MS + 3600000);
	start_again();
	ck_assert_uint_eq(w.asked, 1);
	answer();
	end_message(OUTBOX_DONE);
	ck_assert_int_eq(w.last.due_at, DUE_AT + 9 * DAY_MS);
	pass(60000);
	ck_assert_uint_eq(w.asked, 1);
}

TEST(an_unsent_run_yields_to_a_later_one)
{
	char state[32];

	pass(10000); /* claimed */
	clock_fake_advance(DAY_MS);
	start_again();
	ck_assert_uint_eq(w.asked, 2);
	answer();
	end_message(OUTBOX_DONE);
	ck_assert_int_eq(w.last.due_at, DUE_AT + DAY_MS);
	pass(60000);
	ck_assert_uint_eq(w.asked, 2);
	kill_it();
	run_state(DUE_AT, state);
	ck_assert_str_eq(state, "skipped");
	start_again();
}

TEST(a_new_or_switched_off_schedule_misses_nothing)
{
	kill_it();
	clock_fake_advance(10000 + 3600000);
	start_unarmed();
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
	reach_end();
	end_message(OUTBOX_DONE);
	clock_fake_advance(-3600000);
	for (int i = 0; i < 120; i++)
		pass(60000);
	ck_assert_uint_eq(messages(), 1);
	ck_assert_uint_eq(w.asked, 1);
}

/* As of a machine that starts with the year 2036 and asks the time afterwards. */
TEST(a_clock_that_was_far_ahead_stops_no_report)
{
	clock_fake_advance(4000 * DAY_MS);
	start_again(); /* a missed run, as it seems */
	answer();
	end_message(OUTBOX_DONE);
	clock_fake_advance(-4000 * DAY_MS);
	start_again();
	pass(10000);
	ck_assert_uint_eq(w.asked, 2);
	answer_count(20);
	ck_assert_uint_eq(messages(), 2);
	end_message(OUTBOX_DONE);
	ck_assert_int_eq(w.last.due_at, DUE_AT);
	for (int i = 0; i < 100; i++)
		pass(60000);
	ck_assert_uint_eq(w.asked, 2);
	start_again();
	pass(60000);
	ck_assert_uint_eq(w.asked, 2);
}

TEST(a_silent_cluster_is_waited_for_and_then_named)
{
	clusters = 2;
	start_again();
	pass(10000);
	ck_assert_uint_eq(w.asked, 2);
	answer();
	answer_end(1, false); /* its cache is not complete */
	pass(19999);
	ck_assert_uint_eq(messages(), 0);
	pass(1);
	answer_inspections();
	ck_assert_uint_eq(messages(), 1);
	ck_assert_ptr_nonnull(strstr(message(), "no full answer from staging"));
	end_message(OUTBOX_DONE);
	ck_assert_str_eq(w.error, "staging|staging");
}

TEST(another_replica_tells_of_what_it_leads)
{
	clusters = 2;
	start_again();
	digest_runner_leads(run, 1, false);
	pass(10000);
	ck_assert_uint_eq(w.asked, 1);
	answer();
	answer_inspections();
	ck_assert_uint_eq(messages(), 1);
	ck_assert_ptr_null(strstr(message(), "staging"));
	end_message(OUTBOX_DONE);
	ck_assert_str_eq(w.error, "|");
}

/* It may be that nobody leads yet, so it waits for that. */
TEST(a_standby_tells_nothing)
{
	digest_runner_leads(run, 0, false);
	pass(10000);
	pass(59999);
	ck_assert_uint_eq(w.ended, 0);
	pass(1);
	ck_assert_uint_eq(w.asked, 0);
	ck_assert_int_eq(w.last.state, RUN_EMPTY);
	ck_assert_uint_eq(messages(), 0);
}

TEST(who_begins_to_lead_meanwhile_tells)
{
	digest_runner_leads(run, 0, false);
	pass(10000);
	pass(5000);
	digest_runner_leads(run, 0, true);
	ck_assert_uint_eq(w.asked, 1);
}

TEST(a_watcher_that_comes_back_is_asked_again)
{
	clusters = 2;
	start_again();
	pass(10000);
	answer_end(0, true);
	digest_runner_synced(run, 1, false);
	pass(5000);
	digest_runner_synced(run, 1, true);
	ck_assert_uint_eq(w.asked, 3);
	answer_row(1, "web-1", 9);
	answer_end(1, true);
	answer_inspections();
	ck_assert_uint_eq(messages(), 1);
	ck_assert_ptr_null(strstr(message(), "Not complete"));
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

TEST(what_cannot_be_written_is_tried_again_and_written_once)
{
	pass(10000);
	break_outbox(true);
	answer();
	ck_assert_uint_gt(w.troubles, 0);
	ck_assert_uint_eq(w.ended, 0);
	break_outbox(false);
	pass((int64_t)w.wake_ms);
	ck_assert_uint_eq(w.ended, 1);
	ck_assert_uint_eq(messages(), 1);
	pass(60000);
	ck_assert_uint_eq(messages(), 1);
}

TEST(killed_after_the_end_it_is_not_made_again)
{
	reach_end();
	clock_fake_advance(5000);
	start_again();
	for (int i = 0; i < 100; i++)
		pass(60000);
	ck_assert_uint_eq(w.asked, 1);
	ck_assert_uint_eq(messages(), 1);
}

TEST(the_next_one_says_what_did_not_get_through)
{
	reach_end();
	end_message(OUTBOX_GIVEN_UP);
	pass(DAY_MS);
	answer_count(30);
	ck_assert_ptr_nonnull(strstr(message(), "Earlier reports not delivered, or not confirmed: 1."));
	end_message(OUTBOX_DONE);
	pass(DAY_MS);
	answer_count(40);
	ck_assert_ptr_null(strstr(message(), "Earlier report"));
}

TEST(drain_leaves_a_collected_run_to_the_next_start)
{
	pass(10000);
	digest_runner_drain(run);
	answer();
	ck_assert_uint_eq(messages(), 0);
	start_again();
	ck_assert_uint_eq(w.asked, 2);
}

/* Trouble alone is a report; once delivered it is not reported again. */
TEST(what_needs_an_operator_is_sent_once)
{
	need_an_operator();
	pass(10000);
	answer_end(0, true);
	ck_assert_uint_eq(messages(), 1);
	ck_assert_ptr_nonnull(strstr(message(), "Needs an operator"));
	ck_assert_ptr_nonnull(strstr(message(), "No pod restarts too often now"));
	end_message(OUTBOX_GIVEN_UP); /* not delivered: the next one tells it */
	pass(DAY_MS);
	answer();
	ck_assert_uint_eq(messages(), 2);
	ck_assert_ptr_nonnull(strstr(message(), "Needs an operator"));
	ck_assert_ptr_nonnull(strstr(message(), "shop/web"));
	end_message(OUTBOX_DONE);
	pass(DAY_MS);
	answer_end(0, true); /* web has recovered */
	ck_assert_uint_eq(messages(), 3);
	ck_assert_ptr_null(strstr(message(), "Needs an operator"));
	end_message(OUTBOX_DONE);
	pass(DAY_MS);
	answer_end(0, true);
	ck_assert_uint_eq(messages(), 3);
	ck_assert_int_eq(w.last.state, RUN_EMPTY);
}

/* -- looks -- */

TEST(a_worker_looks_at_what_is_shown)
{
	pass(10000);
	answer_row(0, "web-1", 12);
	answer_end(0, true);
	ck_assert_uint_eq(w.n_inspections, 1);
	ck_assert_str_eq(w.inspections[0].ns, "shop");
	ck_assert_str_eq(w.inspections[0].pod, "web-1");
	ck_assert_str_eq(w.inspections[0].container, "app");
	ck_assert_uint_eq(messages(), 0);
	answer_inspection(0, true);
	ck_assert_uint_eq(messages(), 1);
	ck_assert_ptr_nonnull(strstr(message(), "- shop/front (Rollout): RESTARTS 12"));
	answer_inspection(0, true); /* once more, by nobody's wish */
	ck_assert_uint_eq(messages(), 1);
}

TEST(a_few_rows_are_inspected_at_at_once)
{
	char ns[8];

	pass(10000);
	for (int i = 0; i < 30; i++) {
		(void)snprintf(ns, sizeof(ns), "n%d", i);
		const struct msg m = test_row(0, w.number, ns, "web", "web-1", 12);

		digest_runner_on_row(run, &m.u.digest_row);
	}
	answer_end(0, true);
	ck_assert_uint_eq(w.n_inspections, REPORT_RUN_INSPECTIONS_OPEN);
	answer_inspection(1, true);
	ck_assert_uint_eq(w.n_inspections, REPORT_RUN_INSPECTIONS_OPEN + 1);
	answer_inspection(0, true);
	for (size_t i = 2; i < w.n_inspections; i++)
		answer_inspection(i, true);
	ck_assert_uint_eq(w.n_inspections, 20); /* the sink's top */
	ck_assert_uint_eq(messages(), 1);
}

TEST(a_worker_that_says_nothing_is_waited_for_but_not_for_ever)
{
	pass(10000);
	answer_row(0, "web-1", 12);
	answer_end(0, true);
	pass(19999);
	ck_assert_uint_eq(messages(), 0);
	pass(1);
	ck_assert_uint_eq(messages(), 1);
	ck_assert_ptr_nonnull(strstr(message(), "- shop/web (Deployment): RESTARTS 12"));
	answer_inspection(0, true);
	ck_assert_uint_eq(messages(), 1);
}

TEST(settings_may_change_meanwhile)
{
	pass(10000);
	answer_row(0, "web-1", 12);
	answer_end(0, true);
	set_schedule("0 0 9 * * *", true);
	answer_inspection(0, true);
	ck_assert_uint_eq(messages(), 1);
	ck_assert_ptr_nonnull(strstr(message(), "shop/front"));
}

TEST(ten_thousand_rows_are_one_message)
{
	char ns[8], pod[16];

	for (int day = 1; day <= 2; day++) {
		pass(day == 1 ? 10000 : DAY_MS);
		for (int i = 0; i < 10000; i++) {
			(void)snprintf(ns, sizeof(ns), "n%d", i % 900);
			(void)snprintf(pod, sizeof(pod), "web-%d", i);
			const struct msg m = test_row(0, w.number, ns, "web", pod, (uint64_t)(10 * day));

			digest_runner_on_row(run, &m.u.digest_row);
		}
		answer_end(0, true);
		for (; w.answered < w.n_inspections; w.answered++)
			answer_inspection(w.answered, false);
		ck_assert_uint_eq(messages(), (size_t)day);
		if (day == 1)
			end_message(OUTBOX_DONE);
	}
	ck_assert_ptr_nonnull(strstr(message(), "Restarts: 100000. Workloads: 900, Pods: 10000."));
	ck_assert_uint_eq(w.last.workloads, 900);
}

/* -- samples -- */

static void sample(uint64_t restarts)
{
	struct msg m = test_row(0, w.sample.digest, "shop", "web", "web-1", restarts);
	const struct msg_digest_end e = { 0, w.sample.digest, true };

	digest_runner_on_row(run, &m.u.digest_row);
	digest_runner_on_end(run, &e);
}

TEST(all_is_asked_for_once_then_what_changed)
{
	ck_assert_uint_eq(w.sampled, 1);
	ck_assert_int_eq(w.sample.since, 0);
	pass(299999); /* nobody answers */
	ck_assert_uint_eq(w.sampled, 1);
	pass(1);
	ck_assert_uint_eq(w.sampled, 2);
	sample(4);
	pass(3599999);
	ck_assert_uint_eq(w.sampled, 2);
	pass(1);
	ck_assert_uint_eq(w.sampled, 3);
	ck_assert_int_gt(w.sample.since, 0);
	sample(9);
	/* Killed, it goes on from what is written. */
	start_again();
	ck_assert_uint_eq(w.sampled, 4);
	ck_assert_int_gt(w.sample.since, 0);
}

TEST(the_first_report_knows_what_samples_say)
{
	sample(4);
	pass(10000);
	answer_count(12);
	ck_assert_ptr_nonnull(strstr(message(), "RESTARTS 12"));
	end_message(OUTBOX_DONE);
	/* It restarted in the night, and not since: seen by samples alone. */
	pass(DAY_MS / 2);
	sample(17);
	pass(DAY_MS / 2);
	answer_count(17);
	ck_assert_ptr_nonnull(strstr(message(), "restarted 5× (0.2/h), RESTARTS 17"));
}

/* -- previews -- */

static char *previewed;
static size_t previews;

static void on_preview(void *ctx, const struct report_run *e, const struct report_schedule *schedule)
{
	const struct sink_settings s = { .top = 20 };
	struct document d;

	(void)ctx;
	previews++;
	free(previewed);
	previewed = NULL;
	if (e && report_run_compose(e, schedule, &s, 0, NULL, &d)) {
		previewed = document_to_text(&d);
		document_done(&d);
	}
}

/* Who is shown a part has all of that looked at, whatever is worse elsewhere. */
TEST(a_preview_of_one_cluster_looks_there)
{
	struct sink_settings s = { .top = 1 };

	clusters = 2;
	start_again();
	pass(1000);
	str_list_add(&s.clusters, "staging", 7);
	ck_assert_int_eq(digest_runner_preview(run, &s, on_preview, NULL), 0);
	str_list_done(&s.clusters);
	answer_row(0, "web-1", 99);
	answer_row(1, "web-1", 12);
	answer_end(0, true);
	answer_end(1, true);
	ck_assert_uint_eq(w.n_inspections, 1);
	ck_assert_uint_eq(w.inspections[0].cluster, 1);
	answer_inspection(0, true);
	ck_assert_uint_eq(previews, 1);
	free(previewed);
}

TEST(a_preview_says_it_now_and_leaves_no_trace)
{
	const struct sink_settings s = { .top = 20 };

	pass(1000);
	sqlite3 *sql = sqlite3_db_handle(db_stmt(db, DB_ONE_ROW));
	const int written = sqlite3_total_changes(sql);

	ck_assert_int_eq(digest_runner_preview(run, &s, on_preview, NULL), 0);
	ck_assert_int_eq(digest_runner_preview(run, &s, on_preview, NULL), -EBUSY);
	ck_assert_uint_eq(w.asked, 1);
	answer_row(0, "web-1", 12);
	answer_end(0, true);
	answer_inspection(0, true);
	ck_assert_uint_eq(previews, 1);
	ck_assert_ptr_nonnull(strstr(previewed, "shop/front (Rollout): RESTARTS 12"));
	ck_assert_int_eq(sqlite3_total_changes(sql), written);
	ck_assert_uint_eq(messages(), 0);
	ck_assert_uint_eq(w.ended, 0);
	w.n_inspections = w.answered = 0;
	pass(9000);
	answer();
	ck_assert_uint_eq(messages(), 1);
	ck_assert_ptr_nonnull(strstr(message(), "Restarting\n"));
	free(previewed);
}

/* A cluster that cannot be seen costs the one who asks the patience for caches, not that for answers. */
TEST(a_preview_waits_for_no_cluster_that_cannot_be_seen)
{
	const struct sink_settings s = { .top = 20 };

	clusters = 2;
	start_again();
	digest_runner_synced(run, 1, false);
	pass(1000);
	ck_assert_int_eq(digest_runner_preview(run, &s, on_preview, NULL), 0);
	pass(DIGEST_PREVIEW_MS);
	answer_row(0, "web-1", 12);
	answer_end(1, false);
	answer_end(0, true);
	answer_inspection(0, true);
	ck_assert_uint_eq(previews, 1);
	ck_assert_ptr_nonnull(strstr(previewed, "shop/front (Rollout): RESTARTS 12"));
	ck_assert_ptr_nonnull(strstr(previewed, "staging"));
	free(previewed);
}

TEST(a_preview_ends_with_the_process)
{
	const struct sink_settings s = { .top = 20 };

	ck_assert_int_eq(digest_runner_preview(run, &s, on_preview, NULL), 0);
	digest_runner_drain(run);
	ck_assert_uint_eq(previews, 1);
	ck_assert_ptr_null(previewed);
}

TEST_MAIN("reporter/digest_run")
{
	tcase_add_checked_fixture(t, world_setup, world_teardown);
	tcase_set_timeout(t, 30);
}
