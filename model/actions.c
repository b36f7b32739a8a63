/* actions.c - see actions.h. */
// SPDX-License-Identifier: Apache-2.0
#include "model/actions.h"

static const struct action_desc actions[ACTION__MAX] = {
#define ACTION(ID, id, name, target, done, verb, resources)                                                  \
	[id] = { name, TARGET_##target, done, verb, resources },
#include "model/actions.def"
#undef ACTION
};

const struct action_desc *action_desc(enum action_kind a)
{
	return &actions[a];
}
