/* series_load.c - see series_load.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/report/series_load.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "model/actions.h"

#define HOUR_MS INT64_C(3600000)
#define DAY_MS  (24 * HOUR_MS)

/* "a/b"; the caller frees it. */
static char *joined(sqlite3_stmt *st, int a, int b)
{
	return xconcat(db_text(st, a), "/", db_text(st, b), NULL);
}

/* `row` for each row of st. 0 or negative errno. */
static int each_row(sqlite3_stmt *st, void (*row)(struct series *s, sqlite3_stmt *st), struct series *s)
{
	int r;

	while ((r = db_step(st)) > 0)
		row(s, st);
	return r;
}

/* Rows come by line, each with an hour. */
static void add_hour(struct series *s, sqlite3_stmt *st)
{
	const int64_t hour = sqlite3_column_int64(st, 3);
	_cleanup_free_ char *name = joined(st, 1, 2);

	if (sqlite3_column_int64(st, 5))
		(void)series_add_line(s, db_text(st, 0), name);
	if (s->n_worst > 0 && hour >= 0 && hour < (int64_t)SERIES_HOURS)
		s->worst[s->n_worst - 1].by_hour[hour] += (uint32_t)sqlite3_column_int64(st, 4);
}

static void add_actions(struct series *s, sqlite3_stmt *st)
{
	const int64_t day = sqlite3_column_int64(st, 0), duty = sqlite3_column_int64(st, 1);

	if (day >= 0 && day < (int64_t)SERIES_DAYS && duty >= 0 && duty < DUTY__MAX)
		s->actions[day][duty] = (uint32_t)sqlite3_column_int64(st, 2);
}

static void add_held(struct series *s, sqlite3_stmt *st)
{
	_cleanup_free_ char *object = joined(st, 2, 3);

	if (s->n_held == SERIES_HELD_MAX) {
		s->more_held++;
		return;
	}
	struct facts evidence;

	db_facts(st, 5, &evidence);
	struct series_held *h = series_add_held(s, db_text(st, 0), object, db_text(st, 4), &evidence);

	h->duty = sqlite3_column_int64(st, 1);
	h->since_ms = sqlite3_column_int64(st, 6);
}

static void add_tile(struct series *s, sqlite3_stmt *st)
{
	if (s->n_tiles == SERIES_TILES_MAX) {
		s->more_tiles++;
		return;
	}
	struct series_tile *t = series_add_tile(s, db_text(st, 0), db_text(st, 1));

	t->restarts = (uint64_t)sqlite3_column_int64(st, 2);
	t->actions = (uint64_t)sqlite3_column_int64(st, 3);
	t->held = (uint64_t)sqlite3_column_int64(st, 4);
}

int series_load(struct db *db, int64_t end_ms, int32_t utc_offset_s, struct series *ret)
{
	const int64_t offset_ms = INT64_C(1000) * utc_offset_s, today = (end_ms + offset_ms) / DAY_MS;
	const int64_t from = end_ms - (int64_t)SERIES_HOURS * HOUR_MS;

	*ret = (struct series){ .begin_ms = from, .end_ms = end_ms, .utc_offset_s = utc_offset_s };
	int r = each_row(db_stmt(db, DB_SERIES_HOURS, db_i("from", from), db_i("to", end_ms),
				 db_i("limit", SERIES_WORST_MAX)),
			 add_hour, ret);

	if (r == 0)
		r = each_row(db_stmt(db, DB_SERIES_ACTIONS, db_i("offset", offset_ms),
				     db_i("first_day", today - (int64_t)SERIES_DAYS + 1),
				     db_i("written", OUTCOMES_WRITTEN)),
			     add_actions, ret);
	if (r == 0)
		r = each_row(db_stmt(db, DB_SERIES_HELD), add_held, ret);
	if (r == 0)
		r = each_row(db_stmt(db, DB_SERIES_TILES, db_i("from", from), db_i("to", end_ms),
				     db_i("written", OUTCOMES_WRITTEN)),
			     add_tile, ret);
	if (r < 0)
		series_done(ret);
	return r;
}
