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

static void fails(uint32_t id, int64_t began, uint32_t host, uint32_t node, enum pull_cause cause,
		  bool pulled)
{
	const struct breaker_failure f = { began, host, node, cause, false, pulled };

	breaker_failing(b, id, &f);
}

/* n workloads more, from id `first`, one a second from `began`. */
static void failing(uint32_t first, uint32_t n, int64_t began, uint32_t host, uint32_t node)
{
	for (uint32_t i = 0; i < n; i++)
		fails(first + i, began + i * S, host, node ? node : 100 + i, CAUSE_TRANSIENT, true);
}

static bool holds(uint32_t id)
{
	int64_t began;

	return breaker_holds(b, id, &began);
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
	fails(4, T + 3 * S, 0, 8, CAUSE_TRANSIENT, true);
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

/* Nobody saw them run, for they failed already when we came: the outage that was known is theirs. */
TEST(an_outage_outlasts_a_restart)
{
	limits.same_host = 2;
	breaker_load(b, T - HOUR, 3);
	for (uint32_t i = 1; i <= 3; i++)
		fails(i, T, 7, i, CAUSE_AUTH, false);
	ck_assert(open_at(T));
	ck_assert(open_at(T + HOUR));
	ck_assert(holds(1));
}

TEST(transient_causes_are_counted)
{
	limits.workloads = 2;
	for (uint32_t i = 1; i <= 4; i++)
		fails(i, T, 7, i, i < 4 ? CAUSE_TRANSIENT : CAUSE_UNKNOWN, true);
	ck_assert(open_at(T));
	ck_assert_uint_eq(burst()->transient, 3);
	ck_assert_uint_eq(burst()->host, 7);
	ck_assert_uint_eq(burst()->of_host, 4);
}

/* The registry answers: not there. A chart of wrong tags is no outage, and neither holds anybody else. */
TEST(what_the_registry_has_answered_is_no_outage)
{
	limits.workloads = limits.same_host = limits.same_node = 2;
	for (uint32_t i = 1; i <= 12; i++)
		fails(i, T, 7, 8, CAUSE_PERMANENT, true);
	ck_assert(!open_at(T + MIN));
	failing(20, 3, T, 7, 0);
	ck_assert(open_at(T + MIN));
	ck_assert_uint_eq(burst()->workloads, 3);
	ck_assert(holds(20) && holds(22) && !holds(1));
}

/* No access, a wrong certificate: a sign of the registry only where the workload once pulled from it. */
TEST_LOOP(what_never_pulled_is_no_sign, 0, 3)
{
	static const enum pull_cause causes[] = { CAUSE_AUTH, CAUSE_MISCONFIGURED, CAUSE_UNKNOWN };

	limits.workloads = limits.same_host = limits.same_node = 2;
	for (uint32_t i = 1; i <= 3; i++)
		fails(i, T, 7, 8, causes[_i], false);
	ck_assert(!open_at(T + MIN));
	for (uint32_t i = 1; i <= 3; i++)
		fails(i, T, 7, 8, causes[_i], true);
	ck_assert(open_at(T + MIN));
	ck_assert_int_eq(burst()->condition, BREAKER_HOST);
	fails(9, T + HOUR, 7, 9, causes[_i], false); /* waits with them all the same */
	ck_assert(holds(9));
}

/* One node, and single replicas that never ran: they say nothing of it. */
TEST(a_node_is_blamed_by_what_ran_before)
{
	limits.same_node = 2;
	for (uint32_t i = 1; i <= 6; i++)
		fails(i, T, i, 8, CAUSE_TRANSIENT, false);
	ck_assert(!open_at(T + MIN));
	for (uint32_t i = 1; i <= 3; i++)
		fails(i, T, i, 8, CAUSE_TRANSIENT, true);
	ck_assert(open_at(T + MIN));
	ck_assert_int_eq(burst()->condition, BREAKER_NODE);
	ck_assert(holds(1) && holds(5));
}

/* Only what has the same in common is held: another registry goes on, and so does what failed long before. */
/* What says that its node is sick blames that, whether its pods ran before or not, and never a registry. */
TEST(a_sick_node_blames_itself)
{
	limits.same_host = limits.same_node = 3;
	for (uint32_t i = 1; i <= 4; i++)
		fails(i, T, 7, 100 + i, CAUSE_NODE, true);
	ck_assert(!open_at(T + MIN));
	for (uint32_t i = 11; i <= 14; i++)
		fails(i, T, 20 + i, 9, CAUSE_NODE, false);
	ck_assert(open_at(T + MIN));
	ck_assert_int_eq(burst()->condition, BREAKER_NODE);
	ck_assert_uint_eq(burst()->node, 9);
}

TEST(it_holds_its_members_alone)
{
	limits.same_host = 3;
	failing(1, 1, T - HOUR, 7, 0);
	failing(2, 4, T, 7, 0);
	failing(10, 1, T, 8, 0);
	failing(11, 1, T + HOUR, 7, 0);
	ck_assert(open_at(T + 2 * HOUR));
	ck_assert(!holds(1) && holds(2) && holds(5) && !holds(10) && holds(11) && !holds(77777));
	for (uint32_t i = 2; i <= 5; i++)
		breaker_recovered(b, i);
	ck_assert(open_at(T + 3 * HOUR));
	ck_assert(holds(11)); /* until it is released */
	ck_assert(!open_at(T + 4 * HOUR));
	ck_assert(!holds(11));
}

/* A long outage is many bursts, of which the newest is the largest: the first of them are held, too. */
TEST(an_outage_of_many_bursts_holds_the_first)
{
	limits.workloads = 3;
	failing(1, 4, T, 0, 0);
	failing(10, 6, T + HOUR, 0, 0);
	ck_assert(open_at(T + 2 * HOUR));
	ck_assert_int_eq(burst()->began, T + HOUR);
	ck_assert(holds(1) && holds(10));
}

TEST(a_clock_that_turns_out_older_moves_its_workload)
{
	limits.workloads = 2;
	failing(1, 3, T, 0, 0);
	fails(2, T - HOUR, 0, 0, CAUSE_TRANSIENT, true);
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
