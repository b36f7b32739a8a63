/* dry_run.h - questions to workers: would you do this (CTL_DRY_RUN)? They wait until a worker of the cluster
 * has nothing else to do; a lease goes first. Process: supervisor. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_ACTIONS_DRY_RUN_H
#define SUPERVISOR_ACTIONS_DRY_RUN_H

#include "supervisor/actions/parts.h"

/* The idle function: hand the oldest question to an idle worker of its cluster; false when there is none. */
bool dry_run_on_idle(struct supervisor *s, struct child *worker);
/* A CTL_DRY_RUN whose conn is set. It is answered by one CTL_DRY_RUN_RESULT, whatever happens. */
void dry_run_on_ctl_dry_run(struct supervisor *s, const struct msg *m);
void dry_run_on_ctl_dry_run_result(struct supervisor *s, struct child *worker, const struct msg *m);
void dry_run_on_worker_dead(struct supervisor *s, const struct child *worker);
void dry_run_tick(struct supervisor *s, uint64_t now_ms);
/* Nobody waits for the answers any more. */
void dry_run_forget(struct supervisor *s, uint64_t conn);
/* Forget all of them. */
void dry_run_free(struct supervisor *s);

#endif
