/* reasons.h - every reason of a verdict and of a worker's result, from model/reasons.def.  Layer: model. */
// SPDX-License-Identifier: Apache-2.0
#ifndef MODEL_REASONS_H
#define MODEL_REASONS_H

#include <stdbool.h>

enum reason {
#define REASON(ID, code, sentence, remedy) REASON_##ID,
#include "model/reasons.def"
#undef REASON
	REASON__MAX
};

const char *reason_code(enum reason r);     /* "NamespaceExcluded" */
const char *reason_sentence(enum reason r); /* for people */
const char *reason_remedy(enum reason r);   /* what to do about it */
int reason_parse(const char *code);         /* enum reason or -1 */
/* Does it stay until a person changes something? Such a refusal is told again every hour, so that what lasts
 * is known. */
bool reason_needs_person(enum reason r);

#endif
