/* clock_skew.h - what time the API server has, from the Date headers of its answers.
 * Layer: watcher.  Pure.
 * The estimate is tied to boot time, so a step of the local wall clock does not move it. A Date is cut to
 * whole seconds and was true before it arrived: it proves "at least this late", and up to a second later is
 * possible. A local clock that lies in between is believed to the millisecond. One odd Date (a proxy's error
 * page) moves nothing; two in a row do. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_GUARDS_CLOCK_SKEW_H
#define WATCHER_GUARDS_CLOCK_SKEW_H

#include <stdbool.h>
#include <stdint.h>

struct clock_skew {
	int64_t offset; /* server time - boot time */
	int64_t pending;
	bool known, is_pending;
};

/* A Date header was read at boot time boot_ms. true when server time moved by more than a second: deadlines
 * have to be made again. */
bool clock_skew_note(struct clock_skew *s, int64_t date_ms, uint64_t boot_ms);
/* Server time now; the local wall time as long as no Date was seen, and never more than an hour after it: a
 * server from the future must not make everything due. */
int64_t clock_skew_now(const struct clock_skew *s, int64_t wall_ms, uint64_t boot_ms);
/* The latest that server time can be now. What begins now began then: it will never seem to have lasted
 * longer than it has. */
int64_t clock_skew_latest(const struct clock_skew *s, int64_t wall_ms, uint64_t boot_ms);

/* How far server time is ahead of the host's, when that is more than what is believed; else 0. */
int64_t clock_skew_excess(const struct clock_skew *s, int64_t wall_ms, uint64_t boot_ms);

#endif
