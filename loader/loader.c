/* loader.c - see loader.h. */
// SPDX-License-Identifier: Apache-2.0
#include "loader/loader.h"

#include <stdarg.h>

#include "base/cleanup.h"
#include "base/exit.h"
#include "base/xalloc.h"
#include "config/file.h"
#include "config/kubeconfig.h"

void loader_refresh_within(struct loader *l, uint64_t ms)
{
	if (ms > 0 && (l->refresh_ms == 0 || ms < l->refresh_ms))
		l->refresh_ms = ms;
}

bool loader_error(struct loader *l, int err, const char *file, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	_cleanup_free_ char *text = xvasprintf(fmt, ap);
	va_end(ap);
	(void)diags_error(&l->diags, file, 0, 0, "%s", text);
	l->lasting = l->lasting || !exit_is_transient(err);
	return false;
}

void loader_check_secret(struct loader *l, const char *path)
{
	if (path && !kube_is_in_cluster())
		file_tell_exposed(path, &l->diags);
}
