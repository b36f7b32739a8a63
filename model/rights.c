/* rights.c - see rights.h. */
// SPDX-License-Identifier: Apache-2.0
#include "model/rights.h"

#include "base/cleanup.h"

static const struct role_desc roles[ROLE_OF__MAX] = {
#define ROLE_ROW(ID, name, account, scope, bound)                                                            \
	[ROLE_OF_##ID] = { name, ACCOUNT_##account, SCOPE_##scope, BOUND_##bound },
	ROLE_LIST(ROLE_ROW)
#undef ROLE_ROW
};

static const struct right_desc rights[] = {
#define RIGHT_ROW(role, set, group, resources, verbs, needs, why)                                            \
	{ ROLE_OF_##role, SET_##set, group, resources, verbs, NEED_##needs, why },
	RIGHT_LIST(RIGHT_ROW)
#undef RIGHT_ROW
};

static const struct kind_desc kinds[] = {
#define KIND(group, version, kind, resource, namespaced, scale, suspend)                                     \
	{ group, resource, kind, namespaced, scale, SUSPEND_##suspend, scale },
#include "model/kinds.def"
#undef KIND
};

const struct right_desc *right_at(size_t i)
{
	return i < ARRAY_SIZE(rights) ? &rights[i] : NULL;
}

const struct kind_desc *kind_at(size_t i)
{
	return i < ARRAY_SIZE(kinds) ? &kinds[i] : NULL;
}

const struct role_desc *role_of(enum right_role r)
{
	return &roles[r];
}

bool right_is_for(enum right_set set, const struct kind_desc *k)
{
	const bool is[] = {
		[SET_SCALES] = k->scale,
		[SET_WHOLES] = k->scale && k->whole,
		[SET_BY_SCALE] = k->scale && !k->whole,
		[SET_SUSPENDS] = k->suspend != SUSPEND_NO,
		[SET_SUSPENDS_JOB] = k->suspend == SUSPEND_JOB,
		[SET_SUSPENDS_CRON] = k->suspend == SUSPEND_CRON,
		[SET_OTHERS] = !k->scale && !k->suspend,
	};

	return k->namespaced && is[set];
}
