/* diag.h - what is wrong with what an operator wrote, collected so that all of it is shown at once. A
 * sentence (model/sentence.h) becomes words where it is shown, in the reader's language.  Layer: config. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CONFIG_DIAG_H
#define CONFIG_DIAG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/duration.h"
#include "model/sentence.h"

/* What is wrong with a duration. Returns -EINVAL. */
int sentence_of_duration(char dst[static SENTENCE_MAX], const struct duration_error *e);

/* -- diagnostics -- */

#define DIAGS_MAX 100 /* later ones are only counted */

/* Where something is wrong. */
struct place {
	const char *file;    /* NULL = of no file */
	size_t line, column; /* from 1; 0 = of the whole file */
	const char *key;     /* goes in front of the sentence; NULL = none */
};

struct diag {
	bool error; /* else a warning */
	size_t line, column;
	char *text; /* one printable line in English */
	char *place, *key, *sentence;
};

/* Zero-initialised = empty. */
struct diags {
	struct diag *v;
	size_t n;
	size_t errors;  /* also those not kept */
	size_t dropped; /* those beyond DIAGS_MAX */
};

/* Add "FILE:LINE:COLUMN: KEY: sentence", or the same with "warning: " before the key. A line that is there
 * already is counted, not kept; d NULL drops it. An error returns -EINVAL. */
#define diags_error(d, at, ID, ...)                                                                          \
	diags_add(d, true, at, PHRASE_DIAG_##ID, phrase_en_DIAG_##ID, ##__VA_ARGS__)
#define diags_warn(d, at, ID, ...)                                                                           \
	((void)diags_add(d, false, at, PHRASE_DIAG_##ID, phrase_en_DIAG_##ID, ##__VA_ARGS__))
/* The same of a sentence that is made already. */
int diags_put(struct diags *d, bool error, struct place at, const char *sentence);
int diags_add(struct diags *d, bool error, struct place at, enum phrase row, const char *en, ...)
	__attribute__((format(printf, 5, 6)));
/* The line for a reader of that language. Owned by the caller. */
char *diag_text(const struct diag *one, enum language l);
/* Order by line and column what was added from index `from` on. */
void diags_sort(struct diags *d, size_t from);
void diags_done(struct diags *d);

static inline struct place place_of_file(const char *file)
{
	return (struct place){ .file = file };
}

#endif
