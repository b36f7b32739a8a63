/* verdicts.c - see verdicts.h. */
// SPDX-License-Identifier: Apache-2.0
#include "model/verdicts.h"

static const char *const verdict_kinds[VERDICT__MAX] = {
	[VERDICT_NONE] = "none",
	[VERDICT_WAIT] = "wait",
	[VERDICT_ACT] = "act",
	[VERDICT_REFUSE] = "refuse",
};

const char *verdict_kind_name(enum verdict_kind k)
{
	return (unsigned)k < VERDICT__MAX ? verdict_kinds[k] : "?";
}
