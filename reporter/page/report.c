/* report.c - see report.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/page/report.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "model/phrases.h"
#include "model/reasons.h"
#include "model/retell.h"
#include "reporter/news/when.h"
#include "reporter/page/chart.h"
#include "reporter/page/html.h"
#include "reporter/page/html_table.h"

#define DAY_MS INT64_C(86400000)
/* Where the day of the month stands in what when_format() writes. */
#define WHEN_DAY 8

/* What a page is made with. */
struct report {
	struct html *h;
	const struct document *d;
	const struct series *s; /* NULL = none */
	enum language language;
};

static void say_when(const struct report *r, int64_t at_ms, char ret[static WHEN_TEXT_MAX])
{
	when_format(at_ms + INT64_C(1000) * r->s->utc_offset_s, NULL, ret);
}

static void begin_section(struct report *r, const char *title)
{
	html_open(r->h, "section");
	if (*title)
		html_element(r->h, "h2", NULL, title);
}

static void put_more(struct report *r, uint64_t more)
{
	if (more == 0)
		return;
	html_open_class(r->h, "p", "dim");
	html_text_f(r->h, phrase(PAGE_MORE, r->language), more);
	html_close(r->h);
}

/* -- the head -- */

static const char *tone_class(enum tone t)
{
	static const char *const classes[TONE__MAX] = {
		[TONE_GOOD] = "good", [TONE_INFO] = "dim", [TONE_WARNING] = "warn", [TONE_BAD] = "bad"
	};

	return classes[t];
}

static void put_head(struct report *r)
{
	char at[WHEN_TEXT_MAX];

	html_open(r->h, "header");
	html_element(r->h, "h1", NULL, r->d->title);
	if (r->s) { /* the time that the report is about stands in its first line */
		say_when(r, r->d->at_ms, at);
		html_open_class(r->h, "p", "dim");
		html_text_f(r->h, phrase(PAGE_AT, r->language), at);
		html_close(r->h);
	}
	for (size_t i = 0; i < r->d->lines.n; i++)
		html_element(r->h, "p", i == 0 ? tone_class(r->d->tone) : NULL, r->d->lines.v[i]);
	html_close(r->h);
}

/* -- drawings -- */

static void put_cluster_of(struct html *h, const char *cluster)
{
	if (!*cluster)
		return;
	html_element(h, "span", "dim", cluster);
	html_text(h, " ");
}

static uint64_t line_sum(const struct series_line *l)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < SERIES_HOURS; i++)
		sum += l->by_hour[i];
	return sum;
}

static void put_worst(struct report *r)
{
	static const struct table_column columns[] = {
		{ PHRASE_PAGE_WORKLOAD, NULL },
		{ PHRASE_PAGE_RESTARTS, "num" },
		{ PHRASE_PAGE_COURSE, NULL },
	};
	struct table t;

	if (r->s->n_worst == 0)
		return;
	begin_section(r, phrase(PAGE_WORST, r->language));
	table_begin(&t, r->h, r->language, columns, ARRAY_SIZE(columns));
	for (size_t i = 0; i < r->s->n_worst && i < SERIES_WORST_MAX; i++) {
		const struct series_line *l = &r->s->worst[i];
		const uint64_t sum = line_sum(l);
		_cleanup_free_ char *label = xasprintf(phrase(PAGE_BY_HOUR, r->language), l->name, sum);

		table_begin_row(&t);
		table_open_cell(&t);
		put_cluster_of(r->h, l->cluster);
		html_element(r->h, "b", NULL, l->name);
		html_close(r->h);
		table_cell_f(&t, "%" PRIu64, sum);
		table_open_cell(&t);
		chart_spark(r->h, label, l->by_hour, SERIES_HOURS);
		html_close(r->h);
		table_end_row(&t);
	}
	table_end(&t);
	html_close(r->h);
}

/* The days of the month, under the bars. */
static void put_axis(struct report *r)
{
	char when[WHEN_TEXT_MAX];

	html_open_class(r->h, "div", "axis");
	for (size_t i = 0; i < SERIES_DAYS; i++) {
		say_when(r, r->s->end_ms - (int64_t)(SERIES_DAYS - 1 - i) * DAY_MS, when);
		html_open(r->h, "span");
		html_text_f(r->h, "%.2s", when + WHEN_DAY);
		html_close(r->h);
	}
	html_close(r->h);
}

static void put_legend(struct report *r, const uint64_t *of_duty)
{
	html_open_class(r->h, "ul", "legend");
	for (enum duty d = 0; d < DUTY__MAX; d++) {
		if (of_duty[d] == 0)
			continue;
		html_open(r->h, "li");
		chart_swatch(r->h, d);
		html_text_f(r->h, "%s %" PRIu64, duty_name(d), of_duty[d]);
		html_close(r->h);
	}
	html_close(r->h);
}

static void put_actions(struct report *r)
{
	uint64_t of_duty[DUTY__MAX] = { 0 }, sum = 0, most = 0;

	for (size_t i = 0; i < SERIES_DAYS; i++) {
		uint64_t day = 0;

		for (enum duty d = 0; d < DUTY__MAX; d++) {
			day += r->s->actions[i][d];
			of_duty[d] += r->s->actions[i][d];
		}
		sum += day;
		most = day > most ? day : most;
	}
	if (sum == 0)
		return;
	_cleanup_free_ char *label = xasprintf(phrase(PAGE_ACTIONS_SUM, r->language), sum, most);

	begin_section(r, phrase(PAGE_ACTIONS_BY_DAY, r->language));
	html_element(r->h, "p", "dim", label);
	chart_stacked(r->h, label, &r->s->actions[0][0], SERIES_DAYS, DUTY__MAX);
	put_axis(r);
	put_legend(r, of_duty);
	html_close(r->h);
}

static uint64_t weight(const struct series_tile *t)
{
	return t->restarts + t->actions + t->held;
}

static void put_tile(struct report *r, const struct series_tile *t, uint64_t max)
{
	html_open(r->h, "li");
	const unsigned level = chart_level(weight(t), max);

	if (level > 0)
		html_attr_f(r->h, "class", "t%u", level);
	html_element(r->h, "b", NULL, t->ns);
	if (*t->cluster)
		html_element(r->h, "div", NULL, t->cluster);
	if (t->restarts > 0) {
		html_open(r->h, "div");
		html_text_f(r->h, phrase(PAGE_TILE_RESTARTS, r->language), t->restarts);
		html_close(r->h);
	}
	if (t->actions > 0) {
		html_open(r->h, "div");
		html_text_f(r->h, phrase(PAGE_TILE_ACTIONS, r->language), t->actions);
		html_close(r->h);
	}
	if (t->held > 0) {
		html_open(r->h, "div");
		html_text_f(r->h, phrase(PAGE_TILE_HELD, r->language), t->held);
		html_close(r->h);
	}
	html_close(r->h);
}

static void put_map(struct report *r)
{
	const size_t n = r->s->n_tiles < SERIES_TILES_MAX ? r->s->n_tiles : SERIES_TILES_MAX;
	uint64_t max = 1;

	if (n == 0)
		return;
	for (size_t i = 0; i < n; i++)
		max = weight(&r->s->tiles[i]) > max ? weight(&r->s->tiles[i]) : max;
	begin_section(r, phrase(PAGE_MAP, r->language));
	html_open_class(r->h, "ul", "map");
	for (size_t i = 0; i < n; i++)
		put_tile(r, &r->s->tiles[i], max);
	html_close(r->h);
	put_more(r, r->s->more_tiles + (r->s->n_tiles - n));
	html_close(r->h);
}

/* -- what is held back -- */

static void put_held_row(struct report *r, struct table *t, const struct series_held *held)
{
	const struct reason_desc *reason = reason_find(held->reason);
	const char *sentence = reason->text[r->language].sentence, *remedy = reason->text[r->language].remedy;
	char when[WHEN_TEXT_MAX] = "";

	if (held->since_ms > 0)
		say_when(r, held->since_ms, when);
	table_begin_row(t);
	table_open_cell(t);
	put_cluster_of(r->h, held->cluster);
	html_element(r->h, "b", NULL,
		     *held->object            ? held->object
		     : held->duty == DUTY_ALL ? phrase(PAGE_ALL_DUTIES, r->language)
					      : duty_name((enum duty)held->duty));
	html_close(r->h);
	table_cell(t, held->duty == DUTY_ALL ? phrase(PAGE_ALL_DUTIES, r->language)
					     : duty_name((enum duty)held->duty));
	table_open_cell(t);
	html_element(r->h, "p", NULL, *sentence ? sentence : held->reason);
	if (*held->detail) {
		_cleanup_free_ char *detail = retell(held->detail, r->language);

		html_element(r->h, "p", "dim small", detail);
	}
	if (*remedy) {
		html_open_class(r->h, "p", "small");
		html_text_f(r->h, phrase(NEWS_REMEDY, r->language), remedy);
		html_close(r->h);
	}
	html_close(r->h);
	table_cell(t, when);
	table_end_row(t);
}

static void put_held(struct report *r)
{
	static const struct table_column columns[] = {
		{ PHRASE_PAGE_WHAT, NULL },
		{ PHRASE_PAGE_DUTY, "word" },
		{ PHRASE_PAGE_WHY, NULL },
		{ PHRASE_PAGE_SINCE, "word" },
	};
	const size_t n = r->s->n_held < SERIES_HELD_MAX ? r->s->n_held : SERIES_HELD_MAX;
	struct table t;

	if (n == 0)
		return;
	begin_section(r, phrase(PAGE_HELD, r->language));
	table_begin(&t, r->h, r->language, columns, ARRAY_SIZE(columns));
	for (size_t i = 0; i < n; i++)
		put_held_row(r, &t, &r->s->held[i]);
	table_end(&t);
	put_more(r, r->s->more_held + (r->s->n_held - n));
	html_close(r->h);
}

/* -- the sections of the document -- */

/* Facts that are numbers stand in columns of their own, where an entry of the section has them. */
static const struct {
	const char *fact;
	enum phrase title;
} numbers[] = {
	{ "restarts", PHRASE_PAGE_RESTARTS },
	{ "restartsTotal", PHRASE_PAGE_IN_ALL },
	{ "count", PHRASE_PAGE_COUNT },
};

static bool section_has(const struct section *s, const char *fact)
{
	for (size_t i = 0; i < s->n; i++)
		if (entry_fact(&s->entries[i], fact))
			return true;
	return false;
}

static void put_entry(struct report *r, const struct entry *e)
{
	html_open_class(r->h, "p", e->is_over ? "good" : NULL);
	html_element(r->h, "b", NULL, e->title);
	html_close(r->h);
	for (size_t i = 0; i < e->lines.n; i++)
		html_element(r->h, "p", "small", e->lines.v[i]);
	if (e->command && *e->command) {
		html_open(r->h, "p");
		html_element(r->h, "code", NULL, e->command);
		html_close(r->h);
	}
}

static void put_section(struct report *r, const struct section *s)
{
	struct table_column columns[1 + ARRAY_SIZE(numbers)] = { { PHRASE_PAGE_WHAT, NULL } };
	const char *facts[ARRAY_SIZE(numbers)];
	struct table t;
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		if (section_has(s, numbers[i].fact)) {
			facts[n++] = numbers[i].fact;
			columns[n] = (struct table_column){ numbers[i].title, "num" };
		}
	begin_section(r, s->title);
	if (s->n > 0) {
		table_begin(&t, r->h, r->language, columns, n + 1);
		for (size_t i = 0; i < s->n; i++) {
			table_begin_row(&t);
			table_open_cell(&t);
			put_entry(r, &s->entries[i]);
			html_close(r->h);
			for (size_t k = 0; k < n; k++)
				table_cell(&t, entry_fact(&s->entries[i], facts[k]));
			table_end_row(&t);
		}
		table_end(&t);
	}
	put_more(r, s->more);
	html_close(r->h);
}

char *page_report(const struct document *d, const struct series *s)
{
	struct report r = { html_new_page(language_name(d->language), d->title, 0), d, s, d->language };

	put_head(&r);
	if (s) {
		put_worst(&r);
		put_actions(&r);
		put_held(&r);
		put_map(&r);
	}
	for (size_t i = 0; i < d->n_sections; i++)
		put_section(&r, &d->sections[i]);
	if (d->footer && *d->footer)
		html_element(r.h, "footer", NULL, d->footer);
	return html_end(&r.h, NULL);
}
