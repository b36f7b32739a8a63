/* granted_pod.c - the pod itself: read it, judge it by what it says, delete it. */
// SPDX-License-Identifier: Apache-2.0
#include "worker/steps/step.h"

#include "base/clock.h"
#include "kube/decode_json.h"
#include "kube/write_body.h"
#include "worker/action_end.h"

static bool is_forced(const struct action *a)
{
	return a->grant.action == ACTION_FORCE_DELETE;
}

void ask_pod(struct action *a, struct step_request *ret)
{
	ret->path = object_path(a, NULL, NULL, NULL);
}

static const enum fact states[] = { [CONTAINER_NONE] = FACT_CONTAINER_UNKNOWN,
				    [CONTAINER_WAITING] = FACT_CONTAINER_WAITING,
				    [CONTAINER_RUNNING] = FACT_CONTAINER_RUNNING,
				    [CONTAINER_TERMINATED] = FACT_CONTAINER_TERMINATED };

/* The pod as it is now, and for a forced deletion each of its containers (R12). */
static void add_evidence(struct action *a)
{
	const struct pod_facts *p = &a->pod;
	struct facts *f = action_evidence(a);

	facts_finding(f, TEXT_POD_READ);
	facts_name(f, FACT_POD, p->name);
	facts_name(f, FACT_RESOURCE_VERSION, p->rv);
	facts_name(f, FACT_PHASE, p->phase);
	facts_name(f, FACT_POD_REASON, p->reason);
	if (is_forced(a))
		facts_count(f, FACT_FINALIZERS, p->n_finalizers);
	for (uint32_t i = 0; is_forced(a) && i < p->n_containers; i++)
		facts_name(f, states[p->containers[i].state], p->containers[i].name);
	if (!str_empty(p->owner.uid))
		action_name(f, FACT_CONTROLLER, p->owner.kind, p->owner.name);
	/* The news count deletions by node (reporter/notify/action_messages.c). */
	facts_name(f, FACT_NODE, p->node);
	if (is_forced(a) && str_empty(p->node))
		facts_finding(f, TEXT_ON_NO_NODE);
}

/* The result is complete. An earlier holder of this lease may have scaled the workload, and that is why the
 * pod goes: its owners lead to what was scaled, and to its mark. */
static enum step_then look_at_workload(struct action *a)
{
	if (a->grant.action != ACTION_SCALE_DOWN || a->result.u.result.outcome != OUTCOME_UNCONFIRMED)
		return STEP_END;
	a->in_doubt = true;
	return owner_add(a, &a->pod.owner) == STEP_NEXT ? STEP_MORE : STEP_END;
}

/* Since when the supervisor has known that this very revision fails, by the API server's clock; now, when it
 * has not: a grant that names another owner or revision than the pod has says nothing of it. Who only asks
 * has no grant. */
static int64_t known_at(const struct action *a)
{
	const struct msg_grant *g = &a->grant;
	const struct str owner = str_empty(a->pod.owner.uid) ? a->pod.uid : a->pod.owner.uid;
	const bool known =
		g->known_since > 0 && str_is(owner, g->action_key) && str_is(a->pod.revision, g->revision);
	const int64_t age = known ? clock_wall_ms() - g->known_since : 0;

	return a->dry_run ? 0 : action_now(a) - (age > 0 ? age : 0);
}

/* Since when somebody has watched it without a break, or the pod tells for itself; 0: there was no break. */
static int64_t watched_at(const struct action *a)
{
	const int64_t now = action_now(a), wall = clock_wall_ms(), since = a->grant.watched_since;
	const int64_t at = now - (since < wall ? wall - since : 0);
	const int64_t told = judge_told_since((enum duty)a->grant.duty, &a->pod, a->grant.since,
					      (int32_t)a->grant.restarts_before, now);

	return since == 0 ? 0 : at < told ? at : told;
}

/* Whoever owns it may have marked the workload, not its pods. */
static enum step_then judge_deletion(struct action *a)
{
	if (!action_judge(a, STAGE_CACHE))
		return STEP_END;
	return str_empty(a->pod.owner.uid) ? STEP_NEXT : owner_add(a, &a->pod.owner);
}

/* The cheap half of the judgement first: is anything else worth reading? */
static enum step_then judge_pod_alone(struct action *a)
{
	if (action_deletes(a))
		return judge_deletion(a);
	a->found.context.others_pulled_at = a->grant.others_pulled_at;
	a->found.context.restarts_before = (int32_t)a->grant.restarts_before;
	a->found.context.ready_ms = a->grant.ready_ms;
	floors_add(&a->found.floors, FLOOR_WORKED,
		   judge_worked_at((enum duty)a->grant.duty, &a->pod, action_now(a)));
	floors_add(&a->found.floors, FLOOR_KNOWN, known_at(a));
	floors_add(&a->found.floors, FLOOR_WATCHED, watched_at(a));
	action_heed_floors(a);
	if (!action_judge(a, STAGE_CACHE))
		return look_at_workload(a);
	pull_events_add_known_cause(a);
	return owner_add(a, &a->pod.owner);
}

/* Marked, maybe by an earlier write of ours. Half-deleted it is due again, at its time. */
static enum step_then end_marked(struct action *a)
{
	const struct pod_facts *p = &a->pod;
	const int64_t left = time_add(p->deletion, a->policy->finish_ms) - action_now(a);

	if (pod_is_half_deleted(p))
		action_set_retry(a, left > 0 ? left + 1 : 1);
	return action_gone(a, REASON_BEING_DELETED, NULL);
}

enum step_then take_pod(struct action *a, const struct step_reply *reply)
{
	const struct pod_facts *p = &a->pod;

	json_decref(a->found.pod_json); /* there is one when a write is in doubt */
	a->found.pod_json = json_incref(reply->json);
	a->fresh_from = a->found.namespace_at ? a->found.namespace_at : a->asked_at;
	if (decode_pod_json(reply->json, &a->pod) < 0)
		return action_end_at(a, OUTCOME_FAILED, REASON_BAD_ANSWER, TEXT_ANSWER_NO_POD);
	a->pod.namespace_labels = namespace_labels(a);
	if (!str_is(p->ns, a->grant.ns) || !str_is(p->name, a->grant.name))
		return action_end_at(a, OUTCOME_FAILED, REASON_BAD_ANSWER, TEXT_ANSWER_OTHER_POD);
	if (!str_is(p->uid, a->grant.uid))
		return action_gone(a, REASON_UID_CHANGED, NULL);
	if (action_writes_pod(a) && action_may_be_ours(a) && p->deletion > 0 &&
	    (!is_forced(a) || p->grace_s == 0))
		return end_marked(a);
	if (a->in_doubt)
		return STEP_END; /* unchanged: what was said of the write stands */
	add_evidence(a);
	return judge_pod_alone(a);
}

void ask_delete(struct action *a, struct step_request *ret)
{
	const struct msg_result *r = &a->result.u.result;

	object_set_target(a, NULL);
	ret->method = "DELETE";
	ret->path = object_path(a, NULL, NULL, NULL);
	ret->content_type = "application/json";
	/* A success is answered with the whole pod, 22 KB of JSON, of which nothing is read: its head will
	 * do. */
	ret->accept = READ_METADATA;
	ret->body = write_body_delete(r->target_uid, r->target_rv, is_forced(a) ? 0 : -1, a->grant.observe);
}

enum step_then take_delete(struct action *a, const struct step_reply *reply)
{
	const struct pod_facts *p = &a->pod;
	struct facts held = { 0 };

	(void)reply;
	/* The version that the write was bound to had them: the API server has only marked it. */
	if (p->n_finalizers == 0 || a->grant.observe)
		return action_end_as_judged(a, OUTCOME_DONE);
	if (p->n_finalizers > POD_FINALIZERS_MAX)
		facts_count(&held, FACT_FINALIZERS, p->n_finalizers);
	for (uint32_t i = 0; i < p->n_finalizers && i < POD_FINALIZERS_MAX; i++)
		facts_name(&held, FACT_FINALIZER, p->finalizers[i]);
	return action_end(a, OUTCOME_MARKED, REASON_HAS_FINALIZERS, &held);
}
