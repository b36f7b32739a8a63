/* table.c - see table.h. */
// SPDX-License-Identifier: Apache-2.0
#include "cli/view/table.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "base/unicode.h"
#include "base/xalloc.h"

#define GAP      2  /* spaces between columns */
#define INDENT   4  /* of what stands below a row */
#define WIDTH    80 /* of indented text where there is no terminal */
#define FLOW_MIN 24 /* columns that a text needs to go on in */

struct cell {
	char *text;
	enum table_color color;
};

struct table {
	const struct table_column *columns;
	size_t n_columns, n;
	struct cell *cells;
};

struct range {
	uint32_t first, last;
};

/* Unicode East Asian Width W and F, in the blocks that names and messages use. */
static const struct range double_width[] = {
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

size_t table_width(const char *s)
{
	size_t width = 0, left = strlen(s);

	while (left) {
		uint32_t c;
		const size_t len = unicode_take(s, left, &c);

		width += in_ranges(c, double_width, ARRAY_SIZE(double_width))
				 ? 2
				 : !in_ranges(c, combining, ARRAY_SIZE(combining));
		s += len ? len : 1;
		left -= len ? len : 1;
	}
	return width;
}

#define LONG_FROM 12

bool table_is_long(size_t n, const struct table_view *view)
{
	return view->width && !view->wide && n > LONG_FROM;
}

struct table *table_new(const struct table_column *columns, size_t n)
{
	struct table *t = xcalloc(1, sizeof(*t));

	t->columns = columns;
	t->n_columns = n;
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

/* Owned by the caller. */
static char *printable(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));
static char *printable(const char *fmt, va_list ap)
{
	_cleanup_free_ char *raw = xvasprintf(fmt, ap);
	const size_t n = strlen(raw);
	char *text = xmalloc(n + 1);

	(void)str_copy_printable(text, n + 1, raw, n);
	return text;
}

void table_add(struct table *t, enum table_color color, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	char *text = printable(fmt, ap);
	va_end(ap);
	t->cells = xreallocarray(t->cells, t->n + 1, sizeof(*t->cells));
	t->cells[t->n++] = (struct cell){ text, color };
}

/* -- which columns are shown, and where -- */

enum place {
	PLACE_ROW,
	PLACE_BELOW,
	PLACE_NAMED, /* below its row, too, behind the column's name: it never gives way, and yet there is no
			room */
	PLACE_NOWHERE
};

struct layout {
	enum place place;
	size_t width;
};

/* A terminal, whose width is a limit. */
static bool is_narrow(const struct table_view *view)
{
	return view->width && !view->wide;
}

static size_t column_width(const struct table *t, size_t column)
{
	size_t w = table_width(t->columns[column].name);

	for (size_t i = column; i < t->n; i += t->n_columns) {
		const size_t k = table_width(t->cells[i].text);

		w = k > w ? k : w;
	}
	return w;
}

static bool all_alike(const struct table *t, size_t column)
{
	for (size_t i = column; i < t->n; i += t->n_columns)
		if (strcmp(t->cells[i].text, t->cells[column].text) != 0)
			return false;
	return true;
}

static bool is_empty(const struct table *t, size_t column)
{
	return t->n == 0 || (all_alike(t, column) && !*t->cells[column].text);
}

/* Of one cluster all rows may be, and thirty are configured. */
static bool is_unnamed(const struct table *t, size_t column)
{
	return t->n == 0 || (all_alike(t, column) && strcmp(t->cells[column].text, "default") == 0);
}

static size_t row_width(const struct table *t, const struct layout *l)
{
	size_t w = 0;

	for (size_t c = 0; c < t->n_columns; c++)
		if (l[c].place == PLACE_ROW)
			w += l[c].width + (w ? GAP : 0);
	return w;
}

/* The next that gives way; n_columns: none is left that does. What is declared to do so goes first, then the
 * rightmost; the first column stays. */
static size_t next_to_give_way(const struct table *t, const struct layout *l)
{
	size_t next = t->n_columns;

	for (size_t c = 1; c < t->n_columns; c++) {
		const uint8_t order = t->columns[c].gives_way;

		if (l[c].place == PLACE_ROW && order &&
		    (next == t->n_columns || order < t->columns[next].gives_way))
			next = c;
	}
	for (size_t c = t->n_columns; next == t->n_columns && c-- > 1;)
		if (l[c].place == PLACE_ROW)
			next = c;
	return next;
}

static enum place place_given_way(const struct table_column *column)
{
	if (column->how & (COLUMN_BELOW | COLUMN_FLOWS))
		return PLACE_BELOW;
	return column->gives_way ? PLACE_NOWHERE : PLACE_NAMED;
}

static void lay_out(const struct table *t, const struct table_view *view, struct layout *l)
{
	const bool narrow = is_narrow(view);
	size_t c;

	for (c = 0; c < t->n_columns; c++) {
		const uint8_t how = t->columns[c].how;

		l[c].width = column_width(t, c);
		if (how & COLUMN_FLOWS && narrow && l[c].width > FLOW_MIN)
			l[c].width = FLOW_MIN;
		if ((how & COLUMN_WIDE && !view->wide) || (how & COLUMN_FEW && is_empty(t, c)) ||
		    (how & COLUMN_ALIKE && narrow && all_alike(t, c)) ||
		    (how & COLUMN_NAMED && narrow && is_unnamed(t, c)))
			l[c].place = PLACE_NOWHERE;
	}
	while (narrow && row_width(t, l) > view->width && (c = next_to_give_way(t, l)) < t->n_columns)
		l[c].place = place_given_way(&t->columns[c]);
}

/* -- printing -- */

static const char *const color_codes[] = { "", "\x1b[32m", "\x1b[33m", "\x1b[31m", "\x1b[2m" };

/* One cell of the row; *gap is what stands before it. */
static void print_cell(FILE *out, const char *text, size_t width, const char *on, size_t *gap)
{
	const size_t w = table_width(text);

	(void)fprintf(out, "%*s%s%s%s", (int)*gap, "", on, text, *on ? "\x1b[0m" : "");
	*gap = width - w + GAP;
}

static void print_header(const struct table *t, const struct layout *l, FILE *out, bool color)
{
	size_t gap = 0;

	for (size_t c = 0; c < t->n_columns; c++)
		if (l[c].place == PLACE_ROW)
			print_cell(out, t->columns[c].name, l[c].width, color ? "\x1b[1m" : "", &gap);
	(void)fputc('\n', out);
}

/* Marks that belong to what stands before or behind them: a line neither begins with the one nor ends with
 * the other (the rules of GB/T 15834 for Chinese, in what our texts use). */
static const char *const closing[] = { "，", "。", "；", "：", "、", "？", "！", "）", "》", "」", "”" };
static const char *const opening[] = { "（", "《", "「", "“" };

/* Bytes of the mark of that list that s begins with; 0: none. */
static size_t mark_at(const char *s, const char *const *marks, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strncmp(s, marks[i], strlen(marks[i])) == 0)
			return strlen(marks[i]);
	return 0;
}

/* Bytes of the wide character that s begins with; 0: it is another one. */
static size_t wide_at(const char *s)
{
	uint32_t c;
	const size_t len = unicode_take(s, strnlen(s, 4), &c);

	return len && in_ranges(c, double_width, ARRAY_SIZE(double_width)) ? len : 0;
}

/* Bytes that stay in one line: a word, or one wide character, with the marks that belong to it. */
static size_t unbroken(const char *s)
{
	size_t n = 0, k;

	while ((k = mark_at(s + n, opening, ARRAY_SIZE(opening))) > 0)
		n += k;
	if ((k = wide_at(s + n)) > 0)
		n += k;
	else
		while (s[n] && s[n] != ' ' && !wide_at(s + n))
			n++;
	while ((k = mark_at(s + n, closing, ARRAY_SIZE(closing))) > 0)
		n += k;
	return n;
}

void table_words(struct table_flow *f, const char *text)
{
	for (size_t len; *(text += strspn(text, " ")); text += len) {
		_cleanup_free_ char *word = xstrndup(text, len = unbroken(text));
		const size_t w = table_width(word);

		if (f->begun && f->at + f->gap + w > f->width) {
			(void)fputc('\n', f->out);
			f->at = 0;
			f->gap = f->indent;
		}
		(void)fprintf(f->out, "%*s%s", (int)f->gap, "", word);
		f->at += f->gap + w;
		f->gap = text[len] && text[len] != ' ' ? 0 : 1;
		f->begun = true;
	}
}

static void print_row(const struct table *t, const struct layout *l, const struct cell *row, FILE *out,
		      const struct table_view *view)
{
	size_t gap = 0, at = 0;

	for (size_t c = 0; c < t->n_columns; c++) {
		if (l[c].place != PLACE_ROW)
			continue;
		if (t->columns[c].how & COLUMN_FLOWS && is_narrow(view))
			table_words(&(struct table_flow){ out, view->width, at, at - gap, gap, false },
				    row[c].text);
		else
			print_cell(out, row[c].text, l[c].width, view->color ? color_codes[row[c].color] : "",
				   &gap);
		at += l[c].width + GAP;
	}
	(void)fputc('\n', out);
}

static void print_below(const struct table *t, const struct layout *l, const struct cell *row, FILE *out,
			const struct table_view *view)
{
	struct table_flow f = { .out = out, .width = view->width, .indent = INDENT, .gap = INDENT };

	for (size_t c = 0; c < t->n_columns; c++) {
		if ((l[c].place != PLACE_BELOW && l[c].place != PLACE_NAMED) || !row[c].text[0] ||
		    strcmp(row[c].text, "-") == 0)
			continue;
		f.gap = f.begun ? GAP : INDENT;
		if (l[c].place == PLACE_NAMED)
			table_words(&f, t->columns[c].name);
		table_words(&f, row[c].text);
	}
	if (f.begun)
		(void)fputc('\n', out);
}

void table_print(const struct table *t, FILE *out, const struct table_view *view)
{
	_cleanup_free_ struct layout *l = xcalloc(t->n_columns, sizeof(*l));

	lay_out(t, view, l);
	if (!view->bare)
		print_header(t, l, out, view->color);
	for (size_t i = 0; i + t->n_columns <= t->n; i += t->n_columns) {
		print_row(t, l, &t->cells[i], out, view);
		print_below(t, l, &t->cells[i], out, view);
	}
}

void table_text(FILE *out, const struct table_view *view, const char *fmt, ...)
{
	struct table_flow f = { .out = out, .width = view->width, .indent = INDENT };
	va_list ap;

	va_start(ap, fmt);
	_cleanup_free_ char *text = printable(fmt, ap);
	va_end(ap);
	if (is_narrow(view))
		table_words(&f, text);
	else
		(void)fputs(text, out);
	(void)fputc('\n', out);
}

static size_t terminal_width(FILE *out)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size = { .ws_col = 0 };
	uint64_t n;

	if (columns && str_to_u64(columns, strlen(columns), &n) == 0 && n > 0 && n < 10000)
		return (size_t)n;
	return ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
}

struct table_view table_view_of(FILE *out, bool wide, bool utc)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
	const bool terminal = isatty(fileno(out));

	return (struct table_view){ .width = terminal ? terminal_width(out) : 0,
				    .wide = wide,
				    .color = terminal && !(no && *no) && !(term && strcmp(term, "dumb") == 0),
				    .local = terminal && !utc };
}

void table_indented(FILE *out, size_t blanks, const char *fmt, ...)
{
	const size_t width = table_view_of(out, false, false).width;
	struct table_flow f = { .out = out, .width = width ? width : WIDTH, .indent = INDENT, .gap = blanks };
	va_list ap;

	va_start(ap, fmt);
	_cleanup_free_ char *text = printable(fmt, ap);
	va_end(ap);
	table_words(&f, text);
	(void)fputc('\n', out);
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
