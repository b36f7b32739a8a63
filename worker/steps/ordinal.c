/* ordinal.c - a StatefulSet replaces its pods in order, and none while one is not Ready: a pod that
 * fails by a template that was corrected since holds it up for ever (kubernetes/kubernetes#67250). Once it is
 * deleted the StatefulSet makes it again, of the newest revision. */
// SPDX-License-Identifier: Apache-2.0
#include "worker/steps/step.h"

#include "worker/action_end.h"

static bool is_or_unset(struct str value, const char *what)
{
	return str_empty(value) || str_is(value, what);
}

/* OnDelete leaves it to its owner, and below a partition the older revision is what is wanted. */
static bool replaces_in_order(const json_t *set)
{
	return is_or_unset(READ_TEXT(set, "spec", "podManagementPolicy"), "OrderedReady") &&
	       is_or_unset(READ_TEXT(set, "spec", "updateStrategy", "type"), "RollingUpdate") &&
	       json_integer_value(READ_AT(set, "spec", "updateStrategy", "rollingUpdate", "partition")) == 0;
}

static struct str newest(const struct action *a)
{
	return READ_TEXT(a->found.owners[0].json, "status", "updateRevision");
}

bool ordinal_holds_up(const struct action *a)
{
	const struct owner_link *o = &a->found.owners[0];

	return owner_is(o, "apps", "StatefulSet") && !str_empty(newest(a)) && !str_empty(a->pod.revision) &&
	       !str_eq(newest(a), a->pod.revision) && replaces_in_order(o->json);
}

static void add_why(const struct action *a, struct facts *f)
{
	facts_finding(f, TEXT_ORDINAL_WAITS);
	facts_name(f, FACT_REVISION, newest(a));
	facts_name(f, FACT_POD, a->pod.name);
}

enum step_then ordinal_begin(struct action *a)
{
	struct facts why = { 0 };

	if (action_policy(a)->ordinal_stuck == ORDINAL_DELETE) {
		a->found.way = SCALE_DELETES;
		a->found.context.ordinal_stuck = TRI_YES;
		add_why(a, action_evidence(a));
		return STEP_NEXT;
	}
	action_name_owner(&why, FACT_WORKLOAD, &a->found.owners[0]);
	add_why(a, &why);
	facts_finding(&why, TEXT_ORDINAL_COMMAND);
	facts_name(&why, FACT_NAMESPACE, STR_C(a->grant.ns));
	facts_name(&why, FACT_POD, a->pod.name);
	return action_end(a, OUTCOME_REFUSED, REASON_ORDINAL_STUCK, &why);
}
