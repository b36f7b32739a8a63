/* image_pull.c - duty errImagePull: scale to zero what cannot pull its image (R1, R2, R4, R5, R15-R18). */
// SPDX-License-Identifier: Apache-2.0
#include "rules/workload.h"

#include "base/cleanup.h"
#include "rules/cause.h"
#include "rules/select.h"

/* The kubelet shows the two in turn with every attempt: one state. */
static bool is_pull_pair(struct str reason)
{
	return str_is(reason, "ErrImagePull") || str_is(reason, "ImagePullBackOff");
}

static bool status_has(const struct str_list *status, struct str reason)
{
	reason = cause_bare_reason(reason);
	for (size_t i = 0; i < status->n; i++) {
		struct str want = cause_bare_reason(STR_C(status->v[i]));

		if (str_eq(want, reason) || (is_pull_pair(want) && is_pull_pair(reason)))
			return true;
	}
	return false;
}

static bool fails_to_pull(const struct container_facts *c, const struct duty_policy *dp)
{
	return c->kind != CONTAINER_EPHEMERAL && c->state == CONTAINER_WAITING && !str_empty(c->reason) &&
	       status_has(&dp->status, c->reason);
}

/* By the duty's `status` list (R1, R2). Of several that fail, the first whose cause may lead to an act: that
 * one will not heal by waiting. */
static bool fails(const struct pod_facts *p, const struct policy *policy, int64_t now,
		  uint32_t *ret_container)
{
	const struct duty_policy *dp = &policy_of(policy, p)[DUTY_IMAGE_PULL];
	int64_t first = -1;

	(void)now;
	/* An evicted pod keeps the waiting states it had; phase Pending or Running says nothing (R2). */
	if (pod_is_finished(p))
		return false;
	for (uint32_t i = 0; i < p->n_containers && i < POD_CONTAINERS_MAX; i++) {
		if (!fails_to_pull(&p->containers[i], dp))
			continue;
		if (first < 0)
			first = i;
		if (!ret_container)
			break;
		if (cause_may_act(dp, cause_of(&p->containers[i]), 0, 0)) {
			first = i;
			break;
		}
	}
	if (first >= 0 && ret_container)
		*ret_container = (uint32_t)first;
	return first >= 0;
}

/* Has every image of this pod been pulled: has every main container run? */
static bool has_pulled(const struct pod_facts *p)
{
	bool any = false;

	for (uint32_t i = 0; i < p->n_containers && i < POD_CONTAINERS_MAX; i++) {
		const struct container_facts *c = &p->containers[i];

		if (c->kind == CONTAINER_EPHEMERAL)
			continue;
		if (cause_concerns(c))
			return false;
		if (c->kind != CONTAINER_MAIN)
			continue;
		any = true;
		/* ContainerStatusUnknown is what a container gets that never was. */
		if (c->state == CONTAINER_RUNNING ||
		    (c->state == CONTAINER_TERMINATED && !str_is(c->reason, "ContainerStatusUnknown")))
			continue;
		if (c->restarts <= 0 && c->last_finished_at <= 0)
			return false;
	}
	return any && !p->containers_cut;
}

static bool works(const struct pod_facts *p, int64_t now)
{
	(void)now;
	return has_pulled(p);
}

/* Where all images were pulled each container tells; of a pod that waits for one, the container that waits:
 * it has run before. */
static int64_t worked_at(const struct pod_facts *p, int64_t now)
{
	const bool pulled = has_pulled(p);
	int64_t at = 0;

	(void)now;
	for (uint32_t i = 0; i < p->n_containers && i < POD_CONTAINERS_MAX; i++) {
		const struct container_facts *c = &p->containers[i];

		if (c->kind == CONTAINER_EPHEMERAL || !(pulled || cause_concerns(c)))
			continue;
		at = c->last_finished_at > at ? c->last_finished_at : at;
		at = c->finished_at > at ? c->finished_at : at;
	}
	return at;
}

static bool check_is_failing(struct evaluation *l)
{
	const struct pod_facts *p = l->p;
	const struct container_facts *c;

	if (!fails(p, l->policy, l->now, &l->v->container)) {
		found(l, TEXT_NONE_WAITS_FOR_IMAGE);
		found_name(l, FACT_PHASE, p->phase);
		if (!l->brief)
			facts_name(&l->v->evidence, FACT_PHASE, p->phase);
		return evaluation_decide(l, VERDICT_NONE, REASON_NOT_FAILING);
	}
	c = &p->containers[l->v->container];
	found(l, TEXT_CONTAINER_FAILS);
	found_name(l, FACT_CONTAINER, c->name);
	found_name(l, FACT_STATE, c->reason);
	found_name(l, FACT_IMAGE, c->image);
	struct facts *evidence = workload_evidence(l, c->reason);

	facts_code(evidence, FACT_CAUSE, cause_name(cause_of(c)));
	workload_add_tally(l, evidence);
	return false;
}

/* What is known of its registry beyond this workload, of a cause that could be the registry's. */
static void add_elsewhere(const struct evaluation *l, enum pull_cause cause, struct facts *f)
{
	if (cause_may_heal(cause))
		facts_finding(f, l->s->others_pulled_at > l->s->failing_since ? TEXT_PULLED_ELSEWHERE
									      : TEXT_NOT_PULLED_ELSEWHERE);
}

/* Another node may have the image: a pod of the workload could run there. Live it must be seen that several
 * nodes cannot pull it; the cache does not count them. */
static bool is_of_one_node(const struct evaluation *l, enum pull_cause cause)
{
	return cause == CAUSE_NODE && l->s->stage == STAGE_LIVE && l->s->failing_nodes < 2;
}

/* A credential that is refused for other images, too, is for somebody to correct: no image of it is proven
 * wrong. What has lasted for a day, and for as long as the operator waits, nobody corrects. */
#define REFUSED_LAST_MS INT64_C(86400000)
static bool is_of_the_credential(const struct evaluation *l, enum pull_cause cause)
{
	const int64_t last = l->dp->hours_ms > REFUSED_LAST_MS ? l->dp->hours_ms : REFUSED_LAST_MS;

	return cause == CAUSE_AUTH && l->s->stage == STAGE_LIVE && l->s->others_refused != TRI_NO &&
	       l->now <= time_add(l->s->failing_since, last);
}

/* Its image and what the kubelet says of it; the cache has kept neither. */
static void add_said(struct evaluation *l, const struct container_facts *c)
{
	if (l->s->stage == STAGE_LIVE)
		facts_name(&l->v->evidence, FACT_IMAGE, c->image);
	facts_quoted(&l->v->evidence, FACT_MESSAGE, c->message);
}

/* The cache may not know the cause; then the worker reads message and Events. */
static bool check_cause(struct evaluation *l)
{
	static const enum reason reasons[CAUSE__MAX] = {
		[CAUSE_UNKNOWN] = REASON_CAUSE_UNKNOWN,
		[CAUSE_PERMANENT] = REASON_CAUSE_NOT_ENABLED,
		[CAUSE_AUTH] = REASON_CAUSE_AUTH,
		[CAUSE_MISCONFIGURED] = REASON_CAUSE_MISCONFIGURED,
		[CAUSE_TRANSIENT] = REASON_CAUSE_TRANSIENT,
		[CAUSE_NODE] = REASON_NODE_CANNOT_PULL,
	};
	const struct container_facts *c = &l->p->containers[l->v->container];
	const enum pull_cause cause = cause_of(c);
	const bool acts = cause_may_act(l->dp, cause, l->s->failing_since, l->s->others_pulled_at) ||
			  (cause == CAUSE_UNKNOWN && l->s->stage == STAGE_CACHE);

	if (l->found) {
		facts_code(l->found, FACT_CAUSE, cause_name(cause));
		add_elsewhere(l, cause, l->found);
		facts_quoted(l->found, FACT_MESSAGE, c->message);
	}
	if (acts && !is_of_one_node(l, cause) && !is_of_the_credential(l, cause)) {
		if (!cause_may_act(l->dp, cause, 0, 0))
			add_elsewhere(l, cause, &l->v->evidence);
		add_said(l, c);
		return false;
	}
	add_elsewhere(l, cause, &l->v->evidence);
	if (cause == CAUSE_NODE)
		facts_name(&l->v->evidence, FACT_NODE, l->p->node);
	add_said(l, c);
	return evaluation_decide(l, VERDICT_REFUSE,
				 acts && cause == CAUSE_AUTH ? REASON_CREDENTIAL_REFUSED : reasons[cause]);
}

static const struct check checks[] = {
	CHECKS_BEGIN,
	CHECK("R1", ASK_CANNOT_PULL, check_is_failing),
	CHECKS_FACTS,
	CHECK("R5", ASK_FAILS_SINCE, check_workload_clock),
	CHECKS_GUARDS,
	CHECKS_WORKLOAD_DUE,
	CHECK("R3", ASK_CAUSE_ACTS, check_cause),
	CHECKS_WORKLOAD_ACT,
};
const struct duty_ops duty_image_pull = {
	REASON_CANNOT_PULL_IMAGE, checks, ARRAY_SIZE(checks), NULL, fails, works, worked_at,
};
