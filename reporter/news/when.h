/* when.h - a time as the readers of a text write it.  Layer: process (reporter), news.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_NEWS_WHEN_H
#define REPORTER_NEWS_WHEN_H

#include <stdint.h>

#include "config/zone.h"

/* "2026-11-22 17:55", Unix ms in the local time of the zone (NULL = UTC); "?" for a time that is not known
 * (0). */
#define WHEN_TEXT_MAX 24
void when_format(int64_t at_ms, const struct zone *zone, char ret[static WHEN_TEXT_MAX]);
/* How far that local time is ahead of UTC: "UTC", "UTC+8", "UTC-3:30". */
void when_format_zone(int64_t at_ms, const struct zone *zone, char ret[static WHEN_TEXT_MAX]);

#endif
