/* schedule.h - when the schedules of a configuration fire next, in the time of their zones.  Process: cli. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CLI_LOCAL_SCHEDULE_H
#define CLI_LOCAL_SCHEDULE_H

#include <jansson.h>
#include <stdio.h>

#include "base/rfc3339.h"
#include "config/config.h"
#include "config/zone.h"

#define SCHEDULE_TIME_MAX (RFC3339_MAX + 8)

/* Local time with its offset: "2026-11-21T09:00:00+08:00"; zone NULL = UTC. */
void schedule_time(int64_t ms, const struct zone *zone, char ret[static SCHEDULE_TIME_MAX]);
/* Of every duty that is enabled: the next three reports, and the next three openings of each window, after
 * now_ms. Nothing where there is no schedule. */
void schedule_print(const struct config *c, int64_t now_ms, FILE *out);
/* The same as a list of {key, schedule, zone, next}. To be freed. */
json_t *schedule_json(const struct config *c, int64_t now_ms);

#endif
