/* terminating.c - duty deleteTerminatingPod: force delete what is stuck, where that is safe (R9-R14). */
// SPDX-License-Identifier: Apache-2.0
#include "rules/checks.h"

#include "base/cleanup.h"

static void add_tri(struct facts *f, enum fact key, enum tri t)
{
	facts_text(f, key, t == TRI_YES ? TEXT_YES : t == TRI_NO ? TEXT_NO : TEXT_UNKNOWN);
}

static bool any_in(const struct pod_facts *p, enum container_state state)
{
	for (uint32_t i = 0; i < p->n_containers; i++)
		if (p->containers[i].state == state)
			return true;
	return false;
}

/* The kubelet gives devices back after the last container has ended, and before it reports a phase that is
 * over (kubernetes pkg/kubelet/kubelet.go, SyncTerminatingPod): a pod that hangs in between has them still,
 * and force would free its claim for another pod (kubernetes/kubernetes#141471). */
static bool holds_claim(const struct pod_facts *p)
{
	return !str_empty(p->claim) && !pod_is_finished(p);
}

/* R12: the reason why force is not safe, or STUCK_TERMINATING when it is. `ret_why` names the proof. */
static enum reason force_safe(const struct pod_facts *p, const struct duty_policy *dp,
			      const struct pod_context *s, enum text *ret_why)
{
	*ret_why = TEXT__MAX;
	if (str_empty(p->node) && !p->scheduled) {
		*ret_why = TEXT_NEVER_SCHEDULED;
		return REASON_STUCK_TERMINATING;
	}
	if (str_empty(p->node))
		return REASON_INCOMPLETE_FACTS;
	if (s->node_exists == TRI_NO) {
		*ret_why = p->ready ? TEXT_NODE_GONE_READY : TEXT_NODE_GONE;
		return REASON_STUCK_TERMINATING;
	}
	if (s->node_exists != TRI_YES)
		return REASON_NODE_UNKNOWN;
	/* On a node that is Ready again the taint was forgotten: its kubelet is at work, and the control
	 * plane's own collector of such pods does not believe it either (kubernetes
	 * pkg/controller/podgc/gc_controller.go, gcTerminating). */
	if (s->node_out_of_service == TRI_YES && s->node_ready == TRI_NO) {
		*ret_why = TEXT_NODE_OUT_OF_SERVICE;
		return REASON_STUCK_TERMINATING;
	}
	if (s->node_ready == TRI_NO && !dp->unreachable_nodes)
		return REASON_NODE_NOT_READY;
	if (s->node_ready != TRI_NO && s->node_ready != TRI_YES)
		return REASON_NODE_UNKNOWN;
	if (s->node_ready == TRI_YES && any_in(p, CONTAINER_RUNNING))
		return REASON_CONTAINER_RUNNING;
	if (holds_claim(p))
		return REASON_RESOURCE_CLAIM_HELD;
	if (s->node_ready == TRI_NO) {
		*ret_why = TEXT_NODE_UNREACHABLE;
		return REASON_STUCK_TERMINATING;
	}
	/* A state that was not reported proves nothing. */
	if (p->n_containers == 0 || p->unreported || any_in(p, CONTAINER_NONE))
		return REASON_FORCE_NOT_SAFE;
	if (p->has_pvc && s->volume_attached != TRI_NO)
		return s->volume_attached == TRI_YES ? REASON_VOLUME_ATTACHED : REASON_VOLUMES_UNKNOWN;
	*ret_why = TEXT_NODE_READY_IDLE;
	return REASON_STUCK_TERMINATING;
}

static void describe_finalizers(const struct pod_facts *p, struct facts *f)
{
	facts_clear(f);
	for (uint32_t i = 0; i < p->n_finalizers && i < POD_FINALIZERS_MAX; i++)
		facts_name(f, FACT_FINALIZER, p->finalizers[i]);
	if (p->grace_s == 0)
		facts_finding(f, TEXT_BY_FORCE);
}

/* How long after its deadline it is stuck. What was deleted by force has had its grace. */
static int64_t threshold(const struct evaluation *l)
{
	return pod_is_half_deleted(l->p) ? l->policy->finish_ms : l->dp->hours_ms;
}

/* why: TEXT__MAX: it is not known yet. */
static void describe_due(struct evaluation *l, enum text why)
{
	const struct pod_facts *p = l->p;
	struct facts *f = evaluation_evidence(l, TEXT_SHOULD_BE_GONE);

	facts_time(f, FACT_DEADLINE, p->deletion);
	facts_duration(f, FACT_LASTED, time_add(l->now, -p->deletion));
	facts_duration(f, FACT_THRESHOLD, threshold(l));
	facts_name(f, FACT_NODE, p->node);
	if (pod_is_half_deleted(p))
		facts_finding(f, TEXT_HALF_DELETED);
	if (why < TEXT__MAX)
		facts_finding(f, why);
}

static void describe_waiting(struct evaluation *l)
{
	struct facts *f = evaluation_evidence(l, TEXT_TERMINATING);

	facts_duration(f, FACT_THRESHOLD, threshold(l));
	facts_duration(f, FACT_LEFT, time_add(time_add(l->until, 1), -l->now));
}

static bool check_is_terminating(struct evaluation *l)
{
	found(l, l->p->deletion > 0 ? TEXT_DELETION : TEXT_NO_DELETION);
	return l->p->deletion == 0 && evaluation_decide(l, VERDICT_NONE, REASON_NOT_TERMINATING);
}

/* deletionTimestamp already holds the grace period: it is a deadline, nothing is subtracted. Never decides:
 * the guards come first. At grace 0 the API server has marked it and is about to remove it; what it has left
 * half-way is removed by another DELETE. */
static bool find_deadline(struct evaluation *l)
{
	l->until = time_add(l->p->deletion, threshold(l));
	l->due = l->now > l->until;
	if (l->due)
		describe_due(l, TEXT__MAX);
	else
		describe_waiting(l);
	found_evidence(l);
	return false;
}

static bool check_due(struct evaluation *l)
{
	found_evidence(l);
	return !l->due && evaluation_wait(l,
					  pod_is_half_deleted(l->p) ? REASON_GRACE_ALREADY_ZERO
								    : REASON_WAITING_FOR_THRESHOLD,
					  time_add(l->until, 1));
}

static bool check_finalizers(struct evaluation *l)
{
	if (l->found) {
		found(l, TEXT_FINALIZERS);
		facts_count(l->found, FACT_FINALIZERS, l->p->n_finalizers);
	}
	if (l->p->n_finalizers == 0)
		return false;
	describe_finalizers(l->p, &l->v->evidence);
	return evaluation_decide(l, VERDICT_REFUSE, REASON_HAS_FINALIZERS);
}

/* From the cache nothing is known of the node: a candidate, the worker looks. */
static bool check_candidate(struct evaluation *l)
{
	const bool unknown =
		l->s->stage == STAGE_CACHE && l->s->node_exists == TRI_UNKNOWN && !str_empty(l->p->node);

	if (unknown)
		found(l, TEXT_NODE_BY_WORKER);
	else if (str_empty(l->p->node))
		found(l, TEXT_ON_NO_NODE);
	found_name(l, FACT_NODE, l->p->node);
	return unknown && evaluation_decide(l, VERDICT_ACT, REASON_STUCK_TERMINATING);
}

/* The kubelet and the node controller keep up condition Ready, and both look after nodes that exist. */
static bool check_ready(struct evaluation *l)
{
	if (l->s->node_exists != TRI_NO)
		return check_not_ready(l);
	found(l, l->p->ready ? TEXT_READY : TEXT_NOT_READY);
	found(l, TEXT_NODE_ABSENT);
	found_name(l, FACT_NODE, l->p->node);
	return false;
}

static void describe_node(struct evaluation *l)
{
	struct facts *f = evaluation_evidence(l, TEXT_NODE_FOUND);

	facts_name(f, FACT_NODE, l->p->node);
	add_tri(f, FACT_NODE_EXISTS, l->s->node_exists);
	add_tri(f, FACT_NODE_READY, l->s->node_ready);
	add_tri(f, FACT_OUT_OF_SERVICE, l->s->node_out_of_service);
	add_tri(f, FACT_VOLUME_ATTACHED, l->s->volume_attached);
}

static bool check_safe(struct evaluation *l)
{
	enum text why;
	const enum reason reason = force_safe(l->p, l->dp, l->s, &why);

	if (reason == REASON_STUCK_TERMINATING) {
		describe_due(l, why);
		found(l, why);
		return false;
	}
	describe_node(l);
	if (reason == REASON_RESOURCE_CLAIM_HELD)
		facts_name(&l->v->evidence, FACT_CLAIM, l->p->claim);
	found_evidence(l);
	return evaluation_decide(l, VERDICT_REFUSE, reason);
}

static const struct check checks[] = {
	CHECKS_BEGIN,
	CHECK("R9", ASK_DELETION_ASKED, check_is_terminating),
	CHECKS_FACTS,
	CHECK("R9", ASK_WHEN_STUCK, find_deadline),
	CHECKS_GUARDS,
	CHECK("R9", ASK_DEADLINE_PASSED, check_due),
	CHECK("R11", ASK_NO_FINALIZER, check_finalizers),
	CHECK("Announce", ASK_GRACE_OVER, check_announced),
	CHECK("R12", ASK_NODE_KNOWN, check_candidate),
	CHECK("R18", ASK_NOT_READY_OR_NODE_GONE, check_ready),
	CHECK("R12", ASK_FORCE_SAFE, check_safe),
	CHECK("Act", THEN_FORCED, check_act),
};

static int64_t began(const struct pod_facts *p)
{
	return p->deletion;
}

const struct duty_ops duty_terminating = { REASON_STUCK_TERMINATING, checks, ARRAY_SIZE(checks), began };
