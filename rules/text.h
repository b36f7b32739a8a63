/* text.h - evidence in one line.  Layer: rules, private to it. */
// SPDX-License-Identifier: Apache-2.0
#ifndef RULES_TEXT_H
#define RULES_TEXT_H

#include <stdarg.h>
#include <stdint.h>

#include "rules/verdict.h"

#define DURATION_MAX 32

/* "3d4h", "2m5s", "850ms", "0s": the two largest units. Returns buf. Negative counts as 0. */
const char *text_duration(int64_t ms, char buf[static DURATION_MAX]);
/* "-" where it is empty. */
static inline struct str text_or_dash(struct str s)
{
	return str_empty(s) ? STR_LIT("-") : s;
}
/* Fill dst; bytes that are not printable become '?', what does not fit is cut. */
void text_print(char *dst, size_t size, const char *fmt, va_list ap) __attribute__((format(printf, 3, 0)));
/* The same for v->evidence. */
void text_evidence(struct verdict *v, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Add to the end of v->evidence; when there is no room, the end of what was there gives way. */
void text_append(struct verdict *v, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
