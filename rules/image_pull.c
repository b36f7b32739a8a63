/* image_pull.c - duty errImagePull: scale to zero what cannot pull its image (R1, R2, R4, R5, R15-R18). */
// SPDX-License-Identifier: Apache-2.0
#include "rules/guard.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/rfc3339.h"
#include "rules/cause.h"
#include "rules/select.h"
#include "rules/text.h"

/* The kubelet shows the two in turn with every attempt: one state. */
static bool is_pull_pair(struct str reason)
{
	return str_is(reason, "ErrImagePull") || str_is(reason, "ImagePullBackOff");
}

static bool status_has(const struct str_list *status, struct str reason)
{
	reason = cause_bare_reason(reason);
	for (size_t i = 0; i < status->n; i++) {
		struct str want = cause_bare_reason(STR_C(status->v[i]));

		if (str_eq(want, reason) || (is_pull_pair(want) && is_pull_pair(reason)))
			return true;
	}
	return false;
}

static bool fails_to_pull(const struct container_facts *c, const struct duty_policy *dp)
{
	return c->kind != CONTAINER_EPHEMERAL && c->state == CONTAINER_WAITING && !str_empty(c->reason) &&
	       status_has(&dp->status, c->reason);
}

/* Of several that fail, the first whose cause may lead to an act: that one will not heal by waiting. */
bool judge_is_pull_failure(const struct pod_facts *p, const struct policy *policy, uint32_t *ret_container)
{
	const struct duty_policy *dp = &policy_of(policy, p)[DUTY_IMAGE_PULL];
	int64_t first = -1;

	/* An evicted pod keeps the waiting states it had; phase Pending or Running says nothing (R2). */
	if (phase_terminal(p))
		return false;
	for (uint32_t i = 0; i < p->n_containers && i < POD_CONTAINERS_MAX; i++) {
		if (!fails_to_pull(&p->containers[i], dp))
			continue;
		if (first < 0)
			first = i;
		if (!ret_container)
			break;
		if (cause_may_act(dp, cause_of(&p->containers[i]))) {
			first = i;
			break;
		}
	}
	if (first >= 0 && ret_container)
		*ret_container = (uint32_t)first;
	return first >= 0;
}

bool judge_has_pulled(const struct pod_facts *p)
{
	bool any = false;

	for (uint32_t i = 0; i < p->n_containers && i < POD_CONTAINERS_MAX; i++) {
		const struct container_facts *c = &p->containers[i];

		if (c->kind == CONTAINER_EPHEMERAL)
			continue;
		if (cause_concerns(c))
			return false;
		if (c->kind != CONTAINER_MAIN)
			continue;
		any = true;
		/* ContainerStatusUnknown is what a container gets that never was. */
		if (c->state == CONTAINER_RUNNING ||
		    (c->state == CONTAINER_TERMINATED && !str_is(c->reason, "ContainerStatusUnknown")))
			continue;
		if (c->restarts <= 0 && c->last_finished_at <= 0)
			return false;
	}
	return any && !p->containers_cut;
}

/* The kinds of Kubernetes itself that have no scale subresource. Others are asked in the worker. */
static bool never_scalable(const struct owner_facts *o)
{
	return (str_is(o->kind, "DaemonSet") && str_is(o->api_version, "apps/v1")) ||
	       ((str_is(o->kind, "Job") || str_is(o->kind, "CronJob")) &&
		str_is(o->api_version, "batch/v1")) ||
	       str_is(o->kind, "Node");
}

static enum reason tally_reason(const struct pod_context *s)
{
	if (s->tally_known != TRI_YES)
		return s->stage == STAGE_LIVE ? REASON_TALLY_UNKNOWN : REASON_CANNOT_PULL_IMAGE;
	if (s->ready > 0)
		return REASON_WORKLOAD_HAS_READY_PODS;
	if (s->pods == 0)
		return REASON_WORKLOAD_HAS_NO_PODS;
	if (s->failing != s->pods)
		return REASON_NOT_ALL_FAILING;
	return REASON_CANNOT_PULL_IMAGE;
}

static void describe(struct evaluation *l)
{
	const struct container_facts *c = &l->p->containers[l->container];
	const struct pod_context *s = l->s;
	const char *cause = cause_name(cause_of(c));
	char age[DURATION_MAX], limit[DURATION_MAX];

	if (s->failing_since <= 0) {
		text_evidence(l->v, "container %.*s: %.*s, cause %s", STR_ARG(c->name), STR_ARG(c->reason),
			      cause);
		return;
	}
	text_evidence(l->v, "container %.*s: %.*s for %s (threshold %s), cause %s", STR_ARG(c->name),
		      STR_ARG(c->reason), text_duration(time_add(l->now, -s->failing_since), age),
		      text_duration(l->dp->hours_ms, limit), cause);
	if (s->tally_known == TRI_YES)
		text_append(l->v, "; %u of %u pods of the revision fail, %u Ready", s->failing, s->pods,
			    s->ready);
}

static bool check_is_failing(struct evaluation *l)
{
	const struct pod_facts *p = l->p;
	const struct container_facts *c;

	if (!judge_is_pull_failure(p, l->policy, &l->container)) {
		SAY(l, "phase %.*s, no container waits for its image", STR_ARG(p->phase));
		EVIDENCE_OF_NONE(l, "phase %.*s", STR_ARG(p->phase));
		return evaluation_decide(l, VERDICT_NONE, REASON_NOT_FAILING);
	}
	c = &p->containers[l->container];
	SAY(l, "container %.*s: %.*s, image %.*s", STR_ARG(c->name), STR_ARG(c->reason), STR_ARG(c->image));
	describe(l);
	return false;
}

/* Never decides: the guards come first. */
static bool find_clock(struct evaluation *l)
{
	char since[RFC3339_MAX], limit[DURATION_MAX];

	if (l->s->failing_since <= 0 || l->s->failing_since > time_add(l->now, JUDGE_SKEW_MS))
		return false;
	l->until = time_add(l->s->failing_since, l->dp->hours_ms);
	l->due = l->now > l->until;
	if (l->fact) {
		rfc3339_format(l->s->failing_since, false, since);
		evaluation_say(l, "revision %.*s first seen failing %s, threshold %s",
			       STR_ARG(l->p->revision), since, text_duration(l->dp->hours_ms, limit));
	}
	return false;
}

static bool check_not_deleted(struct evaluation *l)
{
	SAY(l, "%s", l->p->deletion > 0 ? "has a deletionTimestamp" : "no deletionTimestamp");
	return l->p->deletion > 0 && evaluation_decide(l, VERDICT_NONE, REASON_BEING_DELETED);
}

static bool check_not_ready(struct evaluation *l)
{
	SAY(l, "%s", l->p->ready ? "Ready" : "not Ready");
	return l->p->ready && evaluation_decide(l, VERDICT_REFUSE, REASON_POD_READY);
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

/* The revision has no clock. That may be because other pods of it did pull: then somebody should hear of it.
 */
static bool without_clock(struct evaluation *l)
{
	const enum reason reason = tally_reason(l->s);
	const int64_t from = not_before(l->p), until = time_add(from, l->dp->hours_ms);

	if (l->s->tally_known != TRI_YES || reason == REASON_CANNOT_PULL_IMAGE || from == 0 ||
	    from > time_add(l->now, JUDGE_SKEW_MS))
		return evaluation_wait(l, REASON_NO_FIRST_SEEN, 0);
	if (l->now <= until)
		return evaluation_wait(l, REASON_NO_FIRST_SEEN, time_add(until, 1));
	text_append(l->v, "; %u of %u pods of the revision fail, %u Ready", l->s->failing, l->s->pods,
		    l->s->ready);
	return evaluation_decide(l, VERDICT_REFUSE, reason);
}

static bool check_clock(struct evaluation *l)
{
	const int64_t since = l->s->failing_since;
	char left[DURATION_MAX];

	if (since < 0 || since > time_add(l->now, JUDGE_SKEW_MS))
		return evaluation_decide(l, VERDICT_REFUSE, REASON_BAD_TIMESTAMP);
	if (since == 0)
		return without_clock(l);
	SAY(l, "%s%s", l->due ? "reached" : "reached in ",
	    l->due ? "" : text_duration(time_add(time_add(l->until, 1), -l->now), left));
	return !l->due && evaluation_wait(l, REASON_WAITING_FOR_THRESHOLD, time_add(l->until, 1));
}

/* The cache may not know the cause; then the worker reads message and Events. */
static bool check_cause(struct evaluation *l)
{
	static const enum reason reasons[CAUSE__MAX] = {
		[CAUSE_UNKNOWN] = REASON_CAUSE_UNKNOWN,
		[CAUSE_PERMANENT] = REASON_CAUSE_NOT_ENABLED,
		[CAUSE_AUTH] = REASON_CAUSE_AUTH,
		[CAUSE_TRANSIENT] = REASON_CAUSE_TRANSIENT,
	};
	const struct container_facts *c = &l->p->containers[l->container];
	const enum pull_cause cause = cause_of(c);

	SAY(l, "cause %s; message: %.*s", cause_name(cause), STR_ARG(c->message));
	if (cause_may_act(l->dp, cause) || (cause == CAUSE_UNKNOWN && l->s->stage == STAGE_CACHE))
		return false;
	if (!str_empty(c->message))
		text_append(l->v, ": %.*s", STR_ARG(c->message));
	return evaluation_decide(l, VERDICT_REFUSE, reasons[cause]);
}

static bool check_controller(struct evaluation *l)
{
	const struct owner_facts *o = &l->p->owner;

	SAY(l, "controller %.*s/%.*s", STR_ARG(o->kind), STR_ARG(o->name));
	return (str_empty(o->uid) || str_empty(o->kind) || str_empty(o->name)) &&
	       evaluation_decide(l, VERDICT_REFUSE, REASON_NO_CONTROLLER);
}

static bool is_job(const struct owner_facts *o)
{
	return str_is(o->kind, "Job") && str_is(o->api_version, "batch/v1");
}

static bool check_scalable(struct evaluation *l)
{
	const struct owner_facts *o = &l->p->owner;

	SAY(l, "kind %.*s %.*s, suspendJobs %s", STR_ARG(o->kind), STR_ARG(o->api_version),
	    l->dp->suspend_jobs ? "true" : "false");
	return never_scalable(o) && !(is_job(o) && l->dp->suspend_jobs) &&
	       evaluation_decide(l, VERDICT_REFUSE, REASON_KIND_NOT_SCALABLE);
}

static bool check_tally(struct evaluation *l)
{
	const enum reason reason = tally_reason(l->s);

	SAY(l, "%u of %u pods of the revision fail, %u pods of the workload are Ready%s", l->s->failing,
	    l->s->pods, l->s->ready, l->s->tally_known == TRI_YES ? "" : " (not counted yet)");
	return reason != REASON_CANNOT_PULL_IMAGE && evaluation_decide(l, VERDICT_REFUSE, reason);
}

static bool check_act(struct evaluation *l)
{
	return evaluation_decide(l, VERDICT_ACT, REASON_CANNOT_PULL_IMAGE);
}

static const struct check checks[] = {
	CHECKS_BEGIN,
	{ "R1", "does a container fail to pull its image", check_is_failing },
	CHECKS_FACTS,
	{ "R5", "since when does its revision fail", find_clock },
	CHECKS_GUARDS,
	{ "R18", "is the pod not being deleted", check_not_deleted },
	{ "R18", "is the pod not Ready", check_not_ready },
	{ "R4", "has it failed longer than the threshold", check_clock },
	{ "R3", "may its cause lead to an act", check_cause },
	{ "R15", "does it have a controller", check_controller },
	{ "R24", "is the controller of a kind that can be scaled", check_scalable },
	{ "R18", "do all pods of the revision fail and is none Ready", check_tally },
	{ "Act", "then the workload is scaled to 0", check_act },
};
const struct duty_checks checks_image_pull = { checks, ARRAY_SIZE(checks) };
