/* The breaker (R25): what counts as together, what is shared, when it lets go. */
// SPDX-License-Identifier: Apache-2.0
#include "fixture.h"
#include "rules/breaker.h"
#include "tests/suite.h"

#define T INT64_C(1000000000)

static struct breaker *b;
static struct breaker_policy limits;

static void begin(void)
{
	b = breaker_new();
	limits = (struct breaker_policy){ .within_ms = 10 * MIN, .release_ms = 15 * MIN };
}

static void end(void)
{
	breaker_free(&b);
}

/* n workloads more, from id `first`, one a second from `began`. */
static void failing(uint32_t first, uint32_t n, int64_t began, uint32_t host, uint32_t node)
{
	for (uint32_t i = 0; i < n; i++)
		breaker_failing(b, first + i, began + i * S, host, node ? node : 100 + i, CAUSE_UNKNOWN);
}

static bool open_at(int64_t now)
{
	(void)breaker_update(b, &limits, 100, 10, now);
	return breaker_is_open(b);
}

static const struct burst *burst(void)
{
	int64_t since;

	return breaker_burst(b, &since);
}

TEST(more_workloads_than_the_limit)
{
	limits.workloads = 5;
	failing(1, 5, T, 0, 0);
	ck_assert(!open_at(T + MIN));
	failing(6, 1, T + 10 * MIN, 0, 0);
	ck_assert(open_at(T + 10 * MIN)); /* exactly `within` apart is together */
	ck_assert_int_eq(burst()->condition, BREAKER_WORKLOADS);
	ck_assert_uint_eq(burst()->workloads, 6);
	ck_assert_int_eq(burst()->limit, 5);
	ck_assert_int_eq(burst()->began, T);
}

TEST(those_that_began_apart_are_not_together)
{
	limits.workloads = 5;
	failing(1, 5, T, 0, 0);
	failing(6, 1, T + 10 * MIN + 1, 0, 0);
	ck_assert(!open_at(T + 10 * MIN + 1));
	/* But all of the later ones are. */
	failing(7, 5, T + 10 * MIN + 4 * S, 0, 0);
	ck_assert(open_at(T + 11 * MIN));
}

/* The threshold of the duty is a day, an outage must be seen after it all the same. */
TEST(an_outage_is_one_however_long_it_lasts)
{
	limits.workloads = 5;
	failing(1, 30, T, 0, 0);
	ck_assert(open_at(T + 48 * HOUR));
}

TEST(one_host)
{
	limits.same_host = 3;
	failing(1, 3, T, 7, 0);
	failing(4, 9, T, 8, 0);
	failing(13, 3, T + 20 * MIN, 7, 0); /* the same host, another time */
	ck_assert(open_at(T + MIN));
	ck_assert_int_eq(burst()->condition, BREAKER_HOST);
	ck_assert_uint_eq(burst()->host, 8);
	ck_assert_uint_eq(burst()->of_host, 9);
	for (uint32_t i = 4; i < 10; i++)
		breaker_recovered(b, i);
	ck_assert(open_at(T + 2 * MIN)); /* not released yet */
	ck_assert_int_eq(breaker_next(b), T + 17 * MIN);
	ck_assert(open_at(T + 17 * MIN - 1));
	ck_assert(!open_at(T + 17 * MIN));
}

TEST(one_node)
{
	limits.same_node = 3;
	failing(1, 3, T, 0, 7);
	failing(4, 1, T, 0, 7);
	ck_assert(open_at(T + MIN));
	ck_assert_int_eq(burst()->condition, BREAKER_NODE);
	ck_assert_uint_eq(burst()->node, 7);
	ck_assert_uint_eq(burst()->of_node, 4);
}

TEST(on_the_only_node_everything_fails_on_one_node)
{
	limits.same_node = 3;
	failing(1, 10, T, 0, 7);
	ck_assert(!breaker_update(b, &limits, 100, 1, T + MIN));
	ck_assert(breaker_update(b, &limits, 100, 2, T + MIN));
}

TEST(who_fails_on_two_nodes_does_not_blame_one)
{
	limits.same_node = 3;
	failing(1, 4, T, 0, 7);
	breaker_failing(b, 4, T + 3 * S, 0, 8, CAUSE_UNKNOWN);
	ck_assert(!open_at(T + MIN));
}

TEST(a_share_of_all_workloads)
{
	limits.percent = 10;
	failing(1, 10, T, 0, 0);
	ck_assert(!open_at(T + MIN)); /* 10 of 100 */
	failing(11, 1, T + S, 0, 0);
	ck_assert(open_at(T + MIN));
	ck_assert_int_eq(burst()->condition, BREAKER_PERCENT);
	for (uint32_t i = 1; i < 12; i++)
		breaker_recovered(b, i);
	ck_assert(!open_at(T + 17 * MIN) || !open_at(T + 33 * MIN));
	failing(20, 2, T, 0, 0); /* two of two are no outage */
	(void)breaker_update(b, &limits, 2, 10, T + 40 * MIN);
	ck_assert(!breaker_is_open(b));
}

TEST(off_is_off)
{
	failing(1, 500, T, 7, 8);
	ck_assert(!open_at(T + MIN));
}

TEST(it_comes_back_while_it_is_being_released)
{
	limits.workloads = 2;
	failing(1, 3, T, 0, 0);
	ck_assert(open_at(T + MIN));
	breaker_recovered(b, 1);
	ck_assert(breaker_dirty(b));
	ck_assert(open_at(T + 2 * MIN));
	failing(1, 1, T, 0, 0);
	ck_assert(open_at(T + 3 * MIN));
	ck_assert_int_eq(breaker_next(b), 0);
	breaker_recovered(b, 2);
	ck_assert(open_at(T + 10 * MIN));
	ck_assert(open_at(T + 25 * MIN - 1));
	ck_assert(!open_at(T + 25 * MIN));
	ck_assert(!breaker_dirty(b));
}

/* `release` waits for the failures to end; an operator who moves the limits is not made to wait. */
TEST_LOOP(other_limits_hold_at_once, 0, 3)
{
	limits.workloads = 2;
	failing(1, 3, T, 0, 0);
	ck_assert(open_at(T + MIN));
	if (_i == 0)
		limits.workloads = 3;
	else if (_i == 1)
		limits.within_ms = 1;
	else
		limits.release_ms = 2 * MIN; /* no limit */
	breaker_limits_changed(b);
	ck_assert(breaker_dirty(b));
	ck_assert(open_at(T + 2 * MIN) == (_i == 2));
}

TEST(an_earlier_life_left_it_open)
{
	int64_t since;

	limits.workloads = 2;
	breaker_load(b, T - HOUR, 40);
	ck_assert(breaker_is_open(b));
	ck_assert(open_at(T));
	ck_assert_uint_eq(breaker_burst(b, &since)->workloads, 40);
	ck_assert_int_eq(since, T - HOUR);
	ck_assert(open_at(T + 15 * MIN - 1));
	ck_assert(!open_at(T + 15 * MIN)); /* nobody fails any more */
}

TEST(transient_causes_are_counted)
{
	limits.workloads = 2;
	for (uint32_t i = 1; i <= 4; i++)
		breaker_failing(b, i, T, 7, i, i < 4 ? CAUSE_TRANSIENT : CAUSE_PERMANENT);
	ck_assert(open_at(T));
	ck_assert_uint_eq(burst()->transient, 3);
	ck_assert_uint_eq(burst()->host, 7);
	ck_assert_uint_eq(burst()->of_host, 4);
}

TEST(a_clock_that_turns_out_older_moves_its_workload)
{
	limits.workloads = 2;
	failing(1, 3, T, 0, 0);
	breaker_failing(b, 2, T - HOUR, 0, 0, CAUSE_UNKNOWN);
	ck_assert(!open_at(T + MIN));
	ck_assert_uint_eq(breaker_count(b), 3);
	breaker_recovered(b, 2);
	breaker_recovered(b, 2);
	breaker_recovered(b, 77777);
	ck_assert_uint_eq(breaker_count(b), 2);
}

TEST_MAIN("rules/breaker")
{
	tcase_add_checked_fixture(t, begin, end);
}
