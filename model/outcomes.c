/* outcomes.c - see outcomes.h. */
// SPDX-License-Identifier: Apache-2.0
#include "model/outcomes.h"

static const char *const names[OUTCOME__MAX] = {
#define OUTCOME(ID, id, name, ...) [id] = name,
#include "model/outcomes.def"
#undef OUTCOME
};

const char *outcome_name(enum outcome o)
{
	return (unsigned)o < OUTCOME__MAX ? names[o] : "open";
}
