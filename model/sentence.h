/* sentence.h - a row of model/phrases_config.def with its arguments, of which words are made where it is
 * shown, in the reader's language.  Layer: model.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef MODEL_SENTENCE_H
#define MODEL_SENTENCE_H

#include <stdarg.h>
#include <stdbool.h>

#include "model/phrases.h"

/* A sentence is kept as a text between two control characters, which no argument holds; its row by name, so
 * that every build can read it. */
#define SENTENCE_MAX      1200
#define SENTENCE_WORD_MAX 64
/* Pack the row DIAG_<ID> with its arguments into dst, of SENTENCE_MAX bytes. The compiler checks them against
 * the English of the row. %s is a text of others, which is made printable and otherwise kept as it is; %p
 * another sentence or a WORD(). What does not fit is cut (%s) or left out (%p). Returns -EINVAL. */
#define sentence_make(dst, ID, ...) sentence_pack(dst, PHRASE_DIAG_##ID, phrase_en_DIAG_##ID, ##__VA_ARGS__)
int sentence_pack(char dst[static SENTENCE_MAX], enum phrase row, const char *en, ...)
	__attribute__((format(printf, 3, 4)));
void sentence_vpack(char dst[static SENTENCE_MAX], enum phrase row, const char *en, va_list *ap);
/* The words of a sentence; a text that is none stays as it is, a row that is unknown is "?". Also of one that
 * was cut. Owned by the caller. */
char *sentence_text(const char *sentence, enum language l);
/* May these bytes, which nobody vouches for, be given to sentence_text()? */
bool sentence_ok(struct str s);
/* A row without arguments as an argument of another; valid in the block it stands in. */
#define WORD(row) sentence_word((char[SENTENCE_WORD_MAX]){ 0 }, row)
const char *sentence_word(char dst[static SENTENCE_WORD_MAX], enum phrase row);

#endif
