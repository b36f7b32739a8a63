/* failures.c - see failures.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/actions/failures.h"

/* That a pod is gone, or is to be left alone, says nothing about what the credential may do. */
#define SUCCEEDED (OUTCOMES_SPENT | UINT64_C(1) << OUTCOME_ANNOUNCED)

void failures_note(struct failures *f, uint64_t cluster, enum duty duty, enum outcome outcome,
		   const struct facts *detail, uint64_t now_ms)
{
	struct failure *of = &f->v[cluster][duty];

	if (outcome == OUTCOME_FORBIDDEN || outcome == OUTCOME_FAILED) {
		of->at_ms = now_ms;
		of->forbidden = outcome == OUTCOME_FORBIDDEN;
		of->detail = *detail;
	} else if (SUCCEEDED >> outcome & 1) {
		of->at_ms = 0;
	}
}

const struct failure *failures_get(const struct failures *f, uint64_t cluster, enum duty duty,
				   uint64_t now_ms)
{
	const struct failure *of = &f->v[cluster][duty];

	return of->at_ms && now_ms < of->at_ms + FAILURE_LASTS_MS ? of : NULL;
}
