/* watch.c - see watch.h. */
// SPDX-License-Identifier: Apache-2.0
#include "loader/watch.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/xalloc.h"

#define LINKS_MAX 40   /* as the kernel's */
#define NAMES_MAX 4096 /* 64 clusters with some files each, behind some links */
/* IN_ATTRIB: the mode of a file that was refused has been changed. */
#define EVENTS (IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB | IN_ONLYDIR)

int watches_init(struct watches *w)
{
	*w = (struct watches){ .fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK) };
	return w->fd < 0 ? -errno : 0;
}

void watches_done(struct watches *w)
{
	for (size_t i = 0; i < w->n; i++)
		free(w->v[i].name);
	free(w->v);
	if (w->fd >= 0)
		(void)close(w->fd);
	*w = (struct watches){ .fd = -1 };
}

static void add_name(struct watches *w, const char *dir, const char *name)
{
	const int watch = inotify_add_watch(w->fd, *dir ? dir : "/", EVENTS);

	if (watch < 0 || w->n == NAMES_MAX)
		return;
	for (size_t i = 0; i < w->n; i++)
		if (w->v[i].watch == (uint64_t)watch && strcmp(w->v[i].name, name) == 0)
			return;
	w->v = xreallocarray(w->v, w->n + 1, sizeof(*w->v));
	w->v[w->n++] = (struct watched){ (uint64_t)watch, xstrdup(name) };
}

/* A path on the way: `dir` has no links in it and no slash at its end, `rest` is still to be followed. */
struct walk {
	char *dir, *rest;
	int links;
};

static void replace(char **p, char *with)
{
	free(*p);
	*p = with;
}

static void follow_link(struct walk *k, const char *target, const char *rest)
{
	replace(&k->rest, xasprintf("%s/%s", target, rest));
	if (target[0] == '/')
		replace(&k->dir, xstrdup(""));
	k->links++;
}

/* One part of the path. False at its end. */
static bool step(struct watches *w, struct walk *k)
{
	const char *part = k->rest + strspn(k->rest, "/");
	const size_t n = strcspn(part, "/");
	_cleanup_free_ char *name = xstrndup(part, n), *rest = xstrdup(part + n),
			    *full = xasprintf("%s/%s", k->dir, name);
	char target[4096];
	struct stat st;

	if (n == 0 || k->links > LINKS_MAX)
		return false;
	replace(&k->rest, TAKE_PTR(rest));
	if (strcmp(name, ".") == 0)
		return true;
	if (strcmp(name, "..") == 0) {
		char *slash = strrchr(k->dir, '/');

		if (slash)
			*slash = '\0';
		return true;
	}
	const bool there = lstat(full, &st) == 0;
	const ssize_t len = there && S_ISLNK(st.st_mode) ? readlink(full, target, sizeof(target) - 1) : -1;

	if (!there || len > 0 || k->rest[strspn(k->rest, "/")] == '\0')
		add_name(w, k->dir, name);
	if (len > 0) {
		target[len] = '\0';
		_cleanup_free_ char *left = xstrdup(k->rest);

		follow_link(k, target, left);
	} else {
		replace(&k->dir, TAKE_PTR(full));
	}
	return there;
}

void watches_add(struct watches *w, const char *path)
{
	_cleanup_free_ char *cwd = NULL;
	struct walk k;

	if (w->fd < 0 || !path || *path == '\0')
		return;
	cwd = path[0] == '/' ? NULL : getcwd(NULL, 0);
	k = (struct walk){ .dir = xstrdup(""), .rest = xasprintf("%s/%s", cwd ? cwd : "", path) };
	while (step(w, &k))
		;
	free(k.dir);
	free(k.rest);
}

void watches_add_pattern(struct watches *w, const char *folder, const char *pattern)
{
	watches_add(w, folder);
	if (w->fd >= 0)
		add_name(w, folder, pattern);
}

void watches_add_list(struct watches *w, const char *list)
{
	_cleanup_free_ char *copy = xstrdup(list ? list : "");

	for (char *next = copy, *path; (path = strsep(&next, ":"));)
		watches_add(w, path);
}
