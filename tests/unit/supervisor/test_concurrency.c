/* test_concurrency.c - how many workers act at once, second by second. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>

#include "supervisor/actions/concurrency.h"
#include "tests/suite.h"

static struct concurrency c;
static uint64_t now;

static void begin(unsigned least, unsigned most, unsigned processors)
{
	concurrency_init(&c, least, most, processors);
	now = 1000;
	concurrency_tick(&c, false, now);
}

/* In one second so many actions end, each after that time; then the limit is as wanted. */
static void second(unsigned ended, uint64_t took_ms, bool backlog, unsigned want, enum text why)
{
	for (unsigned i = 0; i < ended; i++)
		concurrency_note(&c, took_ms, false);
	now += 1000;
	concurrency_tick(&c, backlog, now);
	ck_assert_uint_eq(c.limit, want);
	ck_assert_int_eq((int)c.why, (int)why);
}

TEST(begins_with_one_for_each_processor_within_bounds)
{
	begin(0, 8, 2);
	ck_assert_uint_eq(c.limit, 2);
	begin(0, 8, 64);
	ck_assert_uint_eq(c.limit, 8);
	begin(3, 8, 1);
	ck_assert_uint_eq(c.limit, 3);
	begin(0, 1, 2);
	ck_assert_uint_eq(c.limit, 1);
}

TEST(a_fixed_number_stays)
{
	begin(4, 4, 2);
	second(10, 500, true, 4, TEXT_WORKERS_FIXED);
	concurrency_note(&c, 5, true);
	second(0, 0, true, 4, TEXT_WORKERS_FIXED);
}

/* A quick server is limited by processors: more workers would only take turns. */
TEST(a_quick_server_gets_no_more)
{
	begin(0, 8, 2);
	for (int i = 0; i < 5; i++)
		second(1000, 12, true, 2, TEXT_WORKERS_PROCESSORS);
}

TEST(a_slow_server_gets_more_as_long_as_that_helps)
{
	begin(0, 4, 2);
	second(100, 100, true, 3, TEXT_WORKERS_LATENCY);
	second(150, 100, true, 3, TEXT_WORKERS_LATENCY); /* it helped */
	second(150, 100, true, 4, TEXT_WORKERS_MAX);
	second(150, 130, true, 3, TEXT_WORKERS_NO_GAIN);
	for (int i = 0; i < 29; i++)
		second(150, 130, true, 3, TEXT_WORKERS_NO_GAIN);
	second(150, 130, true, 4, TEXT_WORKERS_MAX); /* tried anew */
}

TEST(nothing_grows_while_nothing_waits)
{
	begin(0, 8, 2);
	second(10, 100, false, 2, TEXT_WORKERS_PROCESSORS);
	second(10, 100, true, 3, TEXT_WORKERS_LATENCY);
	second(1, 100, false, 3, TEXT_WORKERS_LATENCY); /* the storm is over: that says nothing */
}

TEST(a_429_halves_and_it_grows_back)
{
	begin(0, 8, 8);
	concurrency_note(&c, 5, true);
	second(100, 10, true, 4, TEXT_WORKERS_THROTTLED);
	concurrency_note(&c, 5, true);
	second(100, 10, true, 2, TEXT_WORKERS_THROTTLED);
	for (int i = 0; i < 9; i++)
		second(100, 10, true, 2, TEXT_WORKERS_THROTTLED);
	second(100, 10, true, 3, TEXT_WORKERS_PROCESSORS); /* ten seconds later, without proof */
	second(100, 10, true, 4, TEXT_WORKERS_PROCESSORS);
}

TEST(never_below_the_least)
{
	begin(3, 8, 4);
	for (int i = 0; i < 4; i++) {
		concurrency_note(&c, 5, true);
		second(10, 10, true, 3, TEXT_WORKERS_THROTTLED);
	}
	begin(0, 2, 1);
	concurrency_note(&c, 5, true);
	second(10, 10, true, 1, TEXT_WORKERS_THROTTLED);
}

/* What was counted while the clock stood, or over a long pause, is no second. */
TEST(a_gap_says_nothing)
{
	begin(0, 8, 2);
	concurrency_note(&c, 500, false);
	now += 60000;
	concurrency_tick(&c, true, now);
	ck_assert_uint_eq(c.limit, 2);
}

SUITE("supervisor/concurrency");
