/* action_events.c - see action_events.h. */
// SPDX-License-Identifier: Apache-2.0
#include "worker/action_events.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "worker/action_state.h"

/* What was done. */
static void describe_act(const struct action *a, char *buf, size_t size)
{
	if (a->found.suspends)
		(void)snprintf(buf, size, "suspended");
	else if (a->grant.action == ACTION_SCALE_DOWN)
		(void)snprintf(buf, size, "scaled from %lld to 0", (long long)a->result.u.result.replicas);
	else
		(void)snprintf(buf, size, "%s", action_desc(a->grant.action)->done);
}

static void describe(const struct action *a, struct object_event *ret)
{
	const struct msg_result *r = &a->result.u.result;
	const struct reason_desc *reason = reason_find(r->reason);
	char act[80] = "";

	(void)snprintf(ret->reason, sizeof(ret->reason), "%s", r->reason);
	if (r->outcome == OUTCOME_DONE)
		describe_act(a, act, sizeof(act));
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

static void about_pod(const struct action *a, struct object_event *ret)
{
	(void)snprintf(ret->api_version, sizeof(ret->api_version), "v1");
	(void)snprintf(ret->kind, sizeof(ret->kind), "Pod");
	(void)snprintf(ret->name, sizeof(ret->name), "%s", a->grant.name);
	(void)snprintf(ret->uid, sizeof(ret->uid), "%s", a->grant.uid);
}

static bool fits(size_t size, struct str s)
{
	return s.n > 0 && s.n < size;
}

static bool about_owner(const struct owner_link *o, struct object_event *ret)
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

bool action_event(const struct action *a, struct object_event *ret)
{
	const struct msg_result *r = &a->result.u.result;
	const struct owner_link *top = a->found.n_owners > 0 ? &a->found.owners[a->found.n_owners - 1] : NULL;

	*ret = (struct object_event){ 0 };
	if (a->dry_run || a->grant.observe || !is_news(r))
		return false;
	describe(a, ret);
	(void)snprintf(ret->ns, sizeof(ret->ns), "%s", a->grant.ns);
	if (top && top->json && a->grant.action != ACTION_FRESH_ATTEMPT)
		return about_owner(top, ret);
	if (a->grant.action != ACTION_RESTORE)
		about_pod(a, ret);
	return a->grant.action != ACTION_RESTORE;
}
