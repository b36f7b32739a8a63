/* controller_state.h - what controller.c (events in) and controller_run.c (verdicts out) share.  Layer:
 * watcher. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_CONTROLLER_CONTROLLER_STATE_H
#define WATCHER_CONTROLLER_CONTROLLER_STATE_H

#include "base/server_clock.h"
#include "watcher/guards/in_flight.h"
#include "watcher/controller/pod_counts.h"
#include "watcher/cache/deadline.h"
#include "watcher/guards/guards.h"
#include "watcher/guards/blocked.h"
#include "watcher/controller/controller.h"
#include "watcher/controller/queue.h"
#include "watcher/controller/failing_since.h"
#include "watcher/controller/scaledown_watch.h"

#define OPEN_MAX 1024u /* nominations open at once; more due pods wait, in order */

struct controller {
	uint64_t cluster;
	const struct policy *policy;
	controller_send_fn *send;
	void *ctx;
	struct store *store;
	struct queue *keys, *groups, *waiting; /* pods; groups whose tally changed; due pods above OPEN_MAX */
	struct deadlines deadlines;            /* boot ms, by handle */
	struct server_clock skew;
	struct failing_since *since;
	struct sync_state *sync;
	struct in_flight *in_flight;
	struct guards *guards;
	struct blocked *blocked;
	struct pod_counts *census;
	struct scaledown_watch *stay;
	uint16_t *refused; /* by handle: duty and reason last told as REFUSAL, 0 = none */
	uint32_t cap_refused;
	uint64_t blocked_until, housekeeping_at;
	uint64_t run_ended;             /* boot ms */
	uint32_t unread;                /* events since the last run, or since one was put off */
	uint64_t breaker_at, budget_at; /* looked at last; budgets to be looked at, 0 = not */
	bool enrolled;                  /* every pod that fails is known to clocks and breaker */
	uint64_t nominated, dropped, judged;
	int64_t last_byte;
	struct pod_facts facts, gone; /* large: not on the stack */
};

/* What a pod counts as in its group, by the policy in force. */
uint8_t controller_mark(const struct controller *c, const struct pod_facts *p);
/* Whose clock it is: the controller's, or the pod's own without one. */
struct str controller_clock_owner(const struct pod_facts *p);
/* false when a pod of h's revision has pulled: then nothing is failing "since". */
bool controller_clock_may_run(const struct controller *c, uint32_t h);

/* Take pod h, whose facts are p, into what is known beyond the pod: marks, clocks, breaker. */
void controller_enrol(struct controller *c, uint32_t h, const struct pod_facts *p, struct pod_context *ret);
/* Tick of what the guards know: breaker, budgets that were given back, memory. */
void controller_tick_guards(struct controller *c, uint64_t now, bool asked);

#endif
