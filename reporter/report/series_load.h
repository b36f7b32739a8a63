/* series_load.h - fills the numbers behind a report (reporter/news/series.h) from the history.
 * Layer: process (reporter), report.  Only reads. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_DIGEST_SERIES_LOAD_H
#define REPORTER_DIGEST_SERIES_LOAD_H

#include <stdint.h>

#include "reporter/history/db.h"
#include "reporter/news/series.h"

/* The SERIES_DAYS up to end_ms (Unix ms). utc_offset_s: zone_offset() at end_ms. 0, or negative errno with
 * *ret empty; series_done() it. */
int series_load(struct db *db, int64_t end_ms, int32_t utc_offset_s, struct series *ret);

#endif
