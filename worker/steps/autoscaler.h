/* autoscaler.h - before a workload is scaled: would somebody else scale it up again, and has somebody done so
 * before (R21, R22)? What may not be read is said in the evidence and does not block the action: it would
 * show as reverted.  Layer: worker. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_STEPS_AUTOSCALER_H
#define WORKER_STEPS_AUTOSCALER_H

#include "worker/owner_kinds.h"
#include "worker/steps/step.h"

step_needed_fn needs_keda;
step_item_fn item_hpa, item_keda;
step_take_fn take_hpa, take_keda;

/* Who marks the topmost owner as theirs, and who set its replicas last: STEP_NEXT, or an end when somebody
 * reverted our scale-down not long enough ago. */
enum step_then autoscaler_judge_writers(struct action *a);

#endif
