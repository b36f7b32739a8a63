/* server_clock.c - see server_clock.h. */
// SPDX-License-Identifier: Apache-2.0
#include "worker/server_clock.h"

#include "base/clock.h"

/* A Date is cut to the second; and headers take a moment to arrive. */
#define DATE_WIDTH_MS 1250

void server_clock_observe(struct server_clock *c, int64_t date_ms, int64_t wall_ms)
{
	int64_t off = date_ms - wall_ms;
	int64_t now = wall_ms + c->skew_ms;

	if (date_ms <= 0 || off > SERVERCLOCK_MAX_MS || off < -SERVERCLOCK_MAX_MS)
		return;
	if (now < date_ms || now > date_ms + DATE_WIDTH_MS)
		c->skew_ms = off;
}

int64_t server_clock_now(const struct server_clock *c)
{
	return clock_wall_ms() + c->skew_ms;
}
