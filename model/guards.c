/* guards.c - see guards.h. */
// SPDX-License-Identifier: Apache-2.0
#include "model/guards.h"

enum { EVERY = true, NAME = false, SAY = true, QUIET = false };

static const struct guard_desc guards[GUARD__MAX] = {
#define GUARD(ID, name, reason, scope, concerns, saved, reported)                                            \
	[GUARD_##ID] = { name, REASON_##reason, BLOCK_##scope, concerns, reported, saved },
#include "model/guards.def"
#undef GUARD
};

const struct guard_desc *guard_desc(enum guard g)
{
	return &guards[g];
}

const char *guard_name(enum guard g)
{
	return (unsigned)g < GUARD__MAX ? guards[g].name : "?";
}
