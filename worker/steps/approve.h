/* approve.h - all was read: judge it, ask the object itself, and choose the write. Its owner may have refused
 * the action, and where a grace is configured it is announced on the object first.  Layer: worker. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_STEPS_APPROVE_H
#define WORKER_STEPS_APPROVE_H

#include "worker/steps/step.h"

step_ask_fn ask_announce;
step_take_fn take_approval, take_announce;

#endif
