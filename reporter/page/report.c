/* report.c - see report.h: what its template is given. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/page/report.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/xalloc.h"
#include "model/reasons.h"
#include "reporter/news/words.h"
#include "reporter/page/chart.h"
#include "text/facts_text.h"
#include "text/templates.h"

/* The month in what when_format() writes, and how long it is with the day, and with the time. */
#define WHEN_MONTH    5
#define WHEN_DAY_N    5
#define WHEN_MINUTE_N 11

/* -- series -- */

struct series_line *series_add_line(struct series *s, const char *cluster, const char *name)
{
	if (s->n_worst == SERIES_WORST_MAX)
		return NULL;
	s->worst = xreallocarray(s->worst, s->n_worst + 1, sizeof(*s->worst));
	struct series_line *l = &s->worst[s->n_worst++];

	*l = (struct series_line){ .cluster = xstrdup(cluster), .name = xstrdup(name) };
	return l;
}

struct series_held *series_add_held(struct series *s, const char *cluster, const char *object,
				    const char *reason, const struct facts *detail)
{
	if (s->n_held == SERIES_HELD_MAX) {
		s->more_held++;
		return NULL;
	}
	s->held = xreallocarray(s->held, s->n_held + 1, sizeof(*s->held));
	struct series_held *h = &s->held[s->n_held++];

	*h = (struct series_held){ .cluster = xstrdup(cluster),
				   .object = xstrdup(object),
				   .reason = xstrdup(reason),
				   .detail = facts_dup(detail),
				   .duty = DUTY_ALL };
	return h;
}

struct series_tile *series_add_tile(struct series *s, const char *cluster, const char *ns)
{
	if (s->n_tiles == SERIES_TILES_MAX) {
		s->more_tiles++;
		return NULL;
	}
	s->tiles = xreallocarray(s->tiles, s->n_tiles + 1, sizeof(*s->tiles));
	struct series_tile *t = &s->tiles[s->n_tiles++];

	*t = (struct series_tile){ .cluster = xstrdup(cluster), .ns = xstrdup(ns) };
	return t;
}

void series_done(struct series *s)
{
	for (size_t i = 0; i < s->n_worst; i++) {
		free(s->worst[i].cluster);
		free(s->worst[i].name);
	}
	for (size_t i = 0; i < s->n_held; i++) {
		free(s->held[i].cluster);
		free(s->held[i].object);
		free(s->held[i].reason);
		free(s->held[i].detail);
	}
	for (size_t i = 0; i < s->n_tiles; i++) {
		free(s->tiles[i].cluster);
		free(s->tiles[i].ns);
	}
	free(s->worst);
	free(s->held);
	free(s->tiles);
	*s = (struct series){ 0 };
}

/* -- values -- */

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

static json_t *when_value(const struct series *s, int64_t at_ms)
{
	char when[WHEN_TEXT_MAX];

	when_format(at_ms + INT64_C(1000) * s->utc_offset_s, NULL, when);
	return json_string(when);
}

static void format_time(const void *series, int64_t at_ms, char ret[static RFC3339_MAX])
{
	const struct series *s = series;
	char when[WHEN_TEXT_MAX];

	when_format(at_ms + INT64_C(1000) * s->utc_offset_s, NULL, when);
	(void)snprintf(ret, RFC3339_MAX, "%s", when);
}

/* Without the year: "11-22", "11-22 17:55". */
static json_t *short_when_value(const struct series *s, int64_t at_ms, size_t size)
{
	char when[WHEN_TEXT_MAX];

	when_format(at_ms + INT64_C(1000) * s->utc_offset_s, NULL, when);
	const size_t n = strlen(when), begin = smaller(WHEN_MONTH, n);

	return json_stringn(when + begin, smaller(size, n - begin));
}

/* The only cluster is in the head alone. */
static json_t *cluster_value(const struct series *s, const char *name)
{
	return template_text(s->is_of_one_cluster ? "" : name);
}

/* A list with its rows and how many are left out; null when it has none. Takes rows. */
static json_t *list_value(json_t *rows, uint64_t more)
{
	if (json_array_size(rows) > 0)
		return json_pack("{s:o, s:I}", "rows", rows, "more", (json_int_t)more);
	json_decref(rows);
	return json_null();
}

static json_t *worst_value(const struct series *s)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < s->n_worst; i++) {
		const struct series_line *l = &s->worst[i];
		const struct chart chart = { l->by_hour, SERIES_HOURS / 4, 1, 4, 4, 1, 40, 1.5 };
		json_t *row = chart_value(&chart);
		uint64_t sum = 0;

		for (size_t h = 0; h < SERIES_HOURS; h++)
			sum += l->by_hour[h];
		(void)json_object_set_new(row, "cluster", cluster_value(s, l->cluster));
		(void)json_object_set_new(row, "name", template_text(l->name));
		(void)json_object_set_new(row, "restarts", json_integer((json_int_t)sum));
		(void)json_object_set_new(
			row, "begin",
			short_when_value(s, s->end_ms - (int64_t)SERIES_HOURS * HOUR_MS, WHEN_MINUTE_N));
		(void)json_object_set_new(row, "end", short_when_value(s, s->end_ms, WHEN_MINUTE_N));
		(void)json_array_append_new(rows, row);
	}
	return list_value(rows, 0);
}

static json_t *actions_value(const struct series *s)
{
	const struct chart chart = { &s->actions[0][0], SERIES_DAYS, DUTY__MAX, 1, 20, 4, 100, 0 };
	json_t *value = chart_value(&chart), *days = json_array(), *bar;
	uint64_t total = 0;
	size_t i;

	json_array_foreach (json_object_get(value, "bars"), i, bar) {
		total += (uint64_t)json_integer_value(json_object_get(bar, "sum"));
		(void)json_object_set_new(
			bar, "duty",
			json_string(duty_name((enum duty)json_integer_value(json_object_get(bar, "kind")))));
	}
	for (size_t d = SERIES_DAYS; d > 0; d--)
		(void)json_array_append_new(
			days, short_when_value(s, s->end_ms - (int64_t)(d - 1) * DAY_MS, WHEN_DAY_N));
	(void)json_object_set_new(value, "days", days);
	(void)json_object_set_new(value, "total", json_integer((json_int_t)total));
	if (total > 0)
		return value;
	json_decref(value);
	return json_null();
}

static json_t *held_value(const struct series *s, enum language l)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < s->n_held; i++) {
		const struct series_held *h = &s->held[i];
		const struct reason_desc *reason = reason_find(h->reason);
		const char *sentence = reason->text[l].sentence;
		_cleanup_free_ char *detail =
			facts_render(h->detail, &(const struct facts_view){ l, format_time, s });

		(void)json_array_append_new(
			rows, json_pack("{s:o, s:o, s:s, s:o, s:o, s:s, s:o}", "cluster",
					cluster_value(s, h->cluster), "object", template_text(h->object),
					"duty", h->duty == DUTY_ALL ? "" : duty_name((enum duty)h->duty),
					"reason", template_text(*sentence ? sentence : h->reason), "detail",
					template_text(detail), "remedy", reason->text[l].remedy, "since",
					h->since_ms > 0 ? when_value(s, h->since_ms) : json_null()));
	}
	return list_value(rows, s->more_held);
}

static uint64_t weight(const struct series_tile *t)
{
	return t->restarts + t->actions + t->held;
}

/* How dark a tile is, from 0 (nothing) to 3. */
static int level_of(uint64_t v, uint64_t max)
{
	return v == 0 ? 0 : v > max / 2 ? 3 : v > max / 8 ? 2 : 1;
}

static json_t *map_value(const struct series *s)
{
	json_t *rows = json_array();
	uint64_t max = 1;

	for (size_t i = 0; i < s->n_tiles; i++)
		max = weight(&s->tiles[i]) > max ? weight(&s->tiles[i]) : max;
	for (size_t i = 0; i < s->n_tiles; i++) {
		const struct series_tile *t = &s->tiles[i];

		(void)json_array_append_new(
			rows, json_pack("{s:o, s:o, s:i, s:I, s:I, s:I}", "cluster",
					cluster_value(s, t->cluster), "ns", template_text(t->ns), "level",
					level_of(weight(t), max), "restarts", (json_int_t)t->restarts,
					"actions", (json_int_t)t->actions, "held", (json_int_t)t->held));
	}
	json_t *value = list_value(rows, s->more_tiles);

	(void)json_object_set_new(value, "most", json_integer((json_int_t)max)); /* not in null */
	return value;
}

/* -- the document -- */

/* Facts that are numbers stand in columns of their own, where an entry of the section has them: { fact: true
 * }. */
static json_t *table_value(const json_t *section)
{
	static const char *const numbers[] = { "restarts", "restartsTotal" };
	const json_t *entries = json_object_get(section, "entries");
	json_t *table = json_array_size(entries) > 0 ? json_object() : json_null(), *entry;
	size_t i;

	json_array_foreach (entries, i, entry)
		for (size_t k = 0; k < ARRAY_SIZE(numbers); k++)
			if (json_object_get(json_object_get(entry, "facts"), numbers[k]))
				(void)json_object_set_new(table, numbers[k], json_true());
	return table;
}

static json_t *report_value(const struct document *d, const struct series *s)
{
	static const char *const heads[] = { "window", "first" };
	json_t *o = document_value(d, NULL), *lines = json_object_get(o, "lines"), *section;
	size_t i;

	json_array_foreach (json_object_get(o, "sections"), i, section)
		(void)json_object_set_new(section, "table", table_value(section));
	(void)json_object_set_new(o, "is",
				  json_pack("{s:b}", json_string_value(json_object_get(o, "tone")), 1));
	for (i = 0; i < ARRAY_SIZE(heads); i++) {
		(void)json_object_set(o, heads[i],
				      json_array_size(lines) > 0 ? json_array_get(lines, 0) : json_null());
		(void)json_array_remove(lines, 0);
	}
	(void)json_object_set(o, "rest", lines);
	(void)json_object_set_new(o, "many", json_boolean(!s || !s->is_of_one_cluster));
	if (s)
		(void)json_object_set_new(o, "series",
					  json_pack("{s:o, s:o, s:o, s:o}", "worst", worst_value(s),
						    "actions", actions_value(s), "held",
						    held_value(s, d->language), "map", map_value(s)));
	return o;
}

char *page_report(const struct document *d, const struct series *s)
{
	const struct template_target target = { d->language, ESCAPE_HTML, false };
	json_t *data = report_value(d, s);
	char *page = template_render(template_find(STR_C("page/report"), d->language), &target, data, NULL);

	json_decref(data);
	return page ? page : xstrdup("");
}
