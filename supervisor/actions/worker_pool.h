/* worker_pool.h - workers that come when there is work for them and rest when there is none: which of a
 * cluster run, and how many of them may act. Process: supervisor.  Owns: questions that wait for the first
 * worker of a cluster to be ready. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_ACTIONS_WORKER_POOL_H
#define SUPERVISOR_ACTIONS_WORKER_POOL_H

#include "supervisor/children/lifecycle.h"

struct worker_pool;

/* Hand m on to that worker; NULL: none became ready in time. */
typedef void worker_pool_deliver(struct supervisor *s, struct child *worker, const struct msg *m);

/* root and s (which deliver functions get) are borrowed. */
struct worker_pool *worker_pool_new(struct lifecycle *root, struct supervisor *s);
void worker_pool_free(struct worker_pool **p);

/* Settings are in force: begin with their bounds. */
void worker_pool_on_loaded(struct worker_pool *p);
/* So many things of that cluster are to be worked on: start resting workers until there are enough. */
void worker_pool_start(struct worker_pool *p, uint64_t cluster, size_t things);
/* May this ready worker take a lease? Not those beyond the limit of its cluster. */
bool worker_pool_may_act(const struct worker_pool *p, const struct child *worker);
/* It was given something to do: it does not rest for a while. */
void worker_pool_note_used(struct worker_pool *p, const struct child *worker);
/* An action of the cluster has ended, took_ms after its grant, with the server's status code or 0. */
void worker_pool_note_end(struct worker_pool *p, uint64_t cluster, uint64_t took_ms, uint64_t http);

/* Have m delivered to a ready worker of the cluster, now or as soon as there is one; deliver is called once,
 * perhaps before this returns. */
void worker_pool_ask(struct worker_pool *p, uint64_t cluster, const struct msg *m,
		     worker_pool_deliver *deliver);
void worker_pool_on_ready(struct worker_pool *p, struct child *worker);
/* Once a second. waits: do leases of that cluster wait for a worker? */
void worker_pool_tick(struct worker_pool *p, bool (*waits)(void *ctx, uint64_t cluster), void *ctx,
		      uint64_t now_ms);

/* WORKER_STATS: how many workers run, how many may act, and why so many. The cluster is of the generation in
 * force. */
void worker_pool_describe(const struct worker_pool *p, uint64_t cluster, struct msg *ret);

#endif
