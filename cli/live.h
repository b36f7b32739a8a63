/* live.h - rows that a watcher judged from its cache, and what only others know of them: would a worker that
 * reads live do it (a dry run), and when did one last refuse it (the history)? Process: cli. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CLI_LIVE_H
#define CLI_LIVE_H

#include <jansson.h>

#include "cli/ctl.h"
#include "cli/history_rows.h"
#include "cli/table.h"

struct live_row {
	struct msg_ctl_plan_row row;           /* as the watcher judged */
	struct msg_ctl_dry_run_result dry_run; /* id 0: no worker has answered */
	const struct msg_ctl_history_row
		*refused; /* newest refusal of its action key within a day, or NULL */
};

/* Zeroed = empty. */
struct live {
	struct live_row *v;
	size_t n;
	struct history_rows refusals;
};

void live_done(struct live *l);
void live_add(struct live *l, const struct msg_ctl_plan_row *row);

/* A worker was asked and said no, or could not tell. */
bool live_was_declined(const struct live_row *r);

/* Find the newest refusals, those of a namespace or (NULL) of all. Without an answer there are none, which is
 * said on stderr. Before live_ask_workers: an answer that comes too late belongs to nothing else. */
void live_find_refusals(struct live *l, struct ctl *c, const char *ns);
/* Ask workers about every row that is due, many at once; each answer may take timeout_ms. The exit code;
 * what was answered before an error is kept. */
int live_ask_workers(struct live *l, struct ctl *c, uint64_t timeout_ms);

/* "; last refused 2026-11-22T10:00:00Z: NodeNotReady", or "". Returns buf. */
#define LIVE_REFUSAL_MAX 128
const char *live_refusal_text(const struct live_row *r, const struct table_view *view,
			      char buf[static LIVE_REFUSAL_MAX]);
/* The newest refusal with its sentence and remedy, and what a worker answered; null where there is none. */
json_t *live_refusal_json(const struct live_row *r);
json_t *live_answer_json(const struct live_row *r);
/* Print, once a reason, what can be done about the live and the newest refusals. */
void live_print_remedies(const struct live *l, const struct table_view *view);

#endif
