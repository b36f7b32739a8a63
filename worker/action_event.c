/* action_event.c - what an action says in an Event; see action.h. In the language of Events: English. */
// SPDX-License-Identifier: Apache-2.0
#include "worker/action.h"

#include <stdio.h>

#include "base/cleanup.h"
#include "base/rfc3339.h"
#include "base/xalloc.h"
#include "model/object_events.h"
#include "text/facts_text.h"
#include "worker/action_end.h"

#define SAY(ID) phrase(ID, LANGUAGE_EN)

/* The workload that the action is about; NULL: the pod. */
static const struct owner_link *about_workload(const struct action *a)
{
	const struct owner_link *top = a->found.n_owners > 0 ? &a->found.owners[a->found.n_owners - 1] : NULL;

	return top && top->json && a->grant.action != ACTION_FRESH_ATTEMPT ? top : NULL;
}

/* How it is undone, with what stands before it, or nothing. Owned by the caller. */
static char *say_undo(const struct action *a)
{
	if (a->grant.action != ACTION_SCALE_DOWN || a->found.way == SCALE_DELETES)
		return xstrdup("");
	_cleanup_free_ char *command = mark_undo(a, about_workload(a));
	_cleanup_free_ char *undo = xasprintf(SAY(NEWS_UNDO), command);

	return xconcat("; ", undo, NULL);
}

static void tell_done(const struct action *a, struct object_event *ret)
{
	const struct msg_result *r = &a->result.u.result;
	const struct object_event_desc *desc =
		object_event_of((enum action_kind)a->grant.action, a->found.way);
	const bool restores = a->grant.action == ACTION_RESTORE;
	_cleanup_free_ char *act =
		object_event_say_done((enum action_kind)a->grant.action, a->found.way,
				      restores ? a->grant.want_replicas : r->replicas, LANGUAGE_EN);
	_cleanup_free_ char *undo = say_undo(a);
	_cleanup_free_ char *detail = facts_render(&r->detail, NULL);
	_cleanup_free_ char *text =
		xasprintf(SAY(NEWS_DONE), act, reason_find(r->reason)->text[LANGUAGE_EN].sentence, detail);

	(void)snprintf(ret->reason, sizeof(ret->reason), "%s", desc->done);
	(void)snprintf(ret->message, sizeof(ret->message), "%s%s", text, undo);
	ret->warning = desc->warning;
}

/* What an owner may write who does not want it. Owned by the caller. */
static char *refusing_command(const struct action *a)
{
	const struct owner_link *o = about_workload(a);
	const struct str name = o ? o->ref.name : a->pod.name;
	_cleanup_free_ char *resource = o ? kind_resource(&o->kind) : xstrdup("pods");

	return xasprintf("kubectl -n %s annotate %s %.*s %s=%s", a->grant.ns, resource, STR_ARG(name),
			 ANNOTATION_SKIP, duty_name((enum duty)a->grant.duty));
}

static void tell_announced(const struct action *a, struct object_event *ret)
{
	const struct object_event_desc *desc =
		object_event_of((enum action_kind)a->grant.action, a->found.way);
	_cleanup_free_ char *command = refusing_command(a);
	_cleanup_free_ char *evidence = facts_render(&a->verdict.evidence, NULL);
	char end[RFC3339_MAX];

	rfc3339_format(action_now(a) + action_policy(a)->announce_ms, false, end);
	(void)snprintf(ret->reason, sizeof(ret->reason), "%s", desc->will);
	(void)snprintf(ret->message, sizeof(ret->message), SAY(NEWS_WILL),
		       phrase_text(desc->will_phrase, LANGUAGE_EN), end,
		       reason_find(a->grant.reason)->text[LANGUAGE_EN].sentence, command, evidence);
	ret->warning = desc->warning;
}

static void tell_refused(const struct action *a, struct object_event *ret)
{
	const struct msg_result *r = &a->result.u.result;
	const struct reason_desc *reason = reason_find(r->reason);
	_cleanup_free_ char *detail = facts_render(&r->detail, NULL);

	(void)snprintf(ret->reason, sizeof(ret->reason), "%s", r->reason);
	(void)snprintf(ret->message, sizeof(ret->message), SAY(NEWS_REFUSED),
		       reason->text[LANGUAGE_EN].sentence, detail, reason->text[LANGUAGE_EN].remedy);
	ret->warning = true;
}

/* Who tells of this end of an action; NULL: it is no news. Of a refusal the reason says whether anybody
 * should know; waiting is no news. */
static void (*teller_of(const struct msg_result *r))(const struct action *a, struct object_event *ret)
{
	switch (r->outcome) {
	case OUTCOME_DONE:
		return tell_done;
	case OUTCOME_ANNOUNCED:
		return tell_announced;
	case OUTCOME_REFUSED:
		return reason_find(r->reason)->event == REASON_EVENT_WARNING ? tell_refused : NULL;
	default:
		return NULL;
	}
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
	const struct owner_link *workload = about_workload(a);
	void (*tell)(const struct action *, struct object_event *) = teller_of(&a->result.u.result);

	*ret = (struct object_event){ 0 };
	if (a->dry_run || a->grant.observe || !tell)
		return false;
	tell(a, ret);
	(void)snprintf(ret->ns, sizeof(ret->ns), "%s", a->grant.ns);
	if (workload)
		return workload->kind.namespaced &&
		       is_about(ret, &workload->kind, workload->ref.name, workload->ref.uid);
	return a->grant.action != ACTION_RESTORE &&
	       is_about(ret, &pod, STR_C(a->grant.name), STR_C(a->grant.uid));
}
