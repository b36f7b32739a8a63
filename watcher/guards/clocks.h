/* clocks.h - the three clocks, read once.  Layer: watcher.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_GUARDS_CLOCKS_H
#define WATCHER_GUARDS_CLOCKS_H

#include <stdint.h>

struct clock_snapshot {
	int64_t boot;   /* never steps */
	int64_t wall;   /* of this host */
	int64_t server; /* of the API server, at the earliest */
	int64_t latest; /* of the API server, at the latest */
};

/* Boot time of `at`, a time of the clock that shows same_clock now; 0 stays 0. */
static inline int64_t clocks_boot(const struct clock_snapshot *now, int64_t at, int64_t same_clock)
{
	return at ? now->boot + (at - same_clock) : 0;
}

/* By the clock that is behind: what was written down is not older than it seems. */
static inline int64_t clocks_behind(const struct clock_snapshot *now)
{
	return now->wall < now->server ? now->wall : now->server;
}

/* Boot time of a wall time that was saved before. Where this host's clock was set forward since, the server's
 * tells how old it is. One of the future is a clock that was set back: it counts as now. */
static inline int64_t clocks_boot_of_saved(const struct clock_snapshot *now, int64_t wall)
{
	const int64_t age = clocks_behind(now) - wall;

	return age > 0 ? now->boot - age : now->boot;
}

#endif
