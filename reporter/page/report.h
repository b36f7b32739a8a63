/* report.h - the report as one page of HTML: self-contained, no script, drawings as inline SVG. For the mail,
 * for `ops-pod-cleaner report -o html`.
 * Layer: process (reporter), page.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_PAGE_REPORT_H
#define REPORTER_PAGE_REPORT_H

#include "reporter/news/document.h"
#include "reporter/news/series.h"

/* The page, in the language of the document; the caller frees it. s NULL = no drawings. Bounded by what it is
 * given: a row for each entry, and no more of a series than its header says. */
char *page_report(const struct document *d, const struct series *s);

#endif
