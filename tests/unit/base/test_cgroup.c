/* test_cgroup.c - what is left below the limits of control groups; what a tree takes. */
// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/cgroup.h"
#include "base/tree_size.h"
#include "base/xalloc.h"
#include "tests/suite.h"

static char dir[SUITE_PATH_MAX];

static void setup(void)
{
	suite_folder(dir);
}

static void put(const char *folder, const char *name, const char *text)
{
	_cleanup_free_ char *in = xconcat(dir, folder, NULL);

	free(suite_file(in, name, text));
}

static uint64_t pids(const char *cgroup)
{
	return cgroup_room(dir, cgroup, "pids.max", "pids.current");
}

TEST(the_tightest_group_above_counts)
{
	_cleanup_free_ char *slice = xconcat(dir, "/system.slice", NULL),
			    *unit = xconcat(slice, "/x.service", NULL);

	ck_assert_int_eq(mkdir(slice, 0700), 0);
	ck_assert_int_eq(mkdir(unit, 0700), 0);
	ck_assert_uint_eq(pids("/system.slice/x.service"), CGROUP_UNLIMITED);
	put("/system.slice/x.service", "pids.max", "100\n");
	put("/system.slice/x.service", "pids.current", "3\n");
	ck_assert_uint_eq(pids("/system.slice/x.service"), 97);
	put("/system.slice", "pids.max", "max\n");
	put("/system.slice", "pids.current", "90\n");
	ck_assert_uint_eq(pids("/system.slice/x.service"), 97);
	put("/system.slice", "pids.max", "1000\n"); /* wider than what is below it */
	ck_assert_uint_eq(pids("/system.slice/x.service"), 97);
	put("/system.slice", "pids.max", "120\n");
	ck_assert_uint_eq(pids("/system.slice/x.service"), 30);
	put("", "pids.max", "90\n");
	put("", "pids.current", "91\n");
	ck_assert_uint_eq(pids("/system.slice/x.service"), 0);
	ck_assert_uint_eq(pids("/"), 0);
	ck_assert_uint_eq(cgroup_room(dir, "/system.slice", "pids.max", NULL), 90);
}

TEST(a_tree_grows_with_its_clusters)
{
	struct tree_size s = tree_size_of_none();

	tree_size_add(&s, 0, 4);
	tree_size_add(&s, 2, 8);
	ck_assert_uint_eq(s.idle, 2 + 1 + 3);
	ck_assert_uint_eq(s.most, 2 + 5 + 9);
	ck_assert_uint_eq(s.descriptors, 64 + 2 * 7 + 12 * 3);
	ck_assert_uint_eq(s.memory >> 20, 18);
}

TEST_MAIN("base/cgroup")
{
	tcase_add_checked_fixture(t, setup, NULL);
}
