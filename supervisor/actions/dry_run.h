/* dry_run.h - questions to workers: would you do this (CTL_DRY_RUN)? They wait until a worker of the cluster
 * has nothing else to do; a lease goes first. Process: supervisor.  Owns: the questions. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_ACTIONS_DRY_RUN_H
#define SUPERVISOR_ACTIONS_DRY_RUN_H

#include "supervisor/actions/answers.h"
#include "supervisor/actions/dispatch.h"
#include "supervisor/children/lifecycle.h"

struct dry_runs;

/* All is borrowed; from now on idle workers of d are asked. */
struct dry_runs *dry_run_new(struct lifecycle *root, struct worker_pool *pool, struct dispatch *d,
			     const struct own_state *own, struct answers *answers);
void dry_run_free(struct dry_runs **q);

/* A CTL_DRY_RUN whose conn is set. It is answered by one CTL_DRY_RUN_RESULT, whatever happens. */
void dry_run_on_ctl_dry_run(struct dry_runs *q, const struct msg *m);
void dry_run_on_ctl_dry_run_result(struct dry_runs *q, struct child *worker, const struct msg *m);
void dry_run_on_worker_dead(struct dry_runs *q, const struct child *worker);
void dry_run_tick(struct dry_runs *q, uint64_t now_ms);
/* Nobody waits for the answers any more. */
void dry_run_forget(struct dry_runs *q, uint64_t conn);

#endif
