/* digest.h - the rows of one digest: collected, freed of doubles, grouped by workload, worst first.  Pure.
 * Layer: process (reporter), report. Restarts are counted per container (the threshold is per container,
 * never a sum), a workload shows the sum over its listed pods. Worst is what restarted most in the window,
 * where that is known (R30). */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_REPORT_DIGEST_H
#define REPORTER_REPORT_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "ipc/msg.h"
#include "reporter/report/samples.h"
#include "reporter/history/attention.h"

/* More rows than this in one digest are counted, but not kept. */
#define DIGEST_ROWS_MAX 10000u
struct digest_pod {
	struct msg_digest_row row;
	int64_t delta; /* restarts in the window, or DELTA_UNKNOWN */
};

struct digest_workload {
	const struct digest_pod *pods; /* worst first */
	size_t n;
	uint64_t restarts; /* sum over pods */
	int64_t delta;     /* sum of what is known; DELTA_UNKNOWN when nothing is */
};

/* Zero-initialised is empty. */
struct digest {
	struct digest_pod *pods;
	size_t n_pods;
	uint32_t room;
	struct digest_workload *workloads; /* after digest_group: worst first */
	size_t n_workloads;
	uint64_t dropped; /* rows above DIGEST_ROWS_MAX */
};

void digest_done(struct digest *d);
void digest_add(struct digest *d, const struct msg_digest_row *row);
/* Sort and drop doubles (the row that came last stays): before pods are looked at. */
void digest_finish(struct digest *d);
/* Build the groups from rows and deltas; orders the pods anew. */
void digest_group(struct digest *d);

/* Groups of what needs an operator that one report shows. */
#define DIGEST_ATTENTION_MAX 20u

/* A copy for eyes only: no control, no bidirectional control, no tag that a chat would
 * act on. The caller frees it. */
char *digest_clean(const char *s);

#endif
