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
#include "loader/way.h"

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

void watches_add(struct watches *w, const char *path)
{
	bool there = true;
	struct stat st;

	if (w->fd < 0 || !path || *path == '\0')
		return;
	_cleanup_(way_done) struct way way = way_of(path);

	while (there && way_step(&way)) {
		const char *slash = strrchr(way.at, '/');
		_cleanup_free_ char *dir = xstrndup(way.at, (size_t)(slash - way.at));

		there = lstat(way.at, &st) == 0;
		const bool link = there && S_ISLNK(st.st_mode);

		if (!there || link || way_ends(&way))
			add_name(w, dir, slash + 1);
		if (link && way_follow(&way) < 0)
			return;
	}
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
