/* measures.h - what is counted and timed wherever it happens: who measures adds up for a while, and the
 * reporter serves it.  Layer: model.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef MODEL_MEASURES_H
#define MODEL_MEASURES_H

#include <stdbool.h>
#include <stdint.h>

enum timing {
	TIMING_EVENT_TO_WRITE, /* watcher: from a pod's event, or the time it waited for, to the answer to the
				  write */
	TIMING_READ,           /* worker: a request that reads */
	TIMING_WRITE,          /* worker: a request that writes */
	TIMING_SYNC,           /* watcher: from the begin of a list to the complete cache */
	/* From here on the reporter's own: no message names them. */
	TIMING_COMMIT, /* from the first intent that waits for a commit until it is on disk */
	TIMING__MAX,
};

/* The bounds of the buckets in microseconds, ascending; what is above them is in one more. */
/* clang-format off */
#define TIMING_BUCKETS(B) \
	B(1000) B(2500) B(5000) B(10000) B(25000) B(50000) B(100000) B(250000) B(500000) B(1000000) B(2500000) B(5000000) \
	B(10000000) B(30000000) B(60000000)
/* clang-format on */
#define TIMING_BUCKET_ONE(us) +1
enum { TIMING_BOUNDS = 0 TIMING_BUCKETS(TIMING_BUCKET_ONE) };

/* Number of the bucket that so long a time falls into, 0 to TIMING_BOUNDS: the first whose bound is not below
 * it. */
unsigned timing_bucket(uint64_t us);
/* Its bound in microseconds; of the last one UINT64_MAX. */
uint64_t timing_bound(unsigned bucket);

/* What is asked of an API server, by the words of Kubernetes. */
enum api_verb {
	API_GET,
	API_LIST,
	API_WATCH,
	API_CREATE,
	API_UPDATE,
	API_PATCH,
	API_DELETE,
	API_VERB__MAX,
};
/* "get", ... */
const char *api_verb_name(enum api_verb v);
/* Of a request as it is sent: a GET of one object, of all of a kind, or of their changes. */
enum api_verb api_verb_of(const char *method, const char *path);
bool api_verb_writes(enum api_verb v);

/* How a pod stands that a duty is concerned with. */
enum due_state {
	DUE_NOW,     /* it goes, or is on its way: nothing is in the way but the doing */
	DUE_WAITING, /* not yet: its time comes, or something has to change */
	DUE_BLOCKED, /* due, but a guard holds it */
	DUE_REFUSED, /* left alone until somebody changes something, also where it is not due yet */
	DUE_WOULD,   /* due, and recorded once as `would`: mode observe */
	DUE_STATE__MAX,
};
/* "due", "waiting", ... */
const char *due_state_name(enum due_state s);

#endif
