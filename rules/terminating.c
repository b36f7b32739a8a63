/* terminating.c - duty deleteTerminatingPod: force delete what is stuck, where that is safe (R9-R14). */
// SPDX-License-Identifier: Apache-2.0
#include "rules/checks.h"

#include "base/cleanup.h"
#include "base/rfc3339.h"
#include "rules/status.h"
#include "rules/text.h"

static const char *tri_name(enum tri t)
{
	return t == TRI_YES ? "yes" : t == TRI_NO ? "no" : "unknown";
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
			      const struct pod_context *s, const char **ret_why)
{
	*ret_why = "";
	if (str_empty(p->node) && !p->scheduled) {
		*ret_why = "never scheduled";
		return REASON_STUCK_TERMINATING;
	}
	if (str_empty(p->node))
		return REASON_INCOMPLETE_FACTS;
	if (s->node_exists == TRI_NO) {
		*ret_why = p->ready ? "node is gone, nobody keeps up that it is Ready" : "node is gone";
		return REASON_STUCK_TERMINATING;
	}
	if (s->node_exists != TRI_YES)
		return REASON_NODE_UNKNOWN;
	if (s->node_out_of_service == TRI_YES) {
		*ret_why = "node is out of service";
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
		*ret_why = "node is not Ready, unreachableNodes is set";
		return REASON_STUCK_TERMINATING;
	}
	/* A state that was not reported proves nothing. */
	if (p->n_containers == 0 || p->unreported || any_in(p, CONTAINER_NONE))
		return REASON_FORCE_NOT_SAFE;
	if (p->has_pvc && s->volume_attached != TRI_NO)
		return s->volume_attached == TRI_YES ? REASON_VOLUME_ATTACHED : REASON_VOLUMES_UNKNOWN;
	*ret_why = "node is Ready, no container runs";
	return REASON_STUCK_TERMINATING;
}

static void describe_finalizers(const struct pod_facts *p, struct verdict *v)
{
	char list[FINALIZERS_MAX];

	text_evidence(v, "%s%s", status_finalizers(p, list),
		      p->grace_s == 0 ? "; already deleted by force" : "");
}

/* How long after its deadline it is stuck. What was deleted by force has had its grace. */
static int64_t threshold(const struct evaluation *l)
{
	return pod_is_half_deleted(l->p) ? l->policy->finish_ms : l->dp->hours_ms;
}

static void describe_due(const struct evaluation *l, const char *why)
{
	const struct pod_facts *p = l->p;
	char due[RFC3339_MAX], late[DURATION_MAX], limit[DURATION_MAX];

	rfc3339_format(p->deletion, false, due);
	text_evidence(l->v, "should be gone since %s (%s ago, threshold %s), node %.*s%s%s%s", due,
		      duration_short(time_add(l->now, -p->deletion), late),
		      duration_short(threshold(l), limit), STR_ARG(text_or_dash(p->node)),
		      pod_is_half_deleted(p) ? "; half-deleted" : "", *why ? "; " : "", why);
}

static bool check_is_terminating(struct evaluation *l)
{
	SAY(l, "%s", l->p->deletion > 0 ? "has a deletionTimestamp" : "no deletionTimestamp");
	return l->p->deletion == 0 && evaluation_decide(l, VERDICT_NONE, REASON_NOT_TERMINATING);
}

/* deletionTimestamp already holds the grace period: it is a deadline, nothing is subtracted. Never decides:
 * the guards come first. At grace 0 the API server has marked it and is about to remove it; what it has left
 * half-way is removed by another DELETE. */
static bool find_deadline(struct evaluation *l)
{
	char limit[DURATION_MAX], left[DURATION_MAX];

	l->until = time_add(l->p->deletion, threshold(l));
	l->due = l->now > l->until;
	if (l->due)
		describe_due(l, "");
	else
		text_evidence(l->v, "terminating; threshold %s after its deadline is reached in %s",
			      duration_short(threshold(l), limit),
			      duration_short(time_add(time_add(l->until, 1), -l->now), left));
	SAY_EVIDENCE(l);
	return false;
}

static bool check_due(struct evaluation *l)
{
	SAY_EVIDENCE(l);
	return !l->due && evaluation_wait(l,
					  pod_is_half_deleted(l->p) ? REASON_GRACE_ALREADY_ZERO
								    : REASON_WAITING_FOR_THRESHOLD,
					  time_add(l->until, 1));
}

static bool check_finalizers(struct evaluation *l)
{
	SAY(l, l->p->n_finalizers == 1 ? "%u finalizer" : "%u finalizers", l->p->n_finalizers);
	if (l->p->n_finalizers == 0)
		return false;
	describe_finalizers(l->p, l->v);
	return evaluation_decide(l, VERDICT_REFUSE, REASON_HAS_FINALIZERS);
}

/* From the cache nothing is known of the node: a candidate, the worker looks. */
static bool check_candidate(struct evaluation *l)
{
	const bool unknown =
		l->s->stage == STAGE_CACHE && l->s->node_exists == TRI_UNKNOWN && !str_empty(l->p->node);

	SAY(l, "node %.*s%s", STR_ARG(text_or_dash(l->p->node)),
	    unknown ? " and volumes are read by the worker, before anything is written" : "");
	return unknown && evaluation_decide(l, VERDICT_ACT, REASON_STUCK_TERMINATING);
}

/* The kubelet and the node controller keep up condition Ready, and both look after nodes that exist. */
static bool check_ready(struct evaluation *l)
{
	if (l->s->node_exists != TRI_NO)
		return check_not_ready(l);
	SAY(l, "%s, but node %.*s does not exist", l->p->ready ? "Ready" : "not Ready", STR_ARG(l->p->node));
	return false;
}

static bool check_safe(struct evaluation *l)
{
	const struct pod_context *s = l->s;
	const char *why;
	const enum reason reason = force_safe(l->p, l->dp, s, &why);

	if (reason == REASON_STUCK_TERMINATING) {
		describe_due(l, why);
		SAY(l, "%s", why);
		return false;
	}
	text_evidence(l->v, "node %.*s exists %s, Ready %s, out of service %s; volume attached %s",
		      STR_ARG(l->p->node), tri_name(s->node_exists), tri_name(s->node_ready),
		      tri_name(s->node_out_of_service), tri_name(s->volume_attached));
	if (reason == REASON_RESOURCE_CLAIM_HELD)
		text_append(l->v, "; holds ResourceClaim %.*s", STR_ARG(l->p->claim));
	SAY_EVIDENCE(l);
	return evaluation_decide(l, VERDICT_REFUSE, reason);
}

static const struct check checks[] = {
	CHECKS_BEGIN,
	{ "R9", "did anybody ask to delete it", check_is_terminating },
	CHECKS_FACTS,
	{ "R9", "when is it stuck", find_deadline },
	CHECKS_GUARDS,
	{ "R9", "is its deadline passed by the threshold", check_due },
	{ "R11", "does no finalizer hold it", check_finalizers },
	{ "Announce", "is the announced grace over", check_announced },
	{ "R12", "is the node known", check_candidate },
	{ "R18", "is it not Ready, or its node gone", check_ready },
	{ "R12", "is force safe", check_safe },
	{ "Act", "then it is deleted with grace 0", check_act },
};

static int64_t began(const struct pod_facts *p)
{
	return p->deletion;
}

const struct duty_ops duty_terminating = { REASON_STUCK_TERMINATING, checks, ARRAY_SIZE(checks), began };
