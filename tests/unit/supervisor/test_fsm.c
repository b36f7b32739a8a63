/* test_fsm.c - supervision without a single fork. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>

#include "supervisor/children/fsm.h"
#include "tests/suite.h"

/* Every pair leads to a state that exists; an action that needs a process appears only where there is one. */
TEST(table_is_complete)
{
	for (int s = 0; s < FSM_STATE__MAX; s++) {
		for (int e = 0; e < FSM_EVENT__MAX; e++) {
			const struct fsm_step step = fsm_next((enum fsm_state)s, (enum fsm_event)e);
			const int alive =
				s == FSM_STARTING || s == FSM_READY || s == FSM_DRAINING || s == FSM_LEAVING;

			ck_assert_int_lt(step.next, FSM_STATE__MAX);
			if (step.action == FSM_ACT_KILL || step.action == FSM_ACT_DRAIN)
				ck_assert_msg(alive, "%d/%d", s, e);
			if (step.action == FSM_ACT_SPAWN)
				ck_assert_int_eq(step.next, FSM_STARTING);
			if (step.next == FSM_BACKOFF && s != FSM_BACKOFF)
				ck_assert_int_eq(step.action, FSM_ACT_BACKOFF);
			if (step.next == FSM_DEGRADED && s != FSM_DEGRADED)
				ck_assert_int_eq(step.action, FSM_ACT_SLOW);
		}
	}
}

/* Whatever happens before, DRAIN leads down, and nothing but START leads up again. */
TEST(drain_ends_every_state)
{
	for (int s = 0; s < FSM_STATE__MAX; s++) {
		struct fsm_step step = fsm_next((enum fsm_state)s, FSM_EV_DRAIN);

		ck_assert(step.next == FSM_DRAINING || step.next == FSM_STOPPED);
		step = fsm_next(FSM_DRAINING, FSM_EV_DEATH_LATE);
		ck_assert_int_eq(step.next, FSM_STOPPED);
		ck_assert_int_eq(fsm_next(FSM_STOPPED, FSM_EV_TIMER).next, FSM_STOPPED);
	}
}

/* Whom nobody needs rests, and comes back; no death of one who was asked to go starts it again. */
TEST(rest_until_there_is_work)
{
	ck_assert_int_eq(fsm_next(FSM_DOWN, FSM_EV_REST).next, FSM_RESTING);
	ck_assert_int_eq(fsm_next(FSM_RESTING, FSM_EV_START).action, FSM_ACT_SPAWN);
	ck_assert_int_eq(fsm_next(FSM_READY, FSM_EV_REST).next, FSM_LEAVING);
	ck_assert_int_eq(fsm_next(FSM_READY, FSM_EV_REST).action, FSM_ACT_DRAIN);
	for (int e = FSM_EV_DEATH_EARLY; e <= FSM_EV_DEATH_CONFIG; e++) {
		ck_assert_int_eq(fsm_next(FSM_LEAVING, (enum fsm_event)e).next, FSM_RESTING);
		ck_assert_int_eq(fsm_next(FSM_LEAVING, (enum fsm_event)e).action, FSM_ACT_NONE);
	}
	/* A death before it was ready is followed by another try, as ever. */
	ck_assert_int_eq(fsm_next(FSM_STARTING, FSM_EV_REST).next, FSM_STARTING);
}

TEST(death_before_ready_waits)
{
	struct fsm_record r = { 0 };

	ck_assert_int_eq(fsm_death(&r, false, 0, FSM_CAUSE_OWN, 1000), FSM_EV_DEATH_EARLY);
	ck_assert_int_eq(fsm_next(FSM_STARTING, FSM_EV_DEATH_EARLY).action, FSM_ACT_BACKOFF);
	ck_assert_uint_eq(r.failures, 1);
	(void)fsm_death(&r, false, 0, FSM_CAUSE_OWN, 2000);
	ck_assert_uint_eq(r.failures, 2);
}

TEST(death_after_ready_restarts_at_once)
{
	struct fsm_record r = { 0 };

	ck_assert_int_eq(fsm_death(&r, true, 500, FSM_CAUSE_OWN, 1000), FSM_EV_DEATH_LATE);
	ck_assert_int_eq(fsm_next(FSM_READY, FSM_EV_DEATH_LATE).action, FSM_ACT_SPAWN);
}

TEST(budget_spent_degrades_not_one_earlier)
{
	struct fsm_record r = { 0 };

	for (unsigned i = 1; i < FSM_DEATHS_MAX; i++)
		ck_assert_int_eq(fsm_death(&r, true, 0, FSM_CAUSE_OWN, 1000 + i), FSM_EV_DEATH_LATE);
	ck_assert_int_eq(fsm_death(&r, true, 0, FSM_CAUSE_OWN, 2000), FSM_EV_DEATH_BUDGET);
	ck_assert_int_eq(fsm_next(FSM_READY, FSM_EV_DEATH_BUDGET).next, FSM_DEGRADED);
}

TEST(slow_deaths_never_spend_the_budget)
{
	struct fsm_record r = { 0 };

	for (uint64_t i = 0; i < 1000; i++)
		ck_assert_int_eq(
			fsm_death(&r, true, 0, FSM_CAUSE_OWN, i * (FSM_WINDOW_MS / (FSM_DEATHS_MAX - 1) + 1)),
			FSM_EV_DEATH_LATE);
}

TEST(healthy_life_forgets)
{
	struct fsm_record r = { 0 };

	(void)fsm_death(&r, false, 0, FSM_CAUSE_OWN, 1000);
	(void)fsm_death(&r, false, 0, FSM_CAUSE_OWN, 2000);
	(void)fsm_death(&r, true, 3000, FSM_CAUSE_OWN, 3000 + FSM_HEALTHY_MS);
	ck_assert_uint_eq(r.failures, 1);
	(void)fsm_death(&r, true, 100000, FSM_CAUSE_OWN, 100000 + FSM_HEALTHY_MS - 1);
	ck_assert_uint_eq(r.failures, 2);
}

/* What others kill is started again at once, three times as often as what dies of itself. */
TEST(ten_kills_a_minute_degrade_nothing)
{
	struct fsm_record r = { 0 };

	for (uint64_t i = 0; i < 600; i++)
		ck_assert_int_eq(fsm_death(&r, true, 6000 * i, FSM_CAUSE_OUTSIDE, 6000 * (i + 1)),
				 FSM_EV_DEATH_LATE);
	ck_assert_uint_eq(r.failures, 0);
	ck_assert_uint_eq(r.n_outside, 600);
}

TEST(kills_in_a_loop_degrade_as_an_oom_killer_would)
{
	struct fsm_record r = { 0 };

	for (unsigned i = 1; i < FSM_OUTSIDE_MAX; i++)
		ck_assert_int_eq(fsm_death(&r, true, 0, FSM_CAUSE_OUTSIDE, 1000 + i), FSM_EV_DEATH_LATE);
	ck_assert_int_eq(fsm_death(&r, true, 0, FSM_CAUSE_OUTSIDE, 2000), FSM_EV_DEATH_BUDGET);
	/* It goes on, one at a slow pace, until the window is over. */
	ck_assert_int_eq(fsm_death(&r, true, 0, FSM_CAUSE_OUTSIDE, 2000 + FSM_SLOW_MS), FSM_EV_DEATH_BUDGET);
	ck_assert_int_eq(fsm_death(&r, true, 0, FSM_CAUSE_OUTSIDE, 3000 + FSM_WINDOW_MS), FSM_EV_DEATH_LATE);
}

/* Neither budget eats of the other: nine crashes and twenty-nine kills, and the tenth crash is the last. */
TEST(crashes_and_kills_are_counted_apart)
{
	struct fsm_record r = { 0 };

	for (unsigned i = 1; i < FSM_OUTSIDE_MAX; i++)
		ck_assert_int_eq(fsm_death(&r, true, 0, FSM_CAUSE_OUTSIDE, 1000 + i), FSM_EV_DEATH_LATE);
	for (unsigned i = 1; i < FSM_DEATHS_MAX; i++)
		ck_assert_int_eq(fsm_death(&r, true, 0, FSM_CAUSE_OWN, 1100 + i), FSM_EV_DEATH_LATE);
	ck_assert_int_eq(fsm_death(&r, true, 0, FSM_CAUSE_OWN, 1200), FSM_EV_DEATH_BUDGET);
}

TEST(a_kill_before_ready_waits_but_is_no_failure)
{
	struct fsm_record r = { 0 };

	for (unsigned i = 0; i < 5; i++)
		ck_assert_int_eq(fsm_death(&r, false, 0, FSM_CAUSE_OUTSIDE, 1000 + i), FSM_EV_DEATH_EARLY);
	ck_assert_uint_eq(r.failures, 0);
}

TEST(config_death_gives_up)
{
	struct fsm_record r = { 0 };

	ck_assert_int_eq(fsm_death(&r, false, 0, FSM_CAUSE_CONFIG, 1), FSM_EV_DEATH_CONFIG);
	ck_assert_int_eq(fsm_next(FSM_STARTING, FSM_EV_DEATH_CONFIG).action, FSM_ACT_GIVE_UP);
	ck_assert_int_eq(fsm_next(FSM_READY, FSM_EV_DEATH_CONFIG).action, FSM_ACT_GIVE_UP);
}

SUITE("supervisor/fsm");
