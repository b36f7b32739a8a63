/* program.c - see program.h. */
// SPDX-License-Identifier: Apache-2.0
#include "loader/program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "base/xalloc.h"
#include "config/file.h"
#include "config/kubeconfig.h"
#include "loader/way.h"

#define FAIL(r, ...) (sentence_make(why, __VA_ARGS__), r)

static int judge(const char *path, const struct stat *st, char why[static SENTENCE_MAX])
{
	const bool folder = S_ISDIR(st->st_mode);
	const bool shared = folder && (st->st_mode & S_ISVTX || kube_is_in_cluster());
	char reason[SENTENCE_MAX];
	const int r = file_check_owner(st, shared || S_ISLNK(st->st_mode), reason);

	return r < 0 ? FAIL(r, PLUGIN_AT, path, reason) : 0;
}

static int check_way(const char *path, char why[static SENTENCE_MAX])
{
	_cleanup_(way_done) struct way w = way_of(path);
	struct stat st;
	int r;

	do {
		if (lstat(w.at, &st) < 0)
			return FAIL(-errno, PLUGIN_AT, w.at, strerrordesc_np(errno));
		r = judge(w.at, &st, why);
		if (r == 0 && S_ISLNK(st.st_mode)) {
			r = way_follow(&w);
			if (r < 0)
				sentence_make(why, PLUGIN_AT, w.at, strerrordesc_np(-r));
		}
	} while (r == 0 && way_step(&w));
	return r;
}

static bool is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

static char *look_up(const char *name)
{
	const char *p = str_env("PATH");

	for (size_t n; p; p = p[n] ? p + n + 1 : NULL) {
		n = strcspn(p, ":");
		_cleanup_free_ char *path = xasprintf("%.*s/%s", (int)n, p, name);

		if (p[0] == '/' && is_program(path))
			return TAKE_PTR(path);
	}
	return NULL;
}

int program_find(const char *command, char **ret, char why[static SENTENCE_MAX])
{
	const bool named = !strchr(command, '/');
	_cleanup_free_ char *path = named ? look_up(command) : way_absolute(command);

	if (!path)
		return FAIL(-ENOENT, PLUGIN_NO_PATH);
	const int r = check_way(path, why);

	if (r < 0)
		return r;
	if (!is_program(path))
		return FAIL(-EACCES, PLUGIN_NO_EXEC);
	*ret = TAKE_PTR(path);
	return 0;
}
