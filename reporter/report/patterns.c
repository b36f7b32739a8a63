/* patterns.c - see patterns.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/report/patterns.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "model/phrases.h"
#include "reporter/news/when.h"

/* What was found: how many of how many rows, and the first of them. */
struct match {
	const struct hint_row *row;
	int64_t n, of;
	int64_t since; /* the latest rollout among them */
};

static bool is_enough(const struct match *m)
{
	return m->n >= (int64_t)HINT_ROWS_MIN && m->n * 100 >= m->of * (int64_t)HINT_PERCENT;
}

static const char *node_of(const struct hint_row *r)
{
	return r->node;
}

static const char *image_of(const struct hint_row *r)
{
	return r->image;
}

/* The text that most rows share; rows without one do not count when `all` is false. */
static struct match most_common(const struct hint_row *rows, size_t n,
				const char *(*text)(const struct hint_row *), bool all)
{
	struct match best = { 0 };

	for (size_t i = 0; i < n; i++) {
		struct match m = { .row = &rows[i] };

		for (size_t k = 0; k < n; k++) {
			const char *other = text(&rows[k]);
			const bool same = *other && strcmp(other, text(&rows[i])) == 0;

			m.of += all || *other != '\0';
			m.n += same;
			if (same && rows[k].rolled_at > m.since)
				m.since = rows[k].rolled_at;
		}
		if (m.n > best.n)
			best = m;
	}
	return best;
}

static struct match same_node(const struct hint_row *rows, size_t n)
{
	return most_common(rows, n, node_of, true);
}

static struct match same_image(const struct hint_row *rows, size_t n)
{
	return most_common(rows, n, image_of, false);
}

static struct match out_of_memory(const struct hint_row *rows, size_t n)
{
	struct match m = { .row = rows, .of = (int64_t)n };

	for (size_t i = 0; i < n; i++)
		m.n += strcmp(rows[i].reason, "OOMKilled") == 0;
	return m;
}

static struct match after_rollout(const struct hint_row *rows, size_t n)
{
	struct match m = { .row = rows };

	for (size_t i = 0; i < n; i++) {
		m.of += rows[i].rolled_at > 0;
		m.n += rows[i].rolled_at > 0 && rows[i].rolled_at >= rows[i].began_at;
	}
	return m;
}

/* -- as sentences -- */

static char *say_node(const struct match *m, enum language l, const struct zone *zone)
{
	(void)zone;
	return xasprintf(phrase(REPORT_HINT_NODE, l), m->n, m->of, m->row->node);
}

static char *say_image(const struct match *m, enum language l, const struct zone *zone)
{
	char since[WHEN_TEXT_MAX];

	if (m->since == 0)
		return xasprintf(phrase(REPORT_HINT_IMAGE, l), m->n, m->of, m->row->image);
	when_format(m->since, zone, since);
	return xasprintf(phrase(REPORT_HINT_IMAGE_SINCE, l), m->n, m->of, m->row->image, since);
}

static char *say_memory(const struct match *m, enum language l, const struct zone *zone)
{
	(void)zone;
	return xasprintf(phrase(REPORT_HINT_MEMORY, l), m->n, m->of);
}

static char *say_rollout(const struct match *m, enum language l, const struct zone *zone)
{
	(void)zone;
	return xasprintf(phrase(REPORT_HINT_ROLLOUT, l), m->n, m->of);
}

static const struct {
	struct match (*find)(const struct hint_row *rows, size_t n);
	char *(*say)(const struct match *m, enum language l, const struct zone *zone);
} patterns[] = {
	{ same_node, say_node },
	{ out_of_memory, say_memory },
	{ same_image, say_image },
	{ after_rollout, say_rollout },
};
_Static_assert(ARRAY_SIZE(patterns) <= HINTS_MAX, "one place for each");

size_t hints_of(const struct hint_row *rows, size_t n, enum language l, const struct zone *zone,
		char *ret[static HINTS_MAX])
{
	size_t found = 0;

	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
		const struct match m = patterns[i].find(rows, n);

		if (is_enough(&m))
			ret[found++] = patterns[i].say(&m, l, zone);
	}
	return found;
}
