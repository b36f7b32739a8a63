/* test_saved.c - what the history has saved for a watcher: when its rows count, for which life of the
 * watcher, and how often it is asked. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <string.h>

#include "world.h"

static struct msg saved_row(void)
{
	struct msg m = { .type = MSG_SAVED_ROW, .u.saved_row = { .at = 1, .count = 9 } };

	strcpy(m.u.saved_row.kind, "breaker");
	strcpy(m.u.saved_row.key, "prod");
	return m;
}

TEST(rows_for_a_watcher_count_between_question_and_end)
{
	const struct msg get = { .type = MSG_SAVED_GET }, end = { .type = MSG_SAVED_END }, row = saved_row();

	open_history();
	say(ROLE_WATCHER, &get);
	say(ROLE_REPORTER, &row);
	say(ROLE_REPORTER, &end);
	ck_assert_uint_eq(count(MSG_SAVED_ROW), 1);
	ck_assert_uint_eq(stage_lives(w.s, ROLE_REPORTER, 0), 1);
	say(ROLE_REPORTER, &row);
	ck_assert_uint_eq(count(MSG_SAVED_ROW), 1);
	ck_assert_uint_eq(stage_lives(w.s, ROLE_REPORTER, 0), 2);
}

/* Each costs the reporter an answer of all that is saved for a cluster, and all clusters share it. */
TEST(a_watcher_that_asks_without_end_is_answered_once)
{
	const struct msg get = { .type = MSG_SAVED_GET }, end = { .type = MSG_SAVED_END }, row = saved_row();

	open_history();
	for (int i = 0; i < 100; i++)
		say(ROLE_WATCHER, &get);
	ck_assert_uint_eq(count(MSG_SAVED_GET), 1);
	say(ROLE_REPORTER, &row);
	say(ROLE_REPORTER, &end);
	ck_assert_uint_eq(count(MSG_SAVED_END), 1);
	say(ROLE_WATCHER, &get);
	ck_assert_uint_eq(count(MSG_SAVED_GET), 2);
}

/* However long it takes: rows of two answers would count twice. One that cannot be read is asked for again.
 */
TEST(an_answer_that_takes_long_is_asked_for_once)
{
	const struct msg get = { .type = MSG_SAVED_GET }, end = { .type = MSG_SAVED_END }, row = saved_row();
	const struct msg unread = { .type = MSG_SAVED_END, .u.saved_end.failed = true };

	open_history();
	say(ROLE_WATCHER, &get);
	say(ROLE_REPORTER, &row);
	for (int i = 0; i < 5; i++) {
		stage_pass(w.s, 10000);
		say(ROLE_WATCHER, &get);
	}
	ck_assert_uint_eq(count(MSG_SAVED_GET), 1);
	say(ROLE_REPORTER, &unread);
	ck_assert(heard(MSG_SAVED_END, count(MSG_SAVED_END) - 1)->u.saved_end.failed);
	say(ROLE_WATCHER, &get);
	ck_assert_uint_eq(count(MSG_SAVED_GET), 2);
	say(ROLE_REPORTER, &end);
	ck_assert(!heard(MSG_SAVED_END, count(MSG_SAVED_END) - 1)->u.saved_end.failed);
	ck_assert_uint_eq(stage_lives(w.s, ROLE_REPORTER, 0), 1);
}

/* The rows that it had sent are told to count for nothing. */
TEST(an_answer_that_breaks_off_is_told)
{
	const struct msg get = { .type = MSG_SAVED_GET }, row = saved_row();

	open_history();
	say(ROLE_WATCHER, &get);
	say(ROLE_REPORTER, &row);
	stage_die(w.s, ROLE_REPORTER, 0);
	stage_run(w.s);
	ck_assert_uint_eq(count(MSG_SAVED_END), 1);
	ck_assert(heard(MSG_SAVED_END, count(MSG_SAVED_END) - 1)->u.saved_end.failed);
	open_history();
	ck_assert_uint_eq(count(MSG_SAVED_GET), 2);
}

/* A watcher that takes the rest of an answer for all would forget its budgets. */
TEST(the_answer_to_a_dead_watcher_is_not_its_successors)
{
	const struct msg get = { .type = MSG_SAVED_GET }, end = { .type = MSG_SAVED_END }, row = saved_row();

	open_history();
	say(ROLE_WATCHER, &get);
	say(ROLE_REPORTER, &row);
	ck_assert_uint_eq(count(MSG_SAVED_ROW), 1);
	stage_die(w.s, ROLE_WATCHER, 0);
	stage_run(w.s);
	say(ROLE_WATCHER, &get);
	ck_assert_uint_eq(count(MSG_SAVED_GET), 1);
	say(ROLE_REPORTER, &row);
	say(ROLE_REPORTER, &end);
	ck_assert_uint_eq(count(MSG_SAVED_ROW), 1);
	ck_assert_uint_eq(count(MSG_SAVED_END), 0);
	ck_assert_uint_eq(count(MSG_SAVED_GET), 2);
	say(ROLE_REPORTER, &row);
	say(ROLE_REPORTER, &end);
	ck_assert_uint_eq(count(MSG_SAVED_ROW), 2);
	ck_assert_uint_eq(count(MSG_SAVED_END), 1);
	ck_assert_uint_eq(stage_lives(w.s, ROLE_REPORTER, 0), 1);
}

TEST_MAIN("supervisor/saved")
{
	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_set_timeout(t, 60);
}
