/* suspend.h - what has no replicas to take away: a Job, and the CronJob that would make the next one, are
 * suspended (R24). First the CronJob, so that none is made in between.  Layer: worker. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_STEPS_SUSPEND_H
#define WORKER_STEPS_SUSPEND_H

#include "worker/steps/step.h"

step_ask_fn ask_suspend, ask_suspended;
step_take_fn take_suspend, take_suspended;

/* Is the chain of owners a Job, or a Job and its CronJob? */
bool suspend_fits(const struct action *a);
/* Such a chain is complete: STEP_NEXT, with the selector of the Job's pods in place of a scale's; or an end.
 */
enum step_then suspend_begin(struct action *a);

#endif
