/* server_clock.h - what time a server has, from the Date headers of its answers.
 * Layer: base.  Pure.
 * The estimate is tied to boot time, so a step of the local wall clock does not move it. A Date is cut to
 * whole seconds and was true before it arrived: it proves "at least this late", and up to a second later is
 * possible. A local clock that lies in between is believed to the millisecond. One odd Date (a proxy's error
 * page) moves nothing; two in a row do. */
// SPDX-License-Identifier: Apache-2.0
#ifndef BASE_SERVER_CLOCK_H
#define BASE_SERVER_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct server_clock {
	int64_t offset; /* server time - boot time */
	int64_t pending;
	bool known, is_pending;
};

/* A Date header was read at boot time boot_ms. true when server time moved by more than a second: deadlines
 * have to be made again. */
bool server_clock_note(struct server_clock *s, int64_t date_ms, uint64_t boot_ms);
/* Server time now; the local wall time as long as no Date was seen, and never more than an hour after it: a
 * server from the future must not make everything due. */
int64_t server_clock_now(const struct server_clock *s, int64_t wall_ms, uint64_t boot_ms);
/* The latest that server time can be now. What begins now began then: it will never seem to have lasted
 * longer than it has. */
int64_t server_clock_latest(const struct server_clock *s, int64_t wall_ms, uint64_t boot_ms);

/* How far server time is ahead of the host's (negative: behind it), when that is more than what is believed;
 * else 0. A host that is ahead makes nothing due, but all that it wrote down seems older than it is. */
int64_t server_clock_excess(const struct server_clock *s, int64_t wall_ms, uint64_t boot_ms);

#endif
