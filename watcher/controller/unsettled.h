/* unsettled.h - pods whose deletion was accepted, or may have been, and that are not known to be gone: each
 * is followed until it is, and the history is told. The reporter keeps the list over a restart of this
 * process, and says which of them it has written down; until then it is told again. A deletion that a worker
 * called done has to show in the watch within a minute, or that is told, too (ResultContradicted). Layer:
 * watcher.  Threads: none; no I/O, no timers.  Times are boot milliseconds. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_CONTROLLER_UNSETTLED_H
#define WATCHER_CONTROLLER_UNSETTLED_H

#include "watcher/controller/cluster_state.h"
#include "watcher/guards/outlet.h"

struct unsettled;

/* Both borrowed. */
struct unsettled *unsettled_new(const struct cluster_state *cluster, const struct outlet *out);
void unsettled_free(struct unsettled **u);

/* Follow this pod from now on. */
void unsettled_add(struct unsettled *u, struct str ns, struct str name, struct str uid, uint64_t now);
/* NOMINATION_RESULT: follow its pod when its outcome says so; when it is done, until that shows. */
void unsettled_on_result(struct unsettled *u, const struct msg_nomination_result *m, uint64_t now);
/* The history knows it. */
void unsettled_forget(struct unsettled *u, struct str uid);
/* A pod is gone, or a list is complete: it may be one of these. */
void unsettled_touch(struct unsettled *u, uint64_t now);

/* Tell of those that are gone, when it is time to look. To be called only while the cache is in step. 0, or
 * what the outlet said: the rest is told at the next call. */
int unsettled_flush(struct unsettled *u, uint64_t now);
/* When to look next; UINT64_MAX = not before unsettled_touch(). */
uint64_t unsettled_next(const struct unsettled *u);

#endif
