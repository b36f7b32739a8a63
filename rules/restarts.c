/* restarts.c - duty tooManyRestart: what belongs into the digest (R6, R30). Never acts. */
// SPDX-License-Identifier: Apache-2.0
#include "rules/checks.h"

#include "base/cleanup.h"
#include "rules/cause.h"
#include "rules/status.h"

static bool listed(const struct duty_policy *dp, struct str reason)
{
	for (size_t i = 0; i < dp->status.n; i++)
		if (str_eq(cause_bare_reason(STR_C(dp->status.v[i])), reason))
			return !str_empty(reason);
	return false;
}

/* Ending well is what a Job, a finished pod and an init container are for. */
static bool completed_is_fine(const struct pod_facts *p, const struct container_facts *c)
{
	return c->kind == CONTAINER_INIT || str_is(p->owner.kind, "Job") || str_is(p->phase, "Succeeded");
}

/* The state of the container that is reported, or an empty string. A container that crashes in a loop runs
 * for a moment between two crashes: its last end counts for as long as the kubelet's longest back-off. */
static struct str reported_state(const struct pod_facts *p, const struct container_facts *c,
				 const struct duty_policy *dp, int64_t now)
{
	struct str none = { "", 0 }, reason;

	if (pod_asks_restart(p, c))
		return none;
	if (c->state == CONTAINER_WAITING || c->state == CONTAINER_TERMINATED) {
		reason = c->reason;
		if (!listed(dp, reason))
			return none;
	} else if (c->state == CONTAINER_RUNNING && c->last_finished_at > 0 &&
		   c->last_finished_at <= time_add(now, JUDGE_SKEW_MS) &&
		   time_add(now, -c->last_finished_at) <= JUDGE_RECENT_MS) {
		reason = str_empty(c->last_reason) ? STR_LIT("Error") : c->last_reason;
		if (!listed(dp, reason) && !listed(dp, STR_LIT("CrashLoopBackOff")))
			return none;
	} else {
		return none;
	}
	return str_is(reason, "Completed") && completed_is_fine(p, c) ? none : reason;
}

/* The reported container that restarted most, -1 when none is in a reported state. */
static int64_t worst_container(const struct pod_facts *p, const struct duty_policy *dp, int64_t now,
			       struct str *ret_state)
{
	int64_t worst = -1;
	struct str state;

	for (uint32_t i = 0; i < p->n_containers; i++) {
		const struct container_facts *c = &p->containers[i];

		if (c->kind == CONTAINER_EPHEMERAL || c->restarts < 0)
			continue;
		state = reported_state(p, c, dp, now);
		if (str_empty(state) || (worst >= 0 && c->restarts <= p->containers[worst].restarts))
			continue;
		worst = i;
		*ret_state = state;
	}
	return worst;
}

static void describe(struct evaluation *l, const struct container_facts *c)
{
	struct facts *f = evaluation_evidence(l, TEXT_CONTAINER_FAILS);

	facts_name(f, FACT_CONTAINER, c->name);
	facts_name(f, FACT_STATE, l->state);
	facts_count(f, FACT_RESTARTS, c->restarts);
	facts_count(f, FACT_COUNTS, l->dp->counts);
	facts_duration(f, FACT_AGE, time_add(l->now, -l->p->created));
	facts_duration(f, FACT_THRESHOLD, l->dp->hours_ms);
}

static bool check_restarts(struct evaluation *l)
{
	char status[STATUS_MAX];
	const int64_t worst = worst_container(l->p, l->dp, l->now, &l->state);

	if (l->found)
		found_name(l, FACT_STATUS, STR_C(status_of(l->p, status)));
	if (worst < 0)
		return evaluation_decide(l, VERDICT_NONE, REASON_NOT_RESTARTING);
	const struct container_facts *c = &l->p->containers[worst];
	const int64_t from = time_add(l->p->created, l->dp->hours_ms);

	l->v->container = (uint32_t)worst;
	l->due = c->restarts >= l->dp->counts && l->now >= from;
	if (c->restarts >= l->dp->counts)
		l->until = time_add(from, -1);
	describe(l, c);
	found_evidence(l);
	return false;
}

static bool check_counts(struct evaluation *l)
{
	const int32_t n = l->p->containers[l->v->container].restarts;

	if (l->found) {
		found(l, TEXT_RESTARTS);
		facts_count(l->found, FACT_RESTARTS, n);
		facts_count(l->found, FACT_COUNTS, l->dp->counts);
	}
	return n < l->dp->counts && evaluation_decide(l, VERDICT_NONE, REASON_BELOW_COUNTS);
}

static bool check_age(struct evaluation *l)
{
	if (l->found) {
		facts_duration(l->found, FACT_AGE, time_add(l->now, -l->p->created));
		facts_duration(l->found, FACT_THRESHOLD, l->dp->hours_ms);
	}
	return !l->due && evaluation_wait(l, REASON_WAITING_FOR_THRESHOLD, time_add(l->until, 1));
}

/* It never acts: of the guards only those that are a wish hold here. */
static const struct check checks[] = {
	CHECKS_BEGIN,
	CHECKS_FACTS,
	CHECK("R30", ASK_REPORTED_STATE, check_restarts),
	CHECK("R29", ASK_NOT_EXCLUDED, check_excluded),
	CHECK("Ignore", ASK_NOT_IGNORED, check_ignored),
	CHECK("Skip", ASK_NOT_SKIPPED, check_skipped),
	CHECK("R30", ASK_RESTARTED_OFTEN, check_counts),
	CHECK("R30", ASK_OLD_ENOUGH, check_age),
	CHECK("Report", THEN_REPORTED, check_act),
};

static int64_t began(const struct pod_facts *p)
{
	return p->created;
}

const struct duty_ops duty_restarts = { REASON_TOO_MANY_RESTARTS, checks, ARRAY_SIZE(checks), began };
