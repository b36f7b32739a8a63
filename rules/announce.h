/* announce.h - the grace that is announced on an object before the act.  Layer: rules.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef RULES_ANNOUNCE_H
#define RULES_ANNOUNCE_H

#include "model/annotations.h"
#include "model/policy.h"

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
