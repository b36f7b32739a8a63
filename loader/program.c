/* program.c - see program.h. */
// SPDX-License-Identifier: Apache-2.0
#include "loader/program.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "base/xalloc.h"
#include "config/file.h"
#include "config/kubeconfig.h"

#define LINKS_MAX    40 /* as the kernel */
#define FAIL(r, ...) (sentence_make(why, __VA_ARGS__), r)

/* Where a path has led so far, without links and dots, and what of it is left. */
struct way {
	char *at, *rest;
	unsigned links;
};

static void way_done(struct way *w)
{
	free(w->at);
	free(w->rest);
}

static void set(char **p, char *text)
{
	free(*p);
	*p = text;
}

/* The next part of the rest; false at the end. */
static bool step(struct way *w)
{
	const char *part = w->rest + strspn(w->rest, "/");
	const size_t n = strcspn(part, "/");
	char *slash = strrchr(w->at, '/');

	if (n == 0)
		return false;
	if (n == 2 && strncmp(part, "..", 2) == 0)
		slash[slash == w->at] = '\0';
	else if (n != 1 || *part != '.')
		set(&w->at, xasprintf("%s%s%.*s", w->at, slash[1] ? "/" : "", (int)n, part));
	set(&w->rest, xstrdup(part + n));
	return true;
}

static int follow(struct way *w, char why[static SENTENCE_MAX])
{
	char target[PATH_MAX] = "";

	if (++w->links > LINKS_MAX)
		errno = ELOOP;
	if (w->links > LINKS_MAX || readlink(w->at, target, sizeof(target) - 1) < 0)
		return FAIL(-errno, PLUGIN_AT, w->at, strerrordesc_np(errno));
	set(&w->rest, xasprintf("%s/%s", target, w->rest));
	char *slash = strrchr(w->at, '/');

	if (target[0] == '/')
		w->at[1] = '\0';
	else
		slash[slash == w->at] = '\0';
	return 0;
}

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
	_cleanup_(way_done) struct way w = { xstrdup("/"), xstrdup(path), 0 };
	struct stat st;
	int r;

	do {
		if (lstat(w.at, &st) < 0)
			return FAIL(-errno, PLUGIN_AT, w.at, strerrordesc_np(errno));
		r = judge(w.at, &st, why);
		if (r == 0 && S_ISLNK(st.st_mode))
			r = follow(&w, why);
	} while (r == 0 && step(&w));
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

static char *absolute(const char *path)
{
	char cwd[PATH_MAX];

	return path[0] == '/' || !getcwd(cwd, sizeof(cwd)) ? xstrdup(path) : xasprintf("%s/%s", cwd, path);
}

int program_find(const char *command, char **ret, char why[static SENTENCE_MAX])
{
	const bool named = !strchr(command, '/');
	_cleanup_free_ char *path = named ? look_up(command) : absolute(command);

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
