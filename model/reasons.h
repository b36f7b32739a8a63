/* reasons.h - what a judgement can say, what may be unknown, and every reason of a verdict and of a result,
 * from model/reasons.def, which says what the columns mean. Layer: model.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef MODEL_REASONS_H
#define MODEL_REASONS_H

#include <stdbool.h>

#include "model/language.h"

enum verdict_kind {
	VERDICT_NONE,
	VERDICT_WAIT,
	VERDICT_ACT,
	VERDICT_REFUSE,
	VERDICT__MAX,
};

/* Whatever is not TRI_YES is not yes. */
enum tri {
	TRI_UNKNOWN,
	TRI_NO,
	TRI_YES,
	TRI__MAX,
};

enum reason {
#define REASON(ID, ...) REASON_##ID,
#include "model/reasons.def"
#undef REASON
	REASON__MAX
};

enum reason_class { CLASS_NONE, CLASS_REFUSAL, CLASS_BLOCKED, CLASS_OUTCOME };
enum reason_event { REASON_EVENT_NO, REASON_EVENT_WARNING };
enum reason_attention { ATTENTION_NO, ATTENTION_OBJECT, ATTENTION_GUARD, ATTENTION_GUARD_NOW };

struct reason_desc {
	const char *code; /* "NamespaceExcluded" */
	enum reason_class class;
	enum reason_event event;
	enum reason_attention attention;
	struct {
		const char *sentence, *remedy; /* for people */
	} text[LANGUAGE__MAX];
};

/* Its row; outside the table one with code "?" and empty texts. */
const struct reason_desc *reason_desc(enum reason r);
/* The reason with that code; REASON__MAX when there is none. */
enum reason reason_parse(const char *code);
/* Its row: reason_desc(reason_parse(code)). */
const struct reason_desc *reason_find(const char *code);
/* Its code; "?" outside the table. */
const char *reason_code(enum reason r);
/* "act", ...; "?" outside the range. */
const char *verdict_kind_name(enum verdict_kind k);

#endif
