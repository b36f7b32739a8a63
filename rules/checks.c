/* checks.c - see checks.h. */
// SPDX-License-Identifier: Apache-2.0
#include "rules/checks.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/rfc3339.h"
#include "model/job_kinds.h"
#include "rules/escalation.h"
#include "rules/select.h"
#include "rules/text.h"

void evaluation_say(struct evaluation *l, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(l->fact, l->fact_size, fmt, ap);
	va_end(ap);
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
	char ahead[DURATION_MAX];

	if (at <= time_add(l->now, JUDGE_SKEW_MS))
		return false;
	text_append(l->v, "; a time of it is %s in the future", duration_short(time_add(at, -l->now), ahead));
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
	SAY(l, "%s is %s%s%s", duty_name(l->duty), l->dp->enable ? "on" : "off",
	    *l->v->override ? " by override " : "", l->v->override);
	return !l->dp->enable && evaluation_decide(l, VERDICT_NONE, REASON_DUTY_DISABLED);
}

bool check_selected(struct evaluation *l)
{
	SAY(l, "namespace %.*s", STR_ARG(l->p->ns));
	if (select_wanted(l->policy, l->duty, l->p) != TRI_NO)
		return false;
	EVIDENCE_OF_NONE(l, "namespace %.*s", STR_ARG(l->p->ns));
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

	SAY(l,
	    p->n_containers == 1 ? "phase %.*s, %u container, resourceVersion %.*s"
				 : "phase %.*s, %u containers, resourceVersion %.*s",
	    STR_ARG(p->phase), p->n_containers, STR_ARG(p->rv));
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
	char created[RFC3339_MAX];

	if (l->fact) {
		rfc3339_format(p->created, false, created);
		evaluation_say(l, "created %s", created);
	}
	if (l->now <= 0 || p->created <= 0 || p->deletion < 0 ||
	    (p->deletion > 0 && p->deletion < p->created))
		return evaluation_decide(l, VERDICT_REFUSE, REASON_BAD_TIMESTAMP);
	return evaluation_future(l, p->created);
}

/* -- guards that hold for all time -- */

bool check_own_pod(struct evaluation *l)
{
	const struct policy *policy = l->policy;

	SAY(l, "own pod %s", policy->own_pod ? policy->own_pod : "-");
	return policy->own_pod && str_is(l->p->name, policy->own_pod) &&
	       (!policy->own_namespace || str_is(l->p->ns, policy->own_namespace)) &&
	       evaluation_forbid(l, REASON_OWN_POD);
}

bool check_excluded(struct evaluation *l)
{
	enum reason reason;

	SAY(l, "namespace %.*s", STR_ARG(l->p->ns));
	return !select_namespace(l->policy, l->duty, l->p, &reason) && evaluation_forbid(l, reason);
}

bool check_mirror(struct evaluation *l)
{
	SAY(l, "%s", l->p->mirror ? "a mirror pod" : "no mirror pod");
	return l->p->mirror && evaluation_forbid(l, REASON_MIRROR_POD);
}

bool check_priority(struct evaluation *l)
{
	const struct str class = l->p->priority_class;

	SAY(l, "priority class %.*s", STR_ARG(text_or_dash(class)));
	return (str_is(class, "system-cluster-critical") || str_is(class, "system-node-critical")) &&
	       !namespaces_name(&l->policy->duty[l->duty].namespaces, l->p->ns) &&
	       evaluation_forbid(l, REASON_SYSTEM_PRIORITY);
}

bool check_ignored(struct evaluation *l)
{
	SAY(l, "%s", l->p->skip ? "marked" : "not marked");
	return (l->p->skip || l->p->annotations.ignore) && evaluation_forbid(l, REASON_IGNORE_ANNOTATION);
}

bool check_skipped(struct evaluation *l)
{
	const bool marked = l->p->annotations.skip & 1u << l->duty;

	SAY(l, "%s", marked ? "marked" : "not marked");
	return marked && evaluation_forbid(l, REASON_SKIP_ANNOTATION);
}

bool check_announced(struct evaluation *l)
{
	char text[RFC3339_MAX];
	int64_t until;

	SAY(l, "grace of the duty is %lld s", (long long)(l->dp->announce_ms / 1000));
	if (announce_judge(&l->p->annotations, l->duty, l->dp, l->now, &until) != ANNOUNCE_WAIT)
		return false;
	rfc3339_format(until, false, text);
	text_evidence(l->v, "announced on the pod; acts after %s", text);
	return evaluation_wait(l, REASON_ANNOUNCED, time_add(until, 1));
}

bool check_not_deleted(struct evaluation *l)
{
	SAY(l, "%s", l->p->deletion > 0 ? "has a deletionTimestamp" : "no deletionTimestamp");
	return l->p->deletion > 0 && evaluation_decide(l, VERDICT_NONE, REASON_BEING_DELETED);
}

bool check_not_deleted_whole(struct evaluation *l)
{
	const int64_t until = time_add(l->p->deletion, l->policy->finish_ms);
	char late[DURATION_MAX];

	if (!pod_is_half_deleted(l->p))
		return check_not_deleted(l);
	SAY(l, "deletionTimestamp and grace 0, but still there");
	if (l->now <= until)
		return evaluation_wait(l, REASON_BEING_DELETED, time_add(until, 1));
	text_append(l->v, "; half-deleted for %s", duration_short(time_add(l->now, -l->p->deletion), late));
	return false;
}

bool check_not_ready(struct evaluation *l)
{
	const bool serving = pod_is_serving(l->p);

	SAY(l, "%s",
	    serving       ? "Ready"
	    : l->p->ready ? "over, whatever its condition Ready says"
			  : "not Ready");
	return serving && evaluation_decide(l, VERDICT_REFUSE, REASON_POD_READY);
}

bool check_job(struct evaluation *l)
{
	const enum tri job = job_kinds_match(&l->p->owner, &l->policy->job_kinds, l->s->owner_scales);

	SAY(l, "controller %.*s, includeJobs %s", STR_ARG(text_or_dash(l->p->owner.kind)),
	    l->dp->include_jobs ? "true" : "false");
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
