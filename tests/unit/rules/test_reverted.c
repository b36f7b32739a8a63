/* Reverts (R22): what is a return, and how long it is blocked; and the escalation before the act (R18). */
// SPDX-License-Identifier: Apache-2.0
#include "fixture.h"
#include "rules/reverted.h"
#include "rules/escalation.h"
#include "tests/suite.h"

#define T NOW

TEST(a_pod_made_after_the_act_is_a_return)
{
	struct reverted f = { 0 };

	ck_assert(!reverted_seen(&f, T + 1, T + 2)); /* we never acted on it */
	reverted_acted(&f, T);
	ck_assert(!reverted_seen(&f, T, T + MIN)); /* one that is only slow to leave */
	ck_assert_uint_eq(f.count, 0);
	ck_assert(!reverted_blocks(&f, T + MIN));
	ck_assert(reverted_seen(&f, T + 1, T + MIN));
	ck_assert_uint_eq(f.count, 1);
	ck_assert(reverted_blocks(&f, T + 11 * MIN - 1));
	ck_assert(!reverted_blocks(&f, T + 11 * MIN));
	ck_assert(!reverted_seen(&f, T + 2, T + 2 * MIN)); /* counted once an act */
	ck_assert_uint_eq(f.count, 1);
}

TEST(each_return_doubles_up_to_a_day)
{
	static const int64_t minutes[] = { 10, 20, 40, 80, 160, 320, 640, 1280, 1440, 1440 };
	struct reverted f = { 0 };
	int64_t now = T;

	for (size_t i = 0; i < sizeof(minutes) / sizeof(minutes[0]); i++) {
		reverted_acted(&f, now);
		ck_assert(reverted_seen(&f, now + S, now + MIN));
		ck_assert_int_eq(f.until, now + MIN + minutes[i] * MIN);
		now = f.until;
	}
	ck_assert_uint_eq(f.count, 10);
}

TEST(a_day_later_it_is_none)
{
	struct reverted f = { 0 }, after;

	reverted_acted(&f, T);
	ck_assert(reverted_would(&f, T + S, T + 24 * HOUR, &after));
	ck_assert_uint_eq(f.count, 0); /* asked, not counted */
	ck_assert_uint_eq(after.count, 1);
	ck_assert(!reverted_seen(&f, T + S, T + 24 * HOUR + 1));
	ck_assert(!reverted_over(&f, T + 24 * HOUR));
	ck_assert(reverted_over(&f, T + 24 * HOUR + 1));
}

static const struct {
	int64_t fresh, tried;
	enum escalation step;
	int64_t at;
} steps[] = {
	{ 0, 0, ESCALATION_DUTY, 0 },
	{ 0, T - 1, ESCALATION_DUTY, 0 },
	{ 5 * MIN, 0, ESCALATION_RETRY, 0 },
	{ 5 * MIN, T - 5 * MIN, ESCALATION_WAIT, T + 1 },
	{ 5 * MIN, T - 5 * MIN - 1, ESCALATION_DUTY, 0 },
	{ 5 * MIN, T, ESCALATION_WAIT, T + 5 * MIN + 1 },
	{ 5 * MIN, T + HOUR, ESCALATION_WAIT, T + 5 * MIN + 1 }, /* a clock that was set back */
};

TEST_LOOP(escalates_step_by_step, 0, sizeof(steps) / sizeof(steps[0]))
{
	const struct duty_policy dp = { .fresh_attempt_ms = steps[_i].fresh };
	int64_t at = -1;

	ck_assert_int_eq(escalation_next(&dp, steps[_i].tried, T, &at), steps[_i].step);
	ck_assert_int_eq(at, steps[_i].at);
	if (steps[_i].step == ESCALATION_WAIT)
		ck_assert_int_eq(escalation_next(&dp, steps[_i].tried < T ? steps[_i].tried : T, at, &at),
				 ESCALATION_DUTY);
}

/* Three generations, each made when the one before was evicted; the newest of the next stays for an hour. */
TEST(an_evict_loop_keeps_its_newest)
{
	struct evict_loop l = { 0 };
	int64_t until;

	evict_loop_deleted(&l, T - HOUR, T);
	evict_loop_deleted(&l, T - HOUR, T + 1);     /* two that were evicted together with the first, */
	evict_loop_deleted(&l, T - 30 * MIN, T + 2); /* younger ones, too */
	ck_assert_uint_eq(l.count, 1);
	evict_loop_deleted(&l, T - 1, T + 5 * MIN); /* its replacement was there before it was deleted */
	ck_assert_uint_eq(l.count, 2);
	ck_assert(evict_loop_seen(&l, T + 5 * MIN - 1));
	ck_assert(!evict_loop_keeps(&l, T + 5 * MIN - 1, T + 10 * MIN, &until));
	evict_loop_deleted(&l, T + 5 * MIN - 1, T + 10 * MIN);
	ck_assert(evict_loop_seen(&l, T + 10 * MIN));
	ck_assert(evict_loop_keeps(&l, T + 10 * MIN, T + 15 * MIN, &until));
	ck_assert_int_eq(until, T + 70 * MIN);
	ck_assert(evict_loop_keeps(&l, T + 10 * MIN, until - 1, &until));
	ck_assert(!evict_loop_keeps(&l, T + 10 * MIN, until, &until));
	ck_assert(evict_loop_seen(&l, T + 15 * MIN)); /* a newer one: the older may go */
	ck_assert(!evict_loop_keeps(&l, T + 10 * MIN, T + 16 * MIN, &until));
	ck_assert(!evict_loop_seen(&l, T + 15 * MIN));
}

TEST(evictions_far_apart_are_no_loop)
{
	struct evict_loop l = { 0 };
	int64_t now = T, until;

	for (int i = 0; i < 10; i++, now += LOOP_WITHIN_MS + 1)
		evict_loop_deleted(&l, now - 1, now);
	ck_assert_uint_eq(l.count, 1);
	ck_assert(!evict_loop_keeps(&l, now, now, &until));
}

SUITE("rules/reverted");
