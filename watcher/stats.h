/* stats.h - WATCH_STATS: what `status` and the metrics say about this watcher, at most every two seconds
 * and only when something changed. Layer: watcher.  Threads: none.  Borrows: everything it is given. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_STATS_H
#define WATCHER_STATS_H

#include "kube/reflector.h"
#include "watcher/controller/controller.h"

struct event_base;
struct stats;

struct stats *stats_new(struct event_base *base, const struct controller *c, const struct outbox *out);
void stats_free(struct stats **f);
/* The reflector to read from; NULL while there is none: its figures stay as they were. */
void stats_set_reflector(struct stats *f, const struct reflector *r);
/* Why the cache is not in step, for people; "" when it is. */
void stats_set_error(struct stats *f, const char *text);
/* Something may have changed: send within two seconds. */
void stats_touch(struct stats *f);
/* Send now, if anything changed. */
void stats_send(struct stats *f);

#endif
