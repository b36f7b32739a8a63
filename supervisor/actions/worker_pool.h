/* worker_pool.h - workers that come when there is work for them and rest when there is none: which of a
 * cluster run, and how many of them may act. Process: supervisor. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_ACTIONS_WORKER_POOL_H
#define SUPERVISOR_ACTIONS_WORKER_POOL_H

#include "supervisor/actions/parts.h"

/* Hand m on to that worker; NULL: none became ready in time. */
typedef void worker_pool_deliver(struct supervisor *s, struct child *worker, const struct msg *m);

/* Forget the questions. */
void worker_pool_free(struct supervisor *s);

/* Settings are in force: begin with their bounds. */
void worker_pool_on_loaded(struct supervisor *s);
/* So many things of that cluster are to be worked on: start resting workers until there are enough. */
void worker_pool_start(struct supervisor *s, uint64_t cluster, size_t things);
/* May this ready worker take a lease? Not those beyond the limit of its cluster. */
bool worker_pool_may_act(const struct supervisor *s, const struct child *worker);
/* It was given something to do: it does not rest for a while. */
void worker_pool_note_used(struct supervisor *s, const struct child *worker);
/* An action of the cluster has ended, took_ms after its grant, with the server's status code or 0. */
void worker_pool_note_end(struct supervisor *s, uint64_t cluster, uint64_t took_ms, uint64_t http);

/* Have m delivered to a ready worker of the cluster, now or as soon as there is one; deliver is called once,
 * perhaps before this returns. */
void worker_pool_ask(struct supervisor *s, uint64_t cluster, const struct msg *m,
		     worker_pool_deliver *deliver);
void worker_pool_on_ready(struct supervisor *s, struct child *worker);
/* Once a second. */
void worker_pool_tick(struct supervisor *s, uint64_t now_ms);

/* WORKER_STATS: how many workers run, how many may act, and why so many. The cluster is of the generation in
 * force. */
void worker_pool_describe(const struct supervisor *s, uint64_t cluster, struct msg *ret);

#endif
