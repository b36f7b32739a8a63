/* evicted.c - duty deleteEvictedPod: what a kubelet evicted is deleted, at once or when its keep time
 * is over (R7, R8, R14, R29). */
// SPDX-License-Identifier: Apache-2.0
#include "rules/checks.h"

#include "base/cleanup.h"
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
	const int64_t at = evicted_at(p);

	v->evidence = (struct facts){ 0 };
	facts_name(&v->evidence, FACT_PHASE, p->phase);
	facts_name(&v->evidence, FACT_POD_REASON, p->reason);
	if (at > 0 && at <= now)
		facts_duration(&v->evidence, FACT_LASTED, now - at);
}

static bool check_is_evicted(struct evaluation *l)
{
	const struct pod_facts *p = l->p;

	SAY(l, "phase %.*s%s%.*s", STR_ARG(p->phase), str_empty(p->reason) ? "" : ", reason ",
	    STR_ARG(p->reason));
	if (!str_is(p->phase, "Failed") || !str_is(p->reason, "Evicted")) {
		EVIDENCE_OF_NONE(l, "phase %.*s%s%.*s", STR_ARG(p->phase),
				 str_empty(p->reason) ? "" : ", reason ", STR_ARG(p->reason));
		return evaluation_decide(l, VERDICT_NONE, REASON_NOT_EVICTED);
	}
	describe(p, l->now, l->v);
	l->until = time_add(evicted_at(p), l->dp->hours_ms);
	l->due = l->dp->hours_ms == 0 || (evicted_at(p) > 0 && l->now > l->until);
	return false;
}

/* Its status says why it was evicted, and goes with it. */
static bool check_kept(struct evaluation *l)
{
	const int64_t at = evicted_at(l->p);

	SAY_EVIDENCE(l);
	if (l->due)
		return false;
	if (at <= 0)
		return evaluation_decide(l, VERDICT_REFUSE, REASON_INCOMPLETE_FACTS);
	return evaluation_future(l, at) ||
	       evaluation_wait(l, REASON_WAITING_FOR_THRESHOLD, time_add(l->until, 1));
}

static const struct check checks[] = {
	CHECKS_BEGIN,
	{ "R7", "did a kubelet evict it", check_is_evicted },
	CHECKS_FACTS,
	CHECKS_GUARDS,
	{ "R8", "is it not being deleted already", check_not_deleted_whole },
	{ "R7", "is it no pod of a Job", check_job },
	{ "Keep", "is that longer ago than the threshold", check_kept },
	{ "Announce", "is the announced grace over", check_announced },
	{ "Act", "then it is deleted", check_act },
};

static int64_t began(const struct pod_facts *p)
{
	return p->disruption_at;
}

const struct duty_ops duty_evicted = { REASON_EVICTED, checks, ARRAY_SIZE(checks), began };
