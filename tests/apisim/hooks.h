/* Hooks: changes made right before a request is handled or right after it was answered. */
// SPDX-License-Identifier: Apache-2.0
#ifndef APISIM_HOOKS_H
#define APISIM_HOOKS_H

#include "tests/apisim/call.h"

struct hooks *hooks_new(void);
void hooks_free(struct hooks *h);

/* Adds one from JSON; NULL, or why it is refused. */
const char *hooks_add(struct hooks *h, const json_t *hook);
void hooks_clear(struct hooks *h);

/* Each hook with how often it has run; the caller's. */
json_t *hooks_list(const struct hooks *h);

/* Runs those that match and say "before". */
void hooks_run_before(struct hooks *h, const struct call *c);

/* What is to be done once the call is answered (the call itself is gone then); NULL: nothing. */
struct hook_run *hooks_take_after(struct hooks *h, const struct call *c);
void hooks_run_after(struct sim *sim, struct hook_run *run);

#endif
