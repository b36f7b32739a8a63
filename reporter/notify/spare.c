/* spare.c - see spare.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/notify/spare.h"

#include <errno.h>

#include "base/cleanup.h"

/* Which rows go which way: each column of `rows` is the parameter of that number of `put`. */
struct copy {
	enum db_stmt rows, put;
};
static const struct copy taken[] = {
	{ DB_ALARMS, DB_ALARM_COPY },
	{ DB_ALARM_NOTICES, DB_ALARM_NOTICE_COPY },
	{ DB_SPARE_TAKEN, DB_OUTBOX_COPY },
};
static const struct copy returned[] = {
	{ DB_ALARMS, DB_ALARM_COPY },
	{ DB_ALARM_NOTICES, DB_ALARM_NOTICE_COPY },
	{ DB_SPARE_ALL, DB_OUTBOX_RETURN },
};
/* Both may know the same alarm, by different numbers. */
static const struct copy joined[] = {
	{ DB_ALARMS, DB_ALARM_JOIN },
	{ DB_ALARM_NOTICES_BY_KEY, DB_ALARM_NOTICE_JOIN },
	{ DB_SPARE_ALL, DB_OUTBOX_RETURN },
};

static int copy_row(sqlite3_stmt *row, struct db *to, enum db_stmt put)
{
	sqlite3_stmt *st = db_stmt(to, put);

	for (int c = 0; c < sqlite3_column_count(row); c++)
		(void)sqlite3_bind_value(st, c + 1, sqlite3_column_value(row, c));
	return db_run(st, NULL);
}

static int copy_rows(struct db *from, struct db *to, const struct copy *c)
{
	sqlite3_stmt *row = db_stmt(from, c->rows, db_i("max", SPARE_TAKEN_MAX));
	int rc, r = 0;

	while (r == 0 && (rc = sqlite3_step(row)) != SQLITE_DONE)
		r = rc == SQLITE_ROW ? copy_row(row, to, c->put) : db_errno(rc);
	(void)sqlite3_reset(row);
	return r;
}

static int take(struct db *history, struct db *spare)
{
	int r = db_begin(spare);

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(taken); i++)
		r = copy_rows(history, spare, &taken[i]);
	return db_end(spare, r);
}

int spare_open(struct db *history, struct db **ret)
{
	_cleanup_(db_close) struct db *spare = NULL;
	const int r = db_open_memory(SPARE_BYTES_MAX, &spare);

	if (r < 0)
		return r;
	const bool knows = take(history, spare) == 0;

	*ret = TAKE_PTR(spare);
	return knows;
}

int spare_trim(struct db *spare)
{
	return db_run(db_stmt(spare, DB_SPARE_TRIM), NULL);
}

int spare_doubt(struct db *spare)
{
	return db_run(db_stmt(spare, DB_SPARE_DOUBT), NULL);
}

/* It knows all that the history knew, and what became of it. */
static int clear(struct db *history)
{
	const int r = db_run(db_stmt(history, DB_ALARMS_CLEAR), NULL);

	return r < 0 ? r : db_run(db_stmt(history, DB_ALARM_NOTICES_CLEAR), NULL);
}

int spare_return(struct db *spare, struct db *history, bool knew)
{
	const struct copy *const copies = knew ? returned : joined;
	const size_t n = knew ? ARRAY_SIZE(returned) : ARRAY_SIZE(joined);
	int r = db_begin(history);

	if (r == 0 && knew)
		r = clear(history);
	for (size_t i = 0; r == 0 && i < n; i++)
		r = copy_rows(spare, history, &copies[i]);
	return db_end(history, r);
}
