/* granted_pod.h - the pod itself: read it, judge it by what it says, delete it.  Layer: worker. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_STEPS_GRANTED_POD_H
#define WORKER_STEPS_GRANTED_POD_H

#include "worker/steps/step.h"

step_ask_fn ask_pod, ask_delete;
step_take_fn take_pod, take_delete;

#endif
