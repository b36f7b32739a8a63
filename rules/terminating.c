/* terminating.c - duty deleteTerminatingPod: force delete what is stuck, where that is safe (R9-R14). */
// SPDX-License-Identifier: Apache-2.0
#include "rules/guard.h"

#include <stdio.h>

#include "base/rfc3339.h"
#include "rules/text.h"

static const char *tri_name(enum tri t)
{
	return t == TRI_YES ? "yes" : t == TRI_NO ? "no" : "unknown";
}

/* Every container reported, and none of them running? A state that was not reported proves nothing. */
static bool all_stopped(const struct pod_facts *p)
{
	for (uint32_t i = 0; i < p->n_containers; i++)
		if (p->containers[i].state != CONTAINER_WAITING &&
		    p->containers[i].state != CONTAINER_TERMINATED)
			return false;
	return p->n_containers > 0;
}

static bool any_running(const struct pod_facts *p)
{
	for (uint32_t i = 0; i < p->n_containers; i++)
		if (p->containers[i].state == CONTAINER_RUNNING)
			return true;
	return false;
}

/* R12: the reason why force is not safe, or STUCK_TERMINATING when it is. `ret_why` names the proof. */
static enum reason force_safe(const struct pod_facts *p, const struct duty_policy *dp,
			      const struct surroundings *s, const char **ret_why)
{
	*ret_why = "";
	if (str_empty(p->node) && !p->scheduled) {
		*ret_why = "never scheduled";
		return REASON_STUCK_TERMINATING;
	}
	if (str_empty(p->node))
		return REASON_INCOMPLETE_FACTS;
	if (s->node_exists == TRI_NO) {
		*ret_why = "node is gone";
		return REASON_STUCK_TERMINATING;
	}
	if (s->node_exists != TRI_YES)
		return REASON_NODE_UNKNOWN;
	if (s->node_out_of_service == TRI_YES) {
		*ret_why = "node is out of service";
		return REASON_STUCK_TERMINATING;
	}
	if (s->node_ready == TRI_UNKNOWN)
		return REASON_NODE_UNKNOWN;
	if (s->node_ready == TRI_NO) {
		*ret_why = "node is not Ready, unreachableNodes is set";
		return dp->unreachable_nodes ? REASON_STUCK_TERMINATING : REASON_NODE_NOT_READY;
	}
	if (any_running(p))
		return REASON_CONTAINER_RUNNING;
	if (!all_stopped(p))
		return REASON_FORCE_NOT_SAFE;
	if (p->has_pvc && s->volume_attached != TRI_NO)
		return s->volume_attached == TRI_YES ? REASON_VOLUME_ATTACHED : REASON_VOLUMES_UNKNOWN;
	*ret_why = "node is Ready, no container runs";
	return REASON_STUCK_TERMINATING;
}

static void describe_finalizers(const struct pod_facts *p, struct verdict *v)
{
	char list[200] = "";
	size_t n = 0;

	for (uint32_t i = 0; i < p->n_finalizers && i < POD_FINALIZERS_MAX && n < sizeof(list) - 1; i++) {
		n += (size_t)snprintf(list + n, sizeof(list) - n, "%s%.*s", i ? ", " : "",
				      STR_ARG(p->finalizers[i]));
		if (n > sizeof(list) - 1)
			n = sizeof(list) - 1;
	}
	text_evidence(v, "%s%s", list, p->grace_s == 0 ? "; already deleted by force" : "");
}

static void describe_due(const struct pod_facts *p, const struct duty_policy *dp, int64_t now,
			 const char *why, struct verdict *v)
{
	char due[RFC3339_MAX], late[DURATION_MAX], limit[DURATION_MAX];

	rfc3339_format(p->deletion, false, due);
	text_evidence(v, "should be gone since %s (%s ago, threshold %s), node %.*s%s%s", due,
		      text_duration(time_add(now, -p->deletion), late), text_duration(dp->hours_ms, limit),
		      str_empty(p->node) ? 1 : (int)p->node.n, str_empty(p->node) ? "-" : p->node.p,
		      *why ? "; " : "", why);
}

static void judge_due(const struct pod_facts *p, const struct policy *policy, const struct surroundings *s,
		      int64_t now, struct verdict *v)
{
	const struct duty_policy *dp = &policy->duty[DUTY_TERMINATING];
	enum reason reason;
	const char *why;

	if (p->n_finalizers > 0) {
		verdict_set(v, VERDICT_REFUSE, REASON_HAS_FINALIZERS);
		describe_finalizers(p, v);
		return;
	}
	describe_due(p, dp, now, "", v);
	/* The state between the two writes of a force delete; a second one would hit the successor of the
	 * same name. */
	if (p->grace_s == 0) {
		verdict_set(v, VERDICT_NONE, REASON_GRACE_ALREADY_ZERO);
		return;
	}
	if (p->ready) {
		verdict_set(v, VERDICT_REFUSE, REASON_POD_READY);
		return;
	}
	if (s->stage == STAGE_CACHE && s->node_exists == TRI_UNKNOWN && !str_empty(p->node)) {
		verdict_set(v, VERDICT_ACT, REASON_STUCK_TERMINATING); /* a candidate: the worker looks */
		return;
	}
	reason = force_safe(p, dp, s, &why);
	if (reason == REASON_STUCK_TERMINATING) {
		verdict_set(v, VERDICT_ACT, reason);
		describe_due(p, dp, now, why, v);
		return;
	}
	verdict_set(v, VERDICT_REFUSE, reason);
	text_evidence(v, "node %.*s exists %s, Ready %s, out of service %s; volume attached %s",
		      STR_ARG(p->node), tri_name(s->node_exists), tri_name(s->node_ready),
		      tri_name(s->node_out_of_service), tri_name(s->volume_attached));
}

void judge_terminating(const struct pod_facts *p, const struct policy *policy, const struct surroundings *s,
		       int64_t now, struct verdict *ret)
{
	const struct duty_policy *dp = &policy->duty[DUTY_TERMINATING];
	char limit[DURATION_MAX], left[DURATION_MAX];
	int64_t until;

	if (!guard_begin(p, policy, DUTY_TERMINATING, ret))
		return;
	if (p->deletion == 0) {
		verdict_set(ret, VERDICT_NONE, REASON_NOT_TERMINATING);
		return;
	}
	if (!guard_facts(p, policy, DUTY_TERMINATING, s->stage, now, ret))
		return;
	/* deletionTimestamp already holds the grace period: it is a deadline, nothing is subtracted. */
	until = time_add(p->deletion, dp->hours_ms);
	if (!guard_protected(p, policy, DUTY_TERMINATING, true, now > until, ret))
		return;
	if (now > until) {
		judge_due(p, policy, s, now, ret);
		return;
	}
	verdict_wait(ret, REASON_WAITING_FOR_THRESHOLD, time_add(until, 1));
	text_evidence(ret, "terminating; threshold %s after its deadline is reached in %s",
		      text_duration(dp->hours_ms, limit), text_duration(time_add(ret->at_ms, -now), left));
}
