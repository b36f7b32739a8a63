/* cluster_watch.h - one cluster's watch on an event loop: reflector and client below, controller, plan,
 * explain and digest rows above, timers between. Layer: watcher.  Threads: none. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_CLUSTER_WATCH_H
#define WATCHER_CLUSTER_WATCH_H

#include "config/settings.h"
#include "watcher/controller/controller.h"

struct event_base;
struct cluster_watch;
struct process;

/* Takes the contents of *s over. instance: as of leadership_identity(). Opens nothing but a client; the
 * network is touched by cluster_watch_start. base and process are borrowed. */
struct cluster_watch *cluster_watch_new(struct event_base *base, uint64_t cluster, uint64_t instance,
					struct settings *s, struct process *process);
void cluster_watch_free(struct cluster_watch **w);
/* Ask what the reporter remembers, list and watch. */
void cluster_watch_start(struct cluster_watch *w);
/* Go on with these settings, whose contents are taken over: judges all again; lists again only when the
 * server or the namespaces differ, or when the old credential was refused. */
void cluster_watch_set_settings(struct cluster_watch *w, struct settings *s);
/* Nothing is read, judged or said from now on, and the Lease is given back when one is held; drained(ctx)
 * when all is done, perhaps at once. */
void cluster_watch_drain(struct cluster_watch *w, void (*drained)(void *ctx), void *ctx);

void cluster_watch_on_msg(struct cluster_watch *w, const struct msg *m);
/* send has room again. */
void cluster_watch_on_room(struct cluster_watch *w);

#endif
