/* floors.h - before which time a workload cannot have begun to fail. Since when it does is the watcher's
 * word, from its memory; what a worker reads itself may show that it is less, and so may what the supervisor
 * has heard. A floor delays an act and never
 * leads to one: an old floor proves nothing. Layer: rules.  Pure.  Times: Unix ms, 0 = nothing tells. */
// SPDX-License-Identifier: Apache-2.0
#ifndef RULES_FLOORS_H
#define RULES_FLOORS_H

#include <stdint.h>

#include "model/duties.h"
#include "text/texts.h"

enum floor {
	FLOOR_WORKLOAD,    /* the topmost owner was made */
	FLOOR_REVISION,    /* what owns its pods was made */
	FLOOR_UNAVAILABLE, /* its condition Available became False: until then enough of its pods served */
	FLOOR_WORKED,      /* a pod of the revision worked until then (judge_worked_at) */
	FLOOR_SERVED,  /* a pod of an older revision, which fails by no duty, was Ready until then, or made */
	FLOOR_KNOWN,   /* its watcher first said so to the supervisor (GRANT) */
	FLOOR_WATCHED, /* nobody watched the cluster before, and the pod does not tell of a time before */
	FLOOR__MAX
};

/* The latest time of each. Zero-initialised = nothing is known. */
struct floors {
	int64_t at[FLOOR__MAX];
};

void floors_add(struct floors *f, enum floor floor, int64_t at);
/* Since when it fails at most: the latest of `since` and of the floors that the duty heeds. *ret_why: what
 * the floor is, TEXT__MAX when it is `since`. A `since` that is unknown (0) or garbage (below) stays what it
 * is.
 */
int64_t floors_since(const struct floors *f, enum duty d, int64_t since, enum text *ret_why);

#endif
