/* test_clocks.c - a machine that sleeps, clocks that are set: what is due when, by two clocks that go apart.
 */
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "base/clock.h"
#include "base/server_clock.h"
#include "harness.h"
#include "random.h"
#include "tests/suite.h"
#include "tests/facts_en.h"

#define WAIT (10 * MIN) /* a pod that has so long to wait */

/* The fake clocks, each by its own steps. */
static int64_t wall;
static uint64_t boot;

static void clocks(int64_t wall_ms, int64_t boot_ms)
{
	wall += wall_ms;
	boot += (uint64_t)boot_ms;
	clock_fake_set(wall, boot);
}

/* The API server's clock goes with boot time and agrees with the wall clock at the beginning. */
static int64_t server_date(void)
{
	return (NOW + (int64_t)boot - 1000000) / S * S;
}

static void hear_of_server(void)
{
	controller_server_date(c, server_date());
	controller_alive(c);
}

/* In step, and one pod that is due in WAIT and a millisecond. */
static void wait_for_one(void)
{
	struct pod_facts p = pod_terminating();

	wall = clock_wall_ms();
	boot = clock_boot_ms();
	ready_with(NULL, 0);
	wall = clock_wall_ms();
	boot = clock_boot_ms();
	hear_of_server();
	p.deletion = wall + WAIT - HOURS;
	event(&p);
	ck_assert_uint_eq(controller_next(c), boot + WAIT + 1);
}

TEST(sleep_counts)
{
	wait_for_one();
	clocks(WAIT - MIN, WAIT - MIN);
	ck_assert_uint_gt(controller_next(c), boot);
	/* Asleep for three hours. Before the server says anything, the cache is as old as that. */
	clocks(3 * HOUR, 3 * HOUR);
	run_all();
	ck_assert_uint_eq(n_sent, 0);
	hear_of_server();
	run_all();
	ck_assert_uint_eq(count(MSG_NOMINATE), 1);
}

/* Boot time goes on in suspend; a wall clock that was not corrected yet after it does not hold anything up.
 */
TEST(sleep_with_a_wall_clock_that_stood_still)
{
	wait_for_one();
	clocks(0, WAIT + 2 * S);
	hear_of_server();
	run_all();
	ck_assert_uint_eq(count(MSG_NOMINATE), 1);
}

/* A short sleep is no reason to wait for anything: what fell due in it is due at once. */
TEST(short_sleep)
{
	wait_for_one();
	clocks(WAIT - MIN, WAIT - MIN);
	hear_of_server();
	clocks(2 * MIN, 2 * MIN);
	ck_assert_uint_le(controller_next(c), boot);
	run_all();
	ck_assert_uint_eq(count(MSG_NOMINATE), 1);
}

static const int64_t steps[] = { -24 * HOUR, -2 * HOUR, -MIN, -5 * S, 5 * S, MIN, 2 * HOUR, 24 * HOUR };

/* Somebody sets the local clock: not a second sooner and at most two seconds later than without it - unless
 * the two are then more than an hour apart, which is not believed (base/server_clock.h): later, never
 * sooner. */
TEST_LOOP(the_wall_clock_is_set, 0, sizeof(steps) / sizeof(steps[0]))
{
	const int64_t step = steps[_i];

	wait_for_one();
	clocks(step, 0);
	for (int64_t left = WAIT; left > 0; left -= MIN) {
		run_all();
		ck_assert_uint_eq(n_sent, 0);
		clocks(MIN, MIN);
		hear_of_server();
	}
	clocks(2 * S, 2 * S);
	run_all();
	ck_assert_uint_eq(count(MSG_NOMINATE), step >= -HOUR && step <= HOUR);
}

/* A pod that began while this host's clock was two hours late lies in the future of it: that is no refusal,
 * and when the clock is right again the pod goes, without any event of its own. */
TEST(what_began_while_the_clock_was_late)
{
	struct pod_facts p = pod_evicted();

	wait_for_one();
	clocks(-2 * HOUR, 0);
	hear_of_server();
	p.created = server_date() - 5 * S;
	p.start_time = p.created;
	event(&p);
	run_all();
	ck_assert_uint_eq(n_sent, 0);
	clocks(2 * HOUR, 0);
	hear_of_server();
	clocks(10 * S, 10 * S);
	run_all();
	ck_assert_uint_eq(count(MSG_NOMINATE), 1);
}

/* A wait that begins meanwhile is not an hour longer by it. */
TEST(what_waits_while_the_clock_was_late)
{
	wait_for_one();
	const struct pod_facts one = pod_terminating();
	struct pod_facts p = sibling(&one, "another", UID_2);

	clocks(-2 * HOUR, 0);
	hear_of_server();
	p.deletion = server_date() + MIN - HOURS;
	event(&p);
	run_all();
	clocks(2 * HOUR + MIN, MIN);
	hear_of_server();
	run_all();
	clocks(2 * S, 2 * S);
	run_all();
	ck_assert_uint_eq(count(MSG_NOMINATE), 1);
}

/* Set twice, and back again: the second between them counts for nothing. */
TEST(there_and_back)
{
	wait_for_one();
	clocks(5 * HOUR, 0);
	run_all();
	hear_of_server();
	run_all();
	clocks(-5 * HOUR, 0);
	clocks(WAIT - S, WAIT - S);
	hear_of_server();
	run_all();
	ck_assert_uint_eq(n_sent, 0);
	clocks(S + 1, S + 1);
	run_all();
	ck_assert_uint_eq(count(MSG_NOMINATE), 1);
}

/* The server's clock is set: all deadlines are made anew by it, without any event of a pod. */
TEST(the_server_is_set)
{
	wait_for_one();
	controller_server_date(c, server_date() - HOUR);
	run_all();
	ck_assert_uint_eq(controller_next(c), boot + WAIT + 1); /* one says so */
	controller_server_date(c, server_date() - HOUR);
	run_all();
	ck_assert_uint_ge(controller_next(c), boot + HOUR + WAIT - S);
	ck_assert_uint_le(controller_next(c), boot + HOUR + WAIT + 2 * S);
}

/* In step while the local clock is two hours behind; nothing goes. */
static void behind(struct pod_facts p)
{
	wait_for_one();
	clocks(-2 * HOUR, 0);
	hear_of_server();
	p.name = STR_LIT("meanwhile");
	p.uid = STR_LIT(UID_2);
	event(&p);
	run_all();
	ck_assert_uint_eq(count(MSG_NOMINATE), 0);
}

/* What was evicted while this host's clock was behind is from the future by it. When the clock is right again
 * it goes, without an event of the pod. */
TEST(what_was_judged_while_the_clock_was_behind)
{
	struct pod_facts p = pod_evicted();

	p.created = NOW - MIN;
	behind(p);
	ck_assert_uint_eq(count(MSG_REFUSAL), 0);
	clocks(2 * HOUR + 2 * S, 2 * S);
	run_all();
	ck_assert_uint_eq(count(MSG_NOMINATE), 1);
	ck_assert_str_eq(last(MSG_NOMINATE)->u.nominate.name, "meanwhile");
}

/* Nor does the guard Clock hold anything a moment longer, nor the server that is put right. */
TEST_LOOP(the_guard_ends_with_the_step, 0, 2)
{
	behind(pod_evicted());
	ck_assert_str_eq(EN_OF(stats().blocked_by), "Clock 1");
	if (_i == 0) {
		clocks(2 * HOUR, 0);
	} else {
		controller_server_date(c, wall);
		controller_server_date(c, wall);
	}
	run_all();
	ck_assert_uint_eq(count(MSG_NOMINATE), 1);
}

/* A worker that refused by the old clock was no attempt: asked again at once, whichever comes first, its word
 * or the right time. What was written is not asked for again. */
TEST_LOOP(a_refusal_ends_with_the_step, 0, 4)
{
	const bool result_first = _i & 1, written = _i & 2;
	struct pod_facts p = pod_evicted();

	wait_for_one();
	event(&p);
	run_all();
	ck_assert_uint_eq(count(MSG_NOMINATE), 1);
	clocks(-2 * HOUR, 0);
	run_all();
	if (!result_first) {
		clocks(2 * HOUR, 0);
		run_all();
	}
	settle_as(written ? OUTCOME_DONE : OUTCOME_REFUSED, written ? "Evicted" : "ClockUncertain");
	run_all();
	if (result_first)
		clocks(2 * HOUR, 0);
	run_all();
	ck_assert_uint_eq(count(MSG_NOMINATE), written ? 1 : 2);
}

/* The local clock is set two hours forward. Nothing goes while the server proves it wrong, and when it is
 * right again. */
TEST(the_guard_holds_a_clock_that_is_ahead)
{
	wait_for_one();
	clocks(2 * HOUR, 0);
	hear_of_server();
	clocks(WAIT + 2 * S, WAIT + 2 * S);
	hear_of_server();
	run_all();
	ck_assert_uint_eq(count(MSG_NOMINATE), 0);
	ck_assert_str_eq(EN_OF(stats().blocked_by), "Clock 1");
	ck_assert(cluster_host_is_ahead(controller_cluster(c)));
	clocks(-2 * HOUR, 0);
	run_all();
	ck_assert_uint_eq(count(MSG_NOMINATE), 1);
	ck_assert(!cluster_host_is_ahead(controller_cluster(c)));
	clocks(-2 * HOUR, 0);
	ck_assert(!cluster_host_is_ahead(controller_cluster(c)));
}

/* A new watcher is told what was spent: by the local clock that was set forward it is too old to count; by
 * the server's it is not. Nor is it when the clock is right again. */
TEST_LOOP(a_clock_that_is_ahead_frees_no_budget, 0, 2)
{
	const int64_t ahead = _i ? 2 * HOUR : 50 * MIN;
	const struct msg_action_row row = { .duty = DUTY_EVICTED, .ns = "shop", .at = NOW - 20 * MIN };

	wall = NOW;
	boot = 1000000;
	clocks(ahead, 0);
	controller_server_date(c, server_date());
	policy.duty[DUTY_EVICTED].max_per_hour = 1;
	HEAR(ACTION_ROW, action_row, row);
	many(pod_evicted(), 2);
	wall = clock_wall_ms();
	boot = clock_boot_ms();
	hear_of_server();
	run_all();
	ck_assert_uint_eq(count(MSG_NOMINATE), 0);
	clocks(-ahead, 0);
	run_all();
	nominated_after(40 * MIN - QUIET_MS, 0, 1);
}

/* Clocks that differ by less than a second are not set: what NTP slews wakes nobody. */
TEST(a_second_is_no_step)
{
	wait_for_one();
	const uint64_t before = judged();

	clocks(S, 0);
	run_all();
	ck_assert_uint_eq(judged(), before);
	clocks(1, 0);
	run_all();
	ck_assert_uint_eq(judged(), before + 1);
}

/* Random lives: answers that were up to 900 ms on their way, Dates cut to the second, now and then an odd
 * one, sleeps, a local clock set to anything. Server time is then known to a second, and never more than that
 * ahead of the truth. */
TEST(any_life)
{
	random_begin("clocks");
	for (unsigned life = 0; life < 300; life++) {
		const int64_t offset = NOW + random_below(1000000);
		struct server_clock s = { 0 };
		bool odd = true;

		wall = offset + (int64_t)random_below(7200000) - 3600000;
		boot = 1000 + random_below(1000000);
		for (unsigned i = 0; i < 400; i++) {
			const int64_t read = offset + (int64_t)boot - (int64_t)random_below(900);
			const int64_t passed = random_below(10) ? random_below(30000) : random_below(7200000);

			odd = i > 1 && !odd && random_below(20) == 0;
			(void)server_clock_note(&s, odd ? (int64_t)random_next() / 4 : read / S * S, boot);
			const int64_t truth = offset + (int64_t)boot, now = server_clock_now(&s, wall, boot);
			const int64_t latest = server_clock_latest(&s, wall, boot);

			ck_assert_int_le(now, truth + S);
			if (wall > truth - HOUR / 2)
				ck_assert_int_ge(latest, truth - 900);
			boot += (uint64_t)passed;
			wall += passed;
			if (random_below(8) == 0)
				wall += (int64_t)random_below(20000000) - 10000000;
		}
	}
}

TEST_MAIN("watcher/clocks")
{
	tcase_add_checked_fixture(t, begin, end);
}
