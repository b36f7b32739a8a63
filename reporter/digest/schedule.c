/* schedule.c - see schedule.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/digest/schedule.h"

#include <stddef.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/rfc3339.h"
#include "config/zone.h"

#define MINUTE_MS INT64_C(60000)
#define STEPS_MAX 5000

/* Walk on from the run at `at`, at most STEPS_MAX runs; *ret_all says whether the last one was reached. */
static int64_t walk(const struct cron *c, const struct zone *zone, int64_t at, int64_t now, int *ret_all)
{
	*ret_all = 1;
	for (int i = 0; i < STEPS_MAX; i++) {
		const int64_t next = cron_next(c, zone, at);

		if (next == 0 || next > now)
			return at;
		at = next;
	}
	*ret_all = 0;
	return at;
}

int64_t schedule_due(const struct cron *c, const struct zone *zone, int64_t last, int64_t now)
{
	/* After a long absence of a frequent schedule: look back in windows, the shortest first. */
	static const int64_t windows[] = { MINUTE_MS, 60 * MINUTE_MS, 1440 * MINUTE_MS,
					   32 * 1440 * MINUTE_MS };
	int64_t at = cron_next(c, zone, last > now ? now : last);
	int all = 0;

	if (at == 0 || at > now)
		return 0;
	at = walk(c, zone, at, now, &all);
	for (size_t i = 0; !all && i < ARRAY_SIZE(windows); i++) {
		const int64_t near = cron_next(c, zone, now - windows[i]);

		if (near > at && near <= now)
			at = walk(c, zone, near, now, &all);
	}
	return at;
}

void schedule_format(int64_t at_ms, const struct zone *zone, char ret[static SCHEDULE_TEXT_MAX])
{
	int64_t until = 0;
	const int32_t offset = zone_offset(zone, at_ms / 1000, &until);
	const int32_t minutes = (offset < 0 ? -offset : offset) / 60;
	char local[RFC3339_MAX];

	rfc3339_format(at_ms + (int64_t)offset * 1000, false, local);
	(void)snprintf(ret, SCHEDULE_TEXT_MAX, "%.10s %.8s %c%02d:%02d", local, local + 11,
		       offset < 0 ? '-' : '+', (int)(minutes / 60 % 100), (int)(minutes % 60));
}
