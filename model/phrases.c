/* phrases.c - see phrases.h. The texts lie in one constant and are found by their place in it: an array of
 * pointers would be written to when a program starts (relocation), in each of its processes. */
// SPDX-License-Identifier: Apache-2.0
#include "model/phrases.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/cleanup.h"

static const struct texts {
#define PHRASE(ID, en, zh)                                                                                   \
	char ID##_en[sizeof(en)];                                                                            \
	char ID##_zh[sizeof(zh)];
#include "model/phrases.def"
#undef PHRASE
} texts = {
#define PHRASE(ID, en, zh) en, zh,
#include "model/phrases.def"
#undef PHRASE
};

static const uint32_t places[PHRASE__MAX][LANGUAGE__MAX] = {
#define PHRASE(ID, en, zh)                                                                                   \
	[PHRASE_##ID] = { [LANGUAGE_EN] = offsetof(struct texts, ID##_en),                                   \
			  [LANGUAGE_ZH] = offsetof(struct texts, ID##_zh) },
#include "model/phrases.def"
#undef PHRASE
};

static const char *text_at(enum phrase p, enum language l)
{
	return (const char *)&texts + places[p][l];
}

const char *phrase_text(enum phrase p, enum language l)
{
	return (unsigned)p < PHRASE__MAX && (unsigned)l < LANGUAGE__MAX ? text_at(p, l) : "?";
}
