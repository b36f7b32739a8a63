/* test_samples.c - restart counts over time: what is new, what came in a window, what begins anew, what a
 * ring forgets; and the numbers that a page draws from them. */
// SPDX-License-Identifier: Apache-2.0
#include "tests/suite.h"
#include "tests/unit/reporter/support.h"

#include "base/clock.h"
#include "reporter/report/samples.h"
#include "reporter/report/attach.h"
#include "reporter/history/history.h"

#define HOUR INT64_C(3600000)
#define T0   INT64_C(1699866000000) /* Monday 2023-11-13 09:00:00 UTC */

static char dir[SUITE_PATH_MAX];
static struct db *db;
static struct str_list names;

static void setup(void)
{
	suite_folder(dir);
	db = test_db_open(dir);
	test_names(&names, "prod", "staging");
}

static void teardown(void)
{
	db_close(&db);
	str_list_done(&names);
}

static struct msg_digest_row row(const char *pod, uint64_t restarts, int64_t created)
{
	struct msg m = test_row(0, 1, "shop", "web", pod, restarts);

	m.u.digest_row.created = created;
	return m.u.digest_row;
}

static void put(int64_t at, const char *pod, uint64_t restarts, int64_t created)
{
	const struct msg_digest_row r = row(pod, restarts, created);

	ck_assert_int_eq(db_begin(db), 0);
	ck_assert_int_eq(samples_put(db, &r, "prod", at), 0);
	ck_assert_int_eq(db_end(db, 0), 0);
}

static int64_t delta(const char *pod, uint64_t restarts, int64_t created, int64_t from)
{
	const struct msg_digest_row r = row(pod, restarts, created);
	int64_t ret = -2;

	ck_assert_int_eq(samples_delta(db, &r, "prod", from, &ret), 0);
	return ret;
}

TEST(counts_what_came_in_the_window)
{
	put(T0, "web-1", 100, T0 - 90 * HOUR);
	ck_assert_int_eq(samples_answered(db, "prod", true, T0), 0);
	put(T0 + HOUR, "web-1", 104, T0 - 90 * HOUR);
	put(T0 + 2 * HOUR, "web-1", 104, T0 - 90 * HOUR);
	put(T0 + 3 * HOUR, "web-1", 110, T0 - 90 * HOUR);
	ck_assert_int_eq(delta("web-1", 110, T0 - 90 * HOUR, T0), 10);
	ck_assert_int_eq(delta("web-1", 110, T0 - 90 * HOUR, T0 + HOUR), 6);
	ck_assert_int_eq(delta("web-1", 110, T0 - 90 * HOUR, T0 + 3 * HOUR), 0);
	/* Nobody counted before the first look. */
	ck_assert_int_eq(delta("web-1", 110, T0 - 90 * HOUR, T0 - 1), DELTA_UNKNOWN);
}

TEST(what_comes_after_a_full_answer_had_no_restart_before)
{
	ck_assert_int_eq(samples_answered(db, "prod", true, T0), 0);
	put(T0 + HOUR, "web-2", 3, T0 - 900 * HOUR);
	ck_assert_int_eq(delta("web-2", 3, T0 - 900 * HOUR, T0), 3);
	ck_assert_int_eq(delta("web-2", 3, T0 - 900 * HOUR, T0 + HOUR), 0);
	/* In another cluster nobody looked yet. */
	const struct msg_digest_row r = row("web-2", 3, T0 - 900 * HOUR);
	int64_t ret = 0;

	ck_assert_int_eq(samples_put(db, &r, "staging", T0 + HOUR), 0);
	ck_assert_int_eq(samples_delta(db, &r, "staging", T0, &ret), 0);
	ck_assert_int_eq(ret, DELTA_UNKNOWN);
}

/* Of a time that is yet to come they would count in every report until then. */
TEST(restarts_of_a_clock_that_was_ahead_do_not_count)
{
	const int64_t ahead = clock_wall_ms() + 300 * 24 * HOUR;

	put(T0, "web-1", 100, T0 - 90 * HOUR);
	ck_assert_int_eq(samples_answered(db, "prod", true, T0), 0);
	put(T0 + HOUR, "web-1", 104, T0 - 90 * HOUR);
	put(ahead, "web-1", 110, T0 - 90 * HOUR);
	ck_assert_int_eq(delta("web-1", 110, T0 - 90 * HOUR, T0), 4);
	ck_assert_int_eq(delta("web-1", 112, T0 - 90 * HOUR, T0 + 2 * HOUR), 2);
}

/* As a preview does, which writes nothing. */
TEST(counts_what_is_not_written_down_yet)
{
	ck_assert_int_eq(delta("web-1", 100, T0 - 90 * HOUR, T0), DELTA_UNKNOWN);
	put(T0, "web-1", 100, T0 - 90 * HOUR);
	ck_assert_int_eq(samples_answered(db, "prod", true, T0), 0);
	put(T0 + HOUR, "web-1", 104, T0 - 90 * HOUR);
	ck_assert_int_eq(delta("web-1", 110, T0 - 90 * HOUR, T0), 10);
	ck_assert_int_eq(delta("web-1", 110, T0 - 90 * HOUR, T0 + HOUR), 6);
	ck_assert_int_eq(delta("web-1", 2, T0 + 2 * HOUR, T0), 6); /* it began anew */
	ck_assert_int_eq(delta("web-9", 3, T0 - 90 * HOUR, T0), 3);
}

TEST(a_pod_that_began_in_the_window_counts_with_all)
{
	put(T0 + 2 * HOUR, "web-3", 7, T0 + HOUR);
	ck_assert_int_eq(delta("web-3", 7, T0 + HOUR, T0), 7);
}

TEST(a_pod_of_the_same_name_begins_anew)
{
	put(T0, "db-0", 50, T0 - 90 * HOUR);
	ck_assert_int_eq(samples_answered(db, "prod", true, T0), 0);
	put(T0 + HOUR, "db-0", 2, T0 + HOUR / 2);
	put(T0 + 2 * HOUR, "db-0", 60, T0 + HOUR / 2);
	ck_assert_int_eq(delta("db-0", 60, T0 + HOUR / 2, T0 + HOUR / 2 + 1), 60);
	ck_assert_int_eq(delta("db-0", 60, T0 + HOUR / 2, T0 + HOUR), 58);
	/* The kubelet lost count. */
	put(T0 + 3 * HOUR, "db-0", 1, T0 + HOUR / 2);
	ck_assert_int_eq(delta("db-0", 1, T0 + HOUR / 2, T0 + 2 * HOUR), 1);
}

TEST(asks_for_what_changed_and_once_a_day_for_all)
{
	int64_t since = -1;

	ck_assert_int_eq(samples_since(db, "prod", T0, &since), 0);
	ck_assert_int_eq(since, 0);
	ck_assert_int_eq(samples_answered(db, "prod", true, T0), 0);
	ck_assert_int_eq(samples_since(db, "prod", T0 + HOUR, &since), 0);
	ck_assert_int_eq(since, T0 - 300000);
	ck_assert_int_eq(samples_answered(db, "prod", false, T0 + HOUR), 0);
	ck_assert_int_eq(samples_since(db, "prod", T0 + 2 * HOUR, &since), 0);
	ck_assert_int_eq(since, T0 + HOUR - 300000);
	ck_assert_int_eq(samples_since(db, "prod", T0 + 24 * HOUR, &since), 0);
	ck_assert_int_eq(since, 0);
	/* The clock was set back. */
	ck_assert_int_eq(samples_since(db, "prod", T0 - HOUR, &since), 0);
	ck_assert_int_eq(since, 0);
}

static int64_t counted(void)
{
	struct series s;
	int64_t n = 0;

	ck_assert_int_eq(series_load(db, NULL, clock_wall_ms(), 0, &s), 0);
	for (size_t i = 0; i < s.n_worst; i++)
		for (size_t h = 0; h < SERIES_HOURS; h++)
			n += s.worst[i].by_hour[h];
	series_done(&s);
	return n;
}

TEST(a_ring_forgets_the_oldest)
{
	struct history *h = history_new(db, &names, NULL, NULL);
	const int64_t now = clock_wall_ms();
	uint64_t days = 90;
	bool more;

	ck_assert_int_eq(samples_answered(db, "prod", true, now - 400 * HOUR), 0);
	put(now - 339 * HOUR, "old", 5, now - 900 * HOUR);
	put(now - 2 * HOUR, "web-1", 3, now - 900 * HOUR);
	ck_assert_int_eq(history_prune(h, &days, &more), 0);
	/* It is forgotten that the old one was ever there. */
	put(now, "old", 6, now - 900 * HOUR);
	ck_assert_int_eq(delta("old", 6, now - 900 * HOUR, now - HOUR), 6);
	ck_assert_int_eq(delta("web-1", 3, now - 900 * HOUR, now - 3 * HOUR), 3);
	ck_assert_int_eq(counted(), 9);
	history_free(&h);
}

TEST(pages_see_hours_and_namespaces)
{
	struct series s;

	ck_assert_int_eq(samples_answered(db, "prod", true, T0 - 400 * HOUR), 0);
	put(T0 - 10 * HOUR, "web-1", 3, 1000);
	put(T0 - 10 * HOUR, "web-2", 4, 1000);
	put(T0, "web-1", 5, 1000);
	ck_assert_int_eq(series_load(db, NULL, T0, 3600, &s), 0);
	ck_assert_uint_eq(s.n_worst, 1);
	ck_assert_str_eq(s.worst[0].cluster, "prod");
	ck_assert_str_eq(s.worst[0].name, "shop/web");
	ck_assert_uint_eq(s.worst[0].by_hour[SERIES_HOURS - 1], 2);
	ck_assert_uint_eq(s.worst[0].by_hour[SERIES_HOURS - 11], 7);
	ck_assert_uint_eq(s.n_tiles, 1);
	ck_assert_str_eq(s.tiles[0].ns, "shop");
	ck_assert_uint_eq(s.tiles[0].restarts, 9);
	series_done(&s);
}

TEST_MAIN("reporter/samples")
{
	tcase_add_checked_fixture(t, setup, teardown);
}
