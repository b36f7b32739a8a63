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
			const int alive = s == FSM_STARTING || s == FSM_READY || s == FSM_DRAINING;

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

TEST(death_before_ready_waits)
{
	struct fsm_record r = { 0 };

	ck_assert_int_eq(fsm_death(&r, false, 0, false, 1000), FSM_EV_DEATH_EARLY);
	ck_assert_int_eq(fsm_next(FSM_STARTING, FSM_EV_DEATH_EARLY).action, FSM_ACT_BACKOFF);
	ck_assert_uint_eq(r.failures, 1);
	(void)fsm_death(&r, false, 0, false, 2000);
	ck_assert_uint_eq(r.failures, 2);
}

TEST(death_after_ready_restarts_at_once)
{
	struct fsm_record r = { 0 };

	ck_assert_int_eq(fsm_death(&r, true, 500, false, 1000), FSM_EV_DEATH_LATE);
	ck_assert_int_eq(fsm_next(FSM_READY, FSM_EV_DEATH_LATE).action, FSM_ACT_SPAWN);
}

TEST(budget_spent_degrades_not_one_earlier)
{
	struct fsm_record r = { 0 };

	for (unsigned i = 1; i < FSM_DEATHS_MAX; i++)
		ck_assert_int_eq(fsm_death(&r, true, 0, false, 1000 + i), FSM_EV_DEATH_LATE);
	ck_assert_int_eq(fsm_death(&r, true, 0, false, 2000), FSM_EV_DEATH_BUDGET);
	ck_assert_int_eq(fsm_next(FSM_READY, FSM_EV_DEATH_BUDGET).next, FSM_DEGRADED);
}

TEST(slow_deaths_never_spend_the_budget)
{
	struct fsm_record r = { 0 };

	for (uint64_t i = 0; i < 1000; i++)
		ck_assert_int_eq(
			fsm_death(&r, true, 0, false, i * (FSM_WINDOW_MS / (FSM_DEATHS_MAX - 1) + 1)),
			FSM_EV_DEATH_LATE);
}

TEST(healthy_life_forgets)
{
	struct fsm_record r = { 0 };

	(void)fsm_death(&r, false, 0, false, 1000);
	(void)fsm_death(&r, false, 0, false, 2000);
	(void)fsm_death(&r, true, 3000, false, 3000 + FSM_HEALTHY_MS);
	ck_assert_uint_eq(r.failures, 1);
	(void)fsm_death(&r, true, 100000, false, 100000 + FSM_HEALTHY_MS - 1);
	ck_assert_uint_eq(r.failures, 2);
}

TEST(config_death_gives_up)
{
	struct fsm_record r = { 0 };

	ck_assert_int_eq(fsm_death(&r, false, 0, true, 1), FSM_EV_DEATH_CONFIG);
	ck_assert_int_eq(fsm_next(FSM_STARTING, FSM_EV_DEATH_CONFIG).action, FSM_ACT_GIVE_UP);
	ck_assert_int_eq(fsm_next(FSM_READY, FSM_EV_DEATH_CONFIG).action, FSM_ACT_GIVE_UP);
}

SUITE("supervisor/fsm");
