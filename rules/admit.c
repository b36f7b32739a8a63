/* admit.c - see admit.h. */
// SPDX-License-Identifier: Apache-2.0
#include "rules/admit.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "rules/text.h"

#define CLOCK_LOOK_MS 60000 /* nobody says when a clock was corrected */

static bool held(struct block *h, enum reason reason, enum block_scope scope, int64_t until, const char *fmt,
		 ...) __attribute__((format(printf, 5, 6)));

/* Always false: what a guard answers that holds. */
static bool held(struct block *h, enum reason reason, enum block_scope scope, int64_t until, const char *fmt,
		 ...)
{
	char raw[512];
	va_list ap;
	int n;

	h->reason = reason;
	h->scope = scope;
	h->until = until;
	va_start(ap, fmt);
	n = vsnprintf(raw, sizeof(raw), fmt, ap);
	va_end(ap);
	n = n < 0 ? 0 : n >= (int)sizeof(raw) ? (int)sizeof(raw) - 1 : n;
	(void)str_copy_printable(h->evidence, sizeof(h->evidence), raw, (size_t)n);
	return false;
}

static bool pause_ok(const struct admit_ask *a, struct block *h)
{
	return !a->paused || held(h, REASON_PAUSED, BLOCK_DUTY, a->paused_until, "%s", a->paused);
}

static bool leader_ok(const struct admit_ask *a, struct block *h)
{
	return !a->leader ||
	       held(h, REASON_NOT_LEADER, BLOCK_ALL, 0, "leader is %s", *a->leader ? a->leader : "not known");
}

static bool cache_ok(const struct admit_ask *a, struct block *h)
{
	return !a->stale || held(h, REASON_CACHE_STALE, BLOCK_ALL, 0, "%s", a->stale);
}

static bool clock_ok(const struct admit_ask *a, struct block *h)
{
	char d[DURATION_MAX];

	return a->clock_off == 0 ||
	       held(h, REASON_CLOCK_UNCERTAIN, BLOCK_ALL, a->now + CLOCK_LOOK_MS,
		    "the API server is %s ahead of this host", text_duration(a->clock_off, d));
}

static bool quiet_ok(const struct admit_ask *a, struct block *h)
{
	char d[DURATION_MAX];

	return a->now >= a->quiet_until || held(h, REASON_STARTUP_QUIET, BLOCK_NAMESPACE, a->quiet_until,
						"%s left", text_duration(a->quiet_until - a->now, d));
}

static bool window_ok(const struct admit_ask *a, struct block *h)
{
	char d[DURATION_MAX];

	if (!a->window_closed)
		return true;
	if (a->window_opens == 0)
		return held(h, REASON_OUTSIDE_WINDOW, BLOCK_DUTY, 0, "no window opens within five years");
	return held(h, REASON_OUTSIDE_WINDOW, BLOCK_DUTY, a->window_opens, "the next window opens in %s",
		    text_duration(a->window_opens - a->now, d));
}

static bool breaker_ok(const struct admit_ask *a, struct block *h)
{
	if (!a->breaker || a->spend.duty != DUTY_IMAGE_PULL || !breaker_is_open(a->breaker))
		return true;
	return held(h, REASON_BREAKER_OPEN, BLOCK_DUTY, breaker_next(a->breaker), "%s",
		    a->breaker_text ? a->breaker_text : "");
}

static bool fight_ok(const struct admit_ask *a, struct block *h)
{
	char d[DURATION_MAX];

	if (a->retry || !reverted_blocks(&a->fight, a->now))
		return true;
	return held(h, REASON_REVERTED, BLOCK_WORKLOAD, a->fight.until,
		    "came back %" PRIu32 " times; held for %s more", a->fight.count,
		    text_duration(a->fight.until - a->now, d));
}

static bool loop_ok(const struct admit_ask *a, struct block *h)
{
	return a->loop_until == 0 ||
	       held(h, REASON_EVICT_LOOP, BLOCK_WORKLOAD_NODE, a->loop_until,
		    "evicted from this node %" PRIu32 " times, each soon after the last", a->loop_count);
}

static bool budget_ok(const struct admit_ask *a, struct block *h)
{
	static const enum block_scope scopes[BUDGET__LIMITS] = {
		[BUDGET_PER_MINUTE] = BLOCK_DUTY,
		[BUDGET_PER_HOUR] = BLOCK_DUTY,
		[BUDGET_PER_DAY] = BLOCK_DUTY,
		[BUDGET_NAMESPACE_HOUR] = BLOCK_NAMESPACE,
		[BUDGET_NAMESPACE_SHARE] = BLOCK_NAMESPACE,
		[BUDGET_NODE_SHARE] = BLOCK_NODE,
	};
	struct budget_verdict v;

	if (!a->budget)
		return true;
	v = budget_ask(a->budget, a->policy, &a->spend, a->now);
	return v.ok ||
	       held(h, REASON_BUDGET_SPENT, scopes[v.limit], v.until, "%s: %" PRId64 " of %" PRId64 " spent",
		    budget_limit_name(v.limit), v.spent, v.max);
}

static const struct {
	const char *name;
	bool (*ok)(const struct admit_ask *a, struct block *h);
} guards[GUARD__MAX] = {
	[GUARD_PAUSE] = { "Pause", pause_ok },       [GUARD_LEADER] = { "Leader", leader_ok },
	[GUARD_CACHE] = { "Cache", cache_ok },       [GUARD_CLOCK] = { "Clock", clock_ok },
	[GUARD_QUIET] = { "Quiet", quiet_ok },       [GUARD_WINDOW] = { "Window", window_ok },
	[GUARD_BREAKER] = { "Breaker", breaker_ok }, [GUARD_REVERTED] = { "Reverted", fight_ok },
	[GUARD_EVICT_LOOP] = { "Loop", loop_ok },    [GUARD_BUDGET] = { "Budget", budget_ok },
};

bool admit_ask(const struct admit_ask *a, struct block *ret)
{
	memset(ret, 0, sizeof(*ret));
	for (enum guard g = 0; g < GUARD__MAX; g++) {
		ret->guard = g;
		if (!guards[g].ok(a, ret))
			return false;
	}
	return true;
}

void admit_trace(const struct admit_ask *a,
		 void (*fn)(void *ctx, enum guard g, bool holds, const struct block *h), void *ctx)
{
	for (enum guard g = 0; g < GUARD__MAX; g++) {
		struct block h = { .guard = g };
		bool ok = guards[g].ok(a, &h);

		fn(ctx, g, ok, &h);
	}
}

const char *guard_name(enum guard g)
{
	return g < GUARD__MAX ? guards[g].name : "?";
}
