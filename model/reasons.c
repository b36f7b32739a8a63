/* reasons.c - the texts of model/reasons.def; see reasons.h. */
// SPDX-License-Identifier: Apache-2.0
#include "model/reasons.h"

#include <string.h>

static const struct {
	const char *code, *sentence, *remedy;
} reasons[REASON__MAX] = {
#define REASON(ID, code, sentence, remedy) [REASON_##ID] = { code, sentence, remedy },
#include "model/reasons.def"
#undef REASON
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

/* Reasons that do not go away by waiting. Others are by somebody's will (an excluded namespace) or pass. */
static const enum reason for_a_person[] = {
	REASON_HAS_FINALIZERS,
	REASON_FORBIDDEN,
	REASON_UNAUTHORIZED,
	REASON_SERVER_REJECTED,
	REASON_NODE_UNKNOWN,
	REASON_VOLUMES_UNKNOWN,
	REASON_OWNER_UNREADABLE,
	REASON_TALLY_UNKNOWN,
	REASON_KIND_NOT_SCALABLE,
	REASON_NO_CONTROLLER,
	REASON_HAS_HPA,
	REASON_HAS_KEDA,
	REASON_CAUSE_AUTH,
	REASON_PVC_WOULD_BE_DELETED,
	REASON_PODS_DO_NOT_LEAVE,
	REASON_EVICT_LOOP,
	REASON_FORCE_NOT_SAFE,
	REASON_NODE_NOT_READY,
	REASON_CONTAINER_RUNNING,
	REASON_VOLUME_ATTACHED,
	REASON_BAD_TIMESTAMP,
	REASON_OWNER_CHAIN_TOO_DEEP,
	REASON_TOO_MANY_CONTAINERS,
};

bool reason_needs_person(enum reason r)
{
	for (size_t i = 0; i < sizeof(for_a_person) / sizeof(for_a_person[0]); i++)
		if (for_a_person[i] == r)
			return true;
	return false;
}
