/* actions.h - what is written to a cluster, from model/actions.def, and how that ends, from
 * model/outcomes.def. Layer: model.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef MODEL_ACTIONS_H
#define MODEL_ACTIONS_H

#include <stdint.h>

#include "model/reasons.h"

enum action_kind {
#define ACTION(ID, id, ...) ACTION_##ID = id,
#include "model/actions.def"
#undef ACTION
	ACTION__MAX,
	ACTION_NONE = ACTION__MAX, /* of a duty that only reports */
};

/* How a scale-down is carried out on what it finds: replicas 0; a Job is suspended; of a StatefulSet the pod
 * is deleted that holds up its order (worker/steps/ordinal.c). */
enum scale_way { SCALE_TO_ZERO, SCALE_SUSPENDS, SCALE_DELETES };

enum action_target { TARGET_POD, TARGET_WORKLOAD };

struct action_desc {
	const char *name; /* "scaleDown" */
	enum action_target target;
	const char *verb, *resources; /* that RBAC has to allow */
};

/* Its row. a is below ACTION__MAX. */
const struct action_desc *action_desc(enum action_kind a);

enum outcome {
#define OUTCOME(ID, id, ...) OUTCOME_##ID = id,
#include "model/outcomes.def"
#undef OUTCOME
	OUTCOME__MAX
};
/* In messages: it has not ended. */
#define OUTCOME_OPEN (-1)

/* Sets of outcomes: bit 1 << outcome, and OUTCOMES_OPEN for what has not ended yet. */
#define OUTCOMES_OPEN (UINT64_C(1) << OUTCOME__MAX)
#define OUTCOMES_ALL  (2 * OUTCOMES_OPEN - 1)

enum written { WRITTEN_NO, WRITTEN_YES, WRITTEN_MAYBE };
/* The set of those that changed something, or may have. */
enum {
	OUTCOMES_WRITTEN = 0
#define OUTCOME(ID, id, name, written, settled, doc) | (WRITTEN_##written == WRITTEN_NO ? 0 : 1 << id)
#include "model/outcomes.def"
#undef OUTCOME
};

/* The set of those of which it is known. */
enum {
	OUTCOMES_KNOWN_WRITTEN = 0
#define OUTCOME(ID, id, name, written, settled, doc) | (WRITTEN_##written == WRITTEN_YES ? 1 << id : 0)
#include "model/outcomes.def"
#undef OUTCOME
};

/* The set of those that a budget counts: dry runs against those of dry runs. */
#define OUTCOMES_SPENT (OUTCOMES_WRITTEN | UINT64_C(1) << OUTCOME_WOULD)

enum settled { SETTLED_AT_ONCE, SETTLED_WHEN_GONE };
/* The set of those that, of a deletion, are known only when the pod is gone; and the actions that are
 * deletions. */
enum {
	OUTCOMES_FOLLOWED = 0
#define OUTCOME(ID, id, name, written, settled, doc) | (SETTLED_##settled == SETTLED_WHEN_GONE ? 1 << id : 0)
#include "model/outcomes.def"
#undef OUTCOME
};
enum {
	ACTIONS_ON_PODS = 0
#define ACTION(ID, id, name, target, ...) | (TARGET_##target == TARGET_POD ? 1 << id : 0)
#include "model/actions.def"
#undef ACTION
};

/* Its name; "open" outside the table. */
const char *outcome_name(enum outcome o);

#endif
