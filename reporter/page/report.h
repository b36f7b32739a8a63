/* report.h - the report as a page of HTML, by text/templates/page/report.mustache: self-contained, no script,
 * drawings as inline SVG. Every text in them is escaped, whatever it holds; they are well-formed XML, too.
 * Layer: process (reporter), page.  Pure. Names in a series are as they came: the page makes them safe. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_PAGE_REPORT_H
#define REPORTER_PAGE_REPORT_H

#include "model/duties.h"
#include "reporter/news/document.h"

/* -- series: the numbers behind a report, which a page draws and a chat does not show -- */

#define SERIES_HOURS 336u /* 14 days */
#define SERIES_DAYS  14u
/* No more are held: the worst come first. */
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

/* Owns everything; zero-initialised holds nothing. */
struct series {
	int64_t end_ms;         /* of what is counted here, Unix ms; 0 = unknown */
	bool is_of_one_cluster; /* there is no other: it is not named */
	int32_t utc_offset_s;   /* seconds east of UTC, of the zone in which days begin and times are said */
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

/* Each adds one, of which the texts are copied (detail NULL: none), valid until the next one is added. Where
 * there are as many already it is counted in `more_...`: NULL. */
struct series_line *series_add_line(struct series *s, const char *cluster, const char *name);
struct series_held *series_add_held(struct series *s, const char *cluster, const char *object,
				    const char *reason, const struct facts *detail);
struct series_tile *series_add_tile(struct series *s, const char *cluster, const char *ns);
void series_done(struct series *s);

/* Return the report as a page in the language of the document, for the mail and for `ops-pod-cleaner report
 * -o html`; the caller frees it. s NULL = no drawings. Bounded by what it is given: a row for each entry, and
 * what a series holds. */
char *page_report(const struct document *d, const struct series *s);

#endif
