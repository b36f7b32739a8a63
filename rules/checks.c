/* checks.c - see checks.h. */
// SPDX-License-Identifier: Apache-2.0
#include "rules/checks.h"

#include "base/cleanup.h"
#include "model/job_kinds.h"
#include "rules/escalation.h"
#include "rules/select.h"

#define MESSAGE_BYTES 600 /* a kubelet may list each container */

struct facts *evaluation_evidence(struct evaluation *l, enum text statement)
{
	struct facts *f = &l->v->evidence;

	facts_clear(f);
	facts_finding(f, statement);
	return f;
}

void evaluation_add_end(struct str container, int32_t exit_code, struct str reason, struct facts *f)
{
	facts_name(f, FACT_CONTAINER, container);
	facts_count(f, FACT_EXIT_CODE, exit_code);
	facts_name(f, FACT_CONTAINER_REASON, reason);
}

/* What was killed with the pod ended in an error; what had done its work before did not. */
static void add_first_end(const struct pod_facts *p, struct facts *f)
{
	for (uint32_t i = 0; i < p->n_containers && i < POD_CONTAINERS_MAX; i++) {
		const struct container_facts *c = &p->containers[i];

		if (c->kind == CONTAINER_EPHEMERAL || c->state != CONTAINER_TERMINATED || c->exit_code == 0)
			continue;
		facts_finding(f, TEXT_CONTAINER_ENDED);
		evaluation_add_end(c->name, c->exit_code, c->reason, f);
		return;
	}
}

void evaluation_last_words(const struct pod_facts *p, struct facts *f)
{
	facts_quoted_within(f, FACT_POD_MESSAGE, p->message, MESSAGE_BYTES);
	if (!pod_is_finished(p))
		return;
	facts_name(f, FACT_NODE, p->node);
	add_first_end(p, f);
}

bool evaluation_decide(struct evaluation *l, enum verdict_kind kind, enum reason reason)
{
	l->v->kind = kind;
	l->v->reason = reason;
	l->v->at_ms = 0;
	return true;
}

bool evaluation_wait(struct evaluation *l, enum reason reason, int64_t at)
{
	evaluation_decide(l, VERDICT_WAIT, reason);
	l->v->at_ms = at;
	return true;
}

bool evaluation_future(struct evaluation *l, int64_t at)
{
	if (at <= time_add(l->now, JUDGE_SKEW_MS))
		return false;
	facts_finding(&l->v->evidence, TEXT_TIME_AHEAD);
	facts_duration(&l->v->evidence, FACT_AHEAD, time_add(at, -l->now));
	return evaluation_wait(l, REASON_TIME_IN_FUTURE, time_add(at, -JUDGE_SKEW_MS));
}

/* A guard that holds for all time forbids the act: a refusal when it is due; until then a wait, so that the
 * refusal comes in time; none when it is not known when it will be due. */
static bool evaluation_forbid(struct evaluation *l, enum reason reason)
{
	if (l->due)
		return evaluation_decide(l, VERDICT_REFUSE, reason);
	if (l->until > 0)
		return evaluation_wait(l, reason, time_add(l->until, 1));
	return evaluation_decide(l, VERDICT_NONE, reason);
}

/* -- before the state of the pod -- */

bool check_enabled(struct evaluation *l)
{
	if (l->found) {
		found(l, l->dp->enable ? TEXT_DUTY_ON : TEXT_DUTY_OFF);
		found_name(l, FACT_DUTY, STR_C(duty_name(l->duty)));
		found_name(l, FACT_OVERRIDE, STR_C(l->v->override));
	}
	return !l->dp->enable && evaluation_decide(l, VERDICT_NONE, REASON_DUTY_DISABLED);
}

bool check_selected(struct evaluation *l)
{
	found_name(l, FACT_NAMESPACE, l->p->ns);
	if (select_wanted(l->policy, l->duty, l->p) != TRI_NO)
		return false;
	if (!l->brief)
		facts_name(&l->v->evidence, FACT_NAMESPACE, l->p->ns);
	return evaluation_decide(l, VERDICT_NONE, REASON_NAMESPACE_NOT_SELECTED);
}

/* -- what must hold before the rest is believed -- */

static bool phase_known(struct str phase)
{
	static const char *const phases[] = { "Pending", "Running", "Succeeded", "Failed", "Unknown" };

	for (size_t i = 0; i < ARRAY_SIZE(phases); i++)
		if (str_is(phase, phases[i]))
			return true;
	return false;
}

static bool facts_complete(const struct pod_facts *p, enum judge_stage stage)
{
	return !str_empty(p->ns) && !str_empty(p->name) && !str_empty(p->uid) && phase_known(p->phase) &&
	       (stage == STAGE_CACHE || !str_empty(p->rv)) && p->grace_s >= -1;
}

bool check_facts(struct evaluation *l)
{
	const struct pod_facts *p = l->p;

	if (l->found) {
		found(l, TEXT_POD_AS_READ);
		found_name(l, FACT_PHASE, p->phase);
		facts_count(l->found, FACT_CONTAINERS, p->n_containers);
		found_name(l, FACT_RESOURCE_VERSION, p->rv);
	}
	if (l->dp->hours_ms < 0 || l->dp->counts < 0)
		return evaluation_decide(l, VERDICT_REFUSE, REASON_BAD_POLICY);
	if (p->containers_cut || p->n_containers > POD_CONTAINERS_MAX)
		return evaluation_decide(l, VERDICT_REFUSE, REASON_TOO_MANY_CONTAINERS);
	if (!facts_complete(p, l->s->stage) ||
	    (l->policy->n_overrides && select_labels(l->policy, p) & SELECT_LABELS_UNKNOWN))
		return evaluation_decide(l, VERDICT_REFUSE, REASON_INCOMPLETE_FACTS);
	if (!select_overrides_known(l->policy, p))
		return evaluation_decide(l, VERDICT_REFUSE, REASON_NAMESPACE_UNKNOWN);
	return false;
}

bool check_times(struct evaluation *l)
{
	const struct pod_facts *p = l->p;

	if (l->found)
		facts_time(l->found, FACT_CREATED, p->created);
	if (l->now <= 0 || p->created <= 0 || p->deletion < 0 ||
	    (p->deletion > 0 && p->deletion < p->created))
		return evaluation_decide(l, VERDICT_REFUSE, REASON_BAD_TIMESTAMP);
	return evaluation_future(l, p->created);
}

/* -- guards that hold for all time -- */

bool check_own_pod(struct evaluation *l)
{
	const struct policy *policy = l->policy;

	if (policy->own_pod)
		found_name(l, FACT_OWN_POD, STR_C(policy->own_pod));
	return policy->own_pod && str_is(l->p->name, policy->own_pod) &&
	       (!policy->own_namespace || str_is(l->p->ns, policy->own_namespace)) &&
	       evaluation_forbid(l, REASON_OWN_POD);
}

bool check_excluded(struct evaluation *l)
{
	enum reason reason;

	found_name(l, FACT_NAMESPACE, l->p->ns);
	return !select_namespace(l->policy, l->duty, l->p, &reason) && evaluation_forbid(l, reason);
}

bool check_mirror(struct evaluation *l)
{
	found(l, l->p->mirror ? TEXT_MIRROR : TEXT_NO_MIRROR);
	return l->p->mirror && evaluation_forbid(l, REASON_MIRROR_POD);
}

bool check_priority(struct evaluation *l)
{
	const struct str class = l->p->priority_class;

	if (str_empty(class))
		found(l, TEXT_NO_PRIORITY_CLASS);
	else
		found_name(l, FACT_PRIORITY_CLASS, class);
	return (str_is(class, "system-cluster-critical") || str_is(class, "system-node-critical")) &&
	       !namespaces_name(&l->policy->duty[l->duty].namespaces, l->p->ns) &&
	       evaluation_forbid(l, REASON_SYSTEM_PRIORITY);
}

bool check_ignored(struct evaluation *l)
{
	const bool marked = l->p->skip || l->p->annotations.ignore;

	found(l, marked ? TEXT_MARKED : TEXT_NOT_MARKED);
	return marked && evaluation_forbid(l, REASON_IGNORE_ANNOTATION);
}

bool check_skipped(struct evaluation *l)
{
	const bool marked = l->p->annotations.skip & 1u << l->duty;

	found(l, marked ? TEXT_MARKED : TEXT_NOT_MARKED);
	return marked && evaluation_forbid(l, REASON_SKIP_ANNOTATION);
}

bool check_newest(struct evaluation *l)
{
	const uint32_t newer = l->s->newer[l->duty];

	if (l->dp->keep_newest == 0 || l->s->newer_known != TRI_YES || l->p->deletion > 0 ||
	    str_empty(l->p->owner.uid))
		return false;
	if (l->found)
		facts_count(l->found, FACT_NEWER, newer);
	if (newer >= l->dp->keep_newest)
		return false;
	facts_count(&l->v->evidence, FACT_NEWER, newer);
	facts_count(&l->v->evidence, FACT_KEEP_NEWEST, l->dp->keep_newest);
	return evaluation_wait(l, REASON_KEPT_NEWEST, 0);
}

bool check_announced(struct evaluation *l)
{
	int64_t until;

	if (l->found) {
		found(l, TEXT_GRACE_OF_DUTY);
		facts_duration(l->found, FACT_GRACE, l->dp->announce_ms);
	}
	if (announce_judge(&l->p->annotations, l->duty, l->dp, l->now, &until) != ANNOUNCE_WAIT)
		return false;
	facts_time(evaluation_evidence(l, TEXT_ANNOUNCED), FACT_UNTIL, until);
	return evaluation_wait(l, REASON_ANNOUNCED, time_add(until, 1));
}

bool check_not_deleted(struct evaluation *l)
{
	found(l, l->p->deletion > 0 ? TEXT_DELETION : TEXT_NO_DELETION);
	return l->p->deletion > 0 && evaluation_decide(l, VERDICT_NONE, REASON_BEING_DELETED);
}

bool check_not_deleted_whole(struct evaluation *l)
{
	const int64_t until = time_add(l->p->deletion, l->policy->finish_ms);

	if (!pod_is_half_deleted(l->p))
		return check_not_deleted(l);
	found(l, TEXT_STILL_THERE);
	if (l->now <= until)
		return evaluation_wait(l, REASON_BEING_DELETED, time_add(until, 1));
	facts_duration(&l->v->evidence, FACT_HALF_DELETED, time_add(l->now, -l->p->deletion));
	return false;
}

bool check_not_ready(struct evaluation *l)
{
	const bool serving = pod_is_serving(l->p);

	found(l, serving ? TEXT_READY : l->p->ready ? TEXT_READY_BUT_OVER : TEXT_NOT_READY);
	return serving && evaluation_decide(l, VERDICT_REFUSE, REASON_POD_READY);
}

void evaluation_found_controller(const struct evaluation *l)
{
	if (str_empty(l->p->owner.kind))
		found(l, TEXT_NO_CONTROLLER);
	else
		found_name(l, FACT_CONTROLLER_KIND, l->p->owner.kind);
}

bool check_job(struct evaluation *l)
{
	const enum tri job = job_kinds_match(&l->p->owner, &l->policy->job_kinds, l->s->owner_scales);

	evaluation_found_controller(l);
	found_bool(l, FACT_INCLUDE_JOBS, l->dp->include_jobs);
	if (l->dp->include_jobs || job == TRI_NO)
		return false;
	if (job == TRI_YES)
		return evaluation_decide(l, VERDICT_REFUSE, REASON_JOB_POD_KEPT);
	/* From the cache a candidate: the worker asks whether it scales. */
	return l->s->stage == STAGE_LIVE && evaluation_decide(l, VERDICT_REFUSE, REASON_OWNER_UNREADABLE);
}

bool check_act(struct evaluation *l)
{
	return evaluation_decide(l, VERDICT_ACT, l->ops->reason);
}
