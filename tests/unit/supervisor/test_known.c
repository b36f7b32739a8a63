/* test_known.c - since when a workload is known to fail: the first time counts, until it has healed. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "supervisor/actions/known.h"
#include "tests/suite.h"

static struct known *known;

static void set_up(void)
{
	known = known_new();
}

static void tear_down(void)
{
	known_free(&known);
}

static struct known_key key_of(const char *cluster, uint64_t duty, const char *owner, const char *revision)
{
	return (struct known_key){ cluster, duty, owner, revision };
}

static bool add(const char *owner, const char *revision, int64_t at)
{
	const struct known_key key = key_of("prod", 2, owner, revision);

	return known_add(known, &key, at);
}

static int64_t since(const char *owner, const char *revision)
{
	const struct known_key key = key_of("prod", 2, owner, revision);

	return known_since(known, &key);
}

TEST(the_first_time_counts)
{
	ck_assert_int_eq(since("a", "r1"), 0);
	ck_assert(add("a", "r1", 100));
	known_kept(known);
	ck_assert(add("a", "r1", 200));
	ck_assert_int_eq(since("a", "r1"), 100);
	ck_assert(!known_is_changed(known));
	ck_assert(add("a", "r1", 50)); /* the clock was set back */
	ck_assert_int_eq(since("a", "r1"), 50);
	ck_assert(known_is_changed(known));
}

/* Each part of the key. */
TEST_LOOP(anything_else_is_not_known, 0, 4)
{
	const struct known_key others[] = { key_of("test", 2, "a", "r1"), key_of("prod", 5, "a", "r1"),
					    key_of("prod", 2, "b", "r1"), key_of("prod", 2, "a", "r2") };

	ck_assert(add("a", "r1", 100));
	ck_assert_int_eq(known_since(known, &others[_i]), 0);
	ck_assert(known_add(known, &others[_i], 300));
	ck_assert_int_eq(known_since(known, &others[_i]), 300);
	ck_assert_int_eq(since("a", "r1"), 100);
}

TEST(what_has_healed_begins_anew)
{
	const struct known_key key = key_of("prod", 2, "a", "r1");

	ck_assert(add("a", "r1", 100));
	known_remove(known, &key);
	ck_assert_int_eq(since("a", "r1"), 0);
	known_remove(known, &key);
	ck_assert(add("a", "r1", 300));
	ck_assert_int_eq(since("a", "r1"), 300);
}

TEST(the_revision_that_was_named_last)
{
	const struct known_key any = key_of("prod", 2, "a", NULL);

	ck_assert_str_eq(known_revision(known, &any), "");
	ck_assert(add("a", "r2", 200));
	ck_assert(add("a", "r1", 100));
	ck_assert(add("b", "r3", 300));
	ck_assert_str_eq(known_revision(known, &any), "r2");
}

/* Nobody is displaced, and another cluster has its own room. */
TEST(a_cluster_has_so_much_room)
{
	const struct known_key other = key_of("test", 2, "a", "r1"), first = key_of("prod", 2, "w0", "r1");
	char owner[16];

	for (unsigned i = 0; i < KNOWN_MAX; i++) {
		(void)snprintf(owner, sizeof(owner), "w%u", i);
		ck_assert(add(owner, "r1", 100 + i));
	}
	ck_assert(!add("late", "r1", 1));
	ck_assert_int_eq(since("late", "r1"), 0);
	ck_assert_int_eq(since("w0", "r1"), 100);
	ck_assert(add("w0", "r1", 999)); /* it is there already */
	ck_assert(known_add(known, &other, 7));
	known_remove(known, &first);
	ck_assert(add("late", "r1", 9));
	ck_assert_int_eq(since("late", "r1"), 9);
}

TEST(a_walk_meets_all_of_them)
{
	const struct known_entry *e = NULL;
	int64_t sum = 0;

	ck_assert(!known_is_changed(known));
	for (int i = 0; i < 200; i++)
		ck_assert(add("a", (char[]){ (char)('A' + i / 16), (char)('a' + i % 16), '\0' }, 1 + i));
	ck_assert(known_is_changed(known));
	known_kept(known);
	ck_assert(!known_is_changed(known));
	while ((e = known_next(known, e))) {
		ck_assert_str_eq(known_cluster_name(known, e), "prod");
		sum += e->at;
	}
	ck_assert_int_eq(sum, 200 * 201 / 2);
	known_forget_all(known);
	ck_assert(known_is_changed(known));
	ck_assert_ptr_null(known_next(known, NULL));
}

TEST_MAIN("supervisor/known")
{
	tcase_add_checked_fixture(t, set_up, tear_down);
}
