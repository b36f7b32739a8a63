/* decision.c - see decision.h. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/controller/decision.h"

#include <stdio.h>

#include "base/clock.h"
#include "rules/escalation.h"
#include "rules/select.h"
#include "text/texts.h"

/* Unix ms by the API server's clock, of a boot time; 0 stays 0. */
static int64_t server_of(const struct clock_snapshot *now, int64_t boot)
{
	int64_t at = boot ? now->server + (boot - now->boot) : 0;

	return at > 0 ? at : 0;
}

/* The evidence of what blocks it, then why it is due. */
static void make_wait(struct verdict *v, enum reason reason, int64_t at, struct facts why)
{
	facts_add(&why, &v->evidence);
	v->kind = VERDICT_WAIT;
	v->reason = reason;
	v->at_ms = at;
	v->evidence = why;
}

/* A share of how many? Counted only where a limit asks. */
static void count_pods(const struct cluster_state *c, struct due *d)
{
	if (d->known.policy->max_percent_namespace <= 0 && d->known.policy->max_percent_node <= 0)
		return;
	pod_counts_take(c->counts, c->store, clock_boot_ms());
	d->known.spend.ns_pods = pod_counts_namespace(c->counts, d->pod->ns);
	d->known.spend.node_pods = pod_counts_node(c->counts, d->pod->node);
}

/* What at most one open action may concern: the workload that is scaled, else the pod. */
static struct str action_key_of(enum duty d, const struct pod_facts *p)
{
	return duty_desc(d)->key == KEY_WORKLOAD ? cluster_clock_owner(p) : p->uid;
}

static void make_ask(const struct cluster_state *c, const struct pod_facts *p, const struct pod_context *s,
		     const struct clock_snapshot *now, struct decision *ret)
{
	const enum duty d = ret->v.duty;
	const bool workload = duty_desc(d)->key == KEY_WORKLOAD;
	struct admit_ask *ask = &ret->ask.known;
	uint64_t nominate_at = 0;

	(void)sync_state_namespace(&c->sync, p->ns, &nominate_at);
	ask->policy = &policy_of(c->policy, p)[d];
	ask->spend.pods = workload && !ask->retry && s->pods + s->silent > 0 ? s->pods + s->silent : 1;
	ask->quiet_until = (int64_t)nominate_at;
	ask->clock_off = server_clock_excess(&c->server_clock, now->wall, (uint64_t)now->boot);
	ask->stale_why = sync_state_reason(&c->sync, (uint64_t)now->boot);
	ask->stale = ask->stale_why < TEXT__MAX;
	ret->ask.duty = d;
	ret->ask.override = ret->v.override;
	ret->ask.pod = p;
	ret->ask.finishes = !workload && pod_is_half_deleted(p);
	ret->ask.owner = cluster_clock_owner(p);
	ret->ask.action_key = action_key_of(d, p);
	count_pods(c, &ret->ask);
}

/* true = the duty goes on, or a fresh attempt is next. */
static bool escalate(const struct cluster_state *c, const struct pod_facts *p,
		     const struct clock_snapshot *now, struct decision *ret)
{
	const struct duty_policy *dp = &policy_of(c->policy, p)[ret->v.duty];
	const int i = duty_workload(ret->v.duty);
	int64_t attempted, at;
	enum escalation next;

	if (i < 0 || owner_is_job(&p->owner))
		return true;
	attempted = workloads_clock(c->workloads, cluster_clock_key(p, (size_t)i)).attempted;
	next = escalation_next(dp, attempted, now->server, &at);
	ret->ask.known.retry = next == ESCALATION_RETRY;
	if (next == ESCALATION_WAIT) {
		struct facts why = { 0 };

		facts_text(&why, FACT_FINDING, TEXT_FRESH_ATTEMPT);
		make_wait(&ret->v, REASON_FRESH_ATTEMPT, at, why);
	}
	return next != ESCALATION_WAIT;
}

static void admit(const struct cluster_state *c, const struct pod_facts *p, const struct pod_context *s,
		  const struct clock_snapshot *now, const struct budget *budget, struct decision *ret)
{
	ret->due = ret->blocked = false;
	ret->ask = (struct due){ 0 };
	if (ret->v.kind != VERDICT_ACT || !duty_acts(ret->v.duty))
		return;
	if (!escalate(c, p, now, ret))
		return;
	make_ask(c, p, s, now, ret);
	ret->due = true;
	ret->blocked = !admission_ask(c->admission, budget, &ret->ask, now, &ret->block);
	if (ret->blocked)
		make_wait(&ret->v, ret->block.reason, server_of(now, ret->block.until), ret->block.evidence);
}

void decision_make(const struct cluster_state *c, const struct pod_facts *p, const struct pod_context *s,
		   const struct budget *budget, struct decision *ret)
{
	const struct clock_snapshot now = cluster_clocks(c);

	judge_pod(p, c->policy, s, now.server, &ret->v);
	admit(c, p, s, &now, budget, ret);
}

/* -- for explain -- */

struct guard_report {
	enum duty duty;
	bool due;
	check_report_fn *report;
	void *ctx;
};

static void report_guard(void *ctx, enum guard g, bool passes, const struct block *h)
{
	const struct guard_report *r = ctx;
	const struct check_report check = {
		.duty = r->duty,
		.rule = guard_name(g),
		.question = TEXT__MAX,
		.holds = !r->due  ? TRI_UNKNOWN
			 : passes ? TRI_YES
				  : TRI_NO,
		.found = &h->evidence,
		.kind = r->due && !passes ? VERDICT_WAIT : VERDICT_NONE,
		.reason = passes ? REASON_NOTHING_TO_DO : h->reason,
	};

	r->report(r->ctx, &check);
}

void decision_of_duty(const struct cluster_state *c, enum duty d, const struct pod_facts *p,
		      const struct pod_context *s, check_report_fn *report, void *ctx, struct decision *ret)
{
	struct guard_report r = { .duty = d, .report = report, .ctx = ctx };
	const struct clock_snapshot now = cluster_clocks(c);
	if (report)
		judge_trace(d, p, c->policy, s, now.server, report, ctx, &ret->v);
	else
		judge_duty(d, p, c->policy, s, now.server, &ret->v);
	admit(c, p, s, &now, NULL, ret);
	if (!report || !duty_acts(d))
		return;
	if (!ret->due)
		make_ask(c, p, s, &now, ret);
	r.due = ret->due;
	admission_trace(c->admission, &ret->ask, &now, report_guard, &r);
}

/* -- for messages -- */

void decision_fill(const struct cluster_state *c, const struct pod_facts *p, const struct pod_context *s,
		   const struct decision *d, struct msg *m)
{
	struct str action_key = action_key_of(d->v.duty, p);
	const struct clock_snapshot now = cluster_clocks(c);

	m->u.nominate.cluster = c->number;
	m->u.nominate.duty = d->v.duty;
	m->u.nominate.since = judge_began(d->v.duty, p, s);
	m->u.nominate.others_pulled_at = s->others_pulled_at;
	m->u.nominate.restarts_before = s->restarts_before;
	m->u.nominate.ready_ms = s->ready_ms;
	m->u.nominate.action = d->ask.known.retry ? ACTION_FRESH_ATTEMPT : duty_desc(d->v.duty)->action;
	m->u.nominate.finishes = d->ask.finishes;
	m->u.nominate.reverts = d->due ? admission_reverts(c->admission, &d->ask, &now) : 0;
	msg_set(m, nominate.ns, p->ns.p, p->ns.n);
	msg_set(m, nominate.name, p->name.p, p->name.n);
	msg_set(m, nominate.uid, p->uid.p, p->uid.n);
	msg_set(m, nominate.rv, p->rv.p, p->rv.n);
	msg_set(m, nominate.action_key, action_key.p, action_key.n);
	msg_text(m, nominate.reason, reason_code(d->v.reason));
	m->u.nominate.evidence = d->v.evidence;
}
