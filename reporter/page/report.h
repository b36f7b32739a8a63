/* report.h - the report as a page of HTML, by text/templates/page/report.mustache: self-contained, no script,
 * drawings as inline SVG. Every text in them is escaped, whatever it holds; they are well-formed XML, too.
 * Layer: process (reporter), page.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_PAGE_REPORT_H
#define REPORTER_PAGE_REPORT_H

#include "reporter/news/document.h"
#include "reporter/news/series.h"

/* Return the report as a page in the language of the document, for the mail and for `ops-pod-cleaner report
 * -o html`; the caller frees it. s NULL = no drawings. Bounded by what it is given: a row for each entry, and
 * no more of a series than its header says. */
char *page_report(const struct document *d, const struct series *s);

#endif
