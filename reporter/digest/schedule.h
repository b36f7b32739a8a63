/* schedule.h - which slot of a schedule is due. Pure.  Layer: process (reporter). */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_DIGEST_SCHEDULE_H
#define REPORTER_DIGEST_SCHEDULE_H

#include <stdint.h>

#include "config/cron.h"

/* Latest slot after `last` and not after now; 0 when there is none. A last in the future (the clock was set
 * back) counts as now. All Unix ms. */
int64_t schedule_due(const struct cron *c, const struct zone *zone, int64_t last, int64_t now);
/* Slot as a person writes it in that zone: "2026-11-23 09:07:00 +08:00". */
#define DIGEST_SLOT_MAX 48
void scheduled_run_format(int64_t slot, const struct zone *zone, char ret[static DIGEST_SLOT_MAX]);

#endif
