/* finished.c - duty deleteFinishedPod: what ended long ago and nobody will look at again is deleted (R8, R14,
 * R29).
 *
 * Who gives the reasons of its default, in kubernetes/kubernetes:
 * - NodeShutdown, Terminated: pkg/kubelet/nodeshutdown/nodeshutdown_manager.go (not admitted to, and ended
 * by, a node that shuts down); Shutdown: the same before 1.22
 * - NodeAffinity, NodePorts, TaintToleration, PodOSNotSupported, PodOSSelectorNodeLabelDoesNotMatch,
 *   UnexpectedAdmissionError, and OutOf* for each resource that ran out (OutOfcpu, OutOfnvidia.com/gpu):
 *   pkg/kubelet/lifecycle/predicate.go (the kubelet does not admit what was scheduled to it)
 * - TopologyAffinityError: pkg/kubelet/cm/topologymanager/topology_manager.go; SMTAlignmentError:
 *   pkg/kubelet/cm/cpumanager/policy_static.go; SysctlForbidden: pkg/kubelet/sysctl/allowlist.go (the same)
 * - NodeLost: pkg/util/node/node.go, NodeUnreachablePodReason
 * - Preempting: pkg/kubelet/preemption/preemption.go (made room for a critical pod)
 * - ContainerStatusUnknown: pkg/kubelet/container/runtime.go (the kubelet cannot find the container any more)
 */
// SPDX-License-Identifier: Apache-2.0
#include "rules/checks.h"

#include "base/cleanup.h"

/* The reason for which it ended: the pod's, else that of the first container that gives a listed one. Empty:
 * none. */
static struct str reason_of(const struct pod_facts *p, const struct duty_policy *dp)
{
	for (uint32_t i = 0; str_empty(p->reason) && i < p->n_containers && i < POD_CONTAINERS_MAX; i++)
		if (p->containers[i].kind != CONTAINER_EPHEMERAL &&
		    p->containers[i].state == CONTAINER_TERMINATED &&
		    str_list_globs(&dp->status, p->containers[i].reason))
			return p->containers[i].reason;
	return p->reason;
}

/* The latest time that its status tells of its end; 0 when nothing tells. When the kubelet first looked at it
 * counts only where no container was ever reported: such a pod was turned away at once, and its status holds
 * neither conditions nor any other time. */
static int64_t ended_at(const struct pod_facts *p)
{
	int64_t at = p->disruption_at > p->unready_since ? p->disruption_at : p->unready_since;

	for (uint32_t i = 0; i < p->n_containers && i < POD_CONTAINERS_MAX; i++)
		if (p->containers[i].finished_at > at)
			at = p->containers[i].finished_at;
	return p->n_containers == 0 && p->start_time > at ? p->start_time : at;
}

static bool is_listed(const struct pod_facts *p, const struct duty_policy *dp)
{
	return pod_is_finished(p) && str_list_has(&dp->phases, p->phase) &&
	       str_list_globs(&dp->status, reason_of(p, dp));
}

static bool is_ended(const struct pod_facts *p, const struct duty_policy *dp, int64_t *ret_at)
{
	*ret_at = ended_at(p);
	return is_listed(p, dp);
}

static void describe(const struct pod_facts *p, struct str reason, struct facts *f)
{
	facts_finding(f, TEXT_ENDED);
	facts_name(f, FACT_PHASE, p->phase);
	facts_name(f, FACT_POD_REASON, reason);
	evaluation_last_words(p, f);
}

static bool check_is_finished(struct evaluation *l)
{
	const struct pod_facts *p = l->p;
	const struct str reason = reason_of(p, l->dp);
	const bool listed = is_listed(p, l->dp);

	if (l->found)
		describe(p, reason, l->found);
	if (listed || !l->brief)
		describe(p, reason, &l->v->evidence);
	return !listed && evaluation_decide(l, VERDICT_NONE, REASON_NOT_FINISHED);
}

/* Never decides: the guards come first. */
static bool find_end(struct evaluation *l)
{
	const int64_t at = ended_at(l->p);

	if (at <= 0 || at > time_add(l->now, JUDGE_SKEW_MS))
		return false;
	l->until = time_add(at, l->dp->hours_ms);
	l->due = l->now > l->until;
	facts_time(&l->v->evidence, FACT_SINCE, at);
	facts_duration(&l->v->evidence, FACT_LASTED, time_add(l->now, -at));
	facts_duration(&l->v->evidence, FACT_THRESHOLD, l->dp->hours_ms);
	found_evidence(l);
	return false;
}

static bool check_over(struct evaluation *l)
{
	const int64_t at = ended_at(l->p);

	found_evidence(l);
	if (at <= 0)
		return evaluation_decide(l, VERDICT_REFUSE, REASON_INCOMPLETE_FACTS);
	if (evaluation_future(l, at))
		return true;
	return !l->due && evaluation_wait(l, REASON_WAITING_FOR_THRESHOLD, time_add(l->until, 1));
}

static bool check_bare(struct evaluation *l)
{
	evaluation_found_controller(l);
	found_bool(l, FACT_INCLUDE_BARE_PODS, l->dp->include_bare_pods);
	return str_empty(l->p->owner.uid) && !l->dp->include_bare_pods &&
	       evaluation_decide(l, VERDICT_REFUSE, REASON_BARE_POD_KEPT);
}

static const struct check checks[] = {
	CHECKS_BEGIN,
	CHECK("Finished", ASK_ENDED_AS_LISTED, check_is_finished),
	CHECKS_FACTS,
	CHECK("Finished", ASK_WHEN_ENDED, find_end),
	CHECKS_GUARDS,
	CHECK("R8", ASK_NOT_DELETED_ALREADY, check_not_deleted_whole),
	CHECK("Finished", ASK_LONG_AGO, check_over),
	CHECK("R7", ASK_NO_JOB, check_job),
	CHECK("Finished", ASK_CONTROLLER, check_bare),
	CHECK("Keep", ASK_OLDER, check_newest),
	CHECK("Announce", ASK_GRACE_OVER, check_announced),
	CHECK("Act", THEN_DELETED, check_act),
};

const struct duty_ops duty_finished = { REASON_FINISHED, checks, ARRAY_SIZE(checks), ended_at,
					.is_ended = is_ended };
