/* file_watch.h - the files that the settings were made of: has one of them changed? The loader has made the
 * watch and named the files; here nothing is opened, only the descriptor is read. Process: supervisor.
 * Owns: the descriptor of inotify(7). */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_CHILDREN_FILE_WATCH_H
#define SUPERVISOR_CHILDREN_FILE_WATCH_H

#include <stdint.h>

struct event_base;
struct file_watch;

/* Takes fd. NULL when it is not one of inotify(7). Names are collected, and nothing is read yet. */
struct file_watch *file_watch_new(int fd);
/* *w may be NULL. */
void file_watch_free(struct file_watch **w);
/* A name in a folder; what happens to others in it does not count. No more than 4096 are kept. */
void file_watch_add(struct file_watch *w, uint64_t watch, const char *name);
/* From now on changes are taken note of, also those since the watch was made. */
void file_watch_start(struct file_watch *w, struct event_base *base);

/* Something has changed and is at rest again since a second, or has not been for five: its name, borrowed;
 * else NULL. An editor, kubectl cp and a kubelet all take several steps. w may be NULL. */
const char *file_watch_due(const struct file_watch *w, uint64_t now_ms);
/* What has changed until now is being read. w may be NULL. */
void file_watch_forget(struct file_watch *w);

#endif
