/* judge.c - walking the tables of the duties, and the duties in their order; see judge.h. */
// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "base/cleanup.h"
#include "rules/guard.h"
#include "rules/select.h"
#include "rules/text.h"

#define FACT_MAX 200

static const struct duty_checks *const duties[DUTY__MAX] = {
	[DUTY_EVICTED] = &checks_evicted,
	[DUTY_TERMINATING] = &checks_terminating,
	[DUTY_IMAGE_PULL] = &checks_image_pull,
	[DUTY_RESTARTS] = &checks_restarts,
};
/* Those that act, in the order in which they are judged. */
#define CHAIN_LEN ((size_t)DUTY_RESTARTS)

struct listener {
	check_report_fn *told;
	void *ctx;
};

static void begin(struct evaluation *l, struct verdict *v)
{
	memset(v, 0, sizeof(*v));
	v->duty = l->duty;
	v->rule = "";
	v->override = "";
	v->reason = REASON_NOTHING_TO_DO;
	l->v = v;
	l->dp = &l->policy->duty[l->duty];
	if (l->policy->n_overrides == 0)
		return;
	const uint32_t mask = select_labels(l->policy, l->p);

	l->dp = &policy_select(l->policy, l->p->ns, mask)[l->duty];
	v->override = policy_override_name(l->policy, l->p->ns, mask);
}

static void tell(const struct evaluation *l, const struct listener *listener, const struct check *c,
		 enum tri holds)
{
	const struct check_report told = { l->duty, c->rule, c->name, holds, l->fact, l->v };

	listener->told(listener->ctx, &told);
}

static void walk(struct evaluation *l, const struct listener *listener)
{
	const struct duty_checks *t = duties[l->duty];
	bool decided = false;

	for (size_t i = 0; i < t->n && (listener || !decided); i++) {
		const bool reached = !decided;

		if (l->fact)
			l->fact[0] = '\0';
		if (reached)
			decided = t->checks[i].decides(l);
		if (reached && decided)
			l->v->rule = t->checks[i].rule;
		if (listener)
			tell(l, listener, &t->checks[i], !reached ? TRI_UNKNOWN : decided ? TRI_NO : TRI_YES);
	}
	if (*l->v->override && l->v->kind != VERDICT_NONE)
		text_append(l->v, "; override %s", l->v->override);
}

static void judge(struct evaluation l, const struct listener *listener, struct verdict *ret)
{
	begin(&l, ret);
	walk(&l, listener);
}

void judge_evicted(const struct pod_facts *p, const struct policy *policy, const struct pod_context *s,
		   int64_t now, struct verdict *ret)
{
	judge((struct evaluation){ .p = p, .policy = policy, .s = s, .now = now, .duty = DUTY_EVICTED }, NULL,
	      ret);
}

void judge_terminating(const struct pod_facts *p, const struct policy *policy, const struct pod_context *s,
		       int64_t now, struct verdict *ret)
{
	judge((struct evaluation){ .p = p, .policy = policy, .s = s, .now = now, .duty = DUTY_TERMINATING },
	      NULL, ret);
}

void judge_image_pull(const struct pod_facts *p, const struct policy *policy, const struct pod_context *s,
		      int64_t now, struct verdict *ret)
{
	judge((struct evaluation){ .p = p, .policy = policy, .s = s, .now = now, .duty = DUTY_IMAGE_PULL },
	      NULL, ret);
}

void judge_restarts(const struct pod_facts *p, const struct policy *policy, int64_t now, struct verdict *ret,
		    uint32_t *ret_container)
{
	const struct pod_context cache = { .stage = STAGE_CACHE };
	struct evaluation l = { .p = p, .policy = policy, .s = &cache, .now = now, .duty = DUTY_RESTARTS };

	begin(&l, ret);
	walk(&l, NULL);
	if (ret->kind == VERDICT_ACT && ret_container)
		*ret_container = l.container;
}

static void nothing(enum duty d, struct verdict *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->duty = d;
	ret->rule = "";
	ret->override = "";
	ret->reason = REASON_NOTHING_TO_DO;
}

void judge_duty(enum duty d, const struct pod_facts *p, const struct policy *policy,
		const struct pod_context *s, int64_t now, struct verdict *ret)
{
	if ((unsigned)d < CHAIN_LEN)
		judge((struct evaluation){ .p = p, .policy = policy, .s = s, .now = now, .duty = d }, NULL,
		      ret);
	else
		nothing(d, ret);
}

void judge_trace(enum duty d, const struct pod_facts *p, const struct policy *policy,
		 const struct pod_context *s, int64_t now, check_report_fn *told, void *ctx,
		 struct verdict *ret)
{
	const struct listener listener = { told, ctx };
	char fact[FACT_MAX];

	if ((unsigned)d < DUTY__MAX)
		judge((struct evaluation){ .p = p,
					   .policy = policy,
					   .s = s,
					   .now = now,
					   .duty = d,
					   .fact = fact,
					   .fact_size = sizeof(fact) },
		      &listener, ret);
	else
		nothing(d, ret);
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

	nothing(DUTY_EVICTED, ret);
	for (size_t d = 0; d < CHAIN_LEN; d++) {
		judge((struct evaluation){ .p = p,
					   .policy = policy,
					   .s = s,
					   .now = now,
					   .duty = (enum duty)d,
					   .brief = true },
		      NULL, &v);
		if (rank[v.kind] > rank[ret->kind] ||
		    (v.kind == VERDICT_WAIT && ret->kind == VERDICT_WAIT && earlier(&v, ret)))
			*ret = v;
		if (ret->kind == VERDICT_ACT)
			return;
	}
}
