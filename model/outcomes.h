/* outcomes.h - how an action ends, from model/outcomes.def.  Layer: model.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef MODEL_OUTCOMES_H
#define MODEL_OUTCOMES_H

#include <stdint.h>

enum outcome {
#define OUTCOME(ID, id, ...) OUTCOME_##ID = id,
#include "model/outcomes.def"
#undef OUTCOME
	OUTCOME__MAX
};
/* In messages: it has not ended. */
#define OUTCOME_OPEN (-1)

/* Sets of outcomes: bit 1 << outcome, and OUTCOMES_OPEN for what has not ended yet. */
#define OUTCOMES_OPEN (UINT64_C(1) << OUTCOME__MAX)
#define OUTCOMES_ALL  (2 * OUTCOMES_OPEN - 1)

enum written { WRITTEN_NO, WRITTEN_YES, WRITTEN_MAYBE };
/* The set of those that changed something, or may have. */
enum {
	OUTCOMES_WRITTEN = 0
#define OUTCOME(ID, id, name, written, doc) | (WRITTEN_##written == WRITTEN_NO ? 0 : 1 << id)
#include "model/outcomes.def"
#undef OUTCOME
};

/* Its name; "open" outside the table. */
const char *outcome_name(enum outcome o);

#endif
