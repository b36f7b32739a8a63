/* test_known.c - since when a workload is known to fail: the first time counts, until it has healed. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "supervisor/actions/failing_since_registry.h"
#include "tests/suite.h"

static struct failing_since_registry *known;

static void set_up(void)
{
	known = failing_since_new();
}

static void tear_down(void)
{
	failing_since_free(&known);
}

static struct failing_since_key key_of(const char *cluster, uint64_t duty, const char *owner,
				       const char *revision)
{
	return (struct failing_since_key){ cluster, duty, owner, revision };
}

static bool add(const char *owner, const char *revision, int64_t at)
{
	const struct failing_since_key key = key_of("prod", 2, owner, revision);

	return failing_since_add(known, &key, at);
}

static int64_t since(const char *owner, const char *revision)
{
	const struct failing_since_key key = key_of("prod", 2, owner, revision);

	return failing_since_get(known, &key);
}

TEST(the_first_time_counts)
{
	ck_assert_int_eq(since("a", "r1"), 0);
	ck_assert(add("a", "r1", 100));
	failing_since_kept(known);
	ck_assert(add("a", "r1", 200));
	ck_assert_int_eq(since("a", "r1"), 100);
	ck_assert(!failing_since_is_changed(known));
	ck_assert(add("a", "r1", 50)); /* the clock was set back */
	ck_assert_int_eq(since("a", "r1"), 50);
	ck_assert(failing_since_is_changed(known));
}

/* Each part of the key. */
TEST_LOOP(anything_else_is_not_known, 0, 4)
{
	const struct failing_since_key others[] = { key_of("test", 2, "a", "r1"),
						    key_of("prod", 5, "a", "r1"),
						    key_of("prod", 2, "b", "r1"),
						    key_of("prod", 2, "a", "r2") };

	ck_assert(add("a", "r1", 100));
	ck_assert_int_eq(failing_since_get(known, &others[_i]), 0);
	ck_assert(failing_since_add(known, &others[_i], 300));
	ck_assert_int_eq(failing_since_get(known, &others[_i]), 300);
	ck_assert_int_eq(since("a", "r1"), 100);
}

TEST(what_has_healed_begins_anew)
{
	const struct failing_since_key key = key_of("prod", 2, "a", "r1");

	ck_assert(add("a", "r1", 100));
	failing_since_remove(known, &key);
	ck_assert_int_eq(since("a", "r1"), 0);
	failing_since_remove(known, &key);
	ck_assert(add("a", "r1", 300));
	ck_assert_int_eq(since("a", "r1"), 300);
}

TEST(the_revision_that_was_named_last)
{
	const struct failing_since_key any = key_of("prod", 2, "a", NULL);

	ck_assert_str_eq(failing_since_revision(known, &any), "");
	ck_assert(add("a", "r2", 200));
	ck_assert(add("a", "r1", 100));
	ck_assert(add("b", "r3", 300));
	ck_assert_str_eq(failing_since_revision(known, &any), "r2");
}

/* Nobody is displaced, and another cluster has its own room. */
TEST(a_cluster_has_so_much_room)
{
	const struct failing_since_key other = key_of("test", 2, "a", "r1"),
				       first = key_of("prod", 2, "w0", "r1");
	char owner[16];

	for (unsigned i = 0; i < FAILING_SINCE_MAX; i++) {
		(void)snprintf(owner, sizeof(owner), "w%u", i);
		ck_assert(add(owner, "r1", 100 + i));
	}
	ck_assert(!add("late", "r1", 1));
	ck_assert_int_eq(since("late", "r1"), 0);
	ck_assert_int_eq(since("w0", "r1"), 100);
	ck_assert(add("w0", "r1", 999)); /* it is there already */
	ck_assert(failing_since_add(known, &other, 7));
	failing_since_remove(known, &first);
	ck_assert(add("late", "r1", 9));
	ck_assert_int_eq(since("late", "r1"), 9);
}

TEST(a_walk_meets_all_of_them)
{
	const struct failing_since_entry *e = NULL;
	int64_t sum = 0;

	ck_assert(!failing_since_is_changed(known));
	for (int i = 0; i < 200; i++)
		ck_assert(add("a", (char[]){ (char)('A' + i / 16), (char)('a' + i % 16), '\0' }, 1 + i));
	ck_assert(failing_since_is_changed(known));
	failing_since_kept(known);
	ck_assert(!failing_since_is_changed(known));
	while ((e = failing_since_next(known, e))) {
		ck_assert_str_eq(failing_since_cluster_name(known, e), "prod");
		sum += e->at;
	}
	ck_assert_int_eq(sum, 200 * 201 / 2);
	failing_since_forget_all(known);
	ck_assert(failing_since_is_changed(known));
	ck_assert_ptr_null(failing_since_next(known, NULL));
}

static int64_t watched(int64_t at)
{
	failing_since_watched(known, "prod", at);
	return failing_since_watched_since(known, "prod");
}

TEST(a_break_is_longer_than_an_hour)
{
	const struct failing_since_key key = key_of("prod", 2, "a", "r1");

	ck_assert_int_eq(watched(100), 0); /* nothing of it is known */
	ck_assert(add("a", "r1", 100));
	ck_assert_int_eq(watched(100 + FAILING_SINCE_BREAK_MS), 0);
	ck_assert_int_eq(watched(101 + 2 * FAILING_SINCE_BREAK_MS), 101 + 2 * FAILING_SINCE_BREAK_MS);
	ck_assert_int_eq(watched(100 + 3 * FAILING_SINCE_BREAK_MS), 101 + 2 * FAILING_SINCE_BREAK_MS);
	ck_assert_int_eq(failing_since_watched_since(known, "test"), 0);
	failing_since_remove(known, &key);
	ck_assert(add("a", "r1", 9 * FAILING_SINCE_BREAK_MS));
	ck_assert_int_eq(failing_since_watched_since(known, "prod"), 0);
}

/* A file that is written each second would be. */
TEST(that_it_is_watched_is_written_down_now_and_then)
{
	ck_assert(add("a", "r1", 100));
	failing_since_kept(known);
	(void)watched(100 + 599999);
	ck_assert(!failing_since_is_changed(known));
	(void)watched(100 + 600000);
	ck_assert(failing_since_is_changed(known));
}

TEST(a_clock_that_is_set_makes_no_break)
{
	ck_assert(add("a", "r1", 100));
	failing_since_move(known, 5 * FAILING_SINCE_BREAK_MS);
	ck_assert_int_eq(watched(100 + 5 * FAILING_SINCE_BREAK_MS), 0);
	ck_assert_int_eq(watched(100), 0); /* set back, and nobody has told */
	ck_assert_int_eq(watched(100 + FAILING_SINCE_BREAK_MS), 0);
}

TEST_MAIN("supervisor/known")
{
	tcase_add_checked_fixture(t, set_up, tear_down);
}
