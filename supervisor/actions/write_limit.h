/* write_limit.h - the supervisor's own, coarse limit of writes to one cluster: so many in a minute, so many
 * in an hour. The watcher's budgets are finer and lower; this one holds when the watcher or the history says
 * what is not true. Pure: no I/O, no clock. Process: supervisor. Times: Unix ms.
 * What is on disk is never less than what was counted: it is written ahead, so that not every write costs
 * one to the disk. What a restart finds there counts as used. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_ACTIONS_WRITE_LIMIT_H
#define SUPERVISOR_ACTIONS_WRITE_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#define WRITE_LIMIT_AHEAD 16u

struct write_limit {
	uint64_t per_minute, per_hour; /* 0 = none */
};

/* A span of time that began at `at`, and what was written in it. */
struct write_span {
	int64_t at;
	uint64_t used, kept; /* kept: on disk */
};

struct write_count {
	char cluster_name[64];
	struct write_span minute, hour;
};

/* So many more writes may be under way. UINT64_MAX: no limit. A clock that goes back keeps what is counted.
 */
uint64_t write_limit_left(struct write_count *c, const struct write_limit *l, int64_t now_ms);
/* One was done. True: `kept` has grown, and has to be on disk before the next one. */
bool write_limit_charge(struct write_count *c, const struct write_limit *l, int64_t now_ms);

#endif
