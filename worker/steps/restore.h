/* restore.h - taking a scale-down back: only when the workload is the same object, still wants no replicas,
 * and nobody but this program wanted that last (R20).  Layer: worker. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_STEPS_RESTORE_H
#define WORKER_STEPS_RESTORE_H

#include "worker/steps/step.h"

step_needed_fn needs_group;
step_ask_fn ask_group;
step_take_fn take_intent, take_group, take_workload, take_zero;

#endif
