/* way.h - a path, followed part by part over its symbolic links.  Process: loader. */
// SPDX-License-Identifier: Apache-2.0
#ifndef LOADER_WAY_H
#define LOADER_WAY_H

#include <stdbool.h>

/* Where a path has led so far, without links, dots and a slash at its end; and what of it is left. */
struct way {
	char *at, *rest;
	unsigned links;
};

/* At "/", with the whole of path, from the working directory where it is relative, before it. */
struct way way_of(const char *path);
void way_done(struct way *w);
/* Go to the next name. False at the end. */
bool way_step(struct way *w);
/* Is there no further name? */
bool way_ends(const struct way *w);
/* Go where the link at w->at leads. 0, or negative errno: -ELOOP after as many links as the kernel follows.
 */
int way_follow(struct way *w);

/* A path from "/" on. malloc()ed. */
char *way_absolute(const char *path);

#endif
