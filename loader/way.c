/* way.c - see way.h. */
// SPDX-License-Identifier: Apache-2.0
#include "loader/way.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/xalloc.h"

#define LINKS_MAX 40 /* as the kernel */

char *way_absolute(const char *path)
{
	char cwd[PATH_MAX];

	return path[0] == '/' || !getcwd(cwd, sizeof(cwd)) ? xstrdup(path) : xasprintf("%s/%s", cwd, path);
}

struct way way_of(const char *path)
{
	return (struct way){ xstrdup("/"), way_absolute(path), 0 };
}

void way_done(struct way *w)
{
	free(w->at);
	free(w->rest);
}

static void set(char **p, char *text)
{
	free(*p);
	*p = text;
}

/* To the folder that w->at is in; "/" is in itself. */
static void go_up(struct way *w)
{
	char *slash = strrchr(w->at, '/');

	slash[slash == w->at] = '\0';
}

bool way_ends(const struct way *w)
{
	return w->rest[strspn(w->rest, "/")] == '\0';
}

bool way_step(struct way *w)
{
	while (!way_ends(w)) {
		const char *part = w->rest + strspn(w->rest, "/");
		const size_t n = strcspn(part, "/");
		const bool here = n == 1 && *part == '.', up = n == 2 && strncmp(part, "..", 2) == 0;

		if (up)
			go_up(w);
		else if (!here)
			set(&w->at, xasprintf("%s%s%.*s", w->at, w->at[1] ? "/" : "", (int)n, part));
		set(&w->rest, xstrdup(part + n));
		if (!up && !here)
			return true;
	}
	return false;
}

int way_follow(struct way *w)
{
	char target[PATH_MAX] = "";

	if (++w->links > LINKS_MAX)
		return -ELOOP;
	if (readlink(w->at, target, sizeof(target) - 1) < 0)
		return -errno;
	set(&w->rest, xasprintf("%s/%s", target, w->rest));
	if (target[0] == '/')
		w->at[1] = '\0';
	else
		go_up(w);
	return 0;
}
