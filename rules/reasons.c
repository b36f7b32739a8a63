/* reasons.c - the texts of rules/reasons.def; see judge.h. */
// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "rules/judge.h"

static const struct {
	const char *code, *sentence, *remedy;
} reasons[REASON__MAX] = {
#define REASON(ID, code, sentence, remedy) [REASON_##ID] = { code, sentence, remedy },
#include "rules/reasons.def"
#undef REASON
};

static const char *const kinds[] = {
	[VERDICT_NONE] = "none",
	[VERDICT_WAIT] = "wait",
	[VERDICT_ACT] = "act",
	[VERDICT_REFUSE] = "refuse",
};

static bool known(enum reason r)
{
	return (unsigned)r < REASON__MAX;
}

const char *reason_code(enum reason r)
{
	return known(r) ? reasons[r].code : "?";
}

const char *reason_sentence(enum reason r)
{
	return known(r) ? reasons[r].sentence : "?";
}

const char *reason_remedy(enum reason r)
{
	return known(r) ? reasons[r].remedy : "?";
}

int reason_parse(const char *code)
{
	for (int i = 0; i < (int)REASON__MAX; i++)
		if (strcmp(reasons[i].code, code) == 0)
			return i;
	return -1;
}

const char *verdict_kind_name(enum verdict_kind k)
{
	return (unsigned)k <= VERDICT_REFUSE ? kinds[k] : "?";
}
