/* test_message_clock.c - a clock that was ahead delays no news of what needs an operator. */
// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "tests/unit/reporter/message_world.h"

/* A begin, a reminder and an end of the time when the clock was ahead wait for that time no longer than it
 * takes without. */
TEST(a_clock_that_was_ahead_delays_no_news)
{
	clock_fake_advance(300 * DAY);
	trouble(TROUBLE_FORBIDDEN, "prod", 1);
	look(0);
	clock_fake_advance(-300 * DAY);
	look(0);
	ck_assert_str_eq(told("team"), "");
	look(MINUTE);
	(void)told("team");
	HAS("New: ");
	HAS_NO("since 2024");
}

TEST(a_clock_that_was_ahead_delays_no_reminder_and_no_end)
{
	clock_fake_advance(300 * DAY);
	trouble(TROUBLE_FORBIDDEN, "prod", 1);
	look(MINUTE);
	(void)told("team");
	HAS("New: ");
	clock_fake_advance(-300 * DAY);
	look(0);
	ck_assert_str_eq(told("team"), "");
	look(DAY);
	(void)told("team");
	HAS("Still: ");
	clock_fake_advance(300 * DAY);
	trouble(TROUBLE_FORBIDDEN, "prod", 0);
	look(0);
	clock_fake_advance(-300 * DAY);
	look(0);
	look(MINUTE);
	(void)told("team");
	HAS("Resolved: ");
}

TEST(objects_of_a_clock_that_was_ahead_need_an_operator_no_later)
{
	clock_fake_advance(300 * DAY);
	refuse(1, 1);
	clock_fake_advance(-300 * DAY);
	look(0);
	refuse_long(1, 1);
	look(0);
	(void)told("team");
	HAS("kube-system: dns-1\n");
	clock_fake_advance(300 * DAY);
	refuse_long(1, 2);
	look(0); /* told, in a time that is yet to come */
	(void)told("team");
	clock_fake_advance(-300 * DAY);
	look(0);
	refuse_long(1, 3);
	look(0);
	(void)told("team");
	HAS("kube-system: dns-3\n");
}

TEST(failures_do_not_wait_for_the_time_when_the_clock_was_ahead)
{
	clock_fake_advance(300 * DAY);
	act(1, ACTION_SCALE_DOWN, "shop", "web", OUTCOME_DONE, true);
	tell();
	(void)told("team");
	clock_fake_advance(-300 * DAY);
	act(2, ACTION_DELETE, "shop", "a", OUTCOME_FORBIDDEN, true);
	tell();
	ck_assert(put && left == ACTIONS_LEFT_NONE);
	(void)told("team");
	HAS("1 action failed");
}

TEST_MAIN("reporter/message_clock")
{
	tcase_add_checked_fixture(t, tell_setup, tell_teardown);
	tcase_set_timeout(t, 30);
}
