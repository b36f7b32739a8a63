/* judge.c - walking the tables of the duties, and the duties in their order; see judge.h. */
// SPDX-License-Identifier: Apache-2.0
#include "rules/judge.h"

#include "rules/cause.h"
#include "rules/checks.h"
#include "rules/select.h"

#define OPS(X, ID, rules, ...) [DUTY_##ID] = &duty_##rules,
static const struct duty_ops *const duties[DUTY__MAX] = { DUTY_LIST(OPS, ) };

/* Not by an initialiser: that clears the thousand bytes of the evidence, of which none counts. */
static void clear(struct verdict *v, enum duty d)
{
	v->kind = VERDICT_NONE;
	v->duty = d;
	v->reason = REASON_NOTHING_TO_DO;
	v->at_ms = 0;
	v->container = 0;
	v->rule = v->override = "";
	facts_clear(&v->evidence);
}

static void begin(struct evaluation *l, struct verdict *v)
{
	const struct policy_override *o = select_override(l->policy, l->p);

	l->v = v;
	l->ops = duties[l->duty];
	l->dp = o ? &o->duty[l->duty] : &l->policy->duty[l->duty];
	if (o && o->name)
		v->override = o->name;
}

static void report_check(const struct evaluation *l, const struct check *c, enum tri holds)
{
	const bool decided = holds == TRI_NO;

	l->report(l->ctx, &(struct check_report){ l->duty, c->rule, c->question, holds, l->found,
						  decided ? l->v->kind : VERDICT_NONE,
						  decided ? l->v->reason : REASON_NOTHING_TO_DO });
}

static void walk(struct evaluation *l)
{
	bool decided = false;

	for (size_t i = 0; i < l->ops->n && (l->report || !decided); i++) {
		const struct check *c = &l->ops->checks[i];
		const bool reached = !decided;

		if (l->found)
			facts_clear(l->found);
		if (reached)
			decided = c->decides(l);
		if (reached && decided)
			l->v->rule = c->rule;
		if (l->report)
			report_check(l, c, !reached ? TRI_UNKNOWN : decided ? TRI_NO : TRI_YES);
	}
	if (*l->v->override && l->v->kind != VERDICT_NONE)
		facts_name(&l->v->evidence, FACT_OVERRIDE, STR_C(l->v->override));
}

static void judge(struct evaluation *l, struct verdict *ret)
{
	clear(ret, l->duty);
	if ((unsigned)l->duty >= DUTY__MAX)
		return;
	begin(l, ret);
	walk(l);
}

void judge_duty(enum duty d, const struct pod_facts *p, const struct policy *policy,
		const struct pod_context *s, int64_t now, struct verdict *ret)
{
	judge(&(struct evaluation){ d, p, policy, s, now }, ret);
}

void judge_trace(enum duty d, const struct pod_facts *p, const struct policy *policy,
		 const struct pod_context *s, int64_t now, check_report_fn *report, void *ctx,
		 struct verdict *ret)
{
	struct facts found = { 0 };

	judge(&(struct evaluation){ d, p, policy, s, now, .report = report, .ctx = ctx, .found = &found },
	      ret);
}

/* A wait without a time ends with a change, so any wait with one is earlier. */
static bool earlier(const struct verdict *a, const struct verdict *b)
{
	return a->at_ms > 0 && (b->at_ms == 0 || a->at_ms < b->at_ms);
}

void judge_pod(const struct pod_facts *p, const struct policy *policy, const struct pod_context *s,
	       int64_t now, struct verdict *ret)
{
	static const int rank[] = {
		[VERDICT_NONE] = 0, [VERDICT_REFUSE] = 1, [VERDICT_WAIT] = 2, [VERDICT_ACT] = 3
	};
	struct verdict v;

	clear(ret, 0);
	for (size_t i = 0; i < DUTY__MAX && ret->kind != VERDICT_ACT; i++) {
		if (!duty_acts(duty_at(i)))
			continue;
		judge(&(struct evaluation){ duty_at(i), p, policy, s, now, .brief = true }, &v);
		if (rank[v.kind] > rank[ret->kind] ||
		    (v.kind == VERDICT_WAIT && ret->kind == VERDICT_WAIT && earlier(&v, ret)))
			*ret = v;
	}
}

int64_t judge_began(enum duty d, const struct pod_facts *p, const struct pod_context *s)
{
	const int64_t at = duties[d]->began ? duties[d]->began(p) : s->failing_since;

	return at > 0 ? at : 0;
}

bool judge_is_ended(enum duty d, const struct pod_facts *p, const struct duty_policy *dp, int64_t *ret_at)
{
	return duties[d]->is_ended && duties[d]->is_ended(p, dp, ret_at);
}

bool judge_fails(enum duty d, const struct pod_facts *p, const struct policy *policy, int64_t now,
		 uint32_t *ret_container)
{
	return duties[d]->fails && duties[d]->fails(p, policy, now, ret_container);
}

bool judge_begins(enum duty d, const struct pod_facts *p, const struct policy *policy, int64_t now)
{
	return (duties[d]->begins && duties[d]->begins(p)) || judge_fails(d, p, policy, now, NULL);
}

bool judge_blames(enum duty d, const struct pod_facts *p, const struct policy *policy, int64_t now)
{
	uint32_t container;

	return judge_fails(d, p, policy, now, &container) &&
	       !(duties[d]->excused && duties[d]->excused(p, container));
}

bool judge_works(enum duty d, const struct pod_facts *p, int64_t now)
{
	return duties[d]->works && duties[d]->works(p, now);
}

int64_t judge_worked_at(enum duty d, const struct pod_facts *p, int64_t now)
{
	return duties[d]->worked_at ? duties[d]->worked_at(p, now) : 0;
}

int64_t judge_unready_since(const struct pod_facts *p, int64_t now)
{
	int64_t at = p->unready_since > 0 ? p->unready_since : now;

	for (uint32_t i = 0; i < p->n_containers && i < POD_CONTAINERS_MAX; i++) {
		const struct container_facts *k = &p->containers[i];

		if (k->kind == CONTAINER_INIT && k->state == CONTAINER_TERMINATED && k->exit_code == 0 &&
		    k->finished_at > at)
			at = k->finished_at;
	}
	return at;
}

/* From one crash of a loop to the next: a back-off of 5 min, and a run that is too short to end it. */
#define CRASH_EVERY_MS (300000 + JUDGE_STEADY_MS)

int64_t judge_told_since(enum duty d, const struct pod_facts *p, int64_t since, int32_t before, int64_t now)
{
	const bool older = p->created <= since;
	const int64_t from = older ? since : p->created, unready = judge_unready_since(p, now);
	const int64_t crashes = (int64_t)pod_most_restarts(p) - (older ? before : 0);

	if (d != DUTY_CRASH_LOOP || from >= unready || from <= 0)
		return unready;
	return time_add(now, -from) <= crashes * CRASH_EVERY_MS ? from : unready;
}

/* What the kubelet says of a container before it has its image. */
static bool waits_for_its_turn(struct str reason)
{
	return str_empty(reason) || str_is(reason, "ContainerCreating") || str_is(reason, "PodInitializing");
}

static bool has_pulled(const struct container_facts *c)
{
	if (c->restarts > 0 || c->last_finished_at > 0 || c->state == CONTAINER_RUNNING)
		return true;
	if (c->state == CONTAINER_TERMINATED) /* this is what a container gets that never was */
		return !str_is(c->reason, "ContainerStatusUnknown");
	return c->state == CONTAINER_WAITING && !waits_for_its_turn(c->reason) && !cause_concerns(c);
}

bool judge_proves(const struct pod_facts *p, enum container_kind kind)
{
	if (p->ready || p->containers_cut)
		return true;
	for (uint32_t i = 0; i < p->n_containers && i < POD_CONTAINERS_MAX; i++)
		if (p->containers[i].kind == kind && has_pulled(&p->containers[i]))
			return true;
	return false;
}
