/* guard.c - see guard.h. */
// SPDX-License-Identifier: Apache-2.0
#include "rules/guard.h"

#include <string.h>

#include "base/cleanup.h"
#include "rules/text.h"

int64_t time_add(int64_t a, int64_t b)
{
	int64_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		return b > 0 ? INT64_MAX : INT64_MIN;
	return sum;
}

bool phase_terminal(const struct pod_facts *p)
{
	return str_is(p->phase, "Succeeded") || str_is(p->phase, "Failed");
}

void verdict_set(struct verdict *v, enum verdict_kind kind, enum reason reason)
{
	v->kind = kind;
	v->reason = reason;
	v->at_ms = 0;
}

void verdict_wait(struct verdict *v, enum reason reason, int64_t at)
{
	verdict_set(v, VERDICT_WAIT, reason);
	v->at_ms = at;
}

static bool is_own_namespace(const struct policy *policy, struct str ns)
{
	return policy->own_namespace && str_is(ns, policy->own_namespace);
}

bool judge_namespace(const struct policy *policy, enum duty d, struct str ns, enum reason *ret)
{
	const struct duty_policy *dp = &policy->duty[d];
	bool named = str_list_has(&dp->namespaces, ns);

	if (!named && !str_list_has(&dp->namespaces, STR_LIT("*"))) {
		*ret = REASON_NAMESPACE_NOT_SELECTED;
		return false;
	}
	if (str_list_has(&policy->exclude_namespaces, ns) ||
	    str_list_has(&policy->exclude_namespaces, STR_LIT("*"))) {
		*ret = REASON_NAMESPACE_EXCLUDED;
		return false;
	}
	if (!named &&
	    (str_list_has(&policy->default_exclude_namespaces, ns) || is_own_namespace(policy, ns))) {
		*ret = REASON_NAMESPACE_PROTECTED;
		return false;
	}
	return true;
}

bool guard_begin(const struct pod_facts *p, const struct policy *policy, enum duty d, struct verdict *v)
{
	enum reason reason;

	memset(v, 0, sizeof(*v));
	v->duty = d;
	if (!policy->duty[d].enable) {
		verdict_set(v, VERDICT_NONE, REASON_DUTY_DISABLED);
		return false;
	}
	if (!judge_namespace(policy, d, p->ns, &reason) && reason == REASON_NAMESPACE_NOT_SELECTED) {
		verdict_set(v, VERDICT_NONE, reason);
		text_evidence(v, "namespace %.*s", STR_ARG(p->ns));
		return false;
	}
	return true;
}

static bool phase_known(struct str phase)
{
	static const char *const phases[] = { "Pending", "Running", "Succeeded", "Failed", "Unknown" };

	for (size_t i = 0; i < ARRAY_SIZE(phases); i++)
		if (str_is(phase, phases[i]))
			return true;
	return false;
}

bool guard_facts(const struct pod_facts *p, const struct policy *policy, enum duty d, enum judge_stage stage,
		 int64_t now, struct verdict *v)
{
	enum reason reason;

	if (policy->duty[d].hours_ms < 0 || policy->duty[d].counts < 0)
		reason = REASON_BAD_POLICY;
	else if (p->containers_cut || p->n_containers > POD_CONTAINERS_MAX)
		reason = REASON_TOO_MANY_CONTAINERS;
	else if (str_empty(p->ns) || str_empty(p->name) || str_empty(p->uid) || !phase_known(p->phase) ||
		 (stage == STAGE_LIVE && str_empty(p->rv)) || p->grace_s < -1)
		reason = REASON_INCOMPLETE_FACTS;
	else if (now <= 0 || p->created <= 0 || p->created > time_add(now, JUDGE_SKEW_MS) ||
		 p->deletion < 0 || (p->deletion > 0 && p->deletion < p->created))
		reason = REASON_BAD_TIMESTAMP;
	else
		return true;
	verdict_set(v, VERDICT_REFUSE, reason);
	return false;
}

static bool is_system_critical(struct str priority_class)
{
	return str_is(priority_class, "system-cluster-critical") ||
	       str_is(priority_class, "system-node-critical");
}

static bool is_own_pod(const struct pod_facts *p, const struct policy *policy)
{
	return policy->own_pod && str_is(p->name, policy->own_pod) &&
	       (!policy->own_namespace || is_own_namespace(policy, p->ns));
}

bool guard_protected(const struct pod_facts *p, const struct policy *policy, enum duty d, bool acts, bool due,
		     struct verdict *v)
{
	bool named = str_list_has(&policy->duty[d].namespaces, p->ns);
	enum reason reason;

	if (acts && is_own_pod(p, policy))
		reason = REASON_OWN_POD;
	else if (!judge_namespace(policy, d, p->ns, &reason))
		;
	else if (acts && p->mirror)
		reason = REASON_MIRROR_POD;
	else if (acts && !named && is_system_critical(p->priority_class))
		reason = REASON_SYSTEM_PRIORITY;
	else if (p->skip)
		reason = REASON_IGNORE_ANNOTATION;
	else
		return true;
	verdict_set(v, due ? VERDICT_REFUSE : VERDICT_NONE, reason);
	return false;
}
