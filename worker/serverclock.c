/* serverclock.c - see serverclock.h. */
// SPDX-License-Identifier: Apache-2.0
#include "worker/serverclock.h"

#include "base/clock.h"

/* A Date is cut to the second; and headers take a moment to arrive. */
#define DATE_WIDTH_MS 1250

void serverclock_observe(struct serverclock *c, int64_t date_ms, int64_t wall_ms)
{
	int64_t off = date_ms - wall_ms;
	int64_t now = wall_ms + c->skew_ms;

	if (date_ms <= 0 || off > SERVERCLOCK_MAX_MS || off < -SERVERCLOCK_MAX_MS)
		return;
	if (now < date_ms || now > date_ms + DATE_WIDTH_MS)
		c->skew_ms = off;
}

int64_t serverclock_now(const struct serverclock *c)
{
	return clock_wall_ms() + c->skew_ms;
}
