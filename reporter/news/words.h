/* words.h - times and lists of names as the readers of a text write them.  Layer: process (reporter), news.
 * Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_NEWS_WORDS_H
#define REPORTER_NEWS_WORDS_H

#include <stdint.h>

#include "base/str.h"
#include "config/zone.h"
#include "model/facts.h"
#include "model/language.h"

/* "2026-11-22 17:55", Unix ms in the local time of the zone (NULL = UTC); "?" for a time that is not known
 * (0). */
#define WHEN_TEXT_MAX 24
void when_format(int64_t at_ms, const struct zone *zone, char ret[static WHEN_TEXT_MAX]);
/* How far that local time is ahead of UTC: "UTC", "UTC+8", "UTC-3:30". */
void when_format_zone(int64_t at_ms, const struct zone *zone, char ret[static WHEN_TEXT_MAX]);
/* Both, for a text that names the zone nowhere else: "2026-11-22 17:55 UTC+8"; "?" alone as above. */
#define WHEN_IN_ZONE_MAX (2 * WHEN_TEXT_MAX)
void when_format_in_zone(int64_t at_ms, const struct zone *zone, char ret[static WHEN_IN_ZONE_MAX]);

/* Facts in one line as facts_render() makes it, their times as when_format_in_zone() prints them; the caller
 * frees it. */
char *facts_in_zone(const struct facts *f, const struct zone *zone, enum language l);

/* "[prod] " where there are several clusters, "" where there is one, or none is named; the caller frees it.
 */
char *cluster_prefix(const struct str_list *clusters, const char *name);

/* Names in one line, so many at most: "a, b, and 3 more". Zero-initialised but for max holds nothing. */
struct name_list {
	uint64_t max, n; /* names that are shown at most; that were added */
	char *shown;
};
void name_list_add(struct name_list *l, const char *name);
/* The line, "" without a name; the caller frees it. */
char *name_list_end(struct name_list *l, enum language language);

#endif
