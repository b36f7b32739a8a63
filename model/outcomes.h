/* outcomes.h - how one action ended.  Layer: model. */
// SPDX-License-Identifier: Apache-2.0
#ifndef MODEL_OUTCOMES_H
#define MODEL_OUTCOMES_H

#include <stdint.h>

/* How one lease ended. OBSERVED outcomes are DONE with dryRun. */
enum outcome {
	OUTCOME_DONE,        /* the server accepted the write */
	OUTCOME_GONE,        /* nothing left to do: object gone or already in the wanted state */
	OUTCOME_REFUSED,     /* judged again on live facts: not now (reason says why) */
	OUTCOME_CONFLICT,    /* precondition failed at the write: the object changed */
	OUTCOME_FORBIDDEN,   /* 401/403: the credential may not */
	OUTCOME_FAILED,      /* the server or the way to it failed; nothing was written */
	OUTCOME_UNCONFIRMED, /* an earlier holder died after it may have written; the object is gone or
				changed since */
	OUTCOME_ANNOUNCED,   /* announced on the object; acted on when the grace has passed */
	OUTCOME_WOULD,       /* CTL_DRY_RUN: everything allows it */
	OUTCOME__MAX
};

/* Sets of outcomes: bit 1 << outcome, and OUTCOMES_OPEN for what has not ended yet. */
#define OUTCOMES_OPEN (UINT64_C(1) << OUTCOME__MAX)
#define OUTCOMES_ALL  (2 * OUTCOMES_OPEN - 1)
/* What changed something, or may have. */
#define OUTCOMES_WRITTEN (UINT64_C(1) << OUTCOME_DONE | UINT64_C(1) << OUTCOME_UNCONFIRMED)

/* "done", ...; "open" outside the range. */
const char *outcome_name(enum outcome outcome);

#endif
