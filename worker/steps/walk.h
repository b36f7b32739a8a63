/* walk.h - all steps, and which one follows: steps.def.  Layer: worker. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_STEPS_WALK_H
#define WORKER_STEPS_WALK_H

#include "worker/steps/step.h"

const struct step_desc *step_desc(enum step step);
/* The step by which the action goes on; STEP_NONE: there is none, it has ended. */
enum step step_following(const struct action *a, enum step_then then);

#endif
