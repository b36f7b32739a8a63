/* evicted.c - duty deleteEvictedPod: what a kubelet evicted is deleted at once (R7, R8, R14, R29). */
// SPDX-License-Identifier: Apache-2.0
#include "rules/guard.h"
#include "rules/text.h"

/* When it was evicted, best evidence first; 0 when nothing tells. */
static int64_t evicted_at(const struct pod_facts *p)
{
	int64_t at = 0;

	if (p->disruption_at > 0)
		return p->disruption_at;
	for (uint32_t i = 0; i < p->n_containers && i < POD_CONTAINERS_MAX; i++)
		if (p->containers[i].finished_at > at)
			at = p->containers[i].finished_at;
	return at > 0 ? at : p->start_time;
}

static void describe(const struct pod_facts *p, int64_t now, struct verdict *v)
{
	char age[DURATION_MAX];
	int64_t at = evicted_at(p);

	if (at > 0 && at <= now)
		text_evidence(v, "phase Failed, reason Evicted, since %s", text_duration(now - at, age));
	else
		text_evidence(v, "phase Failed, reason Evicted");
}

void judge_evicted(const struct pod_facts *p, const struct policy *policy, const struct surroundings *s,
		   int64_t now, struct verdict *ret)
{
	if (!guard_begin(p, policy, DUTY_EVICTED, ret))
		return;
	if (!str_is(p->phase, "Failed") || !str_is(p->reason, "Evicted")) {
		verdict_set(ret, VERDICT_NONE, REASON_NOT_EVICTED);
		text_evidence(ret, "phase %.*s%s%.*s", STR_ARG(p->phase),
			      str_empty(p->reason) ? "" : ", reason ", STR_ARG(p->reason));
		return;
	}
	describe(p, now, ret);
	if (!guard_facts(p, policy, DUTY_EVICTED, s->stage, now, ret) ||
	    !guard_protected(p, policy, DUTY_EVICTED, true, true, ret))
		return;
	if (p->deletion > 0)
		verdict_set(ret, VERDICT_NONE, REASON_BEING_DELETED);
	else if (p->ready)
		verdict_set(ret, VERDICT_REFUSE, REASON_POD_READY);
	else if (str_is(p->owner.kind, "Job") && !policy->duty[DUTY_EVICTED].include_jobs)
		verdict_set(ret, VERDICT_REFUSE, REASON_JOB_POD_KEPT);
	else
		verdict_set(ret, VERDICT_ACT, REASON_EVICTED);
}
