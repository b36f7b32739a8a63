/* fsm.h - what the supervisor does with one child: a state x event table, pure.
 * Process: supervisor.  No I/O, no clock: the caller asks for the transition and carries the action out.
 * The idea of a complete table is s6-supervise's; throttling by "died before it ever worked" is Postfix
 * master's. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_CHILDREN_FSM_H
#define SUPERVISOR_CHILDREN_FSM_H

#include <stdbool.h>
#include <stdint.h>

enum fsm_state {
	FSM_DOWN,     /* not wanted, or not yet */
	FSM_STARTING, /* running, not READY */
	FSM_READY,
	FSM_BACKOFF,  /* dead, a timer runs */
	FSM_DEGRADED, /* died too often; tried again at a slow pace, visible in status */
	FSM_DRAINING, /* asked to finish */
	FSM_STOPPED,  /* finished, stays down */
	FSM_RESTING,  /* not needed at present: started when there is work */
	FSM_LEAVING,  /* asked to finish, and to rest then */
	FSM_STATE__MAX
};

enum fsm_event {
	FSM_EV_START,        /* wanted */
	FSM_EV_READY,        /* READY arrived */
	FSM_EV_DEATH_EARLY,  /* died before READY: structural, wait */
	FSM_EV_DEATH_LATE,   /* died after READY, within the budget: at once */
	FSM_EV_DEATH_BUDGET, /* died, budget spent */
	FSM_EV_DEATH_CONFIG, /* exit 78: starting it again cannot help */
	FSM_EV_TIMER,        /* the backoff is over */
	FSM_EV_LATE,         /* no READY in time, or no heartbeat, or a bad message: it must go */
	FSM_EV_DRAIN,        /* finish */
	FSM_EV_REST,         /* not needed at present */
	FSM_EVENT__MAX
};

enum fsm_action {
	FSM_ACT_NONE,
	FSM_ACT_SPAWN,
	FSM_ACT_KILL,    /* SIGKILL; the death event follows */
	FSM_ACT_BACKOFF, /* arm the timer by the number of failures */
	FSM_ACT_SLOW,    /* arm the timer of a degraded role */
	FSM_ACT_DRAIN,   /* send DRAIN */
	FSM_ACT_GIVE_UP, /* end the whole service with EXIT_CODE_CONFIG */
	FSM_ACT_BUG,     /* this event cannot happen in this state */
};

struct fsm_step {
	enum fsm_state next;
	enum fsm_action action;
};

struct fsm_step fsm_next(enum fsm_state state, enum fsm_event event);
const char *fsm_state_name(enum fsm_state state);

/* Why a life ended, as far as the supervisor can tell. */
enum fsm_cause {
	FSM_CAUSE_OWN, /* it ended, it crashed, or we killed it */
	/* a SIGKILL that we did not send: an operator's, or the OOM killer's; or, with exit code 0, settings
	 * that only a new life can take: a folder of clusters may change thirty times a minute */
	FSM_CAUSE_OUTSIDE,
	FSM_CAUSE_CONFIG, /* exit code 78 */
};

/* How often one child died lately. What others end is not broken and has a wider budget of its own; as
 * nothing tells who killed it, a loop of the OOM killer has to be slowed down by it, too. */
#define FSM_DEATHS_MAX  10u    /* in */
#define FSM_OUTSIDE_MAX 30u    /* of FSM_CAUSE_OUTSIDE, in */
#define FSM_WINDOW_MS   60000u /* this time: the budget */
#define FSM_HEALTHY_MS  60000u /* a life this long makes old failures forgotten */
#define FSM_SLOW_MS     15000u /* pace of a degraded role */

struct fsm_record {
	uint64_t deaths_ms[FSM_DEATHS_MAX];   /* boot times of the latest deaths, a ring */
	uint64_t outside_ms[FSM_OUTSIDE_MAX]; /* the same of FSM_CAUSE_OUTSIDE */
	unsigned n_deaths, n_outside;         /* ever */
	unsigned failures; /* deaths in a row before READY, or since the last healthy life: for backoff */
};

/* Classify a death and record it. was_ready: READY had arrived, ready_ms when (boot ms). */
enum fsm_event fsm_death(struct fsm_record *r, bool was_ready, uint64_t ready_ms, enum fsm_cause cause,
			 uint64_t now_ms);

#endif
