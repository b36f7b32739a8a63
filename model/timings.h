/* timings.h - what is measured in time wherever it happens, and the buckets it is counted in: who measures
 * counts, and the reporter adds up.  Layer: model.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef MODEL_TIMINGS_H
#define MODEL_TIMINGS_H

#include <stdint.h>

enum timing {
	TIMING_EVENT_TO_WRITE, /* watcher: from a pod's event, or the time it waited for, to the answer to the
				  write */
	TIMING_READ,           /* worker: a request that reads */
	TIMING_WRITE,          /* worker: a request that writes */
	TIMING_COMMIT, /* reporter: from the first intent that waits for a commit until it is on disk */
	TIMING_SYNC,   /* watcher: from the begin of a list to the complete cache */
	TIMING__MAX,
};

/* The bounds of the buckets in microseconds, ascending; what is above them is in one more. */
#define TIMING_BUCKETS(B)                                                                                    \
	B(1000)                                                                                              \
	B(2500)                                                                                              \
	B(5000)                                                                                              \
	B(10000)                                                                                             \
	B(25000) B(50000) B(100000) B(250000) B(500000) B(1000000) B(2500000) B(5000000) B(10000000)         \
		B(30000000) B(60000000)
#define TIMING_BUCKET_ONE(us) +1
enum { TIMING_BOUNDS = 0 TIMING_BUCKETS(TIMING_BUCKET_ONE) };

/* Number of the bucket that so long a time falls into, 0 to TIMING_BOUNDS: the first whose bound is not below
 * it. */
unsigned timing_bucket(uint64_t us);
/* Its bound in microseconds; of the last one UINT64_MAX. */
uint64_t timing_bound(unsigned bucket);

#endif
