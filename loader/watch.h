/* watch.h - which names on disk the settings are made of: the loader puts them under watch before it reads
 * them, and the supervisor, which gets the descriptor, hears of their changes without opening a file.
 * Process: loader.  Owns: the descriptor and the names. */
// SPDX-License-Identifier: Apache-2.0
#ifndef LOADER_WATCH_H
#define LOADER_WATCH_H

#include <stddef.h>
#include <stdint.h>

struct watched {
	uint64_t watch; /* of inotify(7): one folder */
	char *name;     /* in it */
};

struct watches {
	int fd; /* of inotify(7); -1 = none, and nothing is watched */
	struct watched *v;
	size_t n;
};

/* 0 or -errno, with which watches_add() does nothing. */
int watches_init(struct watches *w);
void watches_done(struct watches *w);
/* Every name by which this path is found: the file itself, each symbolic link on the way (a kubelet swaps the
 * link `..data` of a mounted ConfigMap or Secret), or the first part that is missing. A folder that cannot be
 * watched is left out. path NULL: nothing. */
void watches_add(struct watches *w, const char *path);
/* Every name in this folder that matches, as fnmatch(3) has it, and the folder itself. */
void watches_add_pattern(struct watches *w, const char *folder, const char *pattern);
/* The same as watches_add() for each of "a:b:c". */
void watches_add_list(struct watches *w, const char *list);

#endif
