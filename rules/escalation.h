/* escalation.h - what comes before the act: the grace that is announced on the object; and before a workload
 * is scaled to zero one failing pod is deleted, so that a new one tries afresh, and only when that one fails
 * too the duty goes on (R18).  Layer: rules.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef RULES_ESCALATION_H
#define RULES_ESCALATION_H

#include "model/annotations.h"
#include "model/policy.h"

enum escalation {
	ESCALATION_DUTY,  /* go on with the duty itself */
	ESCALATION_RETRY, /* delete one failing pod */
	ESCALATION_WAIT,  /* for the outcome of that, until *ret_at */
};

/* For a workload that is due. tried: when a pod of this revision was deleted for a fresh attempt, Unix ms; 0
 * not yet. A `tried` of the future (a clock that was set back) counts as now. */
enum escalation escalation_next(const struct duty_policy *dp, int64_t tried, int64_t now, int64_t *ret_at);

enum announce {
	ANNOUNCE_GO,      /* no grace is asked for, or it is over */
	ANNOUNCE_NEEDED,  /* write the annotation first */
	ANNOUNCE_WAIT,    /* until *ret_until, Unix ms; act strictly after it */
	ANNOUNCE_REFUSED, /* the owner says ignore or skip */
};

/* m: the annotations of the object that is written to (the pod, or the workload for errImagePull). An
 * announcement from the future (beyond the skew of clocks) counts as none. */
enum announce announce_judge(const struct annotations *m, enum duty d, const struct duty_policy *dp,
			     int64_t now, int64_t *ret_until);

#endif
