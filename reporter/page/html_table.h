/* html_table.h - a table of a page. On a phone each row stands as a block, in which each cell says the name
 * of its column: so every cell knows it. Layer: process (reporter), page.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_PAGE_HTML_TABLE_H
#define REPORTER_PAGE_HTML_TABLE_H

#include "model/phrases.h"
#include "reporter/page/html.h"

struct table_column {
	enum phrase title;
	const char *class; /* "num", "word" (short: it is not broken), or NULL: any text */
};

struct table {
	struct html *h;
	enum language language;
	const struct table_column *columns;
	size_t n, at; /* at: the next cell of the row */
};

/* With its head; the columns are borrowed. */
void table_begin(struct table *t, struct html *h, enum language language, const struct table_column *columns,
		 size_t n);
void table_end(struct table *t);
void table_begin_row(struct table *t);
void table_end_row(struct table *t);
/* The next cell, open: html_close() closes it. The first one of a row has no name on a phone: it is what the
 * row is about. */
void table_open_cell(struct table *t);
/* A cell that holds a text. */
void table_cell(struct table *t, const char *text);
void table_cell_f(struct table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
