/* owner.c - from the pod to its topmost controller, by ownerReference and uid, each read live (R15,
 * R16). */
// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/xalloc.h"
#include "kube/path.h"
#include "worker/steps/step.h"

static struct owner *top(struct action *e)
{
	return &e->owners[e->n_owners - 1];
}

static enum step refuse(struct action *e, enum reason reason)
{
	const struct owner_facts *o = &top(e)->ref;

	return step_finish(e, OUTCOME_REFUSED, reason, "%.*s %.*s (%.*s)", STR_ARG(o->kind), STR_ARG(o->name),
			   STR_ARG(o->api_version));
}

static enum step look_up(struct action *e, enum step when_unknown)
{
	struct owner *o = top(e);

	switch (owner_kinds_find(e->env.kinds, o->ref.api_version, o->ref.kind, clock_boot_ms(), &o->kind)) {
	case KINDS_FOUND:
		return STEP_OWNER;
	case KINDS_ASK:
		if (when_unknown != STEP_END)
			return when_unknown;
		break;
	case KINDS_ABSENT:
		break;
	}
	return refuse(e, REASON_OWNER_UNREADABLE);
}

enum step step_owner(struct action *e, const struct owner_facts *ref)
{
	if (str_empty(ref->uid) || str_empty(ref->kind) || str_empty(ref->name))
		return step_finish(e, OUTCOME_REFUSED, REASON_NO_CONTROLLER, "incomplete ownerReference");
	for (size_t i = 0; i < e->n_owners; i++)
		if (str_eq(e->owners[i].ref.uid, ref->uid))
			return refuse(e, REASON_OWNER_CHAIN_TOO_DEEP);
	if (e->n_owners == OWNERS_MAX)
		return refuse(e, REASON_OWNER_CHAIN_TOO_DEEP);
	e->owners[e->n_owners++] = (struct owner){ .ref = *ref };
	return look_up(e, STEP_DISCOVERY);
}

void ask_discovery(struct action *e, struct ask *ret)
{
	ret->path = owner_kinds_path(top(e)->ref.api_version);
}

enum step take_discovery(struct action *e, const struct answer *a)
{
	if (a->status == 403)
		return refuse(e, REASON_OWNER_UNREADABLE);
	owner_kinds_learn(e->env.kinds, top(e)->ref.api_version, top(e)->ref.kind, a->body,
			  a->json ? a->body_len : 0, clock_boot_ms());
	return look_up(e, STEP_END);
}

void ask_owner(struct action *e, struct ask *ret)
{
	const struct owner *o = top(e);
	_cleanup_free_ char *name = xstrndup(o->ref.name.p, o->ref.name.n);

	ret->path = path_format(o->kind.group, o->kind.version, o->kind.namespaced ? e->grant.ns : NULL,
				o->kind.resource, name, NULL, NULL);
}

/* Scaling a StatefulSet down may delete the claims of its pods (R23). */
static bool deletes_claims(const struct owner *o)
{
	return strcmp(o->kind.kind, "StatefulSet") == 0 && strcmp(o->kind.group, "apps") == 0 &&
	       str_is(READ_TEXT(o->json, "spec", "persistentVolumeClaimRetentionPolicy", "whenScaled"),
		      "Delete");
}

/* The chain is complete: the topmost controller is what may be scaled, or nothing is. */
static enum step take_top(struct action *e)
{
	/* The pods of an object without a namespace may be anywhere; they cannot be counted here. */
	if (step_policy(e)->suspend_jobs && step_is_job(e))
		return step_suspend(e);
	if (!top(e)->kind.scale || !top(e)->kind.namespaced)
		return refuse(e, REASON_KIND_NOT_SCALABLE);
	for (size_t i = 0; i < e->n_owners; i++)
		if (deletes_claims(&e->owners[i]))
			return refuse(e, REASON_PVC_WOULD_BE_DELETED);
	if (!read_observed(top(e)->json))
		return refuse(e, REASON_NOT_NEWEST_REVISION);
	return step_scaler(e);
}

enum step take_owner(struct action *e, const struct answer *a)
{
	struct owner *o = top(e);
	struct owner_facts next;

	if (a->status == 404)
		return refuse(e, REASON_OWNER_GONE);
	if (!a->json && o->kind.builtin)
		return step_finish(e, OUTCOME_FORBIDDEN, REASON_FORBIDDEN, "get %s", o->kind.resource);
	if (!a->json)
		return refuse(e, REASON_OWNER_UNREADABLE);
	if (!str_eq(READ_TEXT(a->json, "metadata", "uid"), o->ref.uid))
		return refuse(e, REASON_OWNER_UID_DIFFERS);
	o->json = json_incref(a->json);
	step_prove(e, "%s %.*s (uid %.*s)", o->kind.kind, STR_ARG(o->ref.name), STR_ARG(o->ref.uid));
	return read_controller(o->json, &next) ? step_owner(e, &next) : take_top(e);
}
