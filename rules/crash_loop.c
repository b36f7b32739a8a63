/* crash_loop.c - duty crashLoop: scale to zero what crashes in a loop (R4, R5, R15, R18, R24).
 *
 * The kubelet waits between two starts with reason CrashLoopBackOff (pkg/kubelet/kubelet.go, images and
 * runtime back-off in pkg/kubelet/kuberuntime/kuberuntime_manager.go, doBackOff), up to five minutes. While
 * it runs for a moment in between it crashes still, unless its pod is Ready: without a readiness probe it is
 * Ready in that moment, and is judged again when it has ended. The time ends when a container has run for as
 * long as makes the kubelet forget its back-off, when a pod of it was Ready for as long, and when none has
 * crashed for an hour (watcher/guards/workloads.h). What is Ready now and then is measured over the time. */
// SPDX-License-Identifier: Apache-2.0
#include "rules/workload.h"

#include "base/cleanup.h"
#include "rules/select.h"

#define LAST_MESSAGE_BYTES 400 /* of a termination message */

/* Waits for its next start, or has just ended. An init container that ended well is done. */
static bool is_down(const struct container_facts *c)
{
	const bool waits = c->state == CONTAINER_WAITING && str_is(c->reason, "CrashLoopBackOff");
	const bool ended =
		c->state == CONTAINER_TERMINATED && (c->kind == CONTAINER_MAIN || c->exit_code != 0);

	return waits || ended;
}

/* Runs again, and nothing shows yet that it will go on. */
static bool is_up_again(const struct pod_facts *p, const struct container_facts *c, int64_t now)
{
	return c->state == CONTAINER_RUNNING && c->restarts > 0 && !p->ready && c->started_at > 0 &&
	       time_add(now, -c->started_at) < JUDGE_STEADY_MS;
}

static bool crashes(const struct pod_facts *p, const struct container_facts *c, const struct duty_policy *dp,
		    int64_t now)
{
	return c->kind != CONTAINER_EPHEMERAL && (is_down(c) || is_up_again(p, c, now)) &&
	       c->restarts >= dp->counts && !pod_asks_restart(p, c);
}

/* The first that crashes; one on a healthy device before one whose device may be the cause. */
static bool fails(const struct pod_facts *p, const struct policy *policy, int64_t now,
		  uint32_t *ret_container)
{
	const struct duty_policy *dp = &policy_of(policy, p)[DUTY_CRASH_LOOP];
	int64_t first = -1;

	for (uint32_t i = 0; !pod_is_finished(p) && i < p->n_containers && i < POD_CONTAINERS_MAX; i++) {
		const bool sick = !str_empty(p->containers[i].device);

		if (!crashes(p, &p->containers[i], dp, now) || (sick && first >= 0))
			continue;
		first = i;
		if (!sick)
			break;
	}
	if (first >= 0 && ret_container)
		*ret_container = (uint32_t)first;
	return first >= 0;
}

static bool excused(const struct pod_facts *p, uint32_t container)
{
	return !str_empty(p->containers[container].device);
}

/* The first restart comes at once and tells nothing. */
static bool begins(const struct pod_facts *p)
{
	for (uint32_t i = 0; !pod_is_finished(p) && i < p->n_containers && i < POD_CONTAINERS_MAX; i++) {
		const struct container_facts *c = &p->containers[i];

		if (c->kind != CONTAINER_EPHEMERAL && is_down(c) && c->restarts > 0 &&
		    !pod_asks_restart(p, c))
			return true;
	}
	return false;
}

/* Its newest run that was long enough: `now` while it lasts, else its end; 0: its last one was not. */
static int64_t steady_until(const struct container_facts *c, int64_t now)
{
	if (c->state == CONTAINER_RUNNING && c->started_at > 0 &&
	    time_add(now, -c->started_at) >= JUDGE_STEADY_MS)
		return now;
	if (c->state == CONTAINER_TERMINATED)
		return c->started_at > 0 && time_add(c->finished_at, -c->started_at) >= JUDGE_STEADY_MS
			       ? c->finished_at
			       : 0;
	return c->last_started_at > 0 && time_add(c->last_finished_at, -c->last_started_at) >= JUDGE_STEADY_MS
		       ? c->last_finished_at
		       : 0;
}

/* All that was restarted, or is down, must have run for long: a sidecar proves nothing for the container
 * beside it. Of an init container a run says nothing but while it crashes. */
static int64_t worked_at(const struct pod_facts *p, int64_t now)
{
	int64_t at = INT64_MAX;

	for (uint32_t i = 0; i < p->n_containers && i < POD_CONTAINERS_MAX; i++) {
		const struct container_facts *c = &p->containers[i];
		const bool counts = is_down(c) || (c->kind == CONTAINER_MAIN && c->restarts > 0);
		int64_t until;

		if (c->kind == CONTAINER_EPHEMERAL || !counts || pod_asks_restart(p, c))
			continue;
		until = steady_until(c, now);
		at = until < at ? until : at;
	}
	return at == INT64_MAX || at < 0 ? 0 : at;
}

static bool works(const struct pod_facts *p, int64_t now)
{
	return !pod_is_finished(p) && now > 0 && worked_at(p, now) == now;
}

static bool restarts_asked(const struct pod_facts *p)
{
	for (uint32_t i = 0; i < p->n_containers && i < POD_CONTAINERS_MAX; i++)
		if (p->containers[i].restarts > 0 && pod_asks_restart(p, &p->containers[i]))
			return true;
	return false;
}

/* Since the clock began: a pod that was made later counts from its own first one. */
static int32_t restarts_since(const struct evaluation *l)
{
	const int32_t n = l->p->containers[l->v->container].restarts;
	const bool older = l->p->created <= l->s->failing_since;

	return older && l->s->restarts_before > 0 ? n - l->s->restarts_before : n;
}

static void add_last_end(const struct container_facts *c, struct facts *f)
{
	if (c->state == CONTAINER_TERMINATED)
		evaluation_add_end(c->name, c->exit_code, c->reason, f);
	else if (c->last_finished_at > 0)
		evaluation_add_end(c->name, c->last_exit_code, c->last_reason, f);
}

static bool check_is_crashing(struct evaluation *l)
{
	const struct container_facts *c;
	struct facts *f;

	if (!fails(l->p, l->policy, l->now, &l->v->container)) {
		found(l, TEXT_NONE_CRASHES);
		found_name(l, FACT_PHASE, l->p->phase);
		if (l->found && restarts_asked(l->p))
			found(l, TEXT_RESTARTS_ASKED);
		if (!l->brief)
			facts_name(&l->v->evidence, FACT_PHASE, l->p->phase);
		return evaluation_decide(l, VERDICT_NONE, REASON_NOT_CRASHING);
	}
	c = &l->p->containers[l->v->container];
	f = workload_evidence(l, !str_empty(c->reason)           ? c->reason
				 : c->state == CONTAINER_RUNNING ? STR_LIT("Running")
								 : STR_LIT("ended"));
	facts_count(f, FACT_RESTARTS, restarts_since(l));
	facts_count(f, FACT_COUNTS, l->dp->counts);
	workload_add_tally(l, f);
	add_last_end(c, f);
	found_evidence(l);
	return false;
}

static bool check_counts(struct evaluation *l)
{
	const int32_t n = restarts_since(l);

	if (l->found) {
		found(l, TEXT_RESTARTS);
		facts_count(l->found, FACT_RESTARTS, n);
		facts_count(l->found, FACT_COUNTS, l->dp->counts);
	}
	return n < l->dp->counts && evaluation_wait(l, REASON_BELOW_COUNTS, 0);
}

/* Above this share of the time it works, and somebody uses it. */
#define READY_PERCENT 10

static bool check_ready_in_between(struct evaluation *l)
{
	if (l->found) {
		found(l, TEXT_READY_FOR);
		facts_duration(l->found, FACT_READY_FOR, l->s->ready_ms);
		facts_duration(l->found, FACT_WINDOW, l->dp->hours_ms);
	}
	/* What is Ready now is told with the tally. */
	if (l->s->ready > 0 || l->s->ready_ms <= l->dp->hours_ms / 100 * READY_PERCENT)
		return false;
	facts_duration(&l->v->evidence, FACT_READY_FOR, l->s->ready_ms);
	facts_duration(&l->v->evidence, FACT_WINDOW, l->dp->hours_ms);
	return evaluation_decide(l, VERDICT_REFUSE, REASON_READY_IN_BETWEEN);
}

/* What crashes on a sick device starts well on another node: the workload is not at fault. */
static bool check_device(struct evaluation *l)
{
	const struct container_facts *c = &l->p->containers[l->v->container];
	const struct str device = c->device;

	if (str_empty(device)) {
		found(l, TEXT_NO_SICK_DEVICE);
		facts_quoted_within(&l->v->evidence, FACT_MESSAGE, c->last_message, LAST_MESSAGE_BYTES);
		return false;
	}
	found_name(l, FACT_DEVICE, device);
	facts_finding(&l->v->evidence, TEXT_SICK_DEVICE);
	facts_name(&l->v->evidence, FACT_DEVICE, device);
	facts_name(&l->v->evidence, FACT_NODE, l->p->node);
	return evaluation_decide(l, VERDICT_REFUSE, REASON_DEVICE_UNHEALTHY);
}

static const struct check checks[] = {
	CHECKS_BEGIN,
	CHECK("CrashLoop", ASK_CRASHES, check_is_crashing),
	CHECKS_FACTS,
	CHECK("R5", ASK_FAILS_SINCE, check_workload_clock),
	CHECKS_GUARDS,
	CHECKS_WORKLOAD_DUE,
	CHECK("R6", ASK_RESTARTED_SINCE, check_counts),
	CHECK("R18", ASK_HARDLY_READY, check_ready_in_between),
	CHECK("Device", ASK_NO_SICK_DEVICE, check_device),
	CHECKS_WORKLOAD_ACT,
};
const struct duty_ops duty_crash_loop = {
	REASON_CRASH_LOOPING, checks, ARRAY_SIZE(checks), NULL, fails, works, worked_at, begins, excused,
};
