/* Many status updates of filled pods, at a rate. */
// SPDX-License-Identifier: Apache-2.0
#ifndef APISIM_STORM_H
#define APISIM_STORM_H

#include "tests/apisim/call.h"

struct storm *storm_new(struct sim *sim);
void storm_free(struct storm *s);

/* The first `pods` pods (0: all) in turn, `rate` updates a second for so long; replaces one that is under
 * way. */
void storm_start(struct storm *s, size_t pods, double rate, double seconds);

/* Updates made, of all storms; and whether one is under way. */
uint64_t storm_updates(const struct storm *s);
bool storm_running(const struct storm *s);

#endif
