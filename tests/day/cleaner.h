/* cleaner.h - two cleaners for the same day: ours, by the code that runs in production as far as it needs no
 * network, and the original program's rules.  Layer: tests. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_DAY_CLEANER_H
#define TEST_DAY_CLEANER_H

#include "model/policy.h"
#include "ipc/msg.h"
#include "rules/judge.h"
#include "tests/day/world.h"

#define CRASH_COUNTS 5

/* Thresholds of both. */
struct thresholds {
	int64_t pull_ms, terminating_ms, finished_ms, crash_loop_ms;
};

struct cleaner {
	const struct thresholds *thresholds;
	struct world *world;
	struct story *story;
	/* Why nothing was done, by situation and reason (refusals and holds, each pod or workload once). */
	unsigned refused[SIT__MAX][REASON__MAX];
	struct msg breaker[8]; /* SAVED, each time the breaker opened or closed */
	int64_t breaker_at[8];
	size_t n_breaker;
	int64_t early; /* acts before their time by the server's clock */
};

/* ours.c: the watcher's cache, clocks, queue, rules and guards; then the same rules on what is true
 * (STAGE_LIVE), as a worker does after its reads. What the reporter would remember is kept over restarts. */
struct ours;
struct ours *ours_new(struct cleaner *c);
void ours_free(struct ours **o);
void ours_event(struct ours *o, uint32_t pod, bool deleted);
void ours_restart(struct ours *o);
void ours_step(struct ours *o);

/* original.c: acts on events alone; threshold of a failed pull from the pod's creation, of a stuck pod from
 * deletionTimestamp, by the local clock; one pod condemns its workload; no cause, no second look. */
void original_event(struct cleaner *c, uint32_t pod);
void original_step(struct cleaner *c);
void original_restart(struct cleaner *c);

#endif
