/* workload.c - see workload.h. */
// SPDX-License-Identifier: Apache-2.0
#include "rules/workload.h"

/* The kinds of Kubernetes itself that have no scale subresource. Others are asked in the worker. */
static bool never_scalable(const struct owner_facts *o)
{
	return owner_is_job(o) || (str_is(o->kind, "CronJob") && str_is(o->api_version, "batch/v1")) ||
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

struct facts *workload_evidence(struct evaluation *l, struct str state)
{
	struct facts *f = evaluation_evidence(l, TEXT_CONTAINER_FAILS);

	facts_name(f, FACT_CONTAINER, l->p->containers[l->v->container].name);
	facts_name(f, FACT_STATE, state);
	if (l->s->failing_since <= 0)
		return f;
	facts_duration(f, FACT_LASTED, time_add(l->now, -l->s->failing_since));
	facts_duration(f, FACT_THRESHOLD, l->dp->hours_ms);
	if (l->policy->plans_only)
		facts_finding(f, TEXT_AT_LEAST);
	return f;
}

static void add_counts(const struct evaluation *l, struct facts *f)
{
	facts_finding(f, TEXT_TALLY);
	facts_count(f, FACT_FAILING, l->s->failing);
	facts_count(f, FACT_PODS, l->s->pods);
	facts_count(f, FACT_READY, l->s->ready);
}

/* Those beyond the pods that are told with the counts. */
static void add_others(const struct evaluation *l, struct facts *f)
{
	const struct pod_context *s = l->s;
	const bool pulls = l->duty == DUTY_IMAGE_PULL;

	if (s->otherwise > 0) {
		facts_count(f, FACT_CANNOT_PULL, pulls ? s->failing : s->otherwise);
		facts_count(f, FACT_CRASHING, pulls ? s->otherwise : s->failing);
	}
	if (s->silent > 0)
		facts_count(f, FACT_SILENT, s->silent);
}

void workload_add_tally(const struct evaluation *l, struct facts *f)
{
	if (l->s->failing_since <= 0)
		return;
	if (l->s->tally_known == TRI_YES)
		add_counts(l, f);
	add_others(l, f);
}

bool check_workload_clock(struct evaluation *l)
{
	if (l->s->failing_since <= 0 || l->s->failing_since > time_add(l->now, JUDGE_SKEW_MS))
		return false;
	l->until = time_add(l->s->failing_since, l->dp->hours_ms);
	l->due = l->now > l->until;
	if (l->found) {
		found(l, TEXT_FIRST_SEEN);
		found_name(l, FACT_REVISION, l->p->revision);
		facts_time(l->found, FACT_SINCE, l->s->failing_since);
		facts_duration(l->found, FACT_THRESHOLD, l->dp->hours_ms);
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
	add_counts(l, &l->v->evidence);
	add_others(l, &l->v->evidence);
	return evaluation_decide(l, VERDICT_REFUSE, reason);
}

bool check_workload_due(struct evaluation *l)
{
	const int64_t since = l->s->failing_since;

	if (since < 0)
		return evaluation_decide(l, VERDICT_REFUSE, REASON_BAD_TIMESTAMP);
	if (evaluation_future(l, since))
		return true;
	if (since == 0)
		return without_clock(l);
	found(l, l->due ? TEXT_REACHED : TEXT_REACHED_IN);
	if (l->found && !l->due)
		facts_duration(l->found, FACT_LEFT, time_add(time_add(l->until, 1), -l->now));
	return !l->due && evaluation_wait(l, REASON_WAITING_FOR_THRESHOLD, time_add(l->until, 1));
}

bool check_workload_controller(struct evaluation *l)
{
	const struct owner_facts *o = &l->p->owner;

	const bool none = str_empty(o->uid) || str_empty(o->kind) || str_empty(o->name);

	found(l, none ? TEXT_NO_CONTROLLER : TEXT_CONTROLLER);
	found_name(l, FACT_CONTROLLER_KIND, o->kind);
	found_name(l, FACT_CONTROLLER, o->name);
	return none && evaluation_decide(l, VERDICT_REFUSE, REASON_NO_CONTROLLER);
}

bool check_workload_scalable(struct evaluation *l)
{
	const struct owner_facts *o = &l->p->owner;

	evaluation_found_controller(l);
	found_name(l, FACT_API_VERSION, o->api_version);
	found_bool(l, FACT_SUSPEND_JOBS, l->dp->suspend_jobs);
	return never_scalable(o) && !(owner_is_job(o) && l->dp->suspend_jobs) &&
	       evaluation_decide(l, VERDICT_REFUSE, REASON_KIND_NOT_SCALABLE);
}

/* The one pod that a StatefulSet waits for is deleted, whatever its others do. From the cache nobody knows
 * whether it is one. */
static bool may_hold_up_order(const struct evaluation *l)
{
	const struct owner_facts *o = &l->p->owner;

	return l->dp->ordinal_stuck == ORDINAL_DELETE && str_is(o->kind, "StatefulSet") &&
	       str_is(o->api_version, "apps/v1") &&
	       (l->s->stage == STAGE_CACHE || l->s->ordinal_stuck == TRI_YES);
}

bool check_workload_tally(struct evaluation *l)
{
	const enum reason reason = may_hold_up_order(l) ? REASON_NOTHING_TO_DO : tally_reason(l->s);

	if (l->found && l->s->tally_known == TRI_YES)
		add_counts(l, l->found);
	else
		found(l, TEXT_NOT_COUNTED);
	return reason != REASON_NOTHING_TO_DO && evaluation_decide(l, VERDICT_REFUSE, reason);
}
