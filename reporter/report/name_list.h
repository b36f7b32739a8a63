/* name_list.h - names in one line, so many at most: "a, b, and 3 more".  Layer: process (reporter), report.
 * Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_REPORT_NAME_LIST_H
#define REPORTER_REPORT_NAME_LIST_H

#include <stdint.h>

#include "model/language.h"

/* Zero-initialised but for max holds nothing. */
struct name_list {
	uint64_t max, n; /* names that are shown at most; that were added */
	char *shown;
};

void name_list_add(struct name_list *l, const char *name);
/* The line, "" without a name; the caller frees it. */
char *name_list_end(struct name_list *l, enum language language);

#endif
