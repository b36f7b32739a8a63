/* explain_report.h - what `explain` found, printed alike for a live object and for a file. A worker's word
 * stands above the cache's.  Process: cli. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CLI_COMMANDS_EXPLAIN_REPORT_H
#define CLI_COMMANDS_EXPLAIN_REPORT_H

#include "cli/instance/dry_run_rows.h"
#include "cli/options.h"
#include "cli/view/table.h"
#include "ipc/msg.h"
#include "model/language.h"

struct explain_row {
	char pod[400];                /* as it is printed: behind the cluster where there are several */
	size_t ns;                    /* where in it the namespace begins */
	char cluster[64];             /* "": it is of a file */
	struct msg_ctl_explain_row r; /* r.rule "": a verdict; its checks follow it */
	size_t live;                  /* of a verdict: 1 + its place among the live rows; 0 = none */
};

/* Empty: zeroed but for the language. */
struct explain_report {
	struct explain_row *rows;
	size_t n;
	bool many; /* clusters were looked at */
	struct dry_run_rows live;
	enum language language;
};

/* Empties it; the language stays. */
void explain_report_done(struct explain_report *e);
/* About the pod "NAMESPACE/NAME" of that cluster ("": of none). The checks of a duty follow its verdict.
 * Copied. */
void explain_add(struct explain_report *e, const char *cluster, const char *pod,
		 const struct msg_ctl_explain_row *row);
/* Both caches say the same. */
bool explain_is_same_cache(const struct explain_report *a, const struct explain_report *b);
/* Both say the same, after the workers were asked. */
bool explain_is_same(const struct explain_report *a, const struct explain_report *b);
/* On stdout: JSON in English; or a sentence a pod, the verdicts, their checks and remedies. */
void explain_print(const struct explain_report *e, enum output format, const struct table_view *view);

#endif
