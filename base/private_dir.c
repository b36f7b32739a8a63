/* private_dir.c - see private_dir.h. */
// SPDX-License-Identifier: Apache-2.0
#include "base/private_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/own_group.h"
#include "base/str.h"
#include "base/xalloc.h"

/* mkdir -p; only what is missing is made, for us alone. */
static int make_dirs(const char *dir)
{
	_cleanup_free_ char *path = xstrdup(dir);

	for (char *p = strchr(path + 1, '/'); p; *p = '/', p = strchr(p + 1, '/')) {
		*p = '\0';
		if (mkdir(path, 0700) < 0 && errno != EEXIST)
			return -errno;
	}
	return mkdir(path, 0700) < 0 && errno != EEXIST ? -errno : 0;
}

bool private_dir_is_volume(const char *dir)
{
	struct stat st;

	if (geteuid() == 0 || stat(dir, &st) < 0 || !S_ISDIR(st.st_mode) || st.st_uid != 0)
		return false;
	return (st.st_mode & (S_ISGID | S_IWGRP)) == (S_ISGID | S_IWGRP) && group_is_ours(st.st_gid);
}

static int fail(struct private_dir_error *ret, enum private_dir_fault fault, int err)
{
	ret->fault = fault;
	ret->err = -err;
	return err;
}

int private_dir_make(const char *dir, struct private_dir_error *ret_error)
{
	struct stat st = { 0 };
	int r = make_dirs(dir);

	if (r == 0 && stat(dir, &st) < 0)
		r = -errno;
	*ret_error = (struct private_dir_error){ .uid = st.st_uid, .mode = st.st_mode & 07777 };
	if (r < 0)
		return fail(ret_error, PRIVATE_DIR_UNMADE, r);
	if (!S_ISDIR(st.st_mode))
		return fail(ret_error, PRIVATE_DIR_NO_DIR, -ENOTDIR);
	if (st.st_uid != geteuid())
		return fail(ret_error, PRIVATE_DIR_OTHER_OWNER, -EPERM);
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return fail(ret_error, PRIVATE_DIR_OPEN_TO_OTHERS, -EPERM);
	return 0;
}

/* NFS and SMB lock exclusively only what is open for writing (flock(2)). */
static int open_lock(const char *path)
{
	const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	return fd < 0 && errno == EROFS ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : fd;
}

int private_dir_flock(int fd, uint64_t wait_ms)
{
	const uint64_t end = clock_boot_ms() + wait_ms;

	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK || clock_boot_ms() >= end)
			return -errno;
		(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){ 0, 20000000 }, NULL);
	}
	return 0;
}

int private_dir_lock(const char *dir, uint64_t wait_ms, int *ret_fd, struct private_dir_error *ret_error)
{
	_cleanup_free_ char *path = xasprintf("%s/lock", dir);
	_cleanup_close_ int fd = open_lock(path);
	int r;

	*ret_error = (struct private_dir_error){ 0 };
	if (fd < 0)
		return fail(ret_error, PRIVATE_DIR_UNLOCKABLE, -errno);
	r = private_dir_flock(fd, wait_ms);
	if (r < 0)
		return fail(ret_error, r == -EWOULDBLOCK ? PRIVATE_DIR_TAKEN : PRIVATE_DIR_UNLOCKABLE, r);
	*ret_fd = TAKE_FD(fd);
	return 0;
}

/* -- files -- */

/* n bytes, or fewer where the file ends. */
static ssize_t read_full(int fd, char *p, size_t n)
{
	size_t at = 0;

	while (at < n) {
		const ssize_t r = read(fd, p + at, n - at);

		if (r < 0 && errno != EINTR)
			return -errno;
		if (r == 0)
			break;
		at += r > 0 ? (size_t)r : 0;
	}
	return (ssize_t)at;
}

static int write_full(int fd, const char *p, size_t n)
{
	for (size_t at = 0; at < n;) {
		const ssize_t w = write(fd, p + at, n - at);

		if (w < 0 && errno != EINTR)
			return -errno;
		at += w > 0 ? (size_t)w : 0;
	}
	return 0;
}

int private_dir_read(const char *dir, const char *name, size_t max, char **ret, size_t *ret_n)
{
	_cleanup_free_ char *path = xasprintf("%s/%s", dir, name);
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & (S_IWGRP | S_IWOTH)))
		return -EPERM;
	if (st.st_size < 0 || (size_t)st.st_size > max)
		return -EFBIG;
	_cleanup_free_ char *text = xcalloc((size_t)st.st_size + 1, 1);
	const ssize_t n = read_full(fd, text, (size_t)st.st_size);

	if (n < 0)
		return (int)n;
	*ret = TAKE_PTR(text);
	*ret_n = (size_t)n;
	return 0;
}

static int write_new(const char *path, const void *p, size_t n)
{
	(void)unlink(path); /* of a write that a crash cut off */
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	const int r = fd < 0 ? -errno : write_full(fd, p, n);

	return r < 0 ? r : fsync(fd) < 0 ? -errno : 0;
}

static int sync_dir(const char *dir)
{
	_cleanup_close_ int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 || fsync(fd) < 0 ? -errno : 0;
}

int private_dir_replace(const char *dir, const char *name, const void *p, size_t n)
{
	_cleanup_free_ char *path = xasprintf("%s/%s", dir, name), *fresh = xasprintf("%s.new", path);
	const int r = write_new(fresh, p, n);

	if (r < 0)
		return r;
	return rename(fresh, path) < 0 ? -errno : sync_dir(dir);
}
