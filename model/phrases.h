/* phrases.h - every sentence for people that is no row of another table (reasons, troubles ...), in every
 *language, from model/phrases.def, which says how a row is added. Layer: model.  Pure.
 *
 *	table_text(stdout, &view, phrase(PAUSED_NOW, view.language), name, since);
 *
 * The compiler checks the arguments against the English of the row, as if that were written there
 *(format_arg); tests/unit/model/test_phrases.c proves that every other language has the same conversions in
 *the same order. */
// SPDX-License-Identifier: Apache-2.0
#ifndef MODEL_PHRASES_H
#define MODEL_PHRASES_H

#include <inttypes.h>
#include <stddef.h>

#include "base/str.h"
#include "model/language.h"

enum phrase {
#define PHRASE(ID, ...) PHRASE_##ID,
#include "model/phrases.def"
#undef PHRASE
	PHRASE__MAX
};

/* What the compiler checks arguments against; in no program. */
#define PHRASE(ID, en, zh) static const char phrase_en_##ID[] __attribute__((unused)) = en;
#include "model/phrases.def"
#undef PHRASE

/* The text of a row that is chosen while running, as the cells of a table are: printed with "%s", never as a
 * format.
 * "?" outside the table. */
const char *phrase_text(enum phrase p, enum language l);

static inline const char *phrase_checked(const char *en, enum phrase p, enum language l)
	__attribute__((format_arg(1)));
static inline const char *phrase_checked(const char *en, enum phrase p, enum language l)
{
	(void)en;
	return phrase_text(p, l);
}

/* The text of row ID, which may be a format. */
#define phrase(ID, language) phrase_checked(phrase_en_##ID, PHRASE_##ID, (language))

/* Of a count: the text of row ID_ONE of one thing, else of row ID_MANY. Both take the count. */
#define phrase_of(ID, n, language)                                                                           \
	phrase_checked(phrase_en_##ID##_MANY, (n) == 1 ? PHRASE_##ID##_ONE : PHRASE_##ID##_MANY, (language))

#endif
