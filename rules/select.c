/* select.c - see select.h. */
// SPDX-License-Identifier: Apache-2.0
#include "rules/select.h"

#include <string.h>

static bool has_label(const struct pod_facts *p, const char *want)
{
	const char *eq = strchr(want, '=');
	const struct str key = { want, eq ? (size_t)(eq - want) : strlen(want) };
	const struct str value = eq ? STR_C(eq + 1) : (struct str){ "", 0 };

	for (uint32_t i = 0; i < p->n_labels && i < POD_LABELS_MAX; i++)
		if (str_eq(p->labels[i].key, key) && str_eq(p->labels[i].value, value))
			return true;
	return false;
}

static bool has_labels(const struct pod_facts *p, const struct str_list *want)
{
	for (size_t i = 0; i < want->n; i++)
		if (!has_label(p, want->v[i]))
			return false;
	return want->n > 0;
}

uint32_t select_labels(const struct policy *policy, const struct pod_facts *p)
{
	uint32_t mask = p->labels_mask;
	bool any = false;

	for (size_t i = 0; i < policy->n_overrides && i < OVERRIDES_MAX; i++) {
		any = any || policy->overrides[i].labels.n > 0;
		if (has_labels(p, &policy->overrides[i].labels))
			mask |= 1u << i;
	}
	return any && p->labels_cut ? mask | SELECT_LABELS_UNKNOWN : mask;
}

bool select_labels_alike(const struct policy *a, const struct policy *b)
{
	for (size_t i = 0; i < a->n_overrides || i < b->n_overrides; i++) {
		const struct str_list none = { 0 };
		const struct str_list *x = i < a->n_overrides ? &a->overrides[i].labels : &none;
		const struct str_list *y = i < b->n_overrides ? &b->overrides[i].labels : &none;

		if (x->n != y->n)
			return false;
		for (size_t k = 0; k < x->n; k++)
			if (strcmp(x->v[k], y->v[k]) != 0)
				return false;
	}
	return true;
}

static enum tri serves(const struct policy_override *o, const struct pod_facts *p)
{
	return namespaces_match(&o->namespaces, p->ns, p->namespace_labels);
}

/* 3 labels and namespace, 2 labels, 1 namespace, 0 does not match. */
static unsigned specific(const struct policy_override *o, const struct pod_facts *p, bool labels_match)
{
	if ((o->labels.n && !labels_match) || (o->namespaces.n && serves(o, p) != TRI_YES))
		return 0;
	return (o->labels.n ? 2u : 0u) + (o->namespaces.n ? 1u : 0u);
}

static const struct policy_override *find(const struct policy *policy, const struct pod_facts *p,
					  uint32_t mask)
{
	const struct policy_override *best = NULL;
	unsigned best_rank = 0;

	for (size_t i = 0; i < policy->n_overrides && i < OVERRIDES_MAX; i++) {
		const unsigned rank = specific(&policy->overrides[i], p, (mask >> i) & 1u);

		if (rank > best_rank) {
			best_rank = rank;
			best = &policy->overrides[i];
		}
	}
	return best;
}

const struct policy_override *select_override(const struct policy *policy, const struct pod_facts *p)
{
	return policy->n_overrides ? find(policy, p, select_labels(policy, p)) : NULL;
}

const struct duty_policy *policy_of(const struct policy *policy, const struct pod_facts *p)
{
	const struct policy_override *o = select_override(policy, p);

	return o ? o->duty : policy->duty;
}

bool select_overrides_known(const struct policy *policy, const struct pod_facts *p)
{
	for (size_t i = 0; i < policy->n_overrides; i++)
		if (serves(&policy->overrides[i], p) == TRI_UNKNOWN)
			return false;
	return true;
}

static bool refuse(enum reason why, enum reason *ret)
{
	*ret = why;
	return false;
}

bool select_unprotected(const struct policy *policy, enum duty d, const struct pod_facts *p, enum reason *ret)
{
	const enum tri excluded = namespaces_match(&policy->exclude_namespaces, p->ns, p->namespace_labels);
	const bool own = policy->own_namespace && str_is(p->ns, policy->own_namespace);
	enum tri protected;

	if (excluded == TRI_YES)
		return refuse(REASON_NAMESPACE_EXCLUDED, ret);
	if (excluded == TRI_UNKNOWN)
		return refuse(REASON_NAMESPACE_UNKNOWN, ret);
	if (namespaces_name(&policy->duty[d].namespaces, p->ns))
		return true;
	protected = namespaces_match(&policy->default_exclude_namespaces, p->ns, p->namespace_labels);
	if (own || protected == TRI_YES)
		return refuse(REASON_NAMESPACE_PROTECTED, ret);
	return protected == TRI_NO || refuse(REASON_NAMESPACE_UNKNOWN, ret);
}

enum tri select_wanted(const struct policy *policy, enum duty d, const struct pod_facts *p)
{
	return namespaces_match(&policy->duty[d].namespaces, p->ns, p->namespace_labels);
}

bool select_namespace(const struct policy *policy, enum duty d, const struct pod_facts *p, enum reason *ret)
{
	const enum tri wanted = select_wanted(policy, d, p);

	if (wanted == TRI_NO)
		return refuse(REASON_NAMESPACE_NOT_SELECTED, ret);
	return select_unprotected(policy, d, p, ret) &&
	       (wanted == TRI_YES || refuse(REASON_NAMESPACE_UNKNOWN, ret));
}
