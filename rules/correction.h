/* correction.h - may the replicas that a scale-down took come back without an operator? Only what stands on
 * the object decides: our mark, which somebody may have removed, and whether its pod template is another one
 * since, or somebody asks for it there.  Layer: rules.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef RULES_CORRECTION_H
#define RULES_CORRECTION_H

#include <stdbool.h>

#include "base/str.h"
#include "model/policy.h"
#include "rules/verdict.h"

struct correction_facts {
	uint64_t action;     /* the scale-down, by the history */
	int64_t replicas;    /* that it took, by the history */
	struct str marked;   /* the mark on the object: of which action, */
	bool is_of_history;  /* of that history, or of a version before this, which did not say it */
	struct str from;     /* from how many replicas, */
	struct str template; /* hash of the pod template then; empty = a version before this wrote it */
	struct str now;      /* hash of the pod template now; empty = it has none */
	struct str asked;    /* ANNOTATION_RESTORE; empty = nobody asks */
};

/* ACT (CORRECTED), or REFUSE: RESTORE_OFF by the settings; NOT_MARKED, when the mark is not that of this
 * action or says another number; TEMPLATE_UNCHANGED. */
void correction_judge(const struct duty_policy *policy, const struct correction_facts *f,
		      struct verdict *ret);

#endif
