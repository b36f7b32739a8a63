/* crash_loop.c - duty crashLoop: scale to zero what crashes in a loop (R4, R5, R15, R18, R24).
 *
 * The kubelet waits between two starts with reason CrashLoopBackOff (pkg/kubelet/kubelet.go, images and
 * runtime back-off in pkg/kubelet/kuberuntime/kuberuntime_manager.go, doBackOff), up to five minutes. While
 * it runs for a moment in between, a pod is left alone: it is judged again when it has ended. Without a
 * readiness probe it is Ready in that moment, so only a Ready pod that never restarted shows that its
 * revision works; else the time ends when no pod of it has crashed for an hour
 * (watcher/guards/workloads.h). */
// SPDX-License-Identifier: Apache-2.0
#include "rules/workload.h"

#include <stdio.h>

#include "base/cleanup.h"
#include "rules/select.h"
#include "rules/text.h"

/* An init container that ended well is done. */
static bool crashes(const struct pod_facts *p, const struct container_facts *c, const struct duty_policy *dp)
{
	const bool waits = c->state == CONTAINER_WAITING && str_is(c->reason, "CrashLoopBackOff");
	const bool ended =
		c->state == CONTAINER_TERMINATED && (c->kind == CONTAINER_MAIN || c->exit_code != 0);

	return c->kind != CONTAINER_EPHEMERAL && (waits || ended) && c->restarts >= dp->counts &&
	       !pod_asks_restart(p, c);
}

/* The first that crashes; one on a healthy device before one whose device may be the cause. */
static bool fails(const struct pod_facts *p, const struct policy *policy, uint32_t *ret_container)
{
	const struct duty_policy *dp = &policy_of(policy, p)[DUTY_CRASH_LOOP];
	int64_t first = -1;

	for (uint32_t i = 0; !pod_is_finished(p) && i < p->n_containers && i < POD_CONTAINERS_MAX; i++) {
		const bool sick = !str_empty(p->containers[i].device);

		if (!crashes(p, &p->containers[i], dp) || (sick && first >= 0))
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

static bool serves(const struct pod_facts *p)
{
	for (uint32_t i = 0; i < p->n_containers && i < POD_CONTAINERS_MAX; i++)
		if (p->containers[i].kind == CONTAINER_MAIN && p->containers[i].restarts > 0)
			return false;
	return pod_is_serving(p);
}

static bool restarts_asked(const struct pod_facts *p)
{
	for (uint32_t i = 0; i < p->n_containers && i < POD_CONTAINERS_MAX; i++)
		if (p->containers[i].restarts > 0 && pod_asks_restart(p, &p->containers[i]))
			return true;
	return false;
}

static bool check_is_crashing(struct evaluation *l)
{
	const struct container_facts *c;
	char more[80];

	if (!fails(l->p, l->policy, &l->v->container)) {
		SAY(l, "phase %.*s, no container crashes in a loop%s", STR_ARG(l->p->phase),
		    restarts_asked(l->p) ? "; the pod asks for its restarts" : "");
		EVIDENCE_OF_NONE(l, "phase %.*s", STR_ARG(l->p->phase));
		return evaluation_decide(l, VERDICT_NONE, REASON_NOT_CRASHING);
	}
	c = &l->p->containers[l->v->container];
	(void)snprintf(more, sizeof(more),
		       c->restarts == 1 ? "%d restart (threshold %lld)" : "%d restarts (threshold %lld)",
		       c->restarts, (long long)l->dp->counts);
	workload_describe(l, str_empty(c->reason) ? STR_LIT("ended") : c->reason, more);
	SAY_EVIDENCE(l);
	return false;
}

/* What crashes on a sick device starts well on another node: the workload is not at fault. */
static bool check_device(struct evaluation *l)
{
	const struct str device = l->p->containers[l->v->container].device;

	SAY(l, "%s%.*s", str_empty(device) ? "no device is Unhealthy" : "device ", STR_ARG(device));
	if (str_empty(device))
		return false;
	text_append(l->v, "; its device %.*s on node %.*s is Unhealthy", STR_ARG(device),
		    STR_ARG(text_or_dash(l->p->node)));
	return evaluation_decide(l, VERDICT_REFUSE, REASON_DEVICE_UNHEALTHY);
}

static const struct check checks[] = {
	CHECKS_BEGIN,
	{ "CrashLoop", "does a container crash in a loop", check_is_crashing },
	CHECKS_FACTS,
	{ "R5", "since when does its revision fail", check_workload_clock },
	CHECKS_GUARDS,
	CHECKS_WORKLOAD_DUE,
	{ "Device", "is no device that it crashes on Unhealthy", check_device },
	CHECKS_WORKLOAD_ACT,
};
const struct duty_ops duty_crash_loop = {
	REASON_CRASH_LOOPING, checks, ARRAY_SIZE(checks), NULL, fails, serves, NULL, excused,
};
