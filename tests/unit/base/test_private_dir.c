/* test_private_dir.c - whose folder is it? */
// SPDX-License-Identifier: Apache-2.0
#include "base/private_dir.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
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
	struct private_dir_error e;
	struct stat st;

	if (geteuid() != 0)
		return; /* only root makes folders of others */
	ck_assert_int_eq(mkdir(at, 0700), 0);
	ck_assert_int_eq(chown(at, folders[_i].user, folders[_i].group), 0);
	ck_assert_int_eq(chmod(at, folders[_i].mode), 0);
	become_pod();
	ck_assert_msg(private_dir_is_volume(at) == folders[_i].volume, "%s", folders[_i].what);
	ck_assert_msg((private_dir_make(at, &e) == 0) == (folders[_i].user == POD_USER), "%s",
		      folders[_i].what);
	if (!folders[_i].volume)
		return;
	ck_assert_int_eq(private_dir_make(own, &e), 0);
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

TEST(another_users_folder_is_refused)
{
	struct private_dir_error e;

	if (geteuid() != 0)
		return;
	become_pod();
	ck_assert_int_eq(private_dir_make(dir, &e), -EPERM);
	ck_assert_int_eq(e.fault, PRIVATE_DIR_OTHER_OWNER);
	ck_assert_uint_eq(e.uid, 0);
}

/* -- what survives a power cut -- */

#define OLD "the old state"
#define NEW "what is written in its place"

enum op { OP_CREATE, OP_WRITE, OP_SYNC, OP_RENAME, OP_UNLINK, OP_SYNC_DIR };

/* All that is done to the disk, in its order: the C library's functions below note it. */
static struct {
	enum op op;
	size_t bytes;
} done[16];
static size_t n_done;
static bool noting;

/* path: NULL, or it has to have that name. */
static void note(enum op op, size_t bytes, const char *path, const char *name)
{
	if (!noting)
		return;
	ck_assert(!path || strcmp(strrchr(path, '/') + 1, name) == 0);
	ck_assert_uint_lt(n_done, ARRAY_SIZE(done));
	done[n_done].op = op;
	done[n_done++].bytes = bytes;
}

int open(const char *path, int flags, ...)
{
	va_list ap;

	va_start(ap, flags);
	const unsigned mode = flags & O_CREAT ? va_arg(ap, unsigned) : 0;

	va_end(ap);
	if (flags & O_CREAT)
		note(OP_CREATE, 0, path, "state.new");
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

/* Never more than half of it. */
ssize_t write(int fd, const void *p, size_t n)
{
	const ssize_t w = syscall(SYS_write, fd, p, noting && n > 1 ? n / 2 : n);

	note(OP_WRITE, w > 0 ? (size_t)w : 0, NULL, NULL);
	return w;
}

int fsync(int fd)
{
	struct stat st;

	note(fstat(fd, &st) == 0 && S_ISDIR(st.st_mode) ? OP_SYNC_DIR : OP_SYNC, 0, NULL, NULL);
	return 0;
}

int rename(const char *from, const char *to)
{
	note(OP_RENAME, 0, to, "state");
	return (int)syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);
}

int unlink(const char *path)
{
	note(OP_UNLINK, 0, path, "state.new");
	return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

static void put(const char *name, const char *text, size_t n)
{
	_cleanup_free_ char *path = xasprintf("%s/%s", dir, name);
	FILE *f = fopen(path, "we");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(text, 1, n, f), n);
	ck_assert_int_eq(fclose(f), 0);
}

/* Make of the folder what a power cut after `steps` may leave: names of which the folder was not synced since
 * are there as the bits of `names` say, and of what was written and not synced `halves` come to the disk. */
static void cut_power(size_t steps, unsigned names, size_t halves)
{
	bool has_fresh = false, is_replaced = false;
	size_t synced_names = 0, written = 0, synced = 0, k = 0;

	for (size_t i = 0; i < steps; i++)
		synced_names = done[i].op == OP_SYNC_DIR ? i + 1 : synced_names;
	for (size_t i = 0; i < steps; i++) {
		const enum op op = done[i].op;

		written += done[i].bytes;
		synced = op == OP_SYNC ? written : synced;
		if (op != OP_CREATE && op != OP_RENAME && op != OP_UNLINK)
			continue;
		if (i >= synced_names && !(names & 1u << k++))
			continue;
		has_fresh = op == OP_CREATE;
		is_replaced = is_replaced || op == OP_RENAME;
	}
	const size_t n = synced + (written - synced) * halves / 2;

	_cleanup_free_ char *fresh = xasprintf("%s/state.new", dir);

	(void)unlink(fresh);
	put("state", is_replaced ? NEW : OLD, is_replaced ? n : strlen(OLD));
	if (has_fresh)
		put("state.new", NEW, n);
}

static bool holds(const char *what)
{
	_cleanup_free_ char *text = NULL;
	size_t n;

	return private_dir_read(dir, "state", 64, &text, &n) == 0 && strcmp(text, what) == 0;
}

/* Of every place of the cut the old state is left or the new one, and the new one once it is said to be
 * written; the next one can be written at once. */
TEST(a_power_cut_leaves_the_old_or_the_new)
{
	put("state", OLD, strlen(OLD));
	put("state.new", "half", 4);
	noting = true;
	ck_assert_int_eq(private_dir_replace(dir, "state", NEW, strlen(NEW)), 0);
	noting = false;
	ck_assert(holds(NEW));
	for (size_t steps = 0; steps <= n_done; steps++)
		for (unsigned names = 0; names < 8; names++)
			for (size_t halves = 0; halves <= 2; halves++) {
				cut_power(steps, names, halves);
				ck_assert_msg(holds(NEW) || (steps < n_done && holds(OLD)),
					      "after %zu of %zu steps, names %x, halves %zu", steps, n_done,
					      names, halves);
				ck_assert_int_eq(private_dir_replace(dir, "state", "next", 4), 0);
				ck_assert(holds("next"));
			}
}

/* As a file system of a network wants it. */
TEST(a_lock_is_open_for_writing_and_held_once)
{
	_cleanup_close_ int fd = -1, other = -1;
	struct private_dir_error e;

	ck_assert_int_eq(private_dir_lock(dir, 0, &fd, &e), 0);
	ck_assert_int_eq(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDWR);
	ck_assert_int_eq(private_dir_lock(dir, 0, &other, &e), -EWOULDBLOCK);
	ck_assert_int_eq(e.fault, PRIVATE_DIR_TAKEN);
}

/* Its process is being taken apart. */
TEST(a_lock_that_goes_a_little_later_is_waited_for)
{
	_cleanup_close_ int fd = -1, other = -1;
	struct private_dir_error e;

	char go = 0;
	int ends[2];

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	ck_assert_int_eq(private_dir_lock(dir, 0, &fd, &e), 0);
	const pid_t pid = fork();

	if (pid == 0) { /* the only one who has it open, until it was met, and for a while */
		if (read(ends[0], &go, 1) != 1)
			_exit(1);
		(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){ 0, 50000000 }, NULL);
		_exit(0);
	}
	(void)close(fd);
	fd = -1;
	ck_assert_int_eq(private_dir_lock(dir, 0, &other, &e), -EWOULDBLOCK);
	ck_assert_int_eq((int)write(ends[1], &go, 1), 1);
	ck_assert_int_eq(private_dir_lock(dir, 10000, &other, &e), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

TEST_MAIN("base/private_dir")
{
	tcase_add_checked_fixture(t, set_up, NULL);
}
