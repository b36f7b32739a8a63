/* zone_file.c - see zone_file.h. */
// SPDX-License-Identifier: Apache-2.0
#include "config/zone_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "base/xalloc.h"

#define NAME_MAX_BYTES 63

static const char *database(void)
{
	const char *dir = str_env("TZDIR");

	return dir ? dir : "/usr/share/zoneinfo";
}

bool zone_is_name(const char *s)
{
	static const char chars[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-/.";
	const size_t n = strlen(s);

	return n > 0 && n <= NAME_MAX_BYTES && strspn(s, chars) == n && s[0] != '/' && s[0] != '.' &&
	       !strstr(s, "..");
}

static int read_zone(const char *path, void **ret, size_t *ret_size)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	_cleanup_free_ uint8_t *p = NULL;
	struct stat st;
	struct zone *z = NULL;
	ssize_t n;
	int r;

	if (fd < 0)
		return errno == ENOTDIR ? -ENOENT : -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_size <= 0 || st.st_size > (off_t)ZONE_SIZE_MAX)
		return -EBADMSG;
	p = xmalloc((size_t)st.st_size);
	n = read(fd, p, (size_t)st.st_size);
	if (n < 0)
		return -errno;
	r = zone_parse(p, (size_t)n, &z);
	if (r < 0)
		return r;
	zone_free(&z);
	*ret = TAKE_PTR(p);
	*ret_size = (size_t)n;
	return 0;
}

static int load_local(void **ret, size_t *ret_size)
{
	const char *tz = getenv("TZ");
	int r;

	if (tz && *tz == ':')
		tz++;
	if (tz && strcmp(tz, "Local") != 0)
		return *tz == '/' ? read_zone(tz, ret, ret_size) : zone_load(tz, ret, ret_size);
	r = read_zone("/etc/localtime", ret, ret_size);
	return r == -ENOENT ? 0 : r; /* a machine that does not say is in UTC */
}

int zone_load(const char *name, void **ret, size_t *ret_size)
{
	char path[PATH_MAX];
	struct stat st;
	int r;

	*ret = NULL;
	*ret_size = 0;
	if (*name == '\0' || strcmp(name, "UTC") == 0)
		return 0;
	if (strcmp(name, "Local") == 0)
		return load_local(ret, ret_size);
	if (!zone_is_name(name))
		return -EINVAL;
	(void)snprintf(path, sizeof(path), "%s/%s", database(), name);
	r = read_zone(path, ret, ret_size);
	if (r == -ENOENT && (stat(database(), &st) < 0 || !S_ISDIR(st.st_mode)))
		return -ENOPKG;
	return r;
}

const char *zone_error(char why[static SENTENCE_MAX], int err)
{
	if (err == -EINVAL)
		sentence_make(why, ZONE_NO_NAME);
	else if (err == -ENOENT)
		sentence_make(why, ZONE_NONE);
	else if (err == -ENOPKG)
		sentence_make(why, ZONE_NO_DATABASE);
	else if (err == -EBADMSG)
		sentence_make(why, ZONE_FILE);
	else
		(void)str_copy_printable(why, SENTENCE_MAX, strerrordesc_np(-err),
					 strlen(strerrordesc_np(-err)));
	return why;
}
