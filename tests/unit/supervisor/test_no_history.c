/* test_no_history.c - a supervisor whose reporter has no history yet: clusters are watched, nothing is done,
 * and what the history holds is asked for as soon as it is open. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <string.h>

#include "base/clock.h"
#include "supervisor/operator/pauses.h"
#include "supervisor/operator/trouble_list.h"
#include "world.h"
#include "tests/facts_en.h"

static void say_no_history(void)
{
	struct msg m = { .type = MSG_NO_HISTORY };

	m.u.no_history.why = quoting("history.db: is damaged");
	say(ROLE_REPORTER, &m);
}

static const struct msg saved_get = { .type = MSG_SAVED_GET };

/* It may take its time: what watchers find meanwhile waits for it, and they ask it for what is saved. */
TEST(clusters_are_watched_while_the_history_is_opened)
{
	ck_assert(stage_lives_now(w.s, ROLE_WATCHER, 0));
	ck_assert(stage_lives_now(w.s, ROLE_WORKER, 0));
	say(ROLE_WATCHER, &saved_get);
	nominate(1);
	stage_pass(w.s, 1000);
	ck_assert_uint_eq(open_leases(), 0);
	ck_assert_uint_eq(count(MSG_INTENT) + count(MSG_SAVED_GET), 0);
	open_history();
	ck_assert_uint_eq(count(MSG_SAVED_GET), 1);
	nominate(1);
	acknowledge(1);
	ck_assert_uint_eq(count(MSG_GRANT), 1);
}

TEST(clusters_are_watched_and_nothing_is_nominated)
{
	say_no_history();
	ck_assert(stage_lives_now(w.s, ROLE_WATCHER, 0));
	ck_assert(stage_lives_now(w.s, ROLE_WORKER, 0));
	ck_assert(lifecycle_is_running(stage_supervisor(w.s)->root));
	nominate(1);
	stage_pass(w.s, 60000);
	ck_assert_uint_eq(open_leases(), 0);
	ck_assert_uint_eq(count(MSG_INTENT), 0);
	ck_assert_uint_eq(count(MSG_PREFETCH), 0);
	ck_assert_str_eq(heard(MSG_NOMINATION_RESULT, 0)->u.nomination_result.reason, "Busy");
	open_history();
	nominate(1);
	acknowledge(1);
	ck_assert_uint_eq(count(MSG_GRANT), 1);
}

/* What was open is settled first: its number is not given to another action, and it is verified. */
TEST(what_was_open_is_carried_on_with_when_the_history_is_there)
{
	open_history();
	nominate(1);
	const struct msg open = open_of(heard(MSG_INTENT, 0)), end = end_of(2);

	start_again();
	forget();
	say_no_history();
	nominate(2);
	ck_assert_uint_eq(count(MSG_GRANT), 0);
	say(ROLE_REPORTER, &open);
	ck_assert_uint_eq(count(MSG_GRANT), 0);
	say(ROLE_REPORTER, &end);
	ck_assert_uint_eq(count(MSG_GRANT), 1);
	ck_assert_uint_eq(heard(MSG_GRANT, 0)->u.grant.id, 1);
	ck_assert(heard(MSG_GRANT, 0)->u.grant.verify_first);
	nominate(2);
	ck_assert_uint_eq(heard(MSG_INTENT, 0)->u.intent.id, 2);
}

/* A history that is lost in the middle: nothing is granted, also not what a reporter says is written down. */
TEST(a_reporter_that_comes_back_without_its_history_has_nothing_granted)
{
	open_history();
	stage_die(w.s, ROLE_REPORTER, 0);
	stage_run(w.s);
	say_no_history();
	nominate(1);
	acknowledge(1);
	stage_pass(w.s, 60000);
	ck_assert_uint_eq(open_leases(), 1);
	ck_assert_uint_eq(count(MSG_GRANT), 0);
	const struct msg end = end_of(1);

	say(ROLE_REPORTER, &end);
	ck_assert_uint_eq(count(MSG_GRANT), 1);
}

/* A watcher's memory is not asked for, so it cannot be empty; then it is, once. */
TEST(no_history_is_not_an_empty_one)
{
	const struct msg end = { .type = MSG_SAVED_END };

	say_no_history();
	for (int i = 0; i < 3; i++)
		say(ROLE_WATCHER, &saved_get);
	ck_assert_uint_eq(count(MSG_SAVED_GET), 0);
	open_history();
	ck_assert_uint_eq(count(MSG_SAVED_GET), 1);
	say(ROLE_REPORTER, &end);
	ck_assert_uint_eq(count(MSG_SAVED_END), 1);
	ck_assert_uint_eq(stage_lives(w.s, ROLE_REPORTER, 0), 1);
	say(ROLE_WATCHER, &saved_get);
	ck_assert_uint_eq(count(MSG_SAVED_GET), 2);
}

TEST(rows_of_no_history_break_the_protocol)
{
	const struct msg end = { .type = MSG_SAVED_END };

	say_no_history();
	say(ROLE_WATCHER, &saved_get);
	say(ROLE_REPORTER, &end);
	ck_assert_uint_eq(count(MSG_SAVED_END), 0);
	ck_assert_uint_eq(stage_lives(w.s, ROLE_REPORTER, 0), 2);
}

TEST(it_is_said_once_a_life_and_before_the_end)
{
	say_no_history();
	ck_assert_uint_eq(stage_lives(w.s, ROLE_REPORTER, 0), 1);
	say_no_history();
	ck_assert_uint_eq(stage_lives(w.s, ROLE_REPORTER, 0), 2);
	open_history();
	ck_assert_uint_eq(stage_lives(w.s, ROLE_REPORTER, 0), 2);
	say_no_history();
	ck_assert_uint_eq(stage_lives(w.s, ROLE_REPORTER, 0), 3);
}

/* One that dies and has none again has said it once in its life, too. */
TEST(every_life_of_the_reporter_may_say_it)
{
	say_no_history();
	for (unsigned lives = 2; lives < 4; lives++) {
		stage_die(w.s, ROLE_REPORTER, 0);
		stage_run(w.s);
		ck_assert_uint_eq(stage_lives(w.s, ROLE_REPORTER, 0), lives);
		say_no_history();
		ck_assert_uint_eq(stage_lives(w.s, ROLE_REPORTER, 0), lives);
	}
}

/* What was asked of one life is no leave for the next: rows that nobody asked for change a watcher's guards.
 * The next one is asked in its turn, at once, while the watcher would ask again after 10 s. */
TEST_LOOP(a_question_is_put_once_to_each_life_of_the_reporter, 0, 2)
{
	const struct msg end = { .type = MSG_SAVED_END };
	const bool is_asked = _i;

	say_no_history();
	say(ROLE_WATCHER, &saved_get);
	open_history();
	ck_assert_uint_eq(count(MSG_SAVED_GET), 1);
	stage_die(w.s, ROLE_REPORTER, 0);
	stage_run(w.s);
	ck_assert_uint_eq(count(MSG_SAVED_GET), 1);
	ck_assert_uint_eq(count(MSG_SAVED_END), 1);
	ck_assert(heard(MSG_SAVED_END, count(MSG_SAVED_END) - 1)->u.saved_end.failed);
	ck_assert_uint_eq(stage_lives(w.s, ROLE_REPORTER, 0), 2);
	if (is_asked)
		open_history();
	ck_assert_uint_eq(count(MSG_SAVED_GET), 1 + is_asked);
	say(ROLE_REPORTER, &end);
	ck_assert_uint_eq(count(MSG_SAVED_END), 1 + is_asked);
	ck_assert_uint_eq(stage_lives(w.s, ROLE_REPORTER, 0), 3 - is_asked);
}

/* As long as it is not known what is open, nothing of it is taken for ended. */
TEST(what_is_open_survives_a_long_time_without_history)
{
	open_history();
	nominate(1);
	const struct msg open = open_of(heard(MSG_INTENT, 0));

	for (int i = 0; i < 2; i++) {
		start_again();
		forget();
		say_no_history();
		stage_pass(w.s, 3600000);
	}
	say(ROLE_REPORTER, &open);
	open_history();
	ck_assert_uint_eq(count(MSG_GRANT), 1);
	ck_assert(heard(MSG_GRANT, 0)->u.grant.verify_first);
}

/* It is in force at once; the history is told when there is one. */
TEST(a_pause_without_history_is_written_down_later)
{
	struct msg m = { .type = MSG_CTL_PAUSE, .u.ctl_pause = { .duty = DUTY_ALL, .on = true } };

	open_history(); /* from now on our own file says what is paused */
	start_again();
	say_no_history();
	forget();
	pauses_on_ctl_pause(stage_supervisor(w.s), &m);
	stage_run(w.s);
	ck_assert_uint_eq(count(MSG_PAUSE), 1); /* to the watcher */
	stage_pass(w.s, 61000);
	ck_assert_uint_eq(count(MSG_PAUSE), 1);
	open_history();
	nominate(1);
	ck_assert_uint_eq(open_leases(), 0);
	ck_assert_uint_ge(count(MSG_PAUSE), 2);
}

/* Whoever else says it has broken the protocol, and is not believed. */
TEST(nobody_but_the_reporter_says_it)
{
	const struct msg m = { .type = MSG_NO_HISTORY };

	say_no_history();
	stage_die(w.s, ROLE_REPORTER, 0);
	stage_run(w.s);
	say(ROLE_WORKER, &m);
	say(ROLE_WATCHER, &m);
	ck_assert(!stage_supervisor(w.s)->no_history);
	ck_assert_uint_eq(stage_lives(w.s, ROLE_WORKER, 0), 2);
	ck_assert_uint_eq(stage_lives(w.s, ROLE_WATCHER, 0), 2);
}

static bool stands(enum trouble kind)
{
	return trouble_list_count(stage_supervisor(w.s), kind, 0) > 0;
}

/* That a watcher waits for its memory is no trouble of the cluster, also just when the history is there. */
TEST(watchers_that_wait_for_it_are_no_trouble_of_their_own)
{
	struct msg m = { .type = MSG_WATCH_STATS, .u.watch_stats = { .synced = true } };

	say_no_history();
	m.u.watch_stats.error = quoting("the reporter has not yet sent its saved state");
	say(ROLE_WATCHER, &m);
	stage_pass(w.s, 300000);
	ck_assert(!stands(TROUBLE_WATCH) && !stands(TROUBLE_CLUSTER_UNSEEN));
	m.u.watch_stats.failing = true;
	say(ROLE_WATCHER, &m);
	stage_pass(w.s, 1000);
	ck_assert(stands(TROUBLE_WATCH));
	m.u.watch_stats.failing = false;
	say(ROLE_WATCHER, &m);
	stage_pass(w.s, 300000);
	ck_assert(!stands(TROUBLE_WATCH));
	open_history();
	stage_pass(w.s, 1000);
	ck_assert(!stands(TROUBLE_WATCH));
	stage_pass(w.s, 300000);
	ck_assert(stands(TROUBLE_WATCH)); /* the memory should be here by now */
}

/* Where our own file was lost, too, only the history knows what is paused. */
TEST(what_the_history_has_paused_reaches_watchers_that_run)
{
	struct msg m = { .type = MSG_PAUSE, .u.pause = { .duty = DUTY_ALL, .on = true, .at = 1 } };

	strcpy(m.u.pause.by, "somebody");
	m.u.pause.why = quoting("a reason");
	say_no_history();
	say(ROLE_REPORTER, &m);
	forget();
	open_history();
	ck_assert_uint_eq(count(MSG_PAUSE), 2); /* to the watcher; and back to the history */
	nominate(1);
	ck_assert_uint_eq(open_leases(), 0);
}

TEST_MAIN("supervisor/no_history")
{
	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_set_timeout(t, 60);
}
