/* figures.h - WATCH_STATS: what `status` and the metrics say about this watcher, at most every two seconds
 * and only when something changed. Layer: watcher.  Threads: none.  Borrows: everything it is given. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_FIGURES_H
#define WATCHER_FIGURES_H

#include "kube/reflector.h"
#include "watcher/judging.h"

struct event_base;
struct figures;

struct figures *figures_new(struct event_base *base, uint64_t cluster, struct judging *j,
			    judging_send_fn *send, void *ctx);
void figures_free(struct figures **f);
/* The reflector to read from; NULL while there is none: its figures stay as they were. */
void figures_set_reflector(struct figures *f, const struct reflector *r);
/* Why the cache is not in step, for people; "" when it is. */
void figures_set_error(struct figures *f, const char *text);
/* Something may have changed: send within two seconds. */
void figures_touch(struct figures *f);
/* Send now, if anything changed. */
void figures_send(struct figures *f);

#endif
