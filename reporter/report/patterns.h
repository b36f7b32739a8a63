/* patterns.h - what the rows of a report have in common: a table of patterns, each a pure function.
 * Layer: process (reporter), report.  Pure. A pattern needs HINT_ROWS_MIN rows, and HINT_PERCENT of all of
 * which the fact is known. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_DIGEST_PATTERNS_H
#define REPORTER_DIGEST_PATTERNS_H

#include <stddef.h>
#include <stdint.h>

#include "config/zone.h"
#include "model/language.h"

#define HINT_ROWS_MIN 3u
#define HINT_PERCENT  80u

/* One row. Texts are borrowed; "" = not known, or not one. */
struct hint_row {
	const char *node;   /* all its pods are there */
	const char *image;  /* that it runs */
	const char *reason; /* why it ended last */
	int64_t rolled_at;  /* since when its revision exists, Unix ms; 0 = not known */
	int64_t began_at;   /* begin of what is counted, Unix ms */
	const char *cluster;
	char *name; /* as people read it */
};

/* At most this many hints. */
#define HINTS_MAX 4u

/* No more workloads are named by one hint. */
#define HINT_NAMES_MAX 5

/* Sentences for people in that language, which the caller frees; returns how many. */
size_t hints_of(const struct hint_row *rows, size_t n, enum language l, const struct zone *zone,
		char *ret[static HINTS_MAX]);

#endif
