/* test_first_start.c - a first start over a history that is there already, and a death before it was read to
 * its end: the pauses in it stay in force. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>

#include "model/duties.h"
#include "world.h"

static void say_pause(int64_t duty)
{
	const struct msg row = { .type = MSG_PAUSE, .u.pause = { .duty = duty, .on = true, .at = 1 } };

	say(ROLE_REPORTER, &row);
}

TEST(a_pause_of_the_history_outlives_a_death_before_its_end)
{
	say_pause(DUTY_ALL);
	start_again();
	say_pause(DUTY_ALL);
	open_history();
	nominate(1);
	ck_assert_uint_eq(count(MSG_INTENT), 0);
}

/* The next life takes over the pauses behind those that were read. */
TEST(the_rest_of_a_history_that_was_not_read_whole_counts)
{
	say_pause(DUTY_TERMINATING);
	start_again();
	say_pause(DUTY_TERMINATING);
	say_pause(DUTY_ALL);
	open_history();
	nominate(1);
	ck_assert_uint_eq(count(MSG_INTENT), 0);
}

TEST(a_pause_that_was_read_is_kept_where_the_history_is_lost)
{
	say_pause(DUTY_ALL);
	start_again();
	open_history();
	nominate(1);
	ck_assert_uint_eq(count(MSG_INTENT), 0);
}

/* When it was read whole the file alone counts, also in the life after that. */
TEST(a_history_that_was_read_whole_adds_no_pause)
{
	open_history();
	for (int life = 0; life < 2; life++) {
		start_again();
		say_pause(DUTY_ALL);
		open_history();
	}
	nominate(1);
	ck_assert_uint_eq(count(MSG_INTENT), 1);
}

TEST_MAIN("supervisor/first_start")
{
	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_set_timeout(t, 60);
}
