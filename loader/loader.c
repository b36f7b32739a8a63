/* loader.c - see loader.h. */
// SPDX-License-Identifier: Apache-2.0
#include "loader/loader.h"

#include <string.h>

#include "base/xalloc.h"

void loader_refresh_within(struct loader *l, uint64_t ms)
{
	if (ms > 0 && (l->refresh_ms == 0 || ms < l->refresh_ms))
		l->refresh_ms = ms;
}

char *loader_path(const struct loader *l, const char *path)
{
	const char *slash = strrchr(l->options->config, '/');

	if (path[0] == '/' || !slash)
		return xstrdup(path);
	return xasprintf("%.*s/%s", (int)(slash - l->options->config), l->options->config, path);
}
