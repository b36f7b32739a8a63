/* workload.h - what the duties that scale a workload down ask alike: since when it fails, whose pod it is,
 * and whether all of its pods fail.  Layer: rules, private to it. */
// SPDX-License-Identifier: Apache-2.0
#ifndef RULES_WORKLOAD_H
#define RULES_WORKLOAD_H

#include "rules/checks.h"

/* Evidence: the container that fails, in which state and for how long, `more` (after a comma), and the pods
 * of the revision. */
void workload_describe(struct evaluation *l, struct str state, const char *more);

/* Finds since when the revision fails, and never decides: the guards come first. */
bool check_workload_clock(struct evaluation *l);
/* Is that longer than the threshold? */
bool check_workload_due(struct evaluation *l);
bool check_workload_controller(struct evaluation *l);
bool check_workload_scalable(struct evaluation *l);
bool check_workload_tally(struct evaluation *l);

#define CHECKS_WORKLOAD_DUE                                                                                  \
	CHECK("R18", "is the pod not being deleted", check_not_deleted),                                     \
		CHECK("R18", "is the pod not Ready", check_not_ready),                                       \
		CHECK("R4", "has it failed longer than the threshold", check_workload_due)
#define CHECKS_WORKLOAD_ACT                                                                                  \
	CHECK("R15", "does it have a controller", check_workload_controller),                                \
		CHECK("R24", "is the controller of a kind that can be scaled", check_workload_scalable),     \
		CHECK("R18", "do all pods of the revision fail and is none Ready", check_workload_tally),    \
		CHECK("Act", "then the workload is scaled to 0", check_act)

#endif
