/* admit.c - see admit.h. */
// SPDX-License-Identifier: Apache-2.0
#include "rules/admit.h"

/* Always false: what a guard answers that blocks until `until`. The caller adds facts to h->evidence. */
static bool blocked(struct block *h, int64_t until, enum text why)
{
	h->until = until;
	facts_finding(&h->evidence, why);
	return false;
}

/* The same, of one that says how long. */
static bool blocked_for(struct block *h, int64_t until, enum text why, enum fact key, int64_t ms)
{
	facts_duration(&h->evidence, key, ms);
	return blocked(h, until, why);
}

static bool pause_ok(const struct admit_ask *a, struct block *h)
{
	if (!a->paused)
		return true;
	const struct str by = STR_C(a->paused_by ? a->paused_by : "");

	h->until = a->paused_until;
	if (!str_empty(by))
		facts_finding(&h->evidence, TEXT_PAUSED_BY);
	facts_quoted(&h->evidence, FACT_BY, by);
	if (a->paused_why)
		facts_add(&h->evidence, a->paused_why);
	return false;
}

static bool leader_ok(const struct admit_ask *a, struct block *h)
{
	if (!a->leader)
		return true;
	facts_name(&h->evidence, FACT_LEADER, STR_C(a->leader));
	return blocked(h, 0, *a->leader ? TEXT_OTHER_LEADS : TEXT_LEADER_UNKNOWN);
}

static bool cache_ok(const struct admit_ask *a, struct block *h)
{
	return !a->stale || blocked(h, 0, a->stale_why);
}

static bool clock_ok(const struct admit_ask *a, struct block *h)
{
	const int64_t off = a->clock_off, until = a->now + CLOCK_LOOK_MS;

	return off == 0 || blocked_for(h, until, off > 0 ? TEXT_CLOCK_AHEAD : TEXT_HOST_AHEAD,
				       FACT_CLOCK_AHEAD, off > 0 ? off : -off);
}

static bool quiet_ok(const struct admit_ask *a, struct block *h)
{
	return a->now >= a->quiet_until ||
	       blocked_for(h, a->quiet_until, TEXT_QUIET_LEFT, FACT_LEFT, a->quiet_until - a->now);
}

static bool window_ok(const struct admit_ask *a, struct block *h)
{
	if (!a->window_closed)
		return true;
	if (a->window_opens == 0)
		return blocked(h, 0, TEXT_NO_WINDOW);
	return blocked_for(h, a->window_opens, TEXT_NEXT_WINDOW, FACT_LEFT, a->window_opens - a->now);
}

static bool breaker_ok(const struct admit_ask *a, struct block *h)
{
	if (!a->breaker || !breaker_is_open(a->breaker))
		return true;
	const int64_t next = breaker_next(a->breaker), last = a->breaker_until;

	h->until = next && (!last || next < last) ? next : last;
	if (a->common)
		h->evidence = *a->common;
	return false;
}

static bool reverted_ok(const struct admit_ask *a, struct block *h)
{
	if (a->retry || !reverted_blocks(&a->reverted, a->now))
		return true;
	facts_count(&h->evidence, FACT_REVERTS, a->reverted.count);
	return blocked_for(h, a->reverted.until, TEXT_CAME_BACK, FACT_LEFT, a->reverted.until - a->now);
}

static bool evict_loop_ok(const struct admit_ask *a, struct block *h)
{
	if (a->loop_until == 0)
		return true;
	facts_count(&h->evidence, FACT_EVICTIONS, a->loop_count);
	return blocked(h, a->loop_until, TEXT_EVICT_LOOP);
}

/* What each limit of the budget is about, and how people call it. */
static const struct {
	enum block_scope scope;
	enum text name;
} limits[BUDGET__LIMITS] = {
	[BUDGET_PER_MINUTE] = { BLOCK_DUTY, TEXT_PER_MINUTE },
	[BUDGET_PER_HOUR] = { BLOCK_DUTY, TEXT_PER_HOUR },
	[BUDGET_PER_DAY] = { BLOCK_DUTY, TEXT_PER_DAY },
	[BUDGET_NAMESPACE_HOUR] = { BLOCK_NAMESPACE, TEXT_PER_NAMESPACE_HOUR },
	[BUDGET_NAMESPACE_SHARE] = { BLOCK_NAMESPACE, TEXT_NAMESPACE_SHARE },
	[BUDGET_NODE_SHARE] = { BLOCK_NODE, TEXT_NODE_SHARE },
};

static bool budget_ok(const struct admit_ask *a, struct block *h)
{
	struct budget_verdict v;

	if (!a->budget)
		return true;
	v = budget_ask(a->budget, a->policy, &a->spend, a->now);
	if (v.ok)
		return true;
	h->scope = limits[v.limit].scope;
	facts_text(&h->evidence, FACT_LIMIT_NAME, limits[v.limit].name);
	facts_count(&h->evidence, FACT_SPENT, v.spent);
	facts_count(&h->evidence, FACT_LIMIT, v.max);
	return blocked(h, v.until, TEXT_BUDGET_SPENT);
}

static bool (*const guards[GUARD__MAX])(const struct admit_ask *a, struct block *h) = {
	[GUARD_PAUSE] = pause_ok,     [GUARD_LEADER] = leader_ok,     [GUARD_CACHE] = cache_ok,
	[GUARD_CLOCK] = clock_ok,     [GUARD_QUIET] = quiet_ok,       [GUARD_WINDOW] = window_ok,
	[GUARD_BREAKER] = breaker_ok, [GUARD_REVERTED] = reverted_ok, [GUARD_EVICT_LOOP] = evict_loop_ok,
	[GUARD_BUDGET] = budget_ok,
};

static bool ask_one(const struct admit_ask *a, enum guard g, struct block *ret)
{
	*ret = (struct block){ .guard = g, .reason = guard_desc(g)->reason, .scope = guard_desc(g)->scope };
	return !duty_has_guard(a->spend.duty, g) || guards[g](a, ret);
}

bool admit_ask(const struct admit_ask *a, struct block *ret)
{
	for (enum guard g = 0; g < GUARD__MAX; g++)
		if (!ask_one(a, g, ret))
			return false;
	return true;
}

void admit_trace(const struct admit_ask *a,
		 void (*fn)(void *ctx, enum guard g, bool holds, const struct block *h), void *ctx)
{
	for (enum guard g = 0; g < GUARD__MAX; g++) {
		struct block h;
		const bool ok = ask_one(a, g, &h);

		fn(ctx, g, ok, &h);
	}
}
