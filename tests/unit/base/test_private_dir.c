/* test_private_dir.c - whose folder is it? */
// SPDX-License-Identifier: Apache-2.0
#include "base/private_dir.h"

#include <check.h>
#include <errno.h>
#include <grp.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "tests/suite.h"

#define POD_USER  65532
#define POD_GROUP 65531

static char dir[SUITE_PATH_MAX];

static void set_up(void)
{
	suite_folder(dir);
	ck_assert_int_eq(chmod(dir, 0755), 0);
}

/* As a container is started: its user, and the fsGroup beside its own group. */
static void become_pod(void)
{
	const gid_t groups[] = { POD_GROUP };

	ck_assert_int_eq(setgroups(1, groups), 0);
	ck_assert_int_eq(setgid(POD_USER), 0);
	ck_assert_int_eq(setuid(POD_USER), 0);
}

static const struct {
	const char *what;
	uid_t user;
	gid_t group;
	mode_t mode;
	bool volume;
} folders[] = {
	{ "as a kubelet makes it", 0, POD_GROUP, 02775, true },
	{ "an emptyDir", 0, POD_GROUP, 02777, true },
	{ "no kubelet's", 0, POD_GROUP, 0770, false },
	{ "nobody but root may write", 0, POD_GROUP, 02755, false },
	{ "everybody may write", 0, POD_GROUP, 0777, false },
	{ "everybody may write, and none removes what is another's", 0, POD_GROUP, 01777, false },
	{ "of another group", 0, POD_GROUP - 1, 02775, false },
	{ "of another user, who may take the group's rights away", 1000, POD_GROUP, 02775, false },
	{ "ours", POD_USER, POD_GROUP, 0700, false },
};

TEST_LOOP(a_volume_of_a_pod, 0, ARRAY_SIZE(folders))
{
	_cleanup_free_ char *at = xasprintf("%s/state", dir), *own = xasprintf("%s/own", at);
	char text[PRIVATE_DIR_TEXT_MAX] = "";
	struct stat st;

	if (geteuid() != 0)
		return; /* only root makes folders of others */
	ck_assert_int_eq(mkdir(at, 0700), 0);
	ck_assert_int_eq(chown(at, folders[_i].user, folders[_i].group), 0);
	ck_assert_int_eq(chmod(at, folders[_i].mode), 0);
	become_pod();
	ck_assert_msg(private_dir_is_volume(at) == folders[_i].volume, "%s", folders[_i].what);
	ck_assert_msg((private_dir_make(at, text) == 0) == (folders[_i].user == POD_USER), "%s", text);
	if (!folders[_i].volume)
		return;
	ck_assert_msg(private_dir_make(own, text) == 0, "%s", text);
	ck_assert_int_eq(stat(own, &st), 0);
	ck_assert_uint_eq(st.st_uid, POD_USER);
	ck_assert_uint_eq(st.st_mode & 0777, 0700);
}

TEST(what_is_no_volume)
{
	_cleanup_free_ char *none = xasprintf("%s/none", dir), *file = suite_file(dir, "file", "");

	ck_assert(!private_dir_is_volume(none));
	ck_assert(!private_dir_is_volume(file));
	ck_assert(!private_dir_is_volume(dir));
}

/* Who reads it has to learn what to do in a pod, where nobody can chown. */
TEST(another_users_folder_is_refused_with_a_remedy)
{
	char text[PRIVATE_DIR_TEXT_MAX] = "";

	if (geteuid() != 0)
		return;
	become_pod();
	ck_assert_int_eq(private_dir_make(dir, text), -EPERM);
	ck_assert_ptr_nonnull(strstr(text, "chown it"));
	ck_assert_ptr_nonnull(strstr(text, "fsGroup"));
}

/* -- what survives a power cut -- */

static char order[8]; /* what came to the disk: 'f' the file while its old content had the name, 'd' the
			 folder with the new one */

static bool holds(const char *what)
{
	_cleanup_free_ char *text = NULL;
	size_t n;

	return private_dir_read(dir, "state", 64, &text, &n) == 0 && strcmp(text, what) == 0;
}

/* In place of the C library's. */
int fsync(int fd)
{
	struct stat st;

	ck_assert_int_eq(fstat(fd, &st), 0);
	ck_assert_uint_lt(strlen(order) + 1, sizeof(order));
	order[strlen(order)] = !holds(S_ISDIR(st.st_mode) ? "new" : "old") ? '?'
			       : S_ISDIR(st.st_mode)                       ? 'd'
									   : 'f';
	return 0;
}

TEST(a_file_is_replaced_on_the_disk)
{
	free(suite_file(dir, "state", "old"));
	ck_assert_int_eq(private_dir_replace(dir, "state", "new", 3), 0);
	ck_assert(holds("new"));
	ck_assert_str_eq(order, "fd");
}

TEST_MAIN("base/private_dir")
{
	tcase_add_checked_fixture(t, set_up, NULL);
}
