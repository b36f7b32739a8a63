/* timings.c - see timings.h. */
// SPDX-License-Identifier: Apache-2.0
#include "model/timings.h"

uint64_t timing_bound(unsigned bucket)
{
#define BOUND(us) us,
	static const uint64_t bounds[TIMING_BOUNDS] = { TIMING_BUCKETS(BOUND) };
#undef BOUND

	return bucket < TIMING_BOUNDS ? bounds[bucket] : UINT64_MAX;
}

unsigned timing_bucket(uint64_t us)
{
	unsigned bucket = 0;

	while (us > timing_bound(bucket))
		bucket++;
	return bucket;
}
