/* html_table.c - see html_table.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/page/html_table.h"

#include <stdarg.h>

#include "base/cleanup.h"
#include "base/xalloc.h"

static const char *title_of(const struct table *t, size_t column)
{
	return phrase_text(t->columns[column].title, t->language);
}

void table_begin(struct table *t, struct html *h, enum language language, const struct table_column *columns,
		 size_t n)
{
	*t = (struct table){ .h = h, .language = language, .columns = columns, .n = n };
	html_open(h, "table");
	html_open(h, "thead");
	html_open(h, "tr");
	for (size_t i = 0; i < n; i++)
		html_element(h, "th", t->columns[i].class, title_of(t, i));
	html_close(h);
	html_close(h);
	html_open(h, "tbody");
}

void table_end(struct table *t)
{
	html_close(t->h);
	html_close(t->h);
}

void table_begin_row(struct table *t)
{
	t->at = 0;
	html_open(t->h, "tr");
}

void table_end_row(struct table *t)
{
	html_close(t->h);
}

void table_open_cell(struct table *t)
{
	html_open_class(t->h, "td", t->columns[t->at].class);
	html_attr(t->h, "data-l", t->at > 0 ? title_of(t, t->at) : NULL);
	t->at++;
}

void table_cell(struct table *t, const char *text)
{
	table_open_cell(t);
	html_text(t->h, text);
	html_close(t->h);
}

void table_cell_f(struct table *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	_cleanup_free_ char *text = xvasprintf(fmt, ap);

	va_end(ap);
	table_cell(t, text);
}
