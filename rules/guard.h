/* guard.h - what every duty asks alike before it looks at the pod's state, and arithmetic that cannot
 * overflow.  Layer: rules, private to it. */
// SPDX-License-Identifier: Apache-2.0
#ifndef RULES_GUARD_H
#define RULES_GUARD_H

#include "rules/judge.h"

/* Set the verdict; evidence stays as it is. */
void verdict_set(struct verdict *v, enum verdict_kind kind, enum reason reason);
/* Wait until `at` (0 = until something changes). */
void verdict_wait(struct verdict *v, enum reason reason, int64_t at);

/* Starts a verdict of this duty. False (and a NONE in v) when the duty does not serve this namespace. */
bool guard_begin(const struct pod_facts *p, const struct policy *policy, enum duty d, struct verdict *v);

/* Facts that must hold before any rule may believe the rest. False (and a REFUSE in v) otherwise. */
bool guard_facts(const struct pod_facts *p, const struct policy *policy, enum duty d, enum judge_stage stage,
		 int64_t now, struct verdict *v);

/* Guards that hold for all time: own pod, excluded namespace, mirror pod, system priority, opt-out. False
 * when one forbids; v is then REFUSE when the duty is due, else NONE: a pod that ends normally in an excluded
 * namespace is no refusal. The report asks only for namespaces and opt-out (`acts` false). */
bool guard_protected(const struct pod_facts *p, const struct policy *policy, enum duty d, bool acts, bool due,
		     struct verdict *v);

/* a + b, held at the ends of the type. */
int64_t time_add(int64_t a, int64_t b);
/* Phase Succeeded or Failed. */
bool phase_terminal(const struct pod_facts *p);

#endif
