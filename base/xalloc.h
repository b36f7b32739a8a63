/* xalloc.h - allocation that does not fail: out of memory ends the process with EXIT_CODE_RESOURCE and the
 * supervisor starts it again. Safe because every input is bounded before memory is asked for it.
 * Layer: base.  Every result is owned by the caller and released by free(). */
// SPDX-License-Identifier: Apache-2.0
#ifndef BASE_XALLOC_H
#define BASE_XALLOC_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

void *xmalloc(size_t n);
void *xcalloc(size_t n, size_t size);
/* Overflow of n * size ends the process like out of memory. */
void *xreallocarray(void *p, size_t n, size_t size);
/* Room for element number `need` in an array of *cap elements: where there is none it grows by half, and what
 * is new is zero. Returns the array, which may have moved. */
void *xgrow(void *p, uint32_t *cap, uint32_t need, size_t size);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t n);
void *xmemdup(const void *p, size_t n);
/* The texts one after the other, the last argument NULL: what takes printf ten times as long. */
char *xconcat(const char *first, ...) __attribute__((sentinel));
/* Append to *text, which is owned and may be NULL: `between`, unless it is the first, and `more`. */
void xappend(char **text, const char *between, const char *more);
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *xvasprintf(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));

#endif
