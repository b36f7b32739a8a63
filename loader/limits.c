/* limits.c - see limits.h. */
// SPDX-License-Identifier: Apache-2.0
#include "loader/limits.h"

/* The tighter of two budgets; 0 is none. */
static int64_t tighter(int64_t a, int64_t b)
{
	return a == 0 || (b != 0 && b < a) ? b : a;
}

/* A budget of a longer time is one of a shorter time, too. */
static int64_t hour_of(const struct duty_policy *d)
{
	return tighter(d->max_per_hour, d->max_per_day);
}

static int64_t minute_of(const struct duty_policy *d)
{
	return tighter(d->max_per_minute, hour_of(d));
}

static uint64_t sum(const struct policy *p, int64_t (*of)(const struct duty_policy *d))
{
	uint64_t n = 0;

	for (size_t i = 0; i < DUTY__MAX; i++) {
		const enum duty d = (enum duty)i;

		if (!duty_acts(d) || !policy_enables(p, d))
			continue;
		if (of(&p->duty[d]) == 0)
			return 0;
		n += (uint64_t)of(&p->duty[d]);
	}
	n = 2 * n + LIMITS_MARGIN;
	return n < UINT32_MAX ? n : UINT32_MAX;
}

void limits_derive(const struct policy *p, struct write_limits *ret)
{
	*ret = (struct write_limits){ sum(p, minute_of), sum(p, hour_of) };
}
