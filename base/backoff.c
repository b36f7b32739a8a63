/* backoff.c - see backoff.h. */
// SPDX-License-Identifier: Apache-2.0
#include "base/backoff.h"

#include "base/random.h"

uint64_t backoff_delay_ms(const struct backoff_policy *p, unsigned failures, double rnd)
{
	uint64_t d = p->base_ms;

	for (unsigned i = 1; i < failures && d < p->cap_ms; i++)
		d *= 2;
	if (d > p->cap_ms)
		d = p->cap_ms;
	return d + (uint64_t)((double)d * p->jitter * rnd);
}

double backoff_random(void)
{
	uint32_t r = 0;

	random_bytes(&r, sizeof(r));
	return (double)r / 4294967296.0;
}
