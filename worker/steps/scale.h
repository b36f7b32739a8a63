/* scale.h - the workload as a whole: its scale, its newest revision, all its pods; then replicas 0 (R17-R19).
 * Layer: worker. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_STEPS_SCALE_H
#define WORKER_STEPS_SCALE_H

#include "worker/steps/step.h"

step_needed_fn needs_revisions;
step_ask_fn ask_scale, ask_replicas;
step_item_fn item_revision, item_pod;
step_take_fn take_scale, take_revisions, take_pods, take_replicas;

/* STEP_NEXT with a->found.scale, or an end: no scale, or that of another object. */
enum step_then scale_take(struct action *a, const struct step_reply *reply);

#endif
