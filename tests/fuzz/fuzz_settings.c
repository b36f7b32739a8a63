/* fuzz_settings.c - any bytes as the settings that a process is given. Property: refused with a text, or what
 * each role may see of them is written and read back to the same bytes. */
// SPDX-License-Identifier: Apache-2.0
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/unicode.h"
#include "base/xalloc.h"
#include "config/blob.h"

static const enum role roles[] = { ROLE_WATCHER, ROLE_WORKER, ROLE_REPORTER };

/* Where the role stands, in front of everything else. */
#define HEAD_MAX 20u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int ok)
{
	if (!ok)
		abort();
}

/* What a memfd holds; owned by the caller. */
static char *bytes_of(int fd, size_t *ret_n)
{
	const off_t n = lseek(fd, 0, SEEK_END);

	require(fd >= 0 && n > 0);
	char *p = xmalloc((size_t)n);

	require(pread(fd, p, (size_t)n, 0) == n);
	*ret_n = (size_t)n;
	return p;
}

static void try_role(const struct settings *s, enum role role)
{
	char why[SETTINGS_ERROR_MAX];
	struct settings back;
	size_t n, m;
	const int fd = settings_write_blob(s, role);
	_cleanup_free_ char *first = bytes_of(fd, &n);

	require(settings_read_blob(fd, &back, why) == 0);
	const int again = settings_write_blob(&back, role);
	_cleanup_free_ char *second = bytes_of(again, &m);

	require(n == m && memcmp(first, second, n) == 0);
	settings_done(&back);
	(void)close(fd);
	(void)close(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char why[SETTINGS_ERROR_MAX] = "";
	struct settings s;

	if (settings_decode(data, size, &s, why) < 0) {
		require(why[0] != '\0' && unicode_all_printable(why, strlen(why)));
		return 0;
	}
	/* Of others it holds nothing, which is out of range for some of their keys. */
	for (size_t i = 0; i < ARRAY_SIZE(roles); i++) {
		const char *name = role_name(roles[i]);

		if (memmem(data, size < HEAD_MAX ? size : HEAD_MAX, name, strlen(name)))
			try_role(&s, roles[i]);
	}
	settings_done(&s);
	return 0;
}
