/* owner.c - from the pod to its topmost controller, by ownerReference and uid, each read live (R15, R16). */
// SPDX-License-Identifier: Apache-2.0
#include "worker/steps/step.h"

#include <string.h>

#include "base/clock.h"
#include "worker/action_end.h"

static enum step_then refuse(struct action *a, enum reason reason)
{
	const struct owner_facts *o = &action_top(a)->ref;

	return action_end(a, OUTCOME_REFUSED, reason, "%.*s %.*s (%.*s)", STR_ARG(o->kind), STR_ARG(o->name),
			  STR_ARG(o->api_version));
}

enum step_then owner_refuse(struct action *a, enum reason reason, const char *why)
{
	const struct owner_link *o = action_top(a);

	return action_end(a, OUTCOME_REFUSED, reason, "%s %.*s: %s", o->kind.kind, STR_ARG(o->ref.name), why);
}

static enum owner_kinds_answer find_kind(struct action *a)
{
	struct owner_link *o = action_top(a);

	return owner_kinds_find(a->env.kinds, o->ref.api_version, o->ref.kind, clock_boot_ms(), &o->kind);
}

enum step_then owner_add(struct action *a, const struct owner_facts *ref)
{
	struct findings *f = &a->found;

	if (str_empty(ref->uid) || str_empty(ref->kind) || str_empty(ref->name))
		return action_end(a, OUTCOME_REFUSED, REASON_NO_CONTROLLER, "incomplete ownerReference");
	for (size_t i = 0; i < f->n_owners; i++)
		if (str_eq(f->owners[i].ref.uid, ref->uid))
			return refuse(a, REASON_OWNER_CHAIN_TOO_DEEP);
	if (f->n_owners == OWNERS_MAX)
		return refuse(a, REASON_OWNER_CHAIN_TOO_DEEP);
	f->owners[f->n_owners++] = (struct owner_link){ .ref = *ref };
	return find_kind(a) == OWNER_KINDS_ABSENT ? refuse(a, REASON_OWNER_UNREADABLE) : STEP_NEXT;
}

bool needs_discovery(const struct action *a)
{
	return a->found.owners[a->found.n_owners - 1].kind.resource[0] == '\0';
}

void ask_discovery(struct action *a, struct step_request *ret)
{
	ret->path = owner_kinds_path(action_top(a)->ref.api_version);
}

enum step_then take_discovery(struct action *a, const struct step_reply *reply)
{
	const struct owner_facts *o = &action_top(a)->ref;

	if (reply->status == 403)
		return refuse(a, REASON_OWNER_UNREADABLE);
	owner_kinds_learn(a->env.kinds, o->api_version, o->kind, reply->body,
			  reply->json ? reply->body_len : 0, clock_boot_ms());
	return find_kind(a) == OWNER_KINDS_FOUND ? STEP_NEXT : refuse(a, REASON_OWNER_UNREADABLE);
}

/* Scaling a StatefulSet down may delete the claims of its pods (R23). */
static bool deletes_claims(const struct owner_link *o)
{
	return strcmp(o->kind.kind, "StatefulSet") == 0 && strcmp(o->kind.group, "apps") == 0 &&
	       str_is(READ_TEXT(o->json, "spec", "persistentVolumeClaimRetentionPolicy", "whenScaled"),
		      "Delete");
}

static enum step_then take_top(struct action *a)
{
	const struct owner_link *o = action_top(a);

	if (mark_proves(a, o->json)) /* whatever would be refused by now */
		return mark_confirm(a);
	if (a->in_doubt) /* a Job's mark is written with what it marks */
		return o->kind.scale && o->kind.namespaced ? STEP_DOUBT : STEP_END;
	if (action_policy(a)->suspend_jobs && suspend_fits(a))
		return suspend_begin(a);
	/* The pods of an object without a namespace may be anywhere; they cannot be counted here. */
	if (!o->kind.scale || !o->kind.namespaced)
		return refuse(a, REASON_KIND_NOT_SCALABLE);
	for (size_t i = 0; i < a->found.n_owners; i++)
		if (deletes_claims(&a->found.owners[i]))
			return refuse(a, REASON_PVC_WOULD_BE_DELETED);
	if (!read_observed(o->json))
		return refuse(a, REASON_NOT_NEWEST_REVISION);
	return autoscaler_judge_writers(a);
}

enum step_then take_owner(struct action *a, const struct step_reply *reply)
{
	struct owner_link *o = action_top(a);
	struct owner_facts next;
	enum step_then then;

	if (reply->status == 404)
		return refuse(a, REASON_OWNER_GONE);
	if (!reply->json && o->kind.builtin)
		return action_end(a, OUTCOME_FORBIDDEN, REASON_FORBIDDEN, "get %s", o->kind.resource);
	if (!reply->json)
		return refuse(a, REASON_OWNER_UNREADABLE);
	if (!str_eq(READ_TEXT(reply->json, "metadata", "uid"), o->ref.uid))
		return refuse(a, REASON_OWNER_UID_DIFFERS);
	o->json = json_incref(reply->json);
	floors_add(&a->found.floors, a->found.n_owners == 1 ? FLOOR_REVISION : FLOOR_WORKLOAD,
		   read_created(o->json));
	floors_add(&a->found.floors, FLOOR_UNAVAILABLE, read_unavailable(o->json));
	action_add_evidence(a, "%s %.*s (uid %.*s)", o->kind.kind, STR_ARG(o->ref.name), STR_ARG(o->ref.uid));
	if (!read_controller(reply->json, &next))
		return take_top(a);
	then = owner_add(a, &next);
	return then == STEP_NEXT ? STEP_MORE : then;
}
