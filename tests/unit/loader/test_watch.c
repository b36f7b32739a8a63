/* test_watch.c - by which names is a file found, and is it heard when they change? */
// SPDX-License-Identifier: Apache-2.0
#include "loader/watch.h"

#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "tests/suite.h"

static char dir[SUITE_PATH_MAX];
static struct watches w;

static void begin(void)
{
	suite_folder(dir);
	ck_assert_int_eq(watches_init(&w), 0);
}

static void end(void)
{
	watches_done(&w);
}

static char *path_of(const char *name)
{
	return xasprintf("%s/%s", dir, name);
}

static void add(const char *name)
{
	_cleanup_free_ char *path = path_of(name);

	watches_add(&w, path);
}

static bool watches(const char *name)
{
	for (size_t i = 0; i < w.n; i++)
		if (strcmp(w.v[i].name, name) == 0)
			return true;
	return false;
}

static bool is_watched(const struct inotify_event *e)
{
	for (size_t i = 0; e->len > 0 && i < w.n; i++)
		if (w.v[i].watch == (uint64_t)e->wd && strcmp(w.v[i].name, e->name) == 0)
			return true;
	return false;
}

/* Has one of the names changed since the last question? */
static bool changed(void)
{
	_Alignas(struct inotify_event) char buf[8192];
	const ssize_t n = read(w.fd, buf, sizeof(buf));
	bool any = false;

	for (ssize_t at = 0; at < n;) {
		const struct inotify_event *e = (const struct inotify_event *)(buf + at);

		any = is_watched(e) || any;
		at += (ssize_t)(sizeof(*e) + e->len);
	}
	return any;
}

static void make_file(const char *name)
{
	free(suite_file(dir, name, "x"));
}

static void make_link(const char *target, const char *name)
{
	_cleanup_free_ char *path = path_of(name);

	ck_assert_int_eq(symlink(target, path), 0);
}

static void make_dir(const char *name)
{
	_cleanup_free_ char *path = path_of(name);

	ck_assert_int_eq(mkdir(path, 0700), 0);
}

static void move(const char *from, const char *to)
{
	_cleanup_free_ char *a = path_of(from), *b = path_of(to);

	ck_assert_int_eq(rename(a, b), 0);
}

TEST(a_file_that_is_written)
{
	make_file("f");
	add("f");
	ck_assert(!changed());
	make_file("another");
	ck_assert(!changed());
	make_file("f");
	ck_assert(changed());
}

/* As editors do: beside it, then in its place. */
TEST(a_file_that_is_replaced)
{
	make_file("f");
	add("f");
	make_file("f.new");
	ck_assert(!changed());
	move("f.new", "f");
	ck_assert(changed());
}

TEST(a_file_whose_mode_is_corrected)
{
	_cleanup_free_ char *path = suite_file(dir, "f", "x");

	add("f");
	ck_assert_int_eq(chmod(path, 0600), 0);
	ck_assert(changed());
}

/* A kubelet makes a new folder beside the old one and swaps the link. */
TEST(a_swapped_link_of_a_mounted_volume)
{
	make_dir("m");
	make_dir("m/..1");
	make_dir("m/..2");
	make_file("m/..1/f");
	make_file("m/..2/f");
	make_link("..1", "m/..data");
	make_link("..data/f", "m/f");
	add("m/f");
	ck_assert(watches("..data") && watches("f"));
	make_link("..2", "m/..data_tmp");
	ck_assert(!changed());
	move("m/..data_tmp", "m/..data");
	ck_assert(changed());
}

TEST(a_link_to_an_absolute_path)
{
	_cleanup_free_ char *path = path_of("real/f");

	make_dir("real");
	make_file("real/f");
	make_link(path, "f");
	add("f");
	ck_assert(!changed());
	make_file("real/f");
	ck_assert(changed());
}

/* Its folder may not be there yet either. */
TEST(a_missing_file_is_waited_for)
{
	add("d/f");
	ck_assert(watches("d") && !watches("f"));
	make_dir("d");
	ck_assert(changed());
	add("d/f");
	make_file("d/f");
	ck_assert(changed());
}

TEST(paths_with_turns)
{
	make_dir("d");
	make_file("f");
	add("d/.././/d/../f");
	ck_assert_uint_eq(w.n, 1);
	make_file("f");
	ck_assert(changed());
	watches_add(&w, "/../..");
	ck_assert_uint_eq(w.n, 1);
}

TEST(what_leads_nowhere_ends)
{
	make_link("b", "a");
	make_link("a", "b");
	add("a");
	ck_assert(watches("a") && watches("b"));
	make_file("f");
	add("f/below");
	add("f/../../../f/below");
}

TEST(each_name_once)
{
	make_file("f");
	add("f");
	add("f");
	ck_assert_uint_eq(w.n, 1);
	watches_add(&w, NULL);
	watches_add(&w, "");
	ck_assert_uint_eq(w.n, 1);
}

TEST(every_file_of_a_list)
{
	_cleanup_free_ char *list = xasprintf("%s/a::%s/b", dir, dir);

	watches_add_list(&w, list);
	ck_assert(watches("a") && watches("b"));
	ck_assert_uint_eq(w.n, 2);
	watches_add_list(&w, NULL);
}

/* All of it goes on where the machine has no more of these. */
TEST(without_inotify)
{
	struct watches none = { .fd = -1 };

	watches_add(&none, "/etc/passwd");
	ck_assert_uint_eq(none.n, 0);
	watches_done(&none);
}

TEST_MAIN("loader/watch")
{
	tcase_add_checked_fixture(t, begin, end);
}
