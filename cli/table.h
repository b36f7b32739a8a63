/* table.h - text tables for people: columns aligned by display width (CJK counts two), colours only where
 * wanted. Process: cli. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum table_color { COLOR_NONE, COLOR_GOOD, COLOR_WARN, COLOR_BAD, COLOR_DIM };

struct table;

/* headers: n strings, borrowed. */
struct table *table_new(const char *const *headers, size_t n);
void table_free(struct table **t);
/* Append one cell; rows fill from left to right. Text is copied; control bytes are replaced. */
void table_add(struct table *t, enum table_color color, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Print with two spaces between columns; the last column is not padded. */
void table_print(const struct table *t, FILE *out, bool color);
/* A terminal that wants colours: isatty, NO_COLOR not set, TERM not dumb (no-color.org). */
bool table_wants_color(FILE *out);

/* Columns on a terminal of a UTF-8 text: 2 for East Asian wide characters, 0 for combining marks. */
size_t table_width(const char *s);
/* "2m", "3h12m", "5d" of a span in ms; buf of 32 bytes. */
const char *table_span(int64_t ms, char buf[static 32]);

#endif
