/* actions.c - see actions.h. */
// SPDX-License-Identifier: Apache-2.0
#include "model/actions.h"

#include <stddef.h>

static const struct action_desc actions[ACTION__MAX] = {
#define ACTION(ID, id, name, target, verb, resources) [id] = { name, TARGET_##target, verb, resources },
#include "model/actions.def"
#undef ACTION
};

const struct action_desc *action_desc(enum action_kind a)
{
	return &actions[a];
}

const char *outcome_name(enum outcome o)
{
	static const char *const names[OUTCOME__MAX] = {
#define OUTCOME(ID, id, name, ...) [id] = name,
#include "model/outcomes.def"
#undef OUTCOME
	};

	return (unsigned)o < OUTCOME__MAX ? names[o] : "open";
}
