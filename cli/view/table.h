/* table.h - text tables for people: columns aligned by display width (CJK counts two), colours only where
 * wanted. Not libsmartcols, which aligns, colours and truncates: here a column that does not fit goes below
 * its row, and lines of Chinese break as its marks allow. Process: cli. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CLI_VIEW_TABLE_H
#define CLI_VIEW_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum table_color { COLOR_NONE, COLOR_GOOD, COLOR_WARN, COLOR_BAD, COLOR_DIM };

/* How a column gives way. */
#define COLUMN_BELOW 1u  /* to an indented line below its row; else it is left out */
#define COLUMN_ALIKE 2u  /* left out on a terminal where all rows say the same, or nothing */
#define COLUMN_WIDE  4u  /* only where everything is wanted */
#define COLUMN_FLOWS 8u  /* the last one: on a terminal goes on in the next line, below itself */
#define COLUMN_FEW   16u /* left out where no row says anything */
#define COLUMN_NAMED                                                                                         \
	32u /* left out on a terminal where all rows say "default", as a cluster without a name */

struct table_column {
	const char *name;
	uint8_t gives_way; /* when a terminal is too narrow: 1 is the first to give way, 0 goes last of all:
			    * below its row, behind its name */
	uint8_t how;       /* COLUMN_* */
};

/* How it is shown. */
struct table_view {
	size_t width; /* columns of the terminal; 0: as wide as it gets (a pipe) */
	bool wide;    /* everything, however wide */
	bool bare;    /* without the names of the columns */
	bool color;
	bool local; /* times of this machine's zone instead of UTC */
};

/* A terminal has its width ($COLUMNS wins over what it says itself), colours (isatty, NO_COLOR not set, TERM
 * not dumb: no-color.org) and local times. A pipe has none of them, so what scripts read does not change. */
struct table_view table_view_of(FILE *out, bool wide, bool utc);

/* More lines of one kind than a terminal should show, where not everything is wanted? */
bool table_is_long(size_t n, const struct table_view *view);

struct table;

/* columns: n of them, borrowed. */
struct table *table_new(const struct table_column *columns, size_t n);
void table_free(struct table **t);
/* Append one cell; rows fill from left to right, with a cell for every column whatever is shown of it. Text
 * is copied; what is not printable (base/unicode.h) is replaced, here and by table_text. */
void table_add(struct table *t, enum table_color color, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Print with two spaces between columns; the last column is not padded. Where the columns are wider than the
 * view they give way, in their order, until they fit. */
void table_print(const struct table *t, FILE *out, const struct table_view *view);

/* Print a line of text, on a terminal in as many lines as it needs; those after the first are indented. */
void table_text(FILE *out, const struct table_view *view, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Print a line below a heading, behind so many blanks; what does not fit, into 80 columns where there is no
 * terminal, goes on behind four. */
void table_indented(FILE *out, size_t blanks, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Text that goes on in further lines where it does not fit. */
struct table_flow {
	FILE *out;
	size_t width, indent; /* of a line; of those that go on */
	size_t at, gap;       /* where the line is; blanks before the next word */
	bool begun;           /* it holds a word, so the next may go to another line */
};
/* Print the words of text; the caller ends the last line. */
void table_words(struct table_flow *f, const char *text);

/* Columns on a terminal of a UTF-8 text: 2 for East Asian wide characters, 0 for combining marks. */
size_t table_width(const char *s);
/* "2m", "3h12m", "5d" of a span in ms; buf of 32 bytes. */
const char *table_span(int64_t ms, char buf[static 32]);

#endif
