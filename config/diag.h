/* diag.h - errors and warnings about what the operator wrote, collected so that all are told at once.
 * Layer: config. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CONFIG_DIAG_H
#define CONFIG_DIAG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

#define DIAGS_MAX 100 /* later ones are only counted */

struct diag {
	bool error;
	char *text; /* one printable line */
	size_t line, column;
};

/* Init with zeroes, and with the language of the reader. */
struct diags {
	str_translate_fn *translate; /* NULL = English */
	struct diag *v;
	size_t n;
	size_t errors; /* also those not kept */
	size_t dropped;
};

/* "FILE:LINE:COLUMN: message"; line 0 leaves line and column out, file NULL also the file. The same once more
 * is counted, not kept. Returns -EINVAL. The English of the message stands at the call, its Chinese in
 * model/phrases_config.def. */
#define diags_error(d, ...) diags_add(d, "", __VA_ARGS__)
/* "FILE:LINE:COLUMN: warning: message" */
#define diags_warn(d, ...) ((void)diags_add(d, "warning: ", __VA_ARGS__))
int diags_add(struct diags *d, const char *warning, const char *file, size_t line, size_t column,
	      const char *fmt, ...) __attribute__((format(printf, 6, 7)));
/* A text of ours among the arguments, or a format, in the language of d. */
const char *diags_said(const struct diags *d, const char *en) __attribute__((format_arg(2)));
/* "; more" behind the text of the i-th, if there is room. */
void diags_append(struct diags *d, size_t i, const char *more);
/* Order by line and column what was added from index `from` on. */
void diags_sort(struct diags *d, size_t from);
void diags_done(struct diags *d);

#endif
