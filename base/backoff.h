/* backoff.h - exponential backoff with jitter, pure.  Layer: base. */
// SPDX-License-Identifier: Apache-2.0
#ifndef BASE_BACKOFF_H
#define BASE_BACKOFF_H

#include <stdint.h>

struct backoff_policy {
	uint64_t base_ms; /* first delay */
	uint64_t cap_ms;  /* largest delay before jitter */
	double jitter;    /* sleep is d * (1 + jitter * rnd), rnd in [0,1) */
};

/* Delay in ms before attempt number `failures` (1 = after the first failure). rnd in [0,1) comes from the
 * caller. */
uint64_t backoff_delay_ms(const struct backoff_policy *p, unsigned failures, double rnd);
/* A random number in [0,1) from the kernel; for rnd above. */
double backoff_random(void);

#endif
