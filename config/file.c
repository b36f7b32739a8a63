/* file.c - see file.h. */
// SPDX-License-Identifier: Apache-2.0
#include "config/file.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/own_group.h"
#include "base/str.h"
#include "base/xalloc.h"
#include "config/diag.h"

#define SERVICE_USER "ops-pod-cleaner" /* systemd/sysusers */

static enum phrase type_word(mode_t mode)
{
	return S_ISDIR(mode)    ? PHRASE_DIAG_DIRECTORY
	       : S_ISFIFO(mode) ? PHRASE_DIAG_PIPE
	       : S_ISSOCK(mode) ? PHRASE_DIAG_SOCKET
				: PHRASE_DIAG_DEVICE;
}

#define FAIL(why, r, ID, ...) (sentence_make(why, ID, ##__VA_ARGS__), r)

int file_check_owner(const struct stat *st, bool writable, char why[static SENTENCE_MAX])
{
	if (st->st_uid != 0 && st->st_uid != geteuid())
		return FAIL(why, -EPERM, FILE_OWNER, (unsigned)st->st_uid, (unsigned)geteuid());
	if (st->st_mode & (S_IWGRP | S_IWOTH) && !writable)
		return FAIL(why, -EPERM, FILE_MODE, (unsigned)(st->st_mode & 07777));
	return 0;
}

/* What a file says decides what is done, and with which credential. */
static int check(const struct stat *st, size_t cap, char why[static SENTENCE_MAX])
{
	if (!S_ISREG(st->st_mode))
		return FAIL(why, -EINVAL, NO_FILE, WORD(type_word(st->st_mode)));
	if ((uint64_t)st->st_size > cap)
		return FAIL(why, -EFBIG, FILE_LARGE, cap / 1024);
	return file_check_owner(st, false, why);
}

static bool is_exposed(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return false;
	return st.st_mode & S_IROTH || (st.st_mode & S_IRGRP && st.st_gid != 0 && !group_is_ours(st.st_gid));
}

void file_tell_exposed(const char *path, struct diags *d)
{
	if (is_exposed(path))
		diags_warn(d, place_of_file(path), VALUE_EXPOSED);
}

/* The user of the service on a machine where it is installed; false where there is none. The C library is
 * linked statically, so its own look-up may not work. */
static bool service_user(struct passwd *ret)
{
	const char *named = str_env("OPC_PASSWD"); /* of tests */
	FILE *f = fopen(named ? named : "/etc/passwd", "re");
	const struct passwd *p = NULL;

	while (f && (p = fgetpwent(f)))
		if (strcmp(p->pw_name, SERVICE_USER) == 0)
			break;
	if (p)
		*ret = (struct passwd){ .pw_uid = p->pw_uid, .pw_gid = p->pw_gid };
	if (f)
		(void)fclose(f);
	return p != NULL;
}

bool file_can_be_read(const char *path, const char *what, struct diags *d)
{
	if (access(path, R_OK) == 0)
		return true;
	if (access(path, F_OK) == 0)
		diags_warn(d, ((struct place){ .file = path, .key = what }), VALUE_CLOSED,
			   strerrordesc_np(EACCES));
	return false;
}

void file_tell_closed(const char *path, const char *what, struct diags *d)
{
	struct passwd user;
	struct stat st;

	if (geteuid() != 0 || stat(path, &st) < 0 || !service_user(&user) || st.st_mode & S_IROTH ||
	    (st.st_mode & S_IRGRP && st.st_gid == user.pw_gid) ||
	    (st.st_mode & S_IRUSR && st.st_uid == user.pw_uid))
		return;
	diags_warn(d, ((struct place){ .file = path, .key = what }), VALUE_READER, SERVICE_USER,
		   SERVICE_USER);
}

bool file_is_pem(const char *text, size_t n)
{
	static const char begin[] = "-----BEGIN ";

	return !memchr(text, '\0', n) && memmem(text, n, begin, strlen(begin));
}

bool file_is_locked_pem(const char *text)
{
	return strstr(text, "-----BEGIN ENCRYPTED PRIVATE KEY-----") ||
	       strstr(text, "Proc-Type: 4,ENCRYPTED");
}

static int read_all(int fd, char *p, size_t n, size_t *ret)
{
	size_t got = 0;

	while (got < n) {
		const ssize_t k = read(fd, p + got, n - got);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return -errno;
		if (k == 0)
			break;
		got += (size_t)k;
	}
	*ret = got;
	return 0;
}

int file_read(const char *path, size_t cap, char **ret, size_t *ret_n, char why[static SENTENCE_MAX])
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	_cleanup_free_ char *p = NULL;
	struct stat before, after;
	size_t n = 0;
	int r;

	if (fd < 0 || fstat(fd, &before) < 0)
		return FAIL(why, -errno, FILE_UNREAD, strerrordesc_np(errno));
	r = check(&before, cap, why);
	if (r < 0)
		return r;
	p = xmalloc((size_t)before.st_size + 1);
	r = read_all(fd, p, (size_t)before.st_size + 1, &n);
	if (r < 0)
		return FAIL(why, r, FILE_UNREAD, strerrordesc_np(-r));
	if (fstat(fd, &after) < 0 || n != (size_t)before.st_size || after.st_size != before.st_size ||
	    after.st_mtim.tv_sec != before.st_mtim.tv_sec || after.st_mtim.tv_nsec != before.st_mtim.tv_nsec)
		return FAIL(why, -EAGAIN, FILE_CHANGED);
	p[n] = '\0';
	*ret = TAKE_PTR(p);
	*ret_n = n;
	return 0;
}

char *file_beside(const char *file, const char *path)
{
	const char *slash = strrchr(file, '/');

	if (path[0] == '/' || !slash)
		return xstrdup(path);
	return xasprintf("%.*s/%s", (int)(slash - file), file, path);
}

void file_tell_missing(struct place at, const char *file, struct diags *d)
{
	_cleanup_free_ char *path = file ? file_beside(at.file, file) : NULL;

	if (!path || (strcmp(at.file, "-") == 0 && file[0] != '/') || access(path, F_OK) == 0)
		return;
	diags_warn(d, at, FILE_ABSENT, path, strerrordesc_np(errno));
}
