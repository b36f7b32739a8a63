/* holder.c - a pod that is stuck: does its workload wait for it to go? A StatefulSet does, as the next pod
 * bears the same name; a Deployment by its strategy Recreate (oldPodsRunning in kubernetes
 * pkg/controller/deployment/recreate.go) or its podReplacementPolicy (KEP-5882), a Job by its own (KEP-3939),
 * both only for a pod that is not over. It is evidence, and what may not be read is left out. */
// SPDX-License-Identifier: Apache-2.0
#include "worker/steps/step.h"

#include <stdlib.h>

#include "worker/action_end.h"

static bool is_of(const struct owner_facts *o, const char *version, const char *kind)
{
	return str_is(o->api_version, version) && str_is(o->kind, kind);
}

/* `terminating` is the count of its status; NULL or 0: not told. It stands in what the judge says, too. */
static void note(struct action *a, const struct owner_facts *o, enum text why, const json_t *terminating)
{
	const json_int_t n = json_integer_value(terminating);
	struct facts f = facts_of(TEXT_HOLDS_UP);

	action_name(&f, FACT_HOLDER, o->kind, o->name);
	facts_text(&f, FACT_HELD_UP_BY, why);
	facts_count(&f, FACT_TERMINATING, n > 0 ? n : -1);
	free(a->found.holds_up);
	a->found.holds_up = facts_dup(&f);
}

/* A Deployment that lacks no pod of its newest template waits for none. */
static void judge_deployment(struct action *a, const struct owner_link *o)
{
	const json_t *wanted = READ_AT(o->json, "spec", "replicas");
	const json_int_t updated = json_integer_value(READ_AT(o->json, "status", "updatedReplicas"));
	const enum text why =
		str_is(READ_TEXT(o->json, "spec", "strategy", "type"), "Recreate") ? TEXT_HOLDS_UP_RECREATE
		: str_is(READ_TEXT(o->json, "spec", "podReplacementPolicy"), "TerminationComplete")
			? TEXT_HOLDS_UP_COMPLETE
			: TEXT__MAX;

	if (why < TEXT__MAX && updated < (json_is_integer(wanted) ? json_integer_value(wanted) : 1))
		note(a, &o->ref, why, READ_AT(o->json, "status", "terminatingReplicas"));
}

static void judge_job(struct action *a, const struct owner_link *o)
{
	if (str_is(READ_TEXT(o->json, "spec", "podReplacementPolicy"), "Failed") &&
	    !json_is_true(READ_AT(o->json, "spec", "suspend")))
		note(a, &o->ref, TEXT_HOLDS_UP_FAILED, READ_AT(o->json, "status", "terminating"));
}

enum step_then take_holder(struct action *a, const struct step_reply *reply)
{
	const struct findings *f = &a->found;
	const struct owner_facts *by = &a->pod.owner;

	(void)reply;
	if (is_of(by, "apps/v1", "StatefulSet"))
		note(a, by, TEXT_HOLDS_UP_NAME, NULL);
	if (pod_is_finished(&a->pod))
		return STEP_NEXT;
	if (f->n_owners > 1 && is_of(by, "apps/v1", "ReplicaSet") &&
	    is_of(&f->owners[1].ref, "apps/v1", "Deployment"))
		judge_deployment(a, &f->owners[1]);
	else if (f->n_owners > 0 && is_of(by, "batch/v1", "Job"))
		judge_job(a, &f->owners[0]);
	return STEP_NEXT;
}
