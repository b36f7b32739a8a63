/* image_pull.c - duty errImagePull: scale to zero what cannot pull its image (R1, R2, R4, R5, R15-R18). */
// SPDX-License-Identifier: Apache-2.0
#include "rules/guard.h"

#include <string.h>

#include "base/cleanup.h"
#include "rules/text.h"

/* Every waiting reason that means "the image is not here" (kubernetes pkg/kubelet/images/types.go). */
static const char *const pull_reasons[] = {
	"ErrImagePull",      "ImagePullBackOff",    "InvalidImageName",         "ErrImageNeverPull",
	"ImageInspectError", "RegistryUnavailable", "SignatureValidationFailed"
};

static struct str without_init(struct str s)
{
	if (s.n > 5 && memcmp(s.p, "Init:", 5) == 0)
		return (struct str){ s.p + 5, s.n - 5 };
	return s;
}

/* The kubelet shows the two in turn with every attempt: one state. */
static bool is_pull_pair(struct str reason)
{
	return str_is(reason, "ErrImagePull") || str_is(reason, "ImagePullBackOff");
}

static bool status_has(const struct str_list *status, struct str reason)
{
	reason = without_init(reason);
	for (size_t i = 0; i < status->n; i++) {
		struct str want = without_init(STR_C(status->v[i]));

		if (str_eq(want, reason) || (is_pull_pair(want) && is_pull_pair(reason)))
			return true;
	}
	return false;
}

bool judge_is_pull_failure(const struct pod_facts *p, const struct policy *policy, uint32_t *ret_container)
{
	/* An evicted pod keeps the waiting states it had; phase Pending or Running says nothing (R2). */
	if (phase_terminal(p))
		return false;
	for (uint32_t i = 0; i < p->n_containers && i < POD_CONTAINERS_MAX; i++) {
		const struct container_facts *c = &p->containers[i];

		if (c->kind == CONTAINER_EPHEMERAL || c->state != CONTAINER_WAITING || str_empty(c->reason) ||
		    !status_has(&policy->duty[DUTY_IMAGE_PULL].status, c->reason))
			continue;
		if (ret_container)
			*ret_container = i;
		return true;
	}
	return false;
}

static bool waits_for_image(const struct container_facts *c)
{
	for (size_t i = 0; i < ARRAY_SIZE(pull_reasons); i++)
		if (c->state == CONTAINER_WAITING && str_is(without_init(c->reason), pull_reasons[i]))
			return true;
	return false;
}

bool judge_has_pulled(const struct pod_facts *p)
{
	bool any = false;

	for (uint32_t i = 0; i < p->n_containers && i < POD_CONTAINERS_MAX; i++) {
		const struct container_facts *c = &p->containers[i];

		if (c->kind == CONTAINER_EPHEMERAL)
			continue;
		if (waits_for_image(c))
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

static enum reason tally_reason(const struct surroundings *s)
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

static void judge_due(const struct pod_facts *p, const struct surroundings *s, struct verdict *v)
{
	enum reason reason;

	if (str_empty(p->owner.uid) || str_empty(p->owner.kind) || str_empty(p->owner.name))
		reason = REASON_NO_CONTROLLER;
	else if (never_scalable(&p->owner))
		reason = REASON_KIND_NOT_SCALABLE;
	else
		reason = tally_reason(s);
	verdict_set(v, reason == REASON_CANNOT_PULL_IMAGE ? VERDICT_ACT : VERDICT_REFUSE, reason);
}

static void describe(const struct container_facts *c, const struct duty_policy *dp,
		     const struct surroundings *s, int64_t now, struct verdict *v)
{
	char age[DURATION_MAX], limit[DURATION_MAX];

	if (s->failing_since <= 0)
		text_evidence(v, "container %.*s: %.*s", STR_ARG(c->name), STR_ARG(c->reason));
	else if (s->tally_known == TRI_YES)
		text_evidence(
			v,
			"container %.*s: %.*s for %s (threshold %s); %u of %u pods of the revision fail, "
			"%u Ready",
			STR_ARG(c->name), STR_ARG(c->reason),
			text_duration(time_add(now, -s->failing_since), age),
			text_duration(dp->hours_ms, limit), s->failing, s->pods, s->ready);
	else
		text_evidence(v, "container %.*s: %.*s for %s (threshold %s)", STR_ARG(c->name),
			      STR_ARG(c->reason), text_duration(time_add(now, -s->failing_since), age),
			      text_duration(dp->hours_ms, limit));
}

void judge_image_pull(const struct pod_facts *p, const struct policy *policy, const struct surroundings *s,
		      int64_t now, struct verdict *ret)
{
	const struct duty_policy *dp = &policy->duty[DUTY_IMAGE_PULL];
	uint32_t container = 0;
	int64_t until;
	bool due;

	if (!guard_begin(p, policy, DUTY_IMAGE_PULL, ret))
		return;
	if (!judge_is_pull_failure(p, policy, &container)) {
		verdict_set(ret, VERDICT_NONE, REASON_NOT_FAILING);
		text_evidence(ret, "phase %.*s", STR_ARG(p->phase));
		return;
	}
	describe(&p->containers[container], dp, s, now, ret);
	if (!guard_facts(p, policy, DUTY_IMAGE_PULL, s->stage, now, ret))
		return;
	until = time_add(s->failing_since, dp->hours_ms);
	due = s->failing_since > 0 && now > until;
	if (!guard_protected(p, policy, DUTY_IMAGE_PULL, true, due, ret))
		return;
	if (p->deletion > 0)
		verdict_set(ret, VERDICT_NONE, REASON_BEING_DELETED);
	else if (p->ready)
		verdict_set(ret, VERDICT_REFUSE, REASON_POD_READY);
	else if (s->failing_since < 0 || s->failing_since > time_add(now, JUDGE_SKEW_MS))
		verdict_set(ret, VERDICT_REFUSE, REASON_BAD_TIMESTAMP);
	else if (s->failing_since == 0)
		verdict_wait(ret, REASON_NO_FIRST_SEEN, 0);
	else if (!due)
		verdict_wait(ret, REASON_WAITING_FOR_THRESHOLD, time_add(until, 1));
	else
		judge_due(p, s, ret);
}
