/* series.h - the numbers behind a report, which a page draws and a chat does not show: restarts by hour,
 * actions by day, what is held back and why, a count for each namespace. Filled by the digest from the
 * history, drawn by reporter/page.
 * Layer: process (reporter), news.  Pure. Everything is owned by the series; zero-initialised holds nothing.
 * Names are as they came: the page makes them safe. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_NEWS_SERIES_H
#define REPORTER_NEWS_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/duties.h"
#include "model/facts.h"

#define SERIES_HOURS 336u /* 14 days */
#define SERIES_DAYS  14u
/* No more are drawn: the worst come first, the filler leaves out the rest and counts it in `more_...`. */
#define SERIES_WORST_MAX 12u
#define SERIES_HELD_MAX  100u
#define SERIES_TILES_MAX 300u

/* Restarts of one workload (or pod), by hour; the last hour is the one that ends at end_ms. */
struct series_line {
	char *cluster, *name; /* name: "namespace/workload" */
	uint32_t by_hour[SERIES_HOURS];
};

/* Due, but not done: an object, or, without one, all that a guard holds back. */
struct series_held {
	char *cluster, *object; /* "namespace/name"; "" = none */
	char *reason;           /* its code, model/reasons.def */
	struct facts *detail;   /* NULL = none */
	int64_t duty;           /* enum duty, or DUTY_ALL */
	int64_t since_ms;       /* Unix ms; 0 = unknown */
};

/* One namespace, in the time of the report. */
struct series_tile {
	char *cluster, *ns;
	uint64_t restarts, actions, held;
};

struct series {
	int64_t begin_ms, end_ms; /* what is counted here, Unix ms; 0 = unknown */
	bool is_of_one_cluster;   /* there is no other: it is not named */
	int32_t utc_offset_s; /* seconds east of UTC, of the zone in which days begin and times are said */
	struct series_line *worst;
	size_t n_worst;
	uint32_t actions[SERIES_DAYS][DUTY__MAX]; /* that were done; the last day is the one of end_ms */
	struct series_held *held;
	size_t n_held;
	uint64_t more_held;
	struct series_tile *tiles;
	size_t n_tiles;
	uint64_t more_tiles;
};

/* Each adds one, of which the texts are copied (NULL counts as "", or none), valid until the next one is
 * added. */
struct series_line *series_add_line(struct series *s, const char *cluster, const char *name);
struct series_held *series_add_held(struct series *s, const char *cluster, const char *object,
				    const char *reason, const struct facts *detail);
struct series_tile *series_add_tile(struct series *s, const char *cluster, const char *ns);
void series_done(struct series *s);

#endif
