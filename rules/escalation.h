/* escalation.h - what comes before a workload is scaled to zero: one failing pod is deleted first, so that a
 * new one tries afresh, and only when that one fails too the duty goes on (R18).  Layer: rules.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef RULES_ESCALATION_H
#define RULES_ESCALATION_H

#include "model/policy.h"

enum escalation {
	ESCALATION_DUTY,  /* go on with the duty itself */
	ESCALATION_RETRY, /* delete one failing pod */
	ESCALATION_WAIT,  /* for the outcome of that, until *ret_at */
};

/* For a workload that is due. tried: when a pod of this revision was deleted for a fresh attempt, Unix ms; 0
 * not yet. A `tried` of the future (a clock that was set back) counts as now. */
enum escalation escalation_next(const struct duty_policy *dp, int64_t tried, int64_t now, int64_t *ret_at);

#endif
