/* pull_events.h - why the image cannot be pulled, when the pod does not say: kubelets before 1.32 write only
 * "Back-off pulling image", and the cause stands in the pod's Events (R3).  Layer: worker. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_STEPS_PULL_EVENTS_H
#define WORKER_STEPS_PULL_EVENTS_H

#include "worker/steps/step.h"

step_needed_fn needs_events;
step_item_fn item_event;
step_take_fn take_events;

/* What the pod itself says of the cause, when it does. */
void pull_events_add_known_cause(struct action *a);

#endif
