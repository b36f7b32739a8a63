/* restores.h - scale-downs that are taken back without an operator, because somebody has corrected the
 * workload (RESTORE_ASK). A watcher names the number of an action and nothing else. What it was the history
 * says; a worker looks at the object (a dry run); and when that allows it, it goes the way of every action,
 * on which a worker reads and decides again. One at a time in each cluster. Process: supervisor. The reporter
 * and the workers answer to numbers of connections that no operator has. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_ACTIONS_RESTORES_H
#define SUPERVISOR_ACTIONS_RESTORES_H

#include "supervisor/actions/dry_run.h"

struct restores;

/* All is borrowed. */
struct restores *restores_new(struct lifecycle *root, const struct pause_list *pauses, struct dispatch *d,
			      struct dry_runs *q);
void restores_free(struct restores **r);

/* Is answered by one RESTORE_END, soon or late. */
void restores_on_restore_ask(struct restores *r, const struct msg *m);
/* Is this one of its own connections? Then what is said to it belongs to one of these: */
bool restores_has(uint64_t conn);
/* CTL_RESTORE_ROW; -EPROTO when it is not what was asked for. */
int restores_on_row(struct restores *r, const struct msg *m);
/* CTL_DRY_RUN_RESULT: of the look, or of the action. */
void restores_on_answer(struct restores *r, uint64_t conn, const struct msg *m);
/* CTL_END of the reporter, in the place of a row. */
void restores_on_ctl_end(struct restores *r, const struct msg *m);
/* There is nothing to take back, or nobody knows just now (EXIT_CODE_TEMPORARY). */
void restores_on_end(struct restores *r, uint64_t conn, uint64_t code);
void restores_on_reporter_dead(struct restores *r);

#endif
