/* action_events.c - what an action that has ended says on the object itself, in Kubernetes Events: what was
 * announced, what was done, and what is refused until a person does something. */
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "worker/steps/step.h"

/* What was done. */
static void describe_act(const struct action *e, char *buf, size_t size)
{
	if (e->suspends)
		(void)snprintf(buf, size, "suspended");
	else if (e->grant.action == ACTION_SCALE_DOWN)
		(void)snprintf(buf, size, "scaled from %lld to 0", (long long)e->result.u.result.replicas);
	else
		(void)snprintf(buf, size, "%s", action_desc(e->grant.action)->done);
}

static void describe(const struct action *e, struct event *ret)
{
	const struct msg_result *r = &e->result.u.result;
	const struct reason_desc *reason = reason_find(r->reason);
	char act[80] = "";

	(void)snprintf(ret->reason, sizeof(ret->reason), "%s", r->reason);
	if (r->outcome == OUTCOME_DONE)
		describe_act(e, act, sizeof(act));
	if (r->outcome == OUTCOME_REFUSED)
		(void)snprintf(ret->message, sizeof(ret->message), "nothing was done: %s (%s); to do: %s",
			       reason->text[LANGUAGE_EN].sentence, r->detail,
			       reason->text[LANGUAGE_EN].remedy);
	else
		(void)snprintf(ret->message, sizeof(ret->message), "%s%s%s (%s)", act, *act ? ": " : "",
			       reason->text[LANGUAGE_EN].sentence, r->detail);
	ret->warning = reason->event == REASON_EVENT_WARNING;
}

/* A refusal is, when its reason says so; waiting is not. */
static bool is_news(const struct msg_result *r)
{
	const struct reason_desc *reason = reason_find(r->reason);

	return r->outcome == OUTCOME_DONE || r->outcome == OUTCOME_ANNOUNCED ||
	       (r->outcome == OUTCOME_REFUSED && reason->event != REASON_EVENT_NO &&
		reason->class != CLASS_NONE);
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
	if (e->trial || e->grant.observe || !is_news(r))
		return false;
	describe(e, ret);
	(void)snprintf(ret->ns, sizeof(ret->ns), "%s", e->grant.ns);
	if (top && top->json && e->grant.action != ACTION_FRESH_ATTEMPT)
		return about_owner(top, ret);
	if (e->grant.action != ACTION_RESTORE)
		about_pod(e, ret);
	return e->grant.action != ACTION_RESTORE;
}
