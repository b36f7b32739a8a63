/* memory_dir.c - see memory_dir.h. */
// SPDX-License-Identifier: Apache-2.0
#include "tests/stage/memory_dir.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/private_dir.h"
#include "base/xalloc.h"

#define FILES 4u

static struct {
	char *name, *text;
	size_t n;
} files[FILES];

void memory_dir_clear(void)
{
	for (size_t i = 0; i < FILES; i++) {
		free(files[i].name);
		free(files[i].text);
		files[i].name = files[i].text = NULL;
	}
}

/* Its place, or a free one. */
static size_t find(const char *name)
{
	size_t i = 0;

	while (files[i].name && strcmp(files[i].name, name) != 0)
		if (++i == FILES)
			abort();
	return i;
}

int private_dir_make(const char *dir, struct private_dir_error *ret_error)
{
	(void)dir;
	(void)ret_error;
	return 0;
}

int private_dir_lock(const char *dir, uint64_t wait_ms, int *ret_fd, struct private_dir_error *ret_error)
{
	(void)dir;
	(void)wait_ms;
	(void)ret_error;
	*ret_fd = -1;
	return 0;
}

int private_dir_read(const char *dir, const char *name, size_t max, char **ret, size_t *ret_n)
{
	const size_t i = find(name);

	(void)dir;
	if (!files[i].name)
		return -ENOENT;
	if (files[i].n > max)
		return -EFBIG;
	*ret = xmemdup(files[i].text, files[i].n + 1);
	*ret_n = files[i].n;
	return 0;
}

int private_dir_replace(const char *dir, const char *name, const void *p, size_t n)
{
	const size_t i = find(name);

	(void)dir;
	if (!files[i].name)
		files[i].name = xstrdup(name);
	free(files[i].text);
	files[i].text = xcalloc(n + 1, 1);
	memcpy(files[i].text, p, n);
	files[i].n = n;
	return 0;
}
