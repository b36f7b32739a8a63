/* pod.c - the pod itself: read it, judge it, delete it. */
// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "kube/decode_json.h"
#include "kube/path.h"
#include "kube/write_body.h"
#include "worker/steps/step.h"

void ask_pod(struct action *e, struct ask *ret)
{
	ret->path = path_format("", "v1", e->grant.ns, "pods", e->grant.name, NULL, NULL);
}

/* Has an earlier delete of ours already shown? */
static bool delete_shows(const struct action *e)
{
	return e->pod.deletion > 0 && (e->grant.action != ACTION_FORCE_DELETE || e->pod.grace_s == 0);
}

static const char *const states[] = { [CONTAINER_NONE] = "unknown",
				      [CONTAINER_WAITING] = "waiting",
				      [CONTAINER_RUNNING] = "running",
				      [CONTAINER_TERMINATED] = "terminated" };

/* What the verdict rests on, as it is now: the pod, and for the force delete each of its containers (R12). */
static void prove_pod(struct action *e)
{
	const struct pod_facts *p = &e->pod;

	step_prove(e, "pod %.*s at resourceVersion %.*s: phase %.*s%s%.*s", STR_ARG(p->name), STR_ARG(p->rv),
		   STR_ARG(p->phase), str_empty(p->reason) ? "" : ", reason ", STR_ARG(p->reason));
	if (e->grant.action == ACTION_FORCE_DELETE)
		step_prove(e, p->n_finalizers ? "%u finalizers" : "no finalizers", p->n_finalizers);
	for (uint32_t i = 0; e->grant.action == ACTION_FORCE_DELETE && i < p->n_containers; i++)
		step_prove(e, "container %.*s %s", STR_ARG(p->containers[i].name),
			   states[p->containers[i].state]);
	if (!str_empty(p->owner.uid))
		step_prove(e, "controlled by %.*s %.*s", STR_ARG(p->owner.kind), STR_ARG(p->owner.name));
}

static enum step judge_read(struct action *e)
{
	if (step_on_workload(e)) {
		e->around.failing_since = e->grant.since;
		return step_judged(e, STAGE_CACHE) ? step_cause(e) : STEP_END;
	}
	if (e->grant.action != ACTION_FORCE_DELETE)
		return step_judge_live(e);
	/* The cheap half of the judgement first: does it need the node at all? */
	if (!step_judged(e, STAGE_CACHE))
		return STEP_END;
	if (!str_empty(e->pod.node))
		return STEP_NODE;
	step_prove(e, "on no node");
	return step_judge_live(e);
}

enum step take_pod(struct action *e, const struct answer *a)
{
	if (!a->json)
		return step_gone(e, REASON_POD_GONE, "");
	json_decref(e->pod_json); /* there is one when a write is in doubt */
	e->pod_json = json_incref(a->json);
	e->fresh_from = e->asked_at;
	if (decode_pod_json(a->json, &e->pod) < 0)
		return step_finish(e, OUTCOME_FAILED, REASON_BAD_ANSWER, "get pods: the answer is no pod");
	if (!str_is(e->pod.ns, e->grant.ns) || !str_is(e->pod.name, e->grant.name))
		return step_finish(e, OUTCOME_FAILED, REASON_BAD_ANSWER,
				   "get pods: the answer is another pod");
	if (!str_is(e->pod.uid, e->grant.uid))
		return step_gone(e, REASON_UID_CHANGED, "");
	if (action_desc(e->grant.action)->target == TARGET_POD && step_may_be_ours(e) && delete_shows(e))
		return step_gone(e, REASON_BEING_DELETED, "");
	if (e->in_doubt)
		return STEP_END; /* unchanged: what was said of the write stands */
	prove_pod(e);
	return judge_read(e);
}

void ask_delete(struct action *e, struct ask *ret)
{
	const struct msg_result *r = &e->result.u.result;

	step_target(e, NULL);
	ret->method = "DELETE";
	ret->path = step_object_path(e, NULL, NULL);
	ret->content_type = "application/json";
	/* A success is answered with the whole pod, 22 KB of JSON, of which nothing is read: its head will
	 * do. */
	ret->accept = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json;q=0.9";
	ret->body = write_body_delete(r->target_uid, r->target_rv,
				      e->grant.action == ACTION_FORCE_DELETE ? 0 : -1, e->grant.observe);
}

enum step take_delete(struct action *e, const struct answer *a)
{
	if (!a->json)
		return step_gone(e, REASON_POD_GONE, "it was gone when the delete arrived");
	return step_finish(e, OUTCOME_DONE, e->verdict.reason, "%s", e->verdict.evidence);
}
