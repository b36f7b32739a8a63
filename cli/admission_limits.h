/* admission_limits.h - what a duty may do by its settings and those of the overrides in which it works: what
 * any of them allows, for the admission policy, which knows no labels of pods.  Process: cli. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CLI_ADMISSION_LIMITS_H
#define CLI_ADMISSION_LIMITS_H

#include "model/policy.h"

struct limits {
	bool jobs, bare;
	struct str_list status, phases;
	bool fresh_attempt;
	int64_t suspend_after_ms; /* the shortest; 0: it suspends nothing */
};

/* limits_done() ends it. */
struct limits limits_of(const struct policy *p, enum duty d);
void limits_done(struct limits *l);

#endif
