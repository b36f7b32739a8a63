/* test_outbox_stats.c - what stands in an outbox, for status and metrics: what waits, what was last, and what
 * that costs to find out. */
// SPDX-License-Identifier: Apache-2.0
#include "tests/suite.h"
#include "tests/unit/reporter/support.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "reporter/notify/outbox.h"
#include "tests/facts_en.h"

#define NOW  INT64_C(1700000000000)
#define BOOT 5000000

static struct db *db;

static void setup(void)
{
	char dir[SUITE_PATH_MAX];

	clock_fake_set(NOW, BOOT);
	suite_folder(dir);
	db = test_db_open(dir);
}

static void teardown(void)
{
	db_close(&db);
	clock_fake_clear();
}

static void put(const char *sink, enum news news)
{
	struct document d;

	document_init(&d, news, LANGUAGE_EN, clock_wall_ms());
	ck_assert_int_eq(outbox_put(db, sink, &d), 0);
	document_done(&d);
}

static void put_ended(const char *sink, enum news news, enum outbox_state state, const char *words)
{
	const struct facts f = quoting(words), *error = &f;
	struct outbox_row row;

	put(sink, news);
	ck_assert_int_eq(outbox_next(db, sink, &row), 1);
	ck_assert_int_eq(outbox_begin(db, row.id), 0);
	if (state == OUTBOX_WAITING)
		ck_assert_int_eq(outbox_again(db, row.id, 0, false, error), 0);
	else if (state != OUTBOX_SENDING)
		ck_assert_int_eq(outbox_end(db, row.id, state, error), 0);
	outbox_row_done(&row);
}

/* Each row follows the ones before it. */
static const struct {
	enum news news;
	enum outbox_state state;
	const char *error; /* also the one that is told */
	uint64_t lost, delivered_after;
} ends[] = {
	{ NEWS_REPORT, OUTBOX_GIVEN_UP, "no answer", 1, 0 },
	{ NEWS_ACTIONS, OUTBOX_DONE, "", 1, 2 },
	{ NEWS_REPORT, OUTBOX_UNCONFIRMED, "in doubt", 2, 2 },
	{ NEWS_REPORT, OUTBOX_DONE, "", 0, 4 },
	{ NEWS_ACTIONS, OUTBOX_GIVEN_UP, "refused", 0, 4 },
	{ NEWS_REPORT, OUTBOX_WAITING, "try again", 0, 4 },
};

TEST(stats_tell_the_last_of_each_kind)
{
	struct outbox_stats stats;

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		clock_fake_set(NOW + (int64_t)(i + 1) * 1000, BOOT);
		put_ended("a", ends[i].news, ends[i].state, ends[i].error);
		put_ended("b", NEWS_REPORT, OUTBOX_DONE, "of another");
		ck_assert_int_eq(outbox_stats(db, "a", &stats), 0);
		ck_assert_str_eq(EN(stats.error), ends[i].error);
		ck_assert_uint_eq(stats.lost_reports, ends[i].lost);
		ck_assert_int_eq(stats.delivered_at,
				 ends[i].delivered_after ? NOW + (int64_t)ends[i].delivered_after * 1000 : 0);
		ck_assert_uint_eq(stats.waiting, ends[i].state == OUTBOX_WAITING);
	}
}

/* What was sent long ago costs nothing where a sink has taken something lately, or never got any. */
TEST(stats_do_not_grow_with_what_ended)
{
	static const char *const names[] = { "a", "b", "nobody" };

	ck_assert_int_eq(db_begin(db), 0);
	for (int i = 0; i < 3000; i++)
		put_ended(i % 2 ? "a" : "b", NEWS_REPORT, OUTBOX_DONE, "");
	ck_assert_int_eq(db_end(db, 0), 0);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		sqlite3_stmt *st = db_stmt(db, DB_OUTBOX_STATS, db_s("sink", names[i]),
					   db_s("report", news_name(NEWS_REPORT)));

		(void)sqlite3_stmt_status(st, SQLITE_STMTSTATUS_VM_STEP, true);
		ck_assert_int_eq(sqlite3_step(st), SQLITE_ROW);
		ck_assert_int_lt(sqlite3_stmt_status(st, SQLITE_STMTSTATUS_VM_STEP, false), 500);
		(void)sqlite3_reset(st);
	}
}

/* Nor does a start read all that was sent, to learn when the last report was. */
TEST(the_last_report_is_found_at_once)
{
	int64_t delivered = 0;

	ck_assert_int_eq(db_begin(db), 0);
	for (int i = 0; i < 1000; i++) {
		clock_fake_set(NOW + i, BOOT);
		put_ended("a", i == 500 ? NEWS_REPORT : NEWS_ACTIONS, OUTBOX_DONE, "");
	}
	ck_assert_int_eq(db_end(db, 0), 0);
	sqlite3_stmt *st = db_stmt(db, DB_REPORT_DELIVERED);

	(void)sqlite3_stmt_status(st, SQLITE_STMTSTATUS_VM_STEP, true);
	ck_assert_int_eq(sqlite3_step(st), SQLITE_ROW);
	ck_assert_int_lt(sqlite3_stmt_status(st, SQLITE_STMTSTATUS_VM_STEP, false), 500);
	(void)sqlite3_reset(st);
	ck_assert_int_eq(db_number(st, &delivered), 0);
	ck_assert_int_eq(delivered, NOW + 500);
}

TEST_MAIN("reporter/outbox_stats")
{
	tcase_add_checked_fixture(t, setup, teardown);
}
