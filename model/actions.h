/* actions.h - what is written to a cluster, from model/actions.def.  Layer: model.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef MODEL_ACTIONS_H
#define MODEL_ACTIONS_H

enum action_kind {
#define ACTION(ID, id, ...) ACTION_##ID = id,
#include "model/actions.def"
#undef ACTION
	ACTION__MAX,
	ACTION_NONE = ACTION__MAX, /* of a duty that only reports */
};

enum action_target { TARGET_POD, TARGET_WORKLOAD };

struct action_desc {
	const char *name; /* "scaleDown" */
	enum action_target target;
	const char *done;             /* "deleted by force" */
	const char *verb, *resources; /* that RBAC has to allow */
};

/* Its row. a is below ACTION__MAX. */
const struct action_desc *action_desc(enum action_kind a);

#endif
