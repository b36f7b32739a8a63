/* schedule.h - which run of a schedule is due.  Layer: process (reporter), digest.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_DIGEST_SCHEDULE_H
#define REPORTER_DIGEST_SCHEDULE_H

#include <stdint.h>

#include "config/cron.h"

/* Latest run after `last` and not after now; 0 when there is none. A last in the future (the clock was set
 * back) counts as now. All Unix ms. */
int64_t schedule_due(const struct cron *c, const struct zone *zone, int64_t last, int64_t now);
/* A time as an operator of that zone writes it: "2026-11-23 09:07:00 +08:00". */
#define SCHEDULE_TEXT_MAX 48
void schedule_format(int64_t at_ms, const struct zone *zone, char ret[static SCHEDULE_TEXT_MAX]);

#endif
