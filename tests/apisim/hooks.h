/* Hooks: changes made right before a request is handled or right after it was answered. */
// SPDX-License-Identifier: Apache-2.0
#ifndef APISIM_HOOKS_H
#define APISIM_HOOKS_H

#include "tests/apisim/call.h"

/* Adds one to sim->hooks; keeps it, and counts in it. NULL, or why it is refused. */
const char *hooks_add(struct sim *sim, json_t *hook);

/* The lists of steps of all hooks for the call, at the one moment or the other; they count as run. */
json_t *hooks_take(const struct call *c, bool before);

/* Runs and releases what hooks_take gave; the call itself may be gone. */
void hooks_run(struct sim *sim, json_t *lists);

#endif
