/* override.c - see override.h. */
// SPDX-License-Identifier: Apache-2.0
#include "config/override.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "config/table.h"

#define DUTIES_FROM offsetof(struct settings, policy.duty)
#define DUTIES_SIZE sizeof(((struct policy *)NULL)->duty)

bool override_has(const struct setting *row)
{
	return row->kind != SET_SECTION && row->off >= DUTIES_FROM && row->off < DUTIES_FROM + DUTIES_SIZE;
}

void override_view(const struct policy_override *o, struct settings *ret)
{
	settings_init(ret);
	memcpy(ret->policy.duty, o->duty, DUTIES_SIZE);
}

void override_take(struct policy_override *o, const struct settings *view)
{
	memcpy(o->duty, view->policy.duty, DUTIES_SIZE);
}

struct policy_override *override_add(struct policy *policy)
{
	struct settings base = { 0 }, copy = { 0 };
	struct policy_override *o;

	policy->overrides = xreallocarray(policy->overrides, policy->n_overrides + 1, sizeof(*o));
	o = &policy->overrides[policy->n_overrides++];
	*o = (struct policy_override){ 0 };
	memcpy(base.policy.duty, policy->duty, DUTIES_SIZE);
	for (const struct setting *row = settings_table; row->path; row++)
		if (override_has(row))
			setting_copy(row, &copy, &base);
	override_take(o, &copy);
	return o;
}

static void override_done(struct policy_override *o)
{
	struct settings view;

	override_view(o, &view);
	for (const struct setting *row = settings_table; row->path; row++)
		if (override_has(row))
			setting_clear(row, &view);
	for (const struct setting *row = settings_override_table; row->path; row++)
		setting_clear(row, o);
}

void overrides_done(struct policy_override **v, size_t *n)
{
	for (size_t i = 0; i < *n; i++)
		override_done(&(*v)[i]);
	free(*v);
	*v = NULL;
	*n = 0;
}
