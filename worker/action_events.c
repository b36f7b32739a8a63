/* action_events.c - what an action that has ended says on the object itself, in Kubernetes Events: what was
 * announced, what was done, and what is refused until a person does something. */
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "worker/steps/step.h"

/* Refusals that do not pass by themselves: somebody who looks at the object wants to know. */
static const enum reason for_a_person[] = {
	REASON_FORCE_NOT_SAFE,
	REASON_NODE_NOT_READY,
	REASON_CONTAINER_RUNNING,
	REASON_VOLUME_ATTACHED,
	REASON_CAUSE_TRANSIENT,
	REASON_CAUSE_AUTH,
	REASON_CAUSE_UNKNOWN,
	REASON_HAS_HPA,
	REASON_HAS_KEDA,
	REASON_REVERTED,
	REASON_KIND_NOT_SCALABLE,
	REASON_PVC_WOULD_BE_DELETED,
	REASON_OWNER_CHAIN_TOO_DEEP,
	REASON_ROLLOUT_STABLE_SERVING,
};

static bool is_for_a_person(const char *code)
{
	for (size_t i = 0; i < ARRAY_SIZE(for_a_person); i++)
		if (strcmp(code, reason_code(for_a_person[i])) == 0)
			return true;
	return false;
}

/* What was done, by who was written to. */
static void describe_act(const struct action *e, char *buf, size_t size)
{
	const struct msg_result *r = &e->result.u.result;

	if (e->grant.action == ACTION_RESTORE)
		(void)snprintf(buf, size, "replicas put back");
	else if (e->grant.action == ACTION_RETRY)
		(void)snprintf(buf, size, "deleted for a fresh attempt");
	else if (e->grant.duty == DUTY_TERMINATING)
		(void)snprintf(buf, size, "deleted by force");
	else if (e->grant.duty == DUTY_EVICTED)
		(void)snprintf(buf, size, "deleted");
	else if (e->suspends)
		(void)snprintf(buf, size, "suspended");
	else
		(void)snprintf(buf, size, "scaled from %lld to 0", (long long)r->replicas);
}

static void describe(const struct action *e, struct event *ret)
{
	const struct msg_result *r = &e->result.u.result;
	const int parsed = reason_parse(r->reason);
	const enum reason reason = parsed < 0 ? REASON_NOTHING_TO_DO : (enum reason)parsed;
	char act[80] = "";

	(void)snprintf(ret->reason, sizeof(ret->reason), "%s", r->reason);
	if (r->outcome == OUTCOME_DONE)
		describe_act(e, act, sizeof(act));
	if (r->outcome == OUTCOME_REFUSED)
		(void)snprintf(ret->message, sizeof(ret->message), "nothing was done: %s (%s); to do: %s",
			       reason_sentence(reason), r->detail, reason_remedy(reason));
	else
		(void)snprintf(ret->message, sizeof(ret->message), "%s%s%s (%s)", act, *act ? ": " : "",
			       reason_sentence(reason), r->detail);
	ret->warning = r->outcome != OUTCOME_DONE;
}

static void about_pod(const struct action *e, struct event *ret)
{
	(void)snprintf(ret->api_version, sizeof(ret->api_version), "v1");
	(void)snprintf(ret->kind, sizeof(ret->kind), "Pod");
	(void)snprintf(ret->name, sizeof(ret->name), "%s", e->grant.name);
	(void)snprintf(ret->uid, sizeof(ret->uid), "%s", e->grant.uid);
}

static bool fits(size_t size, struct str s)
{
	return s.n > 0 && s.n < size;
}

static bool about_owner(const struct owner *o, struct event *ret)
{
	if (!o->kind.namespaced || !o->kind.version[0] || !fits(sizeof(ret->name), o->ref.name) ||
	    !fits(sizeof(ret->uid), o->ref.uid))
		return false;
	(void)snprintf(ret->api_version, sizeof(ret->api_version), "%s%s%s", o->kind.group,
		       o->kind.group[0] ? "/" : "", o->kind.version);
	(void)snprintf(ret->kind, sizeof(ret->kind), "%s", o->kind.kind);
	(void)snprintf(ret->name, sizeof(ret->name), "%.*s", STR_ARG(o->ref.name));
	(void)snprintf(ret->uid, sizeof(ret->uid), "%.*s", STR_ARG(o->ref.uid));
	return true;
}

bool action_event(const struct action *e, struct event *ret)
{
	const struct msg_result *r = &e->result.u.result;
	const struct owner *top = e->n_owners > 0 ? &e->owners[e->n_owners - 1] : NULL;

	*ret = (struct event){ 0 };
	if (e->trial || e->grant.observe ||
	    (r->outcome != OUTCOME_DONE && r->outcome != OUTCOME_ANNOUNCED &&
	     !(r->outcome == OUTCOME_REFUSED && is_for_a_person(r->reason))))
		return false;
	describe(e, ret);
	(void)snprintf(ret->ns, sizeof(ret->ns), "%s", e->grant.ns);
	if (top && top->json && e->grant.action != ACTION_RETRY)
		return about_owner(top, ret);
	if (e->grant.action != ACTION_RESTORE)
		about_pod(e, ret);
	return e->grant.action != ACTION_RESTORE;
}
