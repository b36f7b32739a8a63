/* workload.h - what the duties that scale a workload down ask alike: since when it fails, whose pod it is,
 * and whether all of its pods fail.  Layer: rules, private to it. */
// SPDX-License-Identifier: Apache-2.0
#ifndef RULES_WORKLOAD_H
#define RULES_WORKLOAD_H

#include "rules/checks.h"

/* Begin the evidence anew: the container that fails, in which state and for how long. The caller adds what
 * else its duty knows of the container, then workload_add_tally(). */
struct facts *workload_evidence(struct evaluation *l, struct str state);
/* Add how many pods of the revision fail, when it is known. */
void workload_add_tally(const struct evaluation *l, struct facts *f);

/* Finds since when the revision fails, and never decides: the guards come first. */
bool check_workload_clock(struct evaluation *l);
/* Is that longer than the threshold? */
bool check_workload_due(struct evaluation *l);
bool check_workload_controller(struct evaluation *l);
bool check_workload_scalable(struct evaluation *l);
bool check_workload_tally(struct evaluation *l);

#define CHECKS_WORKLOAD_DUE                                                                                  \
	CHECK("R18", ASK_NOT_BEING_DELETED, check_not_deleted),                                              \
		CHECK("R18", ASK_NOT_READY, check_not_ready),                                                \
		CHECK("R4", ASK_FAILED_LONG, check_workload_due)
#define CHECKS_WORKLOAD_ACT                                                                                  \
	CHECK("R15", ASK_CONTROLLER, check_workload_controller),                                             \
		CHECK("R24", ASK_SCALABLE, check_workload_scalable),                                         \
		CHECK("R18", ASK_ALL_FAIL, check_workload_tally), CHECK("Act", THEN_SCALED, check_act)

#endif
