/* watch_stats.h - WATCH_STATS: what `status` and the metrics say about this watcher, at most every two
 * seconds and only when something changed. Layer: watcher.  Threads: none.  Borrows: everything it is given.
 */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_WATCH_STATS_H
#define WATCHER_WATCH_STATS_H

#include "kube/reflector.h"
#include "watcher/controller/controller.h"

struct event_base;
struct watch_stats;

struct watch_stats *watch_stats_new(struct event_base *base, const struct controller *c,
				    const struct outbox *out);
void watch_stats_free(struct watch_stats **f);
/* The reflector to read from; NULL while there is none: what it counted stays. */
void watch_stats_set_reflector(struct watch_stats *f, const struct reflector *r);
/* Why the cache is not in step, for the operator; "" when it is. */
void watch_stats_set_error(struct watch_stats *f, const char *text);
/* Something may have changed: send within two seconds. */
void watch_stats_touch(struct watch_stats *f);
/* Send now, if anything changed. */
void watch_stats_send(struct watch_stats *f);

#endif
