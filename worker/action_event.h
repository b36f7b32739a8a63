/* action_event.h - what an action that has ended says on the object itself, in a Kubernetes Event.  Layer:
 * worker. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_ACTION_EVENT_H
#define WORKER_ACTION_EVENT_H

#include "worker/events.h"

struct action;

/* What was announced, what was done, and what is refused until an operator does something. Within the
 * action's done() only. False: nothing is reported. */
bool action_event(const struct action *a, struct object_event *ret);

#endif
