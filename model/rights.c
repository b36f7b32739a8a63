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

const char *kind_named(struct str said)
{
	static const char *const shorts[][2] = { { "po", "Pod" },          { "pod", "Pod" },
						 { "pods", "Pod" },        { "deploy", "Deployment" },
						 { "sts", "StatefulSet" }, { "ds", "DaemonSet" },
						 { "rs", "ReplicaSet" },   { "rc", "ReplicationController" },
						 { "cj", "CronJob" },      { "ro", "Rollout" } };

	for (size_t i = 0; i < ARRAY_SIZE(shorts); i++)
		if (str_is_word(said, shorts[i][0]))
			return shorts[i][1];
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (str_is_word(said, kinds[i].kind) || str_is_word(said, kinds[i].resource))
			return kinds[i].kind;
	return NULL;
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
