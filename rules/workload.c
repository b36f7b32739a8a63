/* workload.c - see workload.h. */
// SPDX-License-Identifier: Apache-2.0
#include "rules/workload.h"

#include "base/rfc3339.h"
#include "rules/text.h"

static bool is_job(const struct owner_facts *o)
{
	return str_is(o->kind, "Job") && str_is(o->api_version, "batch/v1");
}

/* The kinds of Kubernetes itself that have no scale subresource. Others are asked in the worker. */
static bool never_scalable(const struct owner_facts *o)
{
	return is_job(o) || (str_is(o->kind, "CronJob") && str_is(o->api_version, "batch/v1")) ||
	       (str_is(o->kind, "DaemonSet") && str_is(o->api_version, "apps/v1")) || str_is(o->kind, "Node");
}

/* What the pods of the workload say against it; REASON_NOTHING_TO_DO = nothing. From the cache they may be
 * unknown. */
static enum reason tally_reason(const struct pod_context *s)
{
	if (s->tally_known != TRI_YES)
		return s->stage == STAGE_CACHE ? REASON_NOTHING_TO_DO : REASON_TALLY_UNKNOWN;
	if (s->ready > 0)
		return REASON_WORKLOAD_HAS_READY_PODS;
	if (s->pods == 0)
		return REASON_WORKLOAD_HAS_NO_PODS;
	if (s->otherwise > 0 && s->failing + s->otherwise == s->pods)
		return REASON_FAILS_IN_TWO_WAYS;
	if (s->failing != s->pods)
		return REASON_NOT_ALL_FAILING;
	return REASON_NOTHING_TO_DO;
}

/* Those beyond the pods that are told with the counts. */
static void describe_others(struct evaluation *l)
{
	const struct pod_context *s = l->s;
	const bool pulls = l->duty == DUTY_IMAGE_PULL;

	if (s->otherwise > 0) {
		facts_count(&l->v->evidence, FACT_CANNOT_PULL, pulls ? s->failing : s->otherwise);
		facts_count(&l->v->evidence, FACT_CRASHING, pulls ? s->otherwise : s->failing);
	}
	if (s->silent > 0)
		facts_count(&l->v->evidence, FACT_SILENT, s->silent);
}

void workload_describe(struct evaluation *l, struct str state, const char *more)
{
	const struct container_facts *c = &l->p->containers[l->v->container];
	const struct pod_context *s = l->s;
	char age[DURATION_MAX], limit[DURATION_MAX];

	if (s->failing_since <= 0) {
		text_evidence(l->v, "container %.*s: %.*s, %s", STR_ARG(c->name), STR_ARG(state), more);
		return;
	}
	text_evidence(l->v, "container %.*s: %.*s for %s (threshold %s), %s", STR_ARG(c->name),
		      STR_ARG(state), duration_short(time_add(l->now, -s->failing_since), age),
		      duration_short(l->dp->hours_ms, limit), more);
	if (s->tally_known == TRI_YES)
		text_append(l->v, "; %u of %u pods of the revision fail, %u Ready", s->failing, s->pods,
			    s->ready);
	describe_others(l);
}

bool check_workload_clock(struct evaluation *l)
{
	char since[RFC3339_MAX], limit[DURATION_MAX];

	if (l->s->failing_since <= 0 || l->s->failing_since > time_add(l->now, JUDGE_SKEW_MS))
		return false;
	l->until = time_add(l->s->failing_since, l->dp->hours_ms);
	l->due = l->now > l->until;
	if (l->fact) {
		rfc3339_format(l->s->failing_since, false, since);
		evaluation_say(l, "revision %.*s first seen failing %s, threshold %s",
			       STR_ARG(l->p->revision), since, duration_short(l->dp->hours_ms, limit));
	}
	return false;
}

/* When the failure can not have begun before (R4 c); 0 when nothing tells. Over-counts: good for a refusal,
 * never for an act. */
static int64_t not_before(const struct pod_facts *p)
{
	int64_t at = p->scheduled_at;

	for (uint32_t i = 0; i < p->n_containers && i < POD_CONTAINERS_MAX; i++)
		if (p->containers[i].last_finished_at > at)
			at = p->containers[i].last_finished_at;
	return at > 0 ? at : 0;
}

/* The revision has no clock. That may be because other pods of it did pull: somebody should hear of it. */
static bool without_clock(struct evaluation *l)
{
	const enum reason reason = tally_reason(l->s);
	const int64_t from = not_before(l->p), until = time_add(from, l->dp->hours_ms);

	if (l->s->tally_known != TRI_YES || reason == REASON_NOTHING_TO_DO || from == 0 ||
	    from > time_add(l->now, JUDGE_SKEW_MS))
		return evaluation_wait(l, REASON_NO_FIRST_SEEN, 0);
	if (l->now <= until)
		return evaluation_wait(l, REASON_NO_FIRST_SEEN, time_add(until, 1));
	text_append(l->v, "; %u of %u pods of the revision fail, %u Ready", l->s->failing, l->s->pods,
		    l->s->ready);
	describe_others(l);
	return evaluation_decide(l, VERDICT_REFUSE, reason);
}

bool check_workload_due(struct evaluation *l)
{
	const int64_t since = l->s->failing_since;
	char left[DURATION_MAX];

	if (since < 0)
		return evaluation_decide(l, VERDICT_REFUSE, REASON_BAD_TIMESTAMP);
	if (evaluation_future(l, since))
		return true;
	if (since == 0)
		return without_clock(l);
	SAY(l, "%s%s", l->due ? "reached" : "reached in ",
	    l->due ? "" : duration_short(time_add(time_add(l->until, 1), -l->now), left));
	return !l->due && evaluation_wait(l, REASON_WAITING_FOR_THRESHOLD, time_add(l->until, 1));
}

bool check_workload_controller(struct evaluation *l)
{
	const struct owner_facts *o = &l->p->owner;

	SAY(l, "controller %.*s/%.*s", STR_ARG(o->kind), STR_ARG(o->name));
	return (str_empty(o->uid) || str_empty(o->kind) || str_empty(o->name)) &&
	       evaluation_decide(l, VERDICT_REFUSE, REASON_NO_CONTROLLER);
}

bool check_workload_scalable(struct evaluation *l)
{
	const struct owner_facts *o = &l->p->owner;

	SAY(l, "kind %.*s %.*s, suspendJobs %s", STR_ARG(o->kind), STR_ARG(o->api_version),
	    l->dp->suspend_jobs ? "true" : "false");
	return never_scalable(o) && !(is_job(o) && l->dp->suspend_jobs) &&
	       evaluation_decide(l, VERDICT_REFUSE, REASON_KIND_NOT_SCALABLE);
}

bool check_workload_tally(struct evaluation *l)
{
	const enum reason reason = tally_reason(l->s);

	SAY(l, "%u of %u pods of the revision fail, %u of the workload Ready%s", l->s->failing, l->s->pods,
	    l->s->ready, l->s->tally_known == TRI_YES ? "" : " (not counted yet)");
	return reason != REASON_NOTHING_TO_DO && evaluation_decide(l, VERDICT_REFUSE, reason);
}
