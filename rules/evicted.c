/* evicted.c - duty deleteEvictedPod: what a kubelet evicted is deleted, at once or when its keep time
 * is over (R7, R8, R14, R29). */
// SPDX-License-Identifier: Apache-2.0
#include "rules/checks.h"

#include "base/cleanup.h"

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

static void describe(const struct pod_facts *p, struct facts *f)
{
	facts_name(f, FACT_PHASE, p->phase);
	facts_name(f, FACT_POD_REASON, p->reason);
	evaluation_last_words(p, f);
}

static bool is_evicted(const struct pod_facts *p)
{
	return str_is(p->phase, "Failed") && str_is(p->reason, "Evicted");
}

static bool is_ended(const struct pod_facts *p, const struct duty_policy *dp, int64_t *ret_at)
{
	(void)dp;
	*ret_at = evicted_at(p);
	return is_evicted(p);
}

static bool check_is_evicted(struct evaluation *l)
{
	const struct pod_facts *p = l->p;
	const bool evicted = is_evicted(p);
	const int64_t at = evicted ? evicted_at(p) : 0;

	if (l->found)
		describe(p, l->found);
	if (evicted || !l->brief)
		describe(p, &l->v->evidence);
	if (!evicted)
		return evaluation_decide(l, VERDICT_NONE, REASON_NOT_EVICTED);
	if (at > 0 && at <= l->now)
		facts_duration(&l->v->evidence, FACT_LASTED, l->now - at);
	if (at > 0)
		l->until = time_add(at, l->dp->hours_ms);
	l->due = l->dp->hours_ms == 0 || (at > 0 && l->now > l->until);
	return false;
}

/* Its status says why it was evicted, and goes with it. */
static bool check_kept(struct evaluation *l)
{
	const int64_t at = evicted_at(l->p);

	found_evidence(l);
	if (l->due)
		return false;
	if (at <= 0)
		return evaluation_decide(l, VERDICT_REFUSE, REASON_INCOMPLETE_FACTS);
	return evaluation_future(l, at) ||
	       evaluation_wait(l, REASON_WAITING_FOR_THRESHOLD, time_add(l->until, 1));
}

static const struct check checks[] = {
	CHECKS_BEGIN,
	CHECK("R7", ASK_EVICTED, check_is_evicted),
	CHECKS_FACTS,
	CHECKS_GUARDS,
	CHECK("R8", ASK_NOT_DELETED_ALREADY, check_not_deleted_whole),
	CHECK("R7", ASK_NO_JOB, check_job),
	CHECK("Keep", ASK_LONG_AGO, check_kept),
	CHECK("Keep", ASK_OLDER, check_newest),
	CHECK("Announce", ASK_GRACE_OVER, check_announced),
	CHECK("Act", THEN_DELETED, check_act),
};

static int64_t began(const struct pod_facts *p)
{
	return p->disruption_at;
}

const struct duty_ops duty_evicted = { REASON_EVICTED, checks, ARRAY_SIZE(checks), began,
				       .is_ended = is_ended };
