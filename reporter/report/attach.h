/* attach.h - the report of one sink as a page of HTML, with the drawings of what concerns that sink.
 * Layer: process (reporter), report. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_DIGEST_ATTACH_H
#define REPORTER_DIGEST_ATTACH_H

#include "config/settings.h"
#include "reporter/history/db.h"
#include "reporter/page/report.h"

struct zone;

/* Read the numbers behind a report (reporter/page/report.h) that concern s (NULL: all of them) from the
 * history: the SERIES_DAYS up to end_ms (Unix ms). utc_offset_s: zone_offset() at end_ms. 0, or negative
 * errno with *ret empty; series_done() it. */
int series_load(struct db *db, const struct sink_settings *s, int64_t end_ms, int32_t utc_offset_s,
		struct series *ret);

/* Makes d->html of d and the history, as of d->at_ms; times in that zone (NULL = UTC). s NULL: for whoever
 * may see all. Numbers that cannot be read are left out of the page. */
void digest_attach_page(struct db *db, const struct sink_settings *s, const struct zone *zone,
			bool is_of_one_cluster, struct document *d);

#endif
