/* chart.h - drawings for the pages, as inline SVG that stretches to the room it has: shapes alone, so that no
 * letter gets smaller with them; what they say stands as text beside them, or as their title.
 * Layer: process (reporter), page.  Pure. Colours: reporter/page/style.c. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_PAGE_CHART_H
#define REPORTER_PAGE_CHART_H

#include "reporter/page/html.h"

/* A row of bars, n values gathered into at most CHART_BARS_MAX of them. label: what a reader hears. */
#define CHART_BARS_MAX 84u
void chart_spark(struct html *h, const char *label, const uint32_t *v, size_t n);

/* `days` bars side by side, each of `kinds` values upon one another: v[day * kinds + kind]. */
void chart_stacked(struct html *h, const char *label, const uint32_t *v, size_t days, size_t kinds);

/* The colour of a kind, for a legend. */
void chart_swatch(struct html *h, size_t kind);

/* How dark a tile is, from 0 (nothing) to 3, of a value among those up to max. */
unsigned chart_level(uint64_t v, uint64_t max);

#endif
