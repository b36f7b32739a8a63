/* report_entry.h - what a report is made of: its rows, what the last report said of each, and the window; and
 * one row as people read it, and as facts.  Layer: process (reporter), report.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_REPORT_REPORT_ENTRY_H
#define REPORTER_REPORT_REPORT_ENTRY_H

#include "config/zone.h"
#include "reporter/news/document.h"
#include "reporter/notify/routine.h"
#include "reporter/report/digest.h"
#include "reporter/report/patterns.h"

/* What the last report said of a workload. */
struct reported {
	char *cluster, *ns, *kind, *workload;
	uint64_t restarts; /* in its window */
	int64_t window_ms;
};

enum report_class { REPORT_NEW, REPORT_WORSE, REPORT_STILL, REPORT_CLASS__MAX };

struct report_row {
	const struct digest_workload *workload;
	const char *cluster; /* name */
	enum report_class class;
	const struct msg_inspected *inspection; /* NULL = nobody looked, or nobody answered */
};

struct report_input {
	const struct digest *digest; /* grouped, with deltas */
	const struct str_list *clusters;
	const bool *answered;        /* by index of the cluster: did it give a full answer? */
	const struct reported *past; /* of the last report, by cluster, ns, kind, workload */
	size_t n_past;
	bool is_first;           /* there was no report before */
	int64_t from_ms, at_ms;  /* the window, Unix ms */
	const struct zone *zone; /* NULL = UTC */
	const char *title;
	const char *cluster_title; /* of the only cluster; NULL = its name */
	bool late;
	const struct routine *routine;     /* NULL = nothing */
	const struct attention *attention; /* what needs an operator; NULL = nothing */
};

void report_entry_add(const struct report_row *r, const struct report_input *in, enum language l,
		      struct section *s);
void report_entry_add_recovered(const struct reported *p, const struct report_input *in, enum language l,
				struct section *s);
void report_entry_add_attention(const struct attention_group *g, const struct report_input *in,
				enum language l, struct section *s);
/* What hints are looked for in; borrowed from the row but for the name, which the caller frees. */
struct hint_row report_entry_hint(const struct report_row *r, const struct report_input *in);

#endif
