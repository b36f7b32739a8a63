/* restarts.c - duty tooManyRestart: what belongs into the digest (R6, R30). Never acts. */
// SPDX-License-Identifier: Apache-2.0
#include "rules/guard.h"

#include <string.h>

#include "rules/text.h"

static bool listed(const struct duty_policy *dp, struct str reason)
{
	struct str want;

	if (str_empty(reason))
		return false;
	for (size_t i = 0; i < dp->status.n; i++) {
		want = STR_C(dp->status.v[i]);
		if (want.n > 5 && memcmp(want.p, "Init:", 5) == 0)
			want = (struct str){ want.p + 5, want.n - 5 };
		if (str_eq(want, reason))
			return true;
	}
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

void judge_restarts(const struct pod_facts *p, const struct policy *policy, int64_t now, struct verdict *ret,
		    uint32_t *ret_container)
{
	const struct duty_policy *dp = &policy->duty[DUTY_RESTARTS];
	char age[DURATION_MAX], limit[DURATION_MAX];
	struct str state = { "", 0 };
	int64_t worst, until;
	const struct container_facts *c;

	if (!guard_begin(p, policy, DUTY_RESTARTS, ret) ||
	    !guard_facts(p, policy, DUTY_RESTARTS, STAGE_CACHE, now, ret))
		return;
	worst = worst_container(p, dp, now, &state);
	if (worst < 0) {
		verdict_set(ret, VERDICT_NONE, REASON_NOT_RESTARTING);
		return;
	}
	c = &p->containers[worst];
	until = time_add(p->created, dp->hours_ms);
	text_evidence(ret, "container %.*s: %.*s, %d restarts (threshold %lld), age %s (threshold %s)",
		      STR_ARG(c->name), STR_ARG(state), c->restarts, (long long)dp->counts,
		      text_duration(time_add(now, -p->created), age), text_duration(dp->hours_ms, limit));
	if (!guard_protected(p, policy, DUTY_RESTARTS, false, c->restarts >= dp->counts && now >= until, ret))
		return;
	if (c->restarts < dp->counts) {
		verdict_set(ret, VERDICT_NONE, REASON_BELOW_COUNTS);
	} else if (now < until) {
		verdict_wait(ret, REASON_WAITING_FOR_THRESHOLD, until);
	} else {
		verdict_set(ret, VERDICT_ACT, REASON_TOO_MANY_RESTARTS);
		if (ret_container)
			*ret_container = (uint32_t)worst;
	}
}
