/* limits.h - the supervisor's own limits of writes to a cluster, derived from the duties' budgets: above all
 * of them together by a margin, so that it is met only when somebody else's counting fails.
 * Process: loader.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef LOADER_LIMITS_H
#define LOADER_LIMITS_H

#include <stdint.h>

#include "model/policy.h"

struct write_limits {
	uint64_t per_minute, per_hour; /* 0: some duty has no such budget, so there is no limit either */
};

/* Twice what all duties that work may do, and LIMITS_MARGIN: for attempts after a conflict, rests of
 * half-deleted pods and what operators restore, for which no budget is charged. */
#define LIMITS_MARGIN 10u

void limits_derive(const struct policy *p, struct write_limits *ret);

#endif
