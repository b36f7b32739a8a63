/* input.c - see input.h. */
// SPDX-License-Identifier: Apache-2.0
#include "cli/input.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

#define FILE_MAX (16u << 20)

char *input_read(const char *path, size_t *ret_n)
{
	FILE *f = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
	char *buf = NULL;
	size_t n = 0, k;

	if (!f) {
		(void)fprintf(stderr, "%s: cannot be read: %s\n", path, strerrordesc_np(errno));
		return NULL;
	}
	do {
		buf = xreallocarray(buf, n + 65536, 1);
		k = fread(buf + n, 1, 65536, f);
		n += k;
	} while (k > 0 && n <= FILE_MAX);
	const bool bad = ferror(f) != 0;

	if (f != stdin)
		(void)fclose(f);
	if (bad || n > FILE_MAX) {
		(void)fprintf(stderr, "%s: %s\n", path,
			      bad ? "cannot be read (is it a directory?)" : "larger than 16 MiB");
		free(buf);
		return NULL;
	}
	*ret_n = n;
	return buf;
}
