/* test_program.c - which program a plugin is, and who may change it. */
// SPDX-License-Identifier: Apache-2.0
#include "loader/program.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "config/kubeconfig.h"
#include "tests/suite.h"
#include "tests/unit/config/chinese.h"

#define SOMEBODY 1234

static char dir[SUITE_PATH_MAX], *found, why[SENTENCE_MAX];

static char *in(const char *name)
{
	return xasprintf("%s/%s", dir, name);
}

static void make_folder(const char *name)
{
	_cleanup_free_ char *path = in(name);

	ck_assert_int_eq(mkdir(path, 0755), 0);
}

static void change(const char *name, uid_t user, mode_t mode)
{
	_cleanup_free_ char *path = in(name);

	if (user)
		ck_assert_int_eq(lchown(path, user, (gid_t)-1), 0);
	if (mode)
		ck_assert_int_eq(chmod(path, mode), 0);
}

static void point(const char *target, const char *name)
{
	_cleanup_free_ char *path = in(name);

	ck_assert_int_eq(symlink(target, path), 0);
}

/* bin/plugin is real/sub/plugin, over two links. */
static void set_up(void)
{
	suite_folder(dir);
	(void)umask(022);
	(void)unsetenv("KUBERNETES_SERVICE_HOST");
	make_folder("bin");
	make_folder("real");
	make_folder("real/sub");
	_cleanup_free_ char *real = in("real"), *inner = in("real/sub");

	free(suite_file(inner, "plugin", "#!/bin/sh\n"));
	change("real/sub/plugin", 0, 0755);
	point(real, "bin/there");
	point(".././bin//there/sub/plugin", "bin/plugin");
}

static void tear_down(void)
{
	free(found);
	found = NULL;
}

static int find(const char *name)
{
	_cleanup_free_ char *path = in(name);

	return program_find(path, &found, why);
}

static const struct {
	const char *name;
	uid_t user;
	mode_t mode;
	bool refused;
} changes[] = {
	{ "real/sub/plugin", 0, 0755, false },
	{ "real/sub/plugin", SOMEBODY, 0755, true },
	{ "real/sub/plugin", 0, 0775, true },
	{ "real/sub/plugin", 0, 0757, true },
	{ "real/sub", SOMEBODY, 0, true },
	{ "real/sub", 0, 0775, true },
	{ "real/sub", 0, 0757, true },
	{ "real/sub", 0, 01777, false },
	{ "real/sub", SOMEBODY, 01777, true },
	{ "real", SOMEBODY, 0, true },
	{ "real", 0, 0777, true },
	{ "real", 0, 01777, false },
	{ "bin", SOMEBODY, 0, true },
	{ "bin", 0, 0777, true },
	{ "bin/there", SOMEBODY, 0, true },
	{ "bin/plugin", SOMEBODY, 0, true },
	{ ".", SOMEBODY, 0, true },
	{ ".", 0, 0777, true },
};

TEST_LOOP(who_may_change_it, 0, ARRAY_SIZE(changes))
{
	_cleanup_free_ char *place = strcmp(changes[_i].name, ".") == 0 ? xstrdup(dir) : in(changes[_i].name);

	if (changes[_i].user && geteuid() != 0)
		return; /* only root gives files away */
	change(changes[_i].name, changes[_i].user, changes[_i].mode);
	const int r = find("bin/plugin");

	ck_assert_msg(r == (changes[_i].refused ? -EPERM : 0), "%s: %d: %s", changes[_i].name, r,
		      words(why, LANGUAGE_EN));
	if (r == 0)
		return;
	ck_assert_msg(strstr(words(why, LANGUAGE_EN), place) != NULL, "%s", words(why, LANGUAGE_EN));
	ck_assert_ptr_nonnull(
		strstr(words(why, LANGUAGE_EN), changes[_i].user ? "chown it first" : "chmod go-w it first"));
}

/* A volume of a pod is everybody's, and everybody there is the pod. */
TEST(in_a_pod_folders_are_shared)
{
	ck_assert_int_eq(setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1", 1), 0);
	change("real", 0, 0777);
	ck_assert_int_eq(find("bin/plugin"), kube_is_in_cluster() ? 0 : -EPERM);
	change("real/sub/plugin", 0, 0777);
	ck_assert_int_eq(find("bin/plugin"), -EPERM);
}

TEST(it_is_run_by_the_path_that_was_judged)
{
	_cleanup_free_ char *whole = in("bin/plugin"), *folder = in("bin"),
			    *path = xasprintf(".:bin:/nowhere:%s", folder);

	ck_assert_msg(find("bin/plugin") == 0, "%s", words(why, LANGUAGE_EN));
	ck_assert_str_eq(found, whole);
	tear_down();
	ck_assert_int_eq(chdir(dir), 0);
	ck_assert_int_eq(program_find("bin/plugin", &found, why), 0);
	ck_assert_str_eq(found, whole);
	tear_down();
	ck_assert_int_eq(setenv("PATH", path, 1), 0);
	ck_assert_int_eq(program_find("plugin", &found, why), 0);
	ck_assert_str_eq(found, whole);
	tear_down();
	/* A folder of PATH that is not absolute is wherever we are. */
	ck_assert_int_eq(setenv("PATH", ".:bin:", 1), 0);
	ck_assert_int_eq(program_find("plugin", &found, why), -ENOENT);
}

TEST(what_is_no_program)
{
	point("ring", "ring");
	point("nowhere", "broken");
	ck_assert_int_eq(find("ring"), -ELOOP);
	ck_assert_int_eq(find("broken"), -ENOENT);
	ck_assert_int_eq(find("real"), -EACCES);
	change("real/sub/plugin", 0, 0644);
	ck_assert_int_eq(find("bin/plugin"), -EACCES);
	ck_assert_msg(strstr(words(why, LANGUAGE_EN), "is not executable") != NULL, "%s",
		      words(why, LANGUAGE_EN));
	ck_assert_int_eq(program_find("", &found, why), -ENOENT);
}

TEST_MAIN("loader/program")
{
	tcase_add_checked_fixture(t, set_up, tear_down);
}
