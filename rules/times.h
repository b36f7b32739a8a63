/* times.h - arithmetic of times that cannot overflow, and how far clocks may differ.  Layer: rules.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef RULES_TIMES_H
#define RULES_TIMES_H

#include <stdint.h>

/* A time this far in the future is clock skew between hosts; further is garbage, and nothing is done on it.
 */
#define JUDGE_SKEW_MS 300000

/* a + b, held at the ends of the type. */
static inline int64_t time_add(int64_t a, int64_t b)
{
	int64_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		return b > 0 ? INT64_MAX : INT64_MIN;
	return sum;
}

#endif
