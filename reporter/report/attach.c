/* attach.c - see attach.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/report/attach.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/xalloc.h"
#include "config/zone.h"
#include "model/actions.h"
#include "reporter/notify/sink_select.h"

/* A series that is read, and for whom. */
struct loading {
	const struct sink_settings *sink; /* NULL: for whoever may see all */
	struct series *series;
	struct series_line *line; /* whose hours come; NULL = it does not concern the sink */
};

static bool concerns(const struct loading *l, const char *cluster, const char *ns, int64_t duty)
{
	return !l->sink || select_object(l->sink, cluster, ns, duty);
}

/* "a/b"; the caller frees it. */
static char *joined(sqlite3_stmt *st, int a, int b)
{
	return xconcat(db_text(st, a), "/", db_text(st, b), NULL);
}

/* `row` for each row of st. 0 or negative errno. */
static int each_row(sqlite3_stmt *st, void (*row)(struct loading *l, sqlite3_stmt *st), struct loading *l)
{
	int r;

	while ((r = db_step(st)) > 0)
		row(l, st);
	return r;
}

/* Rows come by line, each with an hour. */
static void add_hour(struct loading *l, sqlite3_stmt *st)
{
	const int64_t hour = sqlite3_column_int64(st, 3);
	_cleanup_free_ char *name = joined(st, 1, 2);

	if (sqlite3_column_int64(st, 5))
		l->line = concerns(l, db_text(st, 0), db_text(st, 1), DUTY_RESTARTS)
				  ? series_add_line(l->series, db_text(st, 0), name)
				  : NULL;
	if (l->line && hour >= 0 && hour < (int64_t)SERIES_HOURS)
		l->line->by_hour[hour] += (uint32_t)sqlite3_column_int64(st, 4);
}

static void add_actions(struct loading *l, sqlite3_stmt *st)
{
	const int64_t day = sqlite3_column_int64(st, 0), duty = sqlite3_column_int64(st, 1);

	if (day >= 0 && day < (int64_t)SERIES_DAYS && duty >= 0 && duty < DUTY__MAX)
		l->series->actions[day][duty] = (uint32_t)sqlite3_column_int64(st, 2);
}

static void add_held(struct loading *l, sqlite3_stmt *st)
{
	const int64_t duty = sqlite3_column_int64(st, 1);
	_cleanup_free_ char *object = joined(st, 2, 3);

	if (!concerns(l, db_text(st, 0), db_text(st, 2), duty))
		return;
	struct facts evidence;

	db_facts(st, 5, &evidence);
	struct series_held *h = series_add_held(l->series, db_text(st, 0), object, db_text(st, 4), &evidence);

	if (!h)
		return;
	h->duty = duty;
	h->since_ms = sqlite3_column_int64(st, 6);
}

static void add_tile(struct loading *l, sqlite3_stmt *st)
{
	if (!concerns(l, db_text(st, 0), db_text(st, 1), DUTY_ALL))
		return;
	struct series_tile *t = series_add_tile(l->series, db_text(st, 0), db_text(st, 1));

	if (!t)
		return;
	t->restarts = (uint64_t)sqlite3_column_int64(st, 2);
	t->actions = (uint64_t)sqlite3_column_int64(st, 3);
	t->held = (uint64_t)sqlite3_column_int64(st, 4);
}

int series_load(struct db *db, const struct sink_settings *s, int64_t end_ms, int32_t utc_offset_s,
		struct series *ret)
{
	const int64_t offset_ms = INT64_C(1000) * utc_offset_s, today = (end_ms + offset_ms) / DAY_MS;
	const int64_t from = end_ms - (int64_t)SERIES_HOURS * HOUR_MS;
	const bool is_of_all = !s || s->clusters.n + s->namespaces.n + s->duties.n == 0;
	struct loading l = { .sink = s, .series = ret };

	*ret = (struct series){ .end_ms = end_ms, .utc_offset_s = utc_offset_s };
	int r = each_row(db_stmt(db, DB_SERIES_HOURS, db_i("from", from), db_i("to", end_ms),
				 db_i("limit", SERIES_WORST_MAX)),
			 add_hour, &l);

	/* Actions by day say nothing of where they were: whoever is told of a part is shown none. */
	if (r == 0 && is_of_all)
		r = each_row(db_stmt(db, DB_SERIES_ACTIONS, db_i("offset", offset_ms),
				     db_i("first_day", today - (int64_t)SERIES_DAYS + 1),
				     db_i("written", OUTCOMES_WRITTEN)),
			     add_actions, &l);
	if (r == 0)
		r = each_row(db_stmt(db, DB_SERIES_HELD), add_held, &l);
	if (r == 0)
		r = each_row(db_stmt(db, DB_SERIES_TILES, db_i("from", from), db_i("to", end_ms),
				     db_i("written", OUTCOMES_WRITTEN)),
			     add_tile, &l);
	if (r < 0)
		series_done(ret);
	return r;
}

void digest_attach_page(struct db *db, const struct sink_settings *s, const struct zone *zone,
			bool is_of_one_cluster, struct document *d)
{
	int64_t until = 0;
	struct series series;

	if (series_load(db, s, d->at_ms, zone_offset(zone, d->at_ms / 1000, &until), &series) < 0)
		series = (struct series){ .end_ms = d->at_ms };
	series.is_of_one_cluster = is_of_one_cluster;
	free(d->html);
	d->html = page_report(d, &series);
	series_done(&series);
}
