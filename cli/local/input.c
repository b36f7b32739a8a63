/* input.c - see input.h. */
// SPDX-License-Identifier: Apache-2.0
#include "cli/local/input.h"
#include "cli/view/output.h"

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
		(void)fprintf(stderr, TEXT(CANNOT_READ), path, strerrordesc_np(errno));
		(void)fputc('\n', stderr);
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
		(void)fprintf(stderr, bad ? TEXT(CANNOT_READ_FOLDER) : TEXT(TOO_LARGE), path);
		(void)fputc('\n', stderr);
		free(buf);
		return NULL;
	}
	*ret_n = n;
	return buf;
}
