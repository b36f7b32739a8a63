/* dry_run_rows.h - rows that a watcher judged from its cache, and what only others know of them: would a
 * worker that reads live do it (a dry run), and when did one last refuse it (the history)? Process: cli. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CLI_INSTANCE_DRY_RUN_ROWS_H
#define CLI_INSTANCE_DRY_RUN_ROWS_H

#include <jansson.h>

#include "cli/instance/ctl.h"
#include "cli/view/table.h"

struct dry_run_row {
	struct msg_ctl_plan_row row;           /* as the watcher judged */
	struct msg_ctl_dry_run_result dry_run; /* id 0: no worker has answered */
	const struct msg_ctl_history_row
		*refused;                      /* newest refusal of its action key within a day, or NULL */
	const struct msg_trouble_row *stopped; /* nothing is written while it lasts; NULL: nothing stops it */
};

/* Zeroed = empty. */
struct dry_run_rows {
	struct dry_run_row *v;
	size_t n;
	struct rows refusals;
};

void dry_run_rows_done(struct dry_run_rows *l);
void dry_run_rows_add(struct dry_run_rows *l, const struct msg_ctl_plan_row *row);

/* A worker was asked and said no, or could not tell. */
bool dry_run_was_declined(const struct dry_run_row *r);

/* Find the newest refusals, those of a namespace or (NULL) of all. Without an answer there are none, which is
 * said on stderr. Before dry_run_rows_ask_workers: an answer that comes too late belongs to nothing else. */
void dry_run_rows_find_refusals(struct dry_run_rows *l, struct ctl *c, const char *ns);
/* Ask workers about every row that is due, many at once; each answer may take timeout_ms. The exit code;
 * what was answered before an error is kept. */
int dry_run_rows_ask_workers(struct dry_run_rows *l, struct ctl *c, uint64_t timeout_ms);

/* "; last refused 2026-11-22T10:00:00Z: NodeNotReady", or "". Returns buf. */
#define DRY_RUN_REFUSAL_MAX 128
const char *dry_run_refusal_text(const struct dry_run_row *r, const struct table_view *view,
				 char buf[static DRY_RUN_REFUSAL_MAX]);
/* The newest refusal with its sentence and remedy, and what a worker answered; null where there is none. */
json_t *dry_run_refusal_json(const struct dry_run_row *r);
json_t *dry_run_answer_json(const struct dry_run_row *r);
/* Print, once a reason, what can be done about the live and the newest refusals. */
void dry_run_rows_print_remedies(const struct dry_run_rows *l, const struct table_view *view);

#endif
