/* text.h - evidence in one line.  Layer: rules, private to it. */
// SPDX-License-Identifier: Apache-2.0
#ifndef RULES_TEXT_H
#define RULES_TEXT_H

#include <stdarg.h>
#include <stdint.h>

#include "base/duration.h"
#include "rules/verdict.h"

/* "-" where it is empty. */
static inline struct str text_or_dash(struct str s)
{
	return str_empty(s) ? STR_LIT("-") : s;
}
#define EVIDENCE_MAX 512
/* What was said, sentence by sentence. */
const char *text_of(const struct facts *f, char buf[static EVIDENCE_MAX]);
/* Fill dst; bytes that are not printable become '?', what does not fit is cut. */
void text_print(char *dst, size_t size, const char *fmt, va_list ap) __attribute__((format(printf, 3, 0)));
/* The same for v->evidence. */
void text_evidence(struct verdict *v, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Add to the end of v->evidence. */
void text_append(struct verdict *v, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
