/* report_entry.h - one row of a report as people read it, and as facts.  Layer: process (reporter), report.
 * Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_REPORT_REPORT_ENTRY_H
#define REPORTER_REPORT_REPORT_ENTRY_H

#include "reporter/report/patterns.h"
#include "reporter/report/report_row.h"
#include "reporter/news/document.h"

void report_entry_add(const struct report_row *r, const struct report_input *in, enum language l,
		      struct section *s);
void report_entry_add_recovered(const struct reported *p, const struct report_input *in, enum language l,
				struct section *s);
void report_entry_add_attention(const struct attention_group *g, const struct report_input *in,
				enum language l, struct section *s);
/* What hints are looked for in; borrowed from the row but for the name, which the caller frees. */
struct hint_row report_entry_hint(const struct report_row *r, const struct report_input *in);

#endif
