/* override.c - see override.h. */
// SPDX-License-Identifier: Apache-2.0
#include "config/override.h"

#include <stddef.h>
#include <string.h>

#include "base/xalloc.h"
#include "config/table.h"

#define DUTIES_SIZE sizeof(((struct policy *)NULL)->duty)

void override_view(const struct policy_override *o, struct settings *ret)
{
	*ret = (struct settings){ 0 };
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
		if (setting_is_of_duty(row))
			setting_copy(row, &copy, &base);
	override_take(o, &copy);
	return o;
}
