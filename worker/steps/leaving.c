/* leaving.c - before replicas come back: are the pods of before gone? One that is terminating still runs, and
 * may hold a volume or a lock that the new one wants. They are listed, as status.terminatingReplicas
 * (KEP-3973) is of Deployments and ReplicaSets from 1.35 on alone, and a moment old. */
// SPDX-License-Identifier: Apache-2.0
#include "worker/steps/step.h"

#include <stdio.h>

#include "kube/decode_json.h"
#include "worker/action_end.h"

/* Where a scale has no selector, whose pods they are is not known. */
bool needs_leaving(const struct action *a)
{
	return !a->in_doubt && !str_empty(a->found.scale.selector);
}

enum step_then item_leaving(struct action *a, const json_t *item)
{
	struct findings *f = &a->found;
	struct pod_facts p;

	if (decode_pod_json(item, &p) < 0)
		return restore_refuse(a, REASON_TALLY_UNKNOWN, TEXT_POD_UNREAD);
	if (p.deletion == 0 || pod_is_finished(&p)) /* as status.terminatingReplicas counts */
		return STEP_NEXT;
	if (f->leaving++ == 0)
		(void)snprintf(f->leaves, sizeof(f->leaves), "%.*s", STR_ARG(p.name));
	return STEP_NEXT;
}

enum step_then take_leaving(struct action *a, const struct step_reply *reply)
{
	const struct findings *f = &a->found;

	if (!reply->json)
		return restore_refuse(a, REASON_TALLY_UNKNOWN, TEXT_NO_PODS);
	if (f->leaving == 0)
		return STEP_NEXT;
	struct facts why = restore_statement(a, TEXT_STILL_LEAVING);

	facts_count(&why, FACT_TERMINATING, f->leaving);
	facts_name(&why, FACT_POD, STR_C(f->leaves));
	return action_end(a, OUTCOME_REFUSED, REASON_OLD_PODS_TERMINATING, &why);
}
