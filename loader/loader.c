/* loader.c - see loader.h. */
// SPDX-License-Identifier: Apache-2.0
#include "loader/loader.h"

#include "base/exit.h"
#include "config/file.h"
#include "config/kubeconfig.h"

void loader_refresh_within(struct loader *l, uint64_t ms)
{
	if (ms > 0 && (l->refresh_ms == 0 || ms < l->refresh_ms))
		l->refresh_ms = ms;
}

bool loader_failed(struct loader *l, int err)
{
	l->lasting = l->lasting || !exit_is_transient(err);
	return false;
}

bool loader_tell(struct loader *l, int err, struct place at, const char *sentence)
{
	(void)diags_put(&l->diags, true, at, sentence);
	return loader_failed(l, err);
}

void loader_check_secret(struct loader *l, const char *path)
{
	if (path && !kube_is_in_cluster())
		file_tell_exposed(path, &l->diags);
}
