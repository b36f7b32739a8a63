/* target.c - see target.h. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/target.h"

#include <string.h>

#include "base/cleanup.h"

static void add_once(struct str_list *l, const char *name)
{
	if (!str_list_has(l, STR_C(name)))
		str_list_add(l, name, strlen(name));
}

void target_namespaces(const struct settings *s, struct str_list *ret)
{
	for (int d = 0; d < DUTY__MAX; d++) {
		const struct duty_policy *p = &s->policy.duty[d];

		for (size_t i = 0; policy_enables(&s->policy, (enum duty)d) && i < p->namespaces.n; i++)
			if (strcmp(p->namespaces.v[i], "*") != 0)
				add_once(ret, p->namespaces.v[i]);
	}
	if (ret->n == 0 && s->cluster.namespace && *s->cluster.namespace)
		add_once(ret, s->cluster.namespace);
}

bool target_same_list(const struct str_list *a, const struct str_list *b)
{
	for (size_t i = 0; i < a->n; i++)
		if (!str_list_has(b, STR_C(a->v[i])))
			return false;
	return a->n == b->n;
}

const char *target_lease_namespace(const struct settings *s)
{
	const char *const wanted[] = { s->lease_namespace, s->policy.own_namespace, s->cluster.namespace };

	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
		if (wanted[i] && *wanted[i])
			return wanted[i];
	return "default";
}
