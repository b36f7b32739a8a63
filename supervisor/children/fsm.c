/* fsm.c - see fsm.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/children/fsm.h"

#define DEATHS(state, act)                                                                                   \
	[FSM_EV_DEATH_EARLY] = { state, act }, [FSM_EV_DEATH_LATE] = { state, act },                         \
	[FSM_EV_DEATH_BUDGET] = { state, act }, [FSM_EV_DEATH_CONFIG] = { state, act }

static const struct fsm_step table[FSM_STATE__MAX][FSM_EVENT__MAX] = {
	[FSM_DOWN] = {
		[FSM_EV_START] = { FSM_STARTING, FSM_ACT_SPAWN },
		[FSM_EV_READY] = { FSM_DOWN, FSM_ACT_BUG },
		DEATHS(FSM_DOWN, FSM_ACT_BUG),
		[FSM_EV_TIMER] = { FSM_DOWN, FSM_ACT_NONE },
		[FSM_EV_LATE] = { FSM_DOWN, FSM_ACT_NONE },
		[FSM_EV_DRAIN] = { FSM_STOPPED, FSM_ACT_NONE },
	},
	[FSM_STARTING] = {
		[FSM_EV_START] = { FSM_STARTING, FSM_ACT_NONE },
		[FSM_EV_READY] = { FSM_READY, FSM_ACT_NONE },
		[FSM_EV_DEATH_EARLY] = { FSM_BACKOFF, FSM_ACT_BACKOFF },
		[FSM_EV_DEATH_LATE] = { FSM_STARTING, FSM_ACT_BUG },
		[FSM_EV_DEATH_BUDGET] = { FSM_DEGRADED, FSM_ACT_SLOW },
		[FSM_EV_DEATH_CONFIG] = { FSM_STOPPED, FSM_ACT_GIVE_UP },
		[FSM_EV_TIMER] = { FSM_STARTING, FSM_ACT_NONE },
		[FSM_EV_LATE] = { FSM_STARTING, FSM_ACT_KILL },
		[FSM_EV_DRAIN] = { FSM_DRAINING, FSM_ACT_KILL },
	},
	[FSM_READY] = {
		[FSM_EV_START] = { FSM_READY, FSM_ACT_NONE },
		[FSM_EV_READY] = { FSM_READY, FSM_ACT_BUG },
		[FSM_EV_DEATH_EARLY] = { FSM_READY, FSM_ACT_BUG },
		[FSM_EV_DEATH_LATE] = { FSM_STARTING, FSM_ACT_SPAWN },
		[FSM_EV_DEATH_BUDGET] = { FSM_DEGRADED, FSM_ACT_SLOW },
		[FSM_EV_DEATH_CONFIG] = { FSM_STOPPED, FSM_ACT_GIVE_UP },
		[FSM_EV_TIMER] = { FSM_READY, FSM_ACT_NONE },
		[FSM_EV_LATE] = { FSM_READY, FSM_ACT_KILL },
		[FSM_EV_DRAIN] = { FSM_DRAINING, FSM_ACT_DRAIN },
	},
	[FSM_BACKOFF] = {
		[FSM_EV_START] = { FSM_BACKOFF, FSM_ACT_NONE },
		[FSM_EV_READY] = { FSM_BACKOFF, FSM_ACT_BUG },
		DEATHS(FSM_BACKOFF, FSM_ACT_BUG),
		[FSM_EV_TIMER] = { FSM_STARTING, FSM_ACT_SPAWN },
		[FSM_EV_LATE] = { FSM_BACKOFF, FSM_ACT_NONE },
		[FSM_EV_DRAIN] = { FSM_STOPPED, FSM_ACT_NONE },
	},
	[FSM_DEGRADED] = {
		[FSM_EV_START] = { FSM_DEGRADED, FSM_ACT_NONE },
		[FSM_EV_READY] = { FSM_DEGRADED, FSM_ACT_BUG },
		DEATHS(FSM_DEGRADED, FSM_ACT_BUG),
		[FSM_EV_TIMER] = { FSM_STARTING, FSM_ACT_SPAWN },
		[FSM_EV_LATE] = { FSM_DEGRADED, FSM_ACT_NONE },
		[FSM_EV_DRAIN] = { FSM_STOPPED, FSM_ACT_NONE },
	},
	[FSM_DRAINING] = {
		[FSM_EV_START] = { FSM_DRAINING, FSM_ACT_NONE },
		[FSM_EV_READY] = { FSM_DRAINING, FSM_ACT_NONE },
		DEATHS(FSM_STOPPED, FSM_ACT_NONE),
		[FSM_EV_TIMER] = { FSM_DRAINING, FSM_ACT_NONE },
		[FSM_EV_LATE] = { FSM_DRAINING, FSM_ACT_KILL },
		[FSM_EV_DRAIN] = { FSM_DRAINING, FSM_ACT_NONE },
	},
	[FSM_STOPPED] = {
		[FSM_EV_START] = { FSM_STARTING, FSM_ACT_SPAWN },
		[FSM_EV_READY] = { FSM_STOPPED, FSM_ACT_BUG },
		DEATHS(FSM_STOPPED, FSM_ACT_BUG),
		[FSM_EV_TIMER] = { FSM_STOPPED, FSM_ACT_NONE },
		[FSM_EV_LATE] = { FSM_STOPPED, FSM_ACT_NONE },
		[FSM_EV_DRAIN] = { FSM_STOPPED, FSM_ACT_NONE },
	},
};

struct fsm_step fsm_next(enum fsm_state state, enum fsm_event event)
{
	return table[state][event];
}

const char *fsm_state_name(enum fsm_state state)
{
	static const char *const names[FSM_STATE__MAX] = {
		[FSM_DOWN] = "down",       [FSM_STARTING] = "starting", [FSM_READY] = "ready",
		[FSM_BACKOFF] = "backoff", [FSM_DEGRADED] = "degraded", [FSM_DRAINING] = "draining",
		[FSM_STOPPED] = "stopped",
	};

	return (unsigned)state < FSM_STATE__MAX ? names[state] : "?";
}

static bool budget_spent(const struct fsm_record *r, uint64_t now_ms)
{
	if (r->n_deaths < FSM_DEATHS_MAX)
		return false;
	/* The place that the next death takes holds the oldest of the last FSM_DEATHS_MAX. */
	return now_ms - r->deaths_ms[r->n_deaths % FSM_DEATHS_MAX] < FSM_WINDOW_MS;
}

enum fsm_event fsm_death(struct fsm_record *r, bool was_ready, uint64_t ready_ms, bool config,
			 uint64_t now_ms)
{
	const bool healthy = was_ready && now_ms - ready_ms >= FSM_HEALTHY_MS;

	r->failures = healthy ? 1 : r->failures + 1;
	r->deaths_ms[r->n_deaths % FSM_DEATHS_MAX] = now_ms;
	r->n_deaths++;
	if (config)
		return FSM_EV_DEATH_CONFIG;
	if (budget_spent(r, now_ms))
		return FSM_EV_DEATH_BUDGET;
	return was_ready ? FSM_EV_DEATH_LATE : FSM_EV_DEATH_EARLY;
}
