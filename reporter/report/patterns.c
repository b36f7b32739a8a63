/* patterns.c - see patterns.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/report/patterns.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "model/phrases.h"
#include "reporter/news/words.h"

/* What was found: how many of how many rows are like this one. */
struct match {
	const struct hint_row *row;
	int64_t n, of;
	int64_t since; /* the latest rollout among them */
};

static bool is_enough(const struct match *m)
{
	return m->n >= (int64_t)HINT_ROWS_MIN && m->n * 100 >= m->of * (int64_t)HINT_PERCENT;
}

/* -- what rows share -- */

static bool always(const struct hint_row *r)
{
	return r != NULL;
}

static bool same_node(const struct hint_row *r, const struct hint_row *like)
{
	return *r->node && strcmp(r->node, like->node) == 0 && strcmp(r->cluster, like->cluster) == 0;
}

static bool has_image(const struct hint_row *r)
{
	return *r->image != '\0';
}

static bool same_image(const struct hint_row *r, const struct hint_row *like)
{
	return has_image(r) && strcmp(r->image, like->image) == 0;
}

static bool out_of_memory(const struct hint_row *r, const struct hint_row *like)
{
	(void)like;
	return strcmp(r->reason, "OOMKilled") == 0;
}

static bool has_rollout(const struct hint_row *r)
{
	return r->rolled_at > 0;
}

static bool after_rollout(const struct hint_row *r, const struct hint_row *like)
{
	(void)like;
	return has_rollout(r) && r->rolled_at >= r->began_at;
}

/* -- as sentences -- */

static char *say_node(const struct match *m, const char *names, enum language l, const struct zone *zone)
{
	(void)zone;
	return xasprintf(phrase(REPORT_HINT_NODE, l), m->n, m->of, m->row->node, names);
}

static char *say_image(const struct match *m, const char *names, enum language l, const struct zone *zone)
{
	char since[WHEN_TEXT_MAX];

	if (m->since == 0)
		return xasprintf(phrase(REPORT_HINT_IMAGE, l), m->n, m->of, m->row->image, names);
	when_format(m->since, zone, since);
	return xasprintf(phrase(REPORT_HINT_IMAGE_SINCE, l), m->n, m->of, m->row->image, since, names);
}

static char *say_memory(const struct match *m, const char *names, enum language l, const struct zone *zone)
{
	(void)zone;
	return xasprintf(phrase(REPORT_HINT_MEMORY, l), m->n, m->of, names);
}

static char *say_rollout(const struct match *m, const char *names, enum language l, const struct zone *zone)
{
	(void)zone;
	return xasprintf(phrase(REPORT_HINT_ROLLOUT, l), m->n, m->of, names);
}

static const struct pattern {
	bool (*holds)(const struct hint_row *r, const struct hint_row *like);
	bool (*is_known)(const struct hint_row *r); /* rows of which nothing is known do not count */
	char *(*say)(const struct match *m, const char *names, enum language l, const struct zone *zone);
} patterns[] = {
	{ same_node, always, say_node },
	{ out_of_memory, always, say_memory },
	{ same_image, has_image, say_image },
	{ after_rollout, has_rollout, say_rollout },
};
_Static_assert(ARRAY_SIZE(patterns) <= HINTS_MAX, "one place for each");

/* The row that most others are like. */
static struct match find(const struct pattern *p, const struct hint_row *rows, size_t n)
{
	struct match best = { 0 };

	for (size_t i = 0; i < n; i++) {
		struct match m = { .row = &rows[i] };

		for (size_t k = 0; k < n; k++) {
			const bool holds = p->holds(&rows[k], &rows[i]);

			m.of += p->is_known(&rows[k]);
			m.n += holds;
			if (holds && rows[k].rolled_at > m.since)
				m.since = rows[k].rolled_at;
		}
		if (m.n > best.n)
			best = m;
	}
	return best;
}

/* Which workloads it is about; the caller frees it. */
static char *names_of(const struct pattern *p, const struct match *m, const struct hint_row *rows, size_t n,
		      enum language l)
{
	struct name_list names = { .max = HINT_NAMES_MAX };

	for (size_t i = 0; i < n; i++)
		if (p->holds(&rows[i], m->row))
			name_list_add(&names, rows[i].name);
	return name_list_end(&names, l);
}

size_t hints_of(const struct hint_row *rows, size_t n, enum language l, const struct zone *zone,
		char *ret[static HINTS_MAX])
{
	size_t found = 0;

	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
		const struct match m = find(&patterns[i], rows, n);

		if (!is_enough(&m))
			continue;
		_cleanup_free_ char *names = names_of(&patterns[i], &m, rows, n, l);

		ret[found++] = patterns[i].say(&m, names, l, zone);
	}
	return found;
}
