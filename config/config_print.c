/* config_print.c - see config_print.h. */
// SPDX-License-Identifier: Apache-2.0
#include "config/config_print.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "base/duration.h"
#include "config/table.h"

const char *config_type_name(const struct setting *row)
{
#define WRITTEN(KIND, written) [SET_##KIND] = written,
	static const char *const names[] = { SETTING_KINDS(WRITTEN) };

	return row->kind == SET_ENUM ? row->unit : names[row->kind];
}

void config_print_range(const struct setting *row, FILE *out, const char *open, const char *close)
{
	char low[DURATION_MAX], high[DURATION_MAX];

	if (row->kind == SET_COUNT && row->max == INT32_MAX) {
		(void)fprintf(out, "%s%lld or more %s%s", open, (long long)row->min, row->unit, close);
	} else if (row->kind == SET_COUNT) {
		(void)fprintf(out, "%s%lld to %lld %s%s", open, (long long)row->min, (long long)row->max,
			      row->unit, close);
	} else if (row->kind == SET_DURATION && row->min == 0) {
		(void)fprintf(out, "%sup to %s%s", open, duration_short(row->max, high), close);
	} else if (row->kind == SET_DURATION) {
		(void)fprintf(out, "%s%s to %s%s", open, duration_short(row->min, low),
			      duration_short(row->max, high), close);
	} else if ((row->kind == SET_REASONS || row->kind == SET_STRINGS || row->kind == SET_OPTIONS) &&
		   row->unit[0] != '\0') {
		(void)fprintf(out, "%sof %s%s", open, row->unit, close);
	}
}

void config_print_wrapped(FILE *out, const char *text, int indent, int width)
{
	int column = 0;

	for (size_t n; *text; text += n) {
		while (*text == ' ')
			text++;
		n = strcspn(text, " ");
		if (column == 0 || column + 1 + (int)n > width) {
			(void)fprintf(out, "%s%*s", column ? "\n" : "", indent, "");
			column = indent;
		} else {
			(void)fputc(' ', out);
			column++;
		}
		(void)fwrite(text, 1, n, out);
		column += (int)n;
	}
	(void)fputc('\n', out);
}

static void print_help_row(const struct setting *row, FILE *out)
{
	(void)fprintf(out, "%s", row->path);
	if (row->alias[0] != '\0')
		(void)fprintf(out, " (or %s)", row->alias);
	(void)fprintf(out, ": %s", config_type_name(row));
	config_print_range(row, out, ", ", "");
	if (row->def[0] != '\0')
		(void)fprintf(out, "\n%*sdefault: %s", 6, "", row->def);
	(void)fputc('\n', out);
	config_print_wrapped(out, row->doc, 6, 100);
	if (row->flags & SETTING_FIXED)
		config_print_wrapped(out, "Changed by a restart, not by a reload.", 6, 100);
}

static void print_help_rows(const struct setting *table, FILE *out)
{
	for (const struct setting *row = table; row->path; row++) {
		if (row->flags & SETTING_DERIVED)
			continue;
		print_help_row(row, out);
		if (setting_item_table(row->kind))
			print_help_rows(setting_item_table(row->kind), out);
	}
}

void config_print_help(FILE *out)
{
	(void)fprintf(out, "Keys of the configuration file. Case does not matter; lists may be written with "
			   "commas.\n\n");
	print_help_rows(settings_table, out);
}

/* -- the configuration in force -- */

static void print_quoted(FILE *out, const char *s)
{
	const size_t size = strlen(s) * STR_ESCAPED_MAX + 1;
	_cleanup_free_ char *escaped = xmalloc(size);

	(void)str_escape_yaml(escaped, size, s, strlen(s));
	(void)fprintf(out, "\"%s\"", escaped);
}

static void print_option(FILE *out, const char *options, int64_t i)
{
	for (; i > 0; i--)
		options += strcspn(options, "|") + 1;
	(void)fprintf(out, "%.*s", (int)strcspn(options, "|"), options);
}

/* [a, c] of the bits 101 */
static void print_options(FILE *out, const char *options, int64_t bits)
{
	const char *before = "";

	(void)fputc('[', out);
	for (int i = 0; bits >> i; i++) {
		if (!(bits >> i & 1))
			continue;
		(void)fputs(before, out);
		print_option(out, options, i);
		before = ", ";
	}
	(void)fputc(']', out);
}

static void print_value(const struct setting *row, const void *base, FILE *out)
{
	const void *p = setting_member_const(row, base);
	const int64_t v = setting_is_number(row->kind) ? setting_get_number(row, base) : 0;
	char text[DURATION_MAX];

	if (row->kind == SET_BOOL) {
		(void)fprintf(out, "%s", v ? "true" : "false");
	} else if (row->kind == SET_COUNT) {
		(void)fprintf(out, "%lld", (long long)v);
	} else if (row->kind == SET_DURATION) {
		(void)duration_format(v * 1000000, text);
		(void)fprintf(out, "%s", text);
	} else if (row->kind == SET_ENUM) {
		print_option(out, row->unit, v);
	} else if (row->kind == SET_OPTIONS) {
		print_options(out, row->unit, v);
	} else if (setting_is_list(row->kind)) {
		const struct str_list *l = p;

		(void)fprintf(out, "[");
		for (size_t i = 0; i < l->n; i++) {
			(void)fprintf(out, i > 0 ? ", " : "");
			print_quoted(out, l->v[i]);
		}
		(void)fprintf(out, "]");
	} else {
		print_quoted(out, row->flags & SETTING_SECRET ? "(hidden)" : *(char *const *)p);
	}
}

static bool is_absent(const struct setting *row, const void *base)
{
	return setting_is_text(row->kind) && !*(char *const *)setting_member_const(row, base);
}

static void print_effective_row(const struct setting *row, const void *base, const char *indent, FILE *out)
{
	const char *dot = strrchr(row->path, '.');

	if (is_absent(row, base))
		return;
	(void)fprintf(out, "%s%s: ", indent, dot ? dot + 1 : row->path);
	print_value(row, base, out);
	(void)fputc('\n', out);
}

/* One of a list of mappings. */
static void print_item(const struct setting *table, const void *base, FILE *out)
{
	for (const struct setting *row = table; row->path; row++)
		if (!(row->flags & SETTING_DERIVED))
			print_effective_row(row, base, row == table ? "  - " : "    ", out);
}

/* Of the duties of an override what differs from the policy. */
static void print_differences(const struct config *c, const struct policy_override *o, FILE *out)
{
	const struct setting *section = NULL, *told = NULL;

	for (const struct setting *row = settings_table; row->path; row++) {
		if (row->kind == SET_SECTION)
			section = row;
		if (!(row->flags & SETTING_OVERRIDE) || setting_equal(row, o, c))
			continue;
		if (section && section != told)
			(void)fprintf(out, "    %s:\n", section->path);
		told = section;
		print_effective_row(row, o, "      ", out);
	}
}

/* Clusters that are files come of clustersFrom. */
static void print_items(const struct setting *row, const struct config *c, FILE *out)
{
	const struct setting_items items = setting_items(row, c);
	size_t n = items.n;

	while (row->kind == SET_OBJECTS && n > 0 && c->clusters[n - 1].is_file)
		n--;
	if (n > 0)
		(void)fprintf(out, "%s:\n", row->path);
	for (size_t i = 0; i < n; i++) {
		print_item(setting_item_table(row->kind), setting_item(row, &items, i), out);
		if (row->kind == SET_OVERRIDES)
			print_differences(c, setting_item(row, &items, i), out);
	}
}

/* A section without a key that is there would be nothing, and no mapping. */
void config_print_effective(const struct config *c, FILE *out)
{
	const struct setting *section = NULL; /* that is not printed yet */

	for (const struct setting *row = settings_table; row->path; row++) {
		if (row->flags & SETTING_DERIVED)
			continue;
		if (row->kind == SET_SECTION)
			section = row;
		else if (setting_item_table(row->kind))
			print_items(row, c, out);
		else if (!strchr(row->path, '.'))
			print_effective_row(row, c, "", out);
		else if (!is_absent(row, c)) {
			if (section)
				(void)fprintf(out, "%s:\n", section->path);
			section = NULL;
			print_effective_row(row, c, "  ", out);
		}
	}
}
