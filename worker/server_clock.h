/* server_clock.h - the API server's clock, estimated from its Date headers: thresholds follow the clock that
 * wrote the timestamps.  Layer: worker. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_SERVER_CLOCK_H
#define WORKER_SERVER_CLOCK_H

#include <stdint.h>

/* A Date further away than this is a broken proxy, not a clock: it must not make everything due. */
#define SERVERCLOCK_MAX_MS 3600000

struct server_clock {
	int64_t skew_ms; /* server minus local */
};

/* A Date header (Unix ms, whole seconds, 0 = absent) arrived at local wall time `wall`. The estimate is moved
 * only when it contradicts the header, and then to the earliest time that agrees: never ahead of the server.
 */
void server_clock_observe(struct server_clock *c, int64_t date_ms, int64_t wall_ms);
/* The server's time now. */
int64_t server_clock_now(const struct server_clock *c);

#endif
