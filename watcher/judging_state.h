/* judging_state.h - what judging.c (events in) and judging_turn.c (verdicts out) share.  Layer: watcher. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_JUDGING_STATE_H
#define WATCHER_JUDGING_STATE_H

#include "watcher/book.h"
#include "watcher/census.h"
#include "watcher/deadline.h"
#include "watcher/guards.h"
#include "watcher/held.h"
#include "watcher/judging.h"
#include "watcher/queue.h"
#include "watcher/since.h"
#include "watcher/skew.h"
#include "watcher/stay.h"

#define OPEN_MAX 1024u /* nominations open at once; more due pods wait, in order */

struct judging {
	uint64_t cluster;
	const struct policy *policy;
	judging_send_fn *send;
	void *ctx;
	struct store *store;
	struct queue *keys, *groups, *waiting; /* pods; groups whose tally changed; due pods above OPEN_MAX */
	struct deadlines deadlines;            /* boot ms, by handle */
	struct skew skew;
	struct since *since;
	struct gate *gate;
	struct book *book;
	struct guards *guards;
	struct held *held;
	struct census *census;
	struct stay *stay;
	uint16_t *refused; /* by handle: duty and reason last told as REFUSAL, 0 = none */
	uint32_t cap_refused;
	uint64_t blocked_until, housekeeping_at;
	uint64_t turn_ended;            /* boot ms */
	uint32_t unread;                /* events since the last turn, or since one was put off */
	uint64_t breaker_at, budget_at; /* looked at last; budgets to be looked at, 0 = not */
	bool enrolled;                  /* every pod that fails is known to clocks and breaker */
	uint64_t nominated, dropped, judged;
	int64_t last_byte;
	struct pod_facts facts, gone; /* large: not on the stack */
};

/* What a pod counts as in its group, by the policy in force. */
uint8_t judging_mark(const struct judging *j, const struct pod_facts *p);
/* Whose clock it is: the controller's, or the pod's own without one. */
struct str judging_clock_owner(const struct pod_facts *p);
/* false when a pod of h's revision has pulled: then nothing is failing "since". */
bool judging_clock_may_run(const struct judging *j, uint32_t h);

/* Take pod h, whose facts are p, into what is known beyond the pod: marks, clocks, breaker. */
void judging_enrol(struct judging *j, uint32_t h, const struct pod_facts *p, struct surroundings *ret);
/* Tick of what the guards know: breaker, budgets that were given back, memory. */
void judging_tick_guards(struct judging *j, uint64_t now, bool asked);

#endif
