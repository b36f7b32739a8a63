/* configuration.c - prints docs/configuration.md from config/settings.def, or docs/zh/configuration.md when
 * its argument is "zh". */
// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "base/duration.h"
#include "config/config_print.h"
#include "docs/gen/configuration_text.h"
#include "docs/gen/say.h"

/* Text in a table cell. */
static void print_cell(FILE *out, const char *s)
{
	for (; *s; s++)
		(void)fprintf(out, *s == '|' ? "\\%c" : "%c", *s);
}

/* Units are words of English. */
static void print_range(struct said *s, const struct setting *row)
{
	const struct configuration_text *t = &configuration_texts[s->language];
	char low[DURATION_MAX], high[DURATION_MAX];

	if (row->kind == SET_DURATION && row->min == 0) {
		(void)fprintf(s->out, "%s%s%s", t->at_most, duration_short(row->max, high), t->stop);
	} else if (s->language == LANGUAGE_EN) {
		config_print_range(row, s->out, " ", t->stop);
	} else if (row->kind == SET_COUNT && row->max == INT32_MAX) {
		(void)fprintf(s->out, "%s%lld%s", t->at_least, (long long)row->min, t->stop);
	} else if (row->kind == SET_COUNT) {
		(void)fprintf(s->out, "%lld%s%lld%s", (long long)row->min, t->to, (long long)row->max,
			      t->stop);
	} else {
		(void)fprintf(s->out, "%s%s%s%s", duration_short(row->min, low), t->to,
			      duration_short(row->max, high), t->stop);
	}
}

static void print_row(struct said *s, const struct setting *row)
{
	const struct configuration_text *t = &configuration_texts[s->language];
	const char *dot = strrchr(row->path, '.');

	(void)fprintf(s->out, "| `%s` | ", dot ? dot + 1 : row->path);
	print_cell(s->out, row->kind == SET_ENUM ? row->unit : say(s, config_type_name(row)));
	if (row->def[0] == '\0')
		(void)fprintf(s->out, " | | ");
	else
		(void)fprintf(s->out, " | `%s` | ", strlen(row->def) > 80 ? t->below : row->def);
	print_cell(s->out, say(s, row->doc));
	if (row->kind == SET_COUNT || row->kind == SET_DURATION)
		print_range(s, row);
	if ((row->kind == SET_REASONS || row->kind == SET_STRINGS || row->kind == SET_OPTIONS) &&
	    row->unit[0] != '\0') {
		(void)fputs(t->one_of, s->out);
		print_cell(s->out, row->unit);
		(void)fputs(t->stop, s->out);
	}
	if (row->flags & SETTING_SECRET)
		(void)fputs(t->secret, s->out);
	if (row->flags & SETTING_FIXED)
		(void)fputs(t->fixed, s->out);
	(void)fprintf(s->out, " |\n");
}

static void print_table(struct said *s, const struct setting *rows)
{
	(void)fputs(configuration_texts[s->language].table_head, s->out);
	for (const struct setting *row = rows; row->path; row++)
		if (!(row->flags & SETTING_DERIVED))
			print_row(s, row);
}

static void print_section(struct said *s, const struct setting *section)
{
	const size_t n = strlen(section->path);

	(void)fprintf(s->out, "\n## %s\n\n%s\n", section->path, say(s, section->doc));
	(void)fputs(configuration_texts[s->language].table_head, s->out);
	for (const struct setting *row = settings_table; row->path; row++)
		if (strncmp(row->path, section->path, n) == 0 && row->path[n] == '.' &&
		    !(row->flags & SETTING_DERIVED))
			print_row(s, row);
}

static void print_top(struct said *s)
{
	(void)fputs(configuration_texts[s->language].top, s->out);
	(void)fputs(configuration_texts[s->language].table_head, s->out);
	for (const struct setting *row = settings_table; row->path; row++)
		if (row->kind != SET_SECTION && !strchr(row->path, '.') && !(row->flags & SETTING_DERIVED))
			print_row(s, row);
}

static void print_overrides(struct said *s)
{
	const struct configuration_text *t = &configuration_texts[s->language];

	(void)fprintf(s->out, "\n## overrides\n\n%s", t->each_item);
	print_table(s, settings_override_table);
	(void)fputs(t->override_keys, s->out);
	for (const struct setting *row = settings_table; row->path; row++)
		if (row->flags & SETTING_OVERRIDE)
			(void)fprintf(s->out, "- `%s`\n", row->path);
	(void)fputs(t->overrides, s->out);
}

static void print_long_defaults(struct said *s)
{
	const struct configuration_text *t = &configuration_texts[s->language];

	for (const struct setting *row = settings_table; row->path; row++)
		if (strlen(row->def) > 80) {
			(void)fprintf(s->out, "\n%s`%s`%s\n\n", t->default_of, row->path, t->default_is);
			for (const char *item = row->def; *item;) {
				const size_t n = strcspn(item, ",");

				(void)fprintf(s->out, "- `%.*s`\n", (int)n, item);
				item += n + (item[n] == ',');
			}
		}
}

int main(int argc, char **argv)
{
	struct said s = { .language = argc > 1 && strcmp(argv[1], "zh") == 0 ? LANGUAGE_ZH : LANGUAGE_EN,
			  .out = stdout };
	const struct configuration_text *t = &configuration_texts[s.language];

	(void)fputs(t->head, s.out);
	for (const struct setting *row = settings_table; row->path; row++)
		if (row->kind == SET_SECTION)
			print_section(&s, row);
	print_top(&s);
	(void)fprintf(s.out, "\n## clusters\n\n%s", t->each_item);
	print_table(&s, settings_cluster_table);
	(void)fprintf(s.out, "\n## sinks\n\n%s", t->sinks);
	print_table(&s, settings_sink_table);
	print_overrides(&s);
	print_long_defaults(&s);
	(void)fputs(t->namespaces, s.out);
	(void)fputs(t->schedules, s.out);
	(void)fputs(t->differences, s.out);
	return fflush(s.out) == 0 ? said_all(&s) : 1;
}
