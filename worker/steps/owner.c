/* owner.c - from the pod to its topmost controller, by ownerReference and uid, each read live (R15, R16). */
// SPDX-License-Identifier: Apache-2.0
#include "worker/steps/step.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/xalloc.h"
#include "worker/action_end.h"

/* Until a controller has looked at a change: seconds, if it is at work. */
#define UNOBSERVED_RETRY_MS 3000

static enum step_then refuse(struct action *a, enum reason reason)
{
	const struct owner_facts *o = &action_top(a)->ref;

	struct facts why = { 0 };

	action_name(&why, FACT_WORKLOAD, o->kind, o->name);
	facts_name(&why, FACT_API_VERSION, o->api_version);
	return action_end(a, OUTCOME_REFUSED, reason, &why);
}

enum step_then owner_refuse(struct action *a, enum reason reason, enum text why)
{
	struct facts f = { 0 };

	action_name_owner(&f, FACT_WORKLOAD, action_top(a));
	facts_finding(&f, why);
	return action_end(a, OUTCOME_REFUSED, reason, &f);
}

static enum owner_kinds_answer find_kind(struct action *a)
{
	struct owner_link *o = action_top(a);

	return owner_kinds_find(a->env.kinds, o->ref.api_version, o->ref.kind, clock_boot_ms(), &o->kind);
}

/* -- of a pod that is deleted: are they marked, and does it run to completion? -- */

/* Neither is known above the one below, and nothing is refused for that. */
static enum step_then leave_out(struct action *a)
{
	a->found.n_owners--;
	a->found.owners_read = true;
	return STEP_NEXT;
}

/* What controls the pod itself is of a kind that scales, or does not: that decides before any more is read.
 */
static enum step_then judge_kind(struct action *a, enum tri scales)
{
	if (!action_deletes(a) || a->found.n_owners > 1)
		return STEP_NEXT;
	a->found.context.owner_scales = scales;
	return action_judge(a, scales == TRI_UNKNOWN ? STAGE_LIVE : STAGE_CACHE) ? STEP_NEXT : STEP_END;
}

static enum step_then add_to_deletion(struct action *a)
{
	const enum owner_kinds_answer kind = find_kind(a);

	if (kind == OWNER_KINDS_ASK)
		return STEP_NEXT;
	if (kind == OWNER_KINDS_FOUND)
		return judge_kind(a, action_top(a)->kind.scale ? TRI_YES : TRI_NO);
	return judge_kind(a, TRI_NO) == STEP_NEXT ? leave_out(a) : STEP_END;
}

bool needs_owner(const struct action *a)
{
	return a->found.n_owners > 0 && !a->found.owners_read;
}

/* -- the queue of a Job: what is admitted by it is suspended and made again by it -- */

static bool is_of_queue(const struct action *a)
{
	for (size_t i = 0; i < a->found.n_owners; i++) {
		const struct owner_link *o = &a->found.owners[i];

		if (str_is(o->ref.kind, "JobSet") ||
		    (owner_is(o, "batch", "Job") &&
		     !str_empty(READ_TEXT(o->json, "metadata", "labels", "kueue.x-k8s.io/queue-name"))))
			return true;
	}
	return false;
}

static enum step_then refuse_for_queue(struct action *a)
{
	return action_end(a, OUTCOME_REFUSED, REASON_LEFT_TO_QUEUE, &(struct facts){ 0 });
}

/* -- the chain -- */

enum step_then owner_add(struct action *a, const struct owner_facts *ref)
{
	struct findings *f = &a->found;

	if (str_empty(ref->uid) || str_empty(ref->kind) || str_empty(ref->name))
		return action_end_text(a, OUTCOME_REFUSED, REASON_NO_CONTROLLER, TEXT_CONTROLLER_INCOMPLETE);
	for (size_t i = 0; i < f->n_owners; i++)
		if (str_eq(f->owners[i].ref.uid, ref->uid))
			return refuse(a, REASON_OWNER_CHAIN_TOO_DEEP);
	if (f->n_owners == OWNERS_MAX)
		return refuse(a, REASON_OWNER_CHAIN_TOO_DEEP);
	f->owners[f->n_owners++] = (struct owner_link){ .ref = *ref };
	if (a->grant.action != ACTION_FORCE_DELETE && !a->in_doubt && is_of_queue(a))
		return refuse_for_queue(a);
	if (action_deletes(a))
		return add_to_deletion(a);
	return find_kind(a) == OWNER_KINDS_ABSENT ? refuse(a, REASON_OWNER_UNREADABLE) : STEP_NEXT;
}

bool needs_discovery(const struct action *a)
{
	return needs_owner(a) && a->found.owners[a->found.n_owners - 1].kind.resource[0] == '\0';
}

void ask_discovery(struct action *a, struct step_request *ret)
{
	ret->path = owner_kinds_path(action_top(a)->ref.api_version);
}

enum step_then take_discovery(struct action *a, const struct step_reply *reply)
{
	const struct owner_facts *o = &action_top(a)->ref;

	if (reply->status == 403 && action_deletes(a))
		return judge_kind(a, TRI_UNKNOWN) == STEP_NEXT ? leave_out(a) : STEP_END;
	if (reply->status == 403)
		return refuse(a, REASON_OWNER_UNREADABLE);
	owner_kinds_learn(a->env.kinds, o->api_version, o->kind, reply->body,
			  reply->json ? reply->body_len : 0, clock_boot_ms());
	if (action_deletes(a))
		return add_to_deletion(a);
	return find_kind(a) == OWNER_KINDS_FOUND ? STEP_NEXT : refuse(a, REASON_OWNER_UNREADABLE);
}

/* Scaling it down may delete the claims of its pods (R23). A StatefulSet, of whatever group, keeps them where
 * it says nothing; another kind that makes claims may not: a CloneSet deletes them with the pods that it
 * takes away (openkruise/kruise pkg/controller/cloneset/sync/cloneset_scale.go, deletePods). */
static bool may_delete_claims(const struct owner_link *o)
{
	const struct str policy =
		READ_TEXT(o->json, "spec", "persistentVolumeClaimRetentionPolicy", "whenScaled");
	const bool keeps = str_is(policy, "Retain") || strcmp(o->kind.kind, "StatefulSet") == 0;

	return str_is(policy, "Delete") ||
	       (!keeps && json_array_size(READ_AT(o->json, "spec", "volumeClaimTemplates")) > 0);
}

static enum step_then refuse_unobserved(struct action *a)
{
	action_set_retry(a, UNOBSERVED_RETRY_MS);
	return refuse(a, REASON_NOT_OBSERVED);
}

static enum step_then take_top(struct action *a)
{
	const struct owner_link *o = action_top(a);

	if (mark_proves(a, o->json)) /* whatever would be refused by now */
		return mark_confirm(a);
	if (a->in_doubt) /* a Job's mark is written with what it marks */
		return o->kind.scale && o->kind.namespaced ? STEP_DOUBT : STEP_END;
	if (READ_TIME(o->json, "metadata", "deletionTimestamp") > 0)
		return refuse(a, REASON_OWNER_BEING_DELETED);
	if (is_of_queue(a))
		return refuse_for_queue(a);
	/* What is deleted of a Job is one of its failures: it gets no fresh attempt (owner_is_job). */
	if (action_policy(a)->suspend_jobs && !action_is_on_pod(a) && suspend_fits(a))
		return suspend_begin(a);
	if (ordinal_holds_up(a))
		return read_observed(a->found.owners[0].json) ? ordinal_begin(a) : refuse_unobserved(a);
	/* The pods of an object without a namespace may be anywhere; they cannot be counted here. */
	if (!o->kind.scale || !o->kind.namespaced)
		return refuse(a, REASON_KIND_NOT_SCALABLE);
	for (size_t i = 0; i < a->found.n_owners; i++)
		if (may_delete_claims(&a->found.owners[i]))
			return refuse(a, REASON_PVC_WOULD_BE_DELETED);
	return read_observed(o->json) ? autoscaler_judge_writers(a) : refuse_unobserved(a);
}

/* What this credential should be allowed to read. */
static enum step_then end_forbidden(struct action *a, long status)
{
	struct facts detail = action_at(a, TEXT_REFUSED);

	facts_count(&detail, FACT_HTTP_STATUS, status);
	action_name_owner(&detail, FACT_WORKLOAD, action_top(a));
	return action_end(a, OUTCOME_FORBIDDEN, REASON_FORBIDDEN, &detail);
}

static void add_evidence(struct action *a, const struct owner_link *o)
{
	_cleanup_free_ char *name =
		xasprintf("%s/%.*s/%.*s", o->kind.kind, STR_ARG(o->ref.name), STR_ARG(o->ref.uid));

	facts_name(action_evidence(a), FACT_OWNER, STR_C(name));
}

/* An owner of a pod that is deleted. What is gone, and what of kinds that only discovery tells may not be
 * read, has no mark that is known. */
static enum step_then take_owner_of_deletion(struct action *a, const struct step_reply *reply)
{
	struct owner_link *o = action_top(a);
	struct owner_facts next;
	enum step_then then = STEP_NEXT;

	if (reply->status == 403 && o->kind.builtin)
		return end_forbidden(a, reply->status);
	if (!str_eq(READ_TEXT(reply->json, "metadata", "uid"), o->ref.uid))
		return leave_out(a);
	o->json = json_incref(reply->json);
	if (a->grant.action == ACTION_DELETE && is_of_queue(a))
		return refuse_for_queue(a);
	a->found.owners_read = !read_controller(o->json, &next);
	if (!a->found.owners_read)
		then = owner_add(a, &next);
	return then == STEP_NEXT && !a->found.owners_read ? STEP_MORE : then;
}

enum step_then take_owner(struct action *a, const struct step_reply *reply)
{
	if (action_deletes(a))
		return take_owner_of_deletion(a, reply);
	struct owner_link *o = action_top(a);
	struct owner_facts next;
	enum step_then then;

	if (reply->status == 404)
		return refuse(a, REASON_OWNER_GONE);
	if (!reply->json && o->kind.builtin)
		return end_forbidden(a, reply->status);
	if (!reply->json)
		return refuse(a, REASON_OWNER_UNREADABLE);
	if (!str_eq(READ_TEXT(reply->json, "metadata", "uid"), o->ref.uid))
		return refuse(a, REASON_OWNER_UID_DIFFERS);
	o->json = json_incref(reply->json);
	floors_add(&a->found.floors, a->found.n_owners == 1 ? FLOOR_REVISION : FLOOR_WORKLOAD,
		   read_created(o->json));
	floors_add(&a->found.floors, FLOOR_UNAVAILABLE, read_unavailable(o->json));
	add_evidence(a, o);
	if (!read_controller(reply->json, &next))
		return take_top(a);
	then = owner_add(a, &next);
	return then == STEP_NEXT ? STEP_MORE : then;
}
