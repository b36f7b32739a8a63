/* admit.c - see admit.h. */
// SPDX-License-Identifier: Apache-2.0
#include "rules/admit.h"

#include <inttypes.h>

#include "rules/text.h"

/* Always false: what a guard answers that blocks until `until`. */
static bool blocked(struct block *h, int64_t until, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static bool blocked(struct block *h, int64_t until, const char *fmt, ...)
{
	char text[EVIDENCE_MAX];
	va_list ap;

	h->until = until;
	va_start(ap, fmt);
	text_print(text, sizeof(text), fmt, ap);
	va_end(ap);
	facts_said(&h->evidence, text);
	return false;
}

static bool pause_ok(const struct admit_ask *a, struct block *h)
{
	return !a->paused || blocked(h, a->paused_until, "%s", a->paused);
}

static bool leader_ok(const struct admit_ask *a, struct block *h)
{
	return !a->leader || blocked(h, 0, "leader is %s", *a->leader ? a->leader : "not known");
}

static bool cache_ok(const struct admit_ask *a, struct block *h)
{
	return !a->stale || blocked(h, 0, "%s", a->stale);
}

static bool clock_ok(const struct admit_ask *a, struct block *h)
{
	char d[DURATION_MAX];

	return a->clock_off == 0 ||
	       blocked(h, a->now + CLOCK_LOOK_MS, "the API server is %s ahead of this host",
		       duration_short(a->clock_off, d));
}

static bool quiet_ok(const struct admit_ask *a, struct block *h)
{
	char d[DURATION_MAX];

	return a->now >= a->quiet_until ||
	       blocked(h, a->quiet_until, "%s left", duration_short(a->quiet_until - a->now, d));
}

static bool window_ok(const struct admit_ask *a, struct block *h)
{
	char d[DURATION_MAX];

	if (!a->window_closed)
		return true;
	if (a->window_opens == 0)
		return blocked(h, 0, "no window opens within five years");
	return blocked(h, a->window_opens, "the next window opens in %s",
		       duration_short(a->window_opens - a->now, d));
}

static bool breaker_ok(const struct admit_ask *a, struct block *h)
{
	if (!a->breaker || !breaker_is_open(a->breaker))
		return true;
	const int64_t next = breaker_next(a->breaker), last = a->breaker_until;

	return blocked(h, next && (!last || next < last) ? next : last, "%s",
		       a->breaker_text ? a->breaker_text : "");
}

static bool reverted_ok(const struct admit_ask *a, struct block *h)
{
	char d[DURATION_MAX];

	if (a->retry || !reverted_blocks(&a->reverted, a->now))
		return true;
	return blocked(h, a->reverted.until,
		       a->reverted.count == 1 ? "came back %" PRIu32 " time; blocked for %s more"
					      : "came back %" PRIu32 " times; blocked for %s more",
		       a->reverted.count, duration_short(a->reverted.until - a->now, d));
}

static bool evict_loop_ok(const struct admit_ask *a, struct block *h)
{
	return a->loop_until == 0 ||
	       blocked(h, a->loop_until, "evicted from this node %" PRIu32 " times, each soon after the last",
		       a->loop_count);
}

/* What each limit of the budget is about. */
static const enum block_scope limit_scopes[BUDGET__LIMITS] = {
	[BUDGET_PER_MINUTE] = BLOCK_DUTY,
	[BUDGET_PER_HOUR] = BLOCK_DUTY,
	[BUDGET_PER_DAY] = BLOCK_DUTY,
	[BUDGET_NAMESPACE_HOUR] = BLOCK_NAMESPACE,
	[BUDGET_NAMESPACE_SHARE] = BLOCK_NAMESPACE,
	[BUDGET_NODE_SHARE] = BLOCK_NODE,
};

static bool budget_ok(const struct admit_ask *a, struct block *h)
{
	struct budget_verdict v;

	if (!a->budget)
		return true;
	v = budget_ask(a->budget, a->policy, &a->spend, a->now);
	h->scope = v.ok ? h->scope : limit_scopes[v.limit];
	return v.ok || blocked(h, v.until, "%s: %" PRId64 " of %" PRId64 " spent", budget_limit_name(v.limit),
			       v.spent, v.max);
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
