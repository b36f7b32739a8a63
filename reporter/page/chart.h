/* chart.h - bars of a page, as the template page/spark and its like draw them. Layer: process (reporter),
 * page. Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_PAGE_CHART_H
#define REPORTER_PAGE_CHART_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

/* Bars of kinds upon one another: v[bar * kinds + kind], `gather` bars in one. In units of the viewBox, which
 * is stretched to the room that it has. */
struct chart {
	const uint32_t *v;
	size_t bars, kinds, gather;
	unsigned width, gap, height; /* of a bar with its gap, of the whole */
	double least;                /* height of a bar that is not empty: it is seen, however small */
};

/* { width, most, bars: [ { kind, sum, path } ] }: of the kinds that are not empty; most: the highest bar. The
 * caller owns it. */
json_t *chart_value(const struct chart *c);

#endif
