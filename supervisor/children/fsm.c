/* fsm.c - see fsm.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/children/fsm.h"

/* What changes something. An event that a state does not have here is passed over, or, when only a process
 * brings it about, a bug. Nothing leads back to FSM_DOWN. */
static const struct fsm_step table[FSM_STATE__MAX][FSM_EVENT__MAX] = {
	[FSM_DOWN] = {
		[FSM_EV_START] = { FSM_STARTING, FSM_ACT_SPAWN },
		[FSM_EV_DRAIN] = { FSM_STOPPED, FSM_ACT_NONE },
		[FSM_EV_REST] = { FSM_RESTING, FSM_ACT_NONE },
	},
	[FSM_STARTING] = {
		[FSM_EV_READY] = { FSM_READY, FSM_ACT_NONE },
		[FSM_EV_DEATH_EARLY] = { FSM_BACKOFF, FSM_ACT_BACKOFF },
		[FSM_EV_DEATH_BUDGET] = { FSM_DEGRADED, FSM_ACT_SLOW },
		[FSM_EV_DEATH_CONFIG] = { FSM_STOPPED, FSM_ACT_GIVE_UP },
		[FSM_EV_LATE] = { FSM_STARTING, FSM_ACT_KILL },
		[FSM_EV_DRAIN] = { FSM_DRAINING, FSM_ACT_KILL },
	},
	[FSM_READY] = {
		[FSM_EV_DEATH_LATE] = { FSM_STARTING, FSM_ACT_SPAWN },
		[FSM_EV_DEATH_BUDGET] = { FSM_DEGRADED, FSM_ACT_SLOW },
		[FSM_EV_DEATH_CONFIG] = { FSM_STOPPED, FSM_ACT_GIVE_UP },
		[FSM_EV_LATE] = { FSM_READY, FSM_ACT_KILL },
		[FSM_EV_DRAIN] = { FSM_DRAINING, FSM_ACT_DRAIN },
		[FSM_EV_REST] = { FSM_LEAVING, FSM_ACT_DRAIN },
	},
	[FSM_BACKOFF] = {
		[FSM_EV_TIMER] = { FSM_STARTING, FSM_ACT_SPAWN },
		[FSM_EV_DRAIN] = { FSM_STOPPED, FSM_ACT_NONE },
	},
	[FSM_DEGRADED] = {
		[FSM_EV_TIMER] = { FSM_STARTING, FSM_ACT_SPAWN },
		[FSM_EV_DRAIN] = { FSM_STOPPED, FSM_ACT_NONE },
	},
	[FSM_DRAINING] = {
		[FSM_EV_READY] = { FSM_DRAINING, FSM_ACT_NONE },
		[FSM_EV_DEATH_EARLY ... FSM_EV_DEATH_CONFIG] = { FSM_STOPPED, FSM_ACT_NONE },
		[FSM_EV_LATE] = { FSM_DRAINING, FSM_ACT_KILL },
	},
	[FSM_STOPPED] = {
		[FSM_EV_START] = { FSM_STARTING, FSM_ACT_SPAWN },
		[FSM_EV_REST] = { FSM_RESTING, FSM_ACT_NONE },
	},
	[FSM_RESTING] = {
		[FSM_EV_START] = { FSM_STARTING, FSM_ACT_SPAWN },
		[FSM_EV_DRAIN] = { FSM_STOPPED, FSM_ACT_NONE },
	},
	[FSM_LEAVING] = {
		[FSM_EV_DEATH_EARLY ... FSM_EV_DEATH_CONFIG] = { FSM_RESTING, FSM_ACT_NONE },
		[FSM_EV_LATE] = { FSM_LEAVING, FSM_ACT_KILL },
		[FSM_EV_DRAIN] = { FSM_DRAINING, FSM_ACT_NONE },
	},
};

struct fsm_step fsm_next(enum fsm_state state, enum fsm_event event)
{
	const bool of_process = event >= FSM_EV_READY && event <= FSM_EV_DEATH_CONFIG;

	if (table[state][event].next != FSM_DOWN)
		return table[state][event];
	return (struct fsm_step){ state, of_process ? FSM_ACT_BUG : FSM_ACT_NONE };
}

const char *fsm_state_name(enum fsm_state state)
{
	static const char *const names[FSM_STATE__MAX] = {
		[FSM_DOWN] = "down",       [FSM_STARTING] = "starting", [FSM_READY] = "ready",
		[FSM_BACKOFF] = "backoff", [FSM_DEGRADED] = "degraded", [FSM_DRAINING] = "draining",
		[FSM_STOPPED] = "stopped", [FSM_RESTING] = "resting",   [FSM_LEAVING] = "leaving",
	};

	return (unsigned)state < FSM_STATE__MAX ? names[state] : "?";
}

/* Record now_ms in a ring of max times, of which n were recorded before: was that the last of a budget? */
static bool record(uint64_t *ring, unsigned max, unsigned *n, uint64_t now_ms)
{
	ring[(*n)++ % max] = now_ms;
	/* The place that the next one takes holds the oldest of the last max. */
	return *n >= max && now_ms - ring[*n % max] < FSM_WINDOW_MS;
}

enum fsm_event fsm_death(struct fsm_record *r, bool was_ready, uint64_t ready_ms, enum fsm_cause cause,
			 uint64_t now_ms)
{
	const bool healthy = was_ready && now_ms - ready_ms >= FSM_HEALTHY_MS;
	bool spent;

	if (cause == FSM_CAUSE_OUTSIDE) {
		spent = record(r->outside_ms, FSM_OUTSIDE_MAX, &r->n_outside, now_ms);
	} else {
		r->failures = healthy ? 1 : r->failures + 1;
		spent = record(r->deaths_ms, FSM_DEATHS_MAX, &r->n_deaths, now_ms);
	}
	if (cause == FSM_CAUSE_CONFIG)
		return FSM_EV_DEATH_CONFIG;
	if (spent)
		return FSM_EV_DEATH_BUDGET;
	return was_ready ? FSM_EV_DEATH_LATE : FSM_EV_DEATH_EARLY;
}
