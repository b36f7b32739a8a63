/* action_events.h - what an action that has ended says on the object itself, in a Kubernetes Event: what was
 * announced, what was done, and what is refused until an operator does something.  Layer: worker. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_ACTION_EVENTS_H
#define WORKER_ACTION_EVENTS_H

#include <stdbool.h>

#include "worker/events.h"

struct action;
/* Within done() of the action only. False: nothing is reported. */
bool action_event(const struct action *a, struct object_event *ret);

#endif
