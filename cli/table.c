/* table.c - see table.h. */
// SPDX-License-Identifier: Apache-2.0
#include "cli/table.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "base/xalloc.h"

struct cell {
	char *text;
	enum table_color color;
};

struct table {
	const char *const *headers;
	size_t columns, n;
	struct cell *cells;
};

struct range {
	uint32_t first, last;
};

/* Unicode East Asian Width W and F, in the blocks that names and messages use. */
static const struct range wide[] = {
	{ 0x1100, 0x115f },   { 0x2e80, 0x303e },   { 0x3041, 0x33ff }, { 0x3400, 0x4dbf },
	{ 0x4e00, 0x9fff },   { 0xa000, 0xa4cf },   { 0xac00, 0xd7a3 }, { 0xf900, 0xfaff },
	{ 0xfe30, 0xfe6f },   { 0xff00, 0xff60 },   { 0xffe0, 0xffe6 }, { 0x1f300, 0x1f64f },
	{ 0x1f900, 0x1f9ff }, { 0x20000, 0x3fffd },
};
static const struct range combining[] = { { 0x0300, 0x036f }, { 0x200b, 0x200f }, { 0xfe00, 0xfe0f } };

static bool in_ranges(uint32_t c, const struct range *r, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (c >= r[i].first && c <= r[i].last)
			return true;
	return false;
}

static uint32_t code_point(const char *s, size_t len)
{
	static const unsigned char masks[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	uint32_t c = (unsigned char)s[0] & masks[len];

	for (size_t i = 1; i < len; i++)
		c = c << 6 | ((unsigned char)s[i] & 0x3f);
	return c;
}

size_t table_width(const char *s)
{
	size_t width = 0, left = strlen(s);

	while (left) {
		const size_t len = str_utf8_len(s, left);
		const uint32_t c = len ? code_point(s, len) : '?';

		width += in_ranges(c, wide, ARRAY_SIZE(wide))
				 ? 2
				 : !in_ranges(c, combining, ARRAY_SIZE(combining));
		s += len ? len : 1;
		left -= len ? len : 1;
	}
	return width;
}

struct table *table_new(const char *const *headers, size_t n)
{
	struct table *t = xcalloc(1, sizeof(*t));

	t->headers = headers;
	t->columns = n;
	return t;
}

void table_free(struct table **tp)
{
	struct table *t = *tp;

	for (size_t i = 0; t && i < t->n; i++)
		free(t->cells[i].text);
	if (t)
		free(t->cells);
	free(t);
	*tp = NULL;
}

void table_add(struct table *t, enum table_color color, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	_cleanup_free_ char *raw = xvasprintf(fmt, ap);
	va_end(ap);
	char *text = xmalloc(strlen(raw) + 1);

	(void)str_copy_printable(text, strlen(raw) + 1, raw, strlen(raw));
	t->cells = xreallocarray(t->cells, t->n + 1, sizeof(*t->cells));
	t->cells[t->n++] = (struct cell){ text, color };
}

static size_t column_width(const struct table *t, size_t column)
{
	size_t w = table_width(t->headers[column]);

	for (size_t i = column; i < t->n; i += t->columns) {
		const size_t k = table_width(t->cells[i].text);

		w = k > w ? k : w;
	}
	return w;
}

static void print_cell(FILE *out, const char *text, size_t width, bool last, const char *on)
{
	const size_t w = table_width(text);

	(void)fprintf(out, "%s%s%s%*s", on, text, *on ? "\x1b[0m" : "", last ? 0 : (int)(width - w + 2), "");
}

void table_print(const struct table *t, FILE *out, bool color)
{
	static const char *const codes[] = { "", "\x1b[32m", "\x1b[33m", "\x1b[31m", "\x1b[2m" };
	_cleanup_free_ size_t *widths = xcalloc(t->columns, sizeof(*widths));

	for (size_t c = 0; c < t->columns; c++) {
		widths[c] = column_width(t, c);
		print_cell(out, t->headers[c], widths[c], c + 1 == t->columns, color ? "\x1b[1m" : "");
	}
	(void)fputc('\n', out);
	for (size_t i = 0; i < t->n; i++) {
		const bool last = i % t->columns + 1 == t->columns;

		print_cell(out, t->cells[i].text, widths[i % t->columns], last,
			   color ? codes[t->cells[i].color] : "");
		if (last)
			(void)fputc('\n', out);
	}
}

bool table_wants_color(FILE *out)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(fileno(out)) && !(no && *no) && !(term && strcmp(term, "dumb") == 0);
}

const char *table_span(int64_t ms, char buf[static 32])
{
	const int64_t s = ms < 0 ? 0 : ms / 1000;

	if (s < 120)
		(void)snprintf(buf, 32, "%" PRId64 "s", s);
	else if (s < 7200)
		(void)snprintf(buf, 32, "%" PRId64 "m", s / 60);
	else if (s < 172800)
		(void)snprintf(buf, 32, "%" PRId64 "h%" PRId64 "m", s / 3600, s / 60 % 60);
	else
		(void)snprintf(buf, 32, "%" PRId64 "d", s / 86400);
	return buf;
}
