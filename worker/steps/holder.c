/* holder.c - a pod that is stuck: does its workload wait for it to go? A StatefulSet does, as the next pod
 * bears the same name; a Deployment by its strategy Recreate (oldPodsRunning in kubernetes
 * pkg/controller/deployment/recreate.go) or its podReplacementPolicy (KEP-5882), a Job by its own (KEP-3939),
 * both only for a pod that is not over. It is evidence, and what may not be read is left out. */
// SPDX-License-Identifier: Apache-2.0
#include "worker/steps/step.h"

#include <stdio.h>

#include "worker/action_end.h"

static bool is_of(const struct owner_facts *o, const char *version, const char *kind)
{
	return str_is(o->api_version, version) && str_is(o->kind, kind);
}

/* `terminating` is the count of its status; NULL or 0: not told. It stands in what the judge says, too. */
static void note(struct action *a, const struct owner_facts *o, const char *why, const json_t *terminating)
{
	const long long n = json_integer_value(terminating);
	char text[120];

	(void)snprintf(text, sizeof(text), n > 0 ? "%s, %lld terminating" : "%s", why, n);
	(void)snprintf(a->found.holds_up, sizeof(a->found.holds_up),
		       "%.*s %.*s makes no other pod before it is gone (%s)", STR_ARG(o->kind),
		       STR_ARG(o->name), text);
}

/* A Deployment that lacks no pod of its newest template waits for none. */
static void judge_deployment(struct action *a, const struct owner_link *o)
{
	const json_t *wanted = READ_AT(o->json, "spec", "replicas");
	const json_int_t updated = json_integer_value(READ_AT(o->json, "status", "updatedReplicas"));
	const char *why = str_is(READ_TEXT(o->json, "spec", "strategy", "type"), "Recreate")
				  ? "strategy Recreate"
			  : str_is(READ_TEXT(o->json, "spec", "podReplacementPolicy"), "TerminationComplete")
				  ? "podReplacementPolicy TerminationComplete"
				  : NULL;

	if (why && updated < (json_is_integer(wanted) ? json_integer_value(wanted) : 1))
		note(a, &o->ref, why, READ_AT(o->json, "status", "terminatingReplicas"));
}

static void judge_job(struct action *a, const struct owner_link *o)
{
	if (str_is(READ_TEXT(o->json, "spec", "podReplacementPolicy"), "Failed") &&
	    !json_is_true(READ_AT(o->json, "spec", "suspend")))
		note(a, &o->ref, "podReplacementPolicy Failed", READ_AT(o->json, "status", "terminating"));
}

enum step_then take_holder(struct action *a, const struct step_reply *reply)
{
	const struct findings *f = &a->found;
	const struct owner_facts *by = &a->pod.owner;

	(void)reply;
	if (is_of(by, "apps/v1", "StatefulSet"))
		note(a, by, "the next bears its name", NULL);
	if (pod_is_finished(&a->pod))
		return STEP_NEXT;
	if (f->n_owners > 1 && is_of(by, "apps/v1", "ReplicaSet") &&
	    is_of(&f->owners[1].ref, "apps/v1", "Deployment"))
		judge_deployment(a, &f->owners[1]);
	else if (f->n_owners > 0 && is_of(by, "batch/v1", "Job"))
		judge_job(a, &f->owners[0]);
	return STEP_NEXT;
}
