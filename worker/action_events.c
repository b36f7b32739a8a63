/* action_events.c - see action_events.h. */
// SPDX-License-Identifier: Apache-2.0
#include "worker/action_events.h"

#include <stdio.h>

#include "worker/action_state.h"

/* What was done. */
static void describe_act(const struct action *a, char *buf, size_t size)
{
	if (a->found.suspends)
		(void)snprintf(buf, size, "suspended");
	else if (a->grant.action == ACTION_SCALE_DOWN)
		(void)snprintf(buf, size, "scaled from %lld to 0", (long long)a->result.u.result.replicas);
	else
		(void)snprintf(buf, size, "%s", action_desc((enum action_kind)a->grant.action)->done);
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

/* Of a refusal the reason says whether anybody should know; waiting is no news. */
static bool is_news(const struct msg_result *r)
{
	const struct reason_desc *reason = reason_find(r->reason);

	return reason->event != REASON_EVENT_NO &&
	       (r->outcome != OUTCOME_REFUSED || reason->class != CLASS_NONE);
}

static bool is_about(struct object_event *ret, const struct kind_info *kind, struct str name, struct str uid)
{
	if (!kind->version[0] || str_empty(name) || name.n >= sizeof(ret->name) || str_empty(uid) ||
	    uid.n >= sizeof(ret->uid))
		return false;
	(void)snprintf(ret->api_version, sizeof(ret->api_version), "%s%s%s", kind->group,
		       kind->group[0] ? "/" : "", kind->version);
	(void)snprintf(ret->kind, sizeof(ret->kind), "%s", kind->kind);
	(void)snprintf(ret->name, sizeof(ret->name), "%.*s", STR_ARG(name));
	(void)snprintf(ret->uid, sizeof(ret->uid), "%.*s", STR_ARG(uid));
	return true;
}

bool action_event(const struct action *a, struct object_event *ret)
{
	static const struct kind_info pod = { .version = "v1", .kind = "Pod" };
	const struct owner_link *top = a->found.n_owners > 0 ? &a->found.owners[a->found.n_owners - 1] : NULL;

	*ret = (struct object_event){ 0 };
	if (a->dry_run || a->grant.observe || !is_news(&a->result.u.result))
		return false;
	describe(a, ret);
	(void)snprintf(ret->ns, sizeof(ret->ns), "%s", a->grant.ns);
	if (top && top->json && a->grant.action != ACTION_FRESH_ATTEMPT)
		return top->kind.namespaced && is_about(ret, &top->kind, top->ref.name, top->ref.uid);
	return a->grant.action != ACTION_RESTORE &&
	       is_about(ret, &pod, STR_C(a->grant.name), STR_C(a->grant.uid));
}
