/* test_readiness.c - how long a pod was Ready within the last window. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>

#include "rules/readiness.h"
#include "rules/verdict.h"
#include "tests/suite.h"

#define WINDOW INT64_C(1000)
#define BEGIN  INT64_C(100000)

static struct readiness r;

static void begin(void)
{
	readiness_begin(&r, WINDOW, 0, BEGIN);
}

static void ready(int64_t from, int64_t to)
{
	readiness_set(&r, true, BEGIN + from);
	readiness_set(&r, false, BEGIN + to);
}

TEST(nothing_is_measured_before_it_begins)
{
	struct readiness none = { 0 };

	readiness_set(&none, true, BEGIN);
	ck_assert_int_eq(readiness_within(&none, BEGIN + 10), 0);
	ck_assert(!readiness_steady(&none, INT64_MAX));
	ck_assert(!readiness_tell(&none));
}

TEST(what_is_over_and_what_lasts)
{
	ready(100, 150);
	ck_assert_int_eq(readiness_within(&r, BEGIN + 200), 50);
	readiness_set(&r, true, BEGIN + 200);
	readiness_set(&r, true, BEGIN + 250); /* said twice */
	ck_assert_int_eq(readiness_within(&r, BEGIN + 300), 150);
	ck_assert_int_eq(readiness_within(&r, BEGIN + 300), 150); /* asking changes nothing */
	readiness_set(&r, false, BEGIN + 300);
	ck_assert_int_eq(readiness_within(&r, BEGIN + 900), 150);
}

/* The window before counts for as much of it as is left. */
TEST(what_is_old_is_forgotten)
{
	ready(0, 400);
	ck_assert_int_eq(readiness_within(&r, BEGIN + 1000), 400);
	ck_assert_int_eq(readiness_within(&r, BEGIN + 1500), 200);
	ck_assert_int_eq(readiness_within(&r, BEGIN + 2000), 0);
	ready(1900, 2100); /* over a border */
	ck_assert_int_eq(readiness_within(&r, BEGIN + 2100), 100 + 90);
	ck_assert_int_eq(readiness_within(&r, BEGIN + 9000), 0);
}

TEST(a_period_of_many_windows)
{
	readiness_set(&r, true, BEGIN + 500);
	ck_assert_int_eq(readiness_within(&r, BEGIN + 7500), WINDOW);
	readiness_set(&r, false, BEGIN + 7500);
	ck_assert_int_eq(readiness_within(&r, BEGIN + 7500), WINDOW);
	ck_assert_int_eq(readiness_within(&r, BEGIN + 8000), 500);
}

TEST(a_clock_that_steps_back_counts_nothing)
{
	ready(500, 400);
	ck_assert_int_eq(readiness_within(&r, BEGIN + 600), 0);
	ck_assert_int_ge(readiness_within(&r, BEGIN - 5000), 0);
}

TEST(what_was_kept_counts)
{
	readiness_begin(&r, WINDOW, 300, BEGIN);
	ck_assert_int_eq(readiness_within(&r, BEGIN), 300);
	ck_assert_int_eq(readiness_within(&r, BEGIN + 500), 150);
}

TEST(ten_minutes_are_steady)
{
	readiness_set(&r, true, BEGIN);
	ck_assert(!readiness_steady(&r, BEGIN + JUDGE_STEADY_MS - 1));
	ck_assert(readiness_steady(&r, BEGIN + JUDGE_STEADY_MS));
	readiness_set(&r, false, BEGIN + 1);
	ck_assert(!readiness_steady(&r, BEGIN + JUDGE_STEADY_MS));
}

/* Not each crash is written down. */
TEST(a_hundredth_is_told)
{
	ready(10, 19);
	ck_assert(!readiness_tell(&r));
	ready(30, 31);
	ck_assert(readiness_tell(&r));
	ck_assert(!readiness_tell(&r));
}

TEST_MAIN("rules/readiness")
{
	tcase_add_checked_fixture(t, begin, NULL);
}
