/* owner.h - from the pod to its topmost controller, by ownerReference and uid, each read live (R15, R16).
 * Layer: worker. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_STEPS_OWNER_H
#define WORKER_STEPS_OWNER_H

#include "worker/action_state.h"

step_needed_fn needs_discovery;
step_ask_fn ask_discovery;
step_take_fn take_discovery, take_owner;

/* The next owner above: STEP_NEXT, or an end when it cannot be one. */
enum step_then owner_add(struct action *a, const struct owner_facts *ref);
/* Ends with REFUSED and names the topmost owner; why may be empty. */
enum step_then owner_refuse(struct action *a, enum reason reason, const char *why);

#endif
