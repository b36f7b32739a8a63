/* holder.c - a pod that is stuck: does its workload wait for it to go? A StatefulSet does, as the next pod
 * bears the same name; a Deployment by its strategy Recreate (oldPodsRunning in kubernetes
 * pkg/controller/deployment/recreate.go) or its podReplacementPolicy (KEP-5882), a Job by its own (KEP-3939),
 * both only for a pod that is not over. It is evidence, and what may not be read is left out. */
// SPDX-License-Identifier: Apache-2.0
#include "worker/steps/step.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "worker/action_end.h"

static bool is_of(const struct owner_facts *o, const char *version, const char *kind)
{
	return str_is(o->api_version, version) && str_is(o->kind, kind);
}

/* What controls the pod, or its ReplicaSet once that was read. */
static struct owner_facts holder(const struct action *a)
{
	struct owner_facts o = a->pod.owner;

	if (a->found.set_json && !read_controller(a->found.set_json, &o))
		o = (struct owner_facts){ 0 };
	return o;
}

static void ask_owner(struct action *a, struct step_request *ret)
{
	struct owner_link o = { .ref = holder(a) };

	if (owner_kinds_find(a->env.kinds, o.ref.api_version, o.ref.kind, clock_boot_ms(), &o.kind) ==
	    OWNER_KINDS_FOUND)
		ret->path = object_path(a, &o, NULL, NULL);
}

/* `terminating` is the count of its status; NULL or 0: not told. It stands in what the judge says, too. */
static void note(struct action *a, const char *why, const json_t *terminating)
{
	const struct owner_facts o = holder(a);
	const long long n = json_integer_value(terminating);
	char text[120];

	(void)snprintf(text, sizeof(text), n > 0 ? "%s, %lld terminating" : "%s", why, n);
	(void)snprintf(a->found.holds_up, sizeof(a->found.holds_up),
		       "%.*s %.*s makes no other pod before it is gone (%s)", STR_ARG(o.kind),
		       STR_ARG(o.name), text);
}

bool needs_namesake(const struct action *a)
{
	return is_of(&a->pod.owner, "apps/v1", "StatefulSet");
}

enum step_then take_namesake(struct action *a, const struct step_reply *reply)
{
	(void)reply;
	note(a, "the next bears its name", NULL);
	return STEP_NEXT;
}

bool needs_set(const struct action *a)
{
	return is_of(&a->pod.owner, "apps/v1", "ReplicaSet") && !pod_is_finished(&a->pod);
}

void ask_set(struct action *a, struct step_request *ret)
{
	ask_owner(a, ret);
}

enum step_then take_set(struct action *a, const struct step_reply *reply)
{
	if (str_eq(READ_TEXT(reply->json, "metadata", "uid"), a->pod.owner.uid))
		a->found.set_json = json_incref(reply->json);
	return STEP_NEXT;
}

bool needs_holder(const struct action *a)
{
	const struct owner_facts o = holder(a);

	return !pod_is_finished(&a->pod) &&
	       (is_of(&o, "apps/v1", "Deployment") || is_of(&o, "batch/v1", "Job"));
}

void ask_holder(struct action *a, struct step_request *ret)
{
	ask_owner(a, ret);
}

/* A Deployment that lacks no pod of its newest template waits for none. */
static void judge_deployment(struct action *a, const json_t *o)
{
	const json_t *wanted = READ_AT(o, "spec", "replicas");
	const json_int_t updated = json_integer_value(READ_AT(o, "status", "updatedReplicas"));
	const char *why = str_is(READ_TEXT(o, "spec", "strategy", "type"), "Recreate") ? "strategy Recreate"
			  : str_is(READ_TEXT(o, "spec", "podReplacementPolicy"), "TerminationComplete")
				  ? "podReplacementPolicy TerminationComplete"
				  : NULL;

	if (why && updated < (json_is_integer(wanted) ? json_integer_value(wanted) : 1))
		note(a, why, READ_AT(o, "status", "terminatingReplicas"));
}

static void judge_job(struct action *a, const json_t *o)
{
	if (str_is(READ_TEXT(o, "spec", "podReplacementPolicy"), "Failed") &&
	    !json_is_true(READ_AT(o, "spec", "suspend")))
		note(a, "podReplacementPolicy Failed", READ_AT(o, "status", "terminating"));
}

enum step_then take_holder(struct action *a, const struct step_reply *reply)
{
	const struct owner_facts o = holder(a);

	if (!str_eq(READ_TEXT(reply->json, "metadata", "uid"), o.uid))
		return STEP_NEXT;
	if (str_is(o.kind, "Deployment"))
		judge_deployment(a, reply->json);
	else
		judge_job(a, reply->json);
	return STEP_NEXT;
}
