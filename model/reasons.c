/* reasons.c - see reasons.h. */
// SPDX-License-Identifier: Apache-2.0
#include "model/reasons.h"

#include <string.h>

static const struct reason_desc reasons[REASON__MAX + 1] = {
#define REASON(ID, code, class, event, attention, sentence, remedy, zh_sentence, zh_remedy)                  \
	[REASON_##ID] = { code,                                                                              \
			  CLASS_##class,                                                                     \
			  REASON_EVENT_##event,                                                              \
			  ATTENTION_##attention,                                                             \
			  { { sentence, remedy }, { zh_sentence, zh_remedy } } },
#include "model/reasons.def"
#undef REASON
	[REASON__MAX] = { .code = "?", .text = { { "", "" }, { "", "" } } },
};

const struct reason_desc *reason_desc(enum reason r)
{
	return &reasons[(unsigned)r < REASON__MAX ? r : REASON__MAX];
}

/* Every result is looked up: most rows are passed over by the length of their code. */
enum reason reason_parse(const char *code)
{
	static const unsigned char lengths[REASON__MAX] = {
#define REASON(ID, code, ...) [REASON_##ID] = sizeof(code) - 1,
#include "model/reasons.def"
#undef REASON
	};
	const size_t n = strlen(code);
	enum reason r = 0;

	while (r < REASON__MAX && (lengths[r] != n || memcmp(reasons[r].code, code, n) != 0))
		r++;
	return r;
}

const struct reason_desc *reason_find(const char *code)
{
	return reason_desc(reason_parse(code));
}

const char *reason_code(enum reason r)
{
	return reason_desc(r)->code;
}

const char *verdict_kind_name(enum verdict_kind k)
{
	static const char *const names[VERDICT__MAX] = {
		[VERDICT_NONE] = "none",
		[VERDICT_WAIT] = "wait",
		[VERDICT_ACT] = "act",
		[VERDICT_REFUSE] = "refuse",
	};

	return (unsigned)k < VERDICT__MAX ? names[k] : "?";
}
