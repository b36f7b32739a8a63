/* workloads.h - what happened to each workload: whether it fails, came back after it was scaled down, or is
 * evicted from a node again and again. Layer: watcher.  Threads: none.  Owns: copies of all names it is
 * given.  Times are by the API server's clock. A workload is a number, of its owner's uid and a revision; an
 * evict loop is one of owner and node. 0 is none: nothing is known of it. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_GUARDS_WORKLOADS_H
#define WATCHER_GUARDS_WORKLOADS_H

#include "rules/reverted.h"
#include "watcher/guards/clocks.h"
#include "watcher/guards/outbox.h"

struct workloads;

struct workloads *workloads_new(void);
void workloads_free(struct workloads **w);

uint32_t workloads_find(const struct workloads *w, struct str owner, struct str revision);
/* Its owner's uid and its revision, valid until the next call that changes anything. */
void workloads_key(const struct workloads *w, uint32_t id, struct str *ret_owner, struct str *ret_revision);

/* A pod of it fails to pull: its number. */
uint32_t workloads_failing(struct workloads *w, struct str owner, struct str revision);
/* No pod of it does. false: none did. */
bool workloads_recovered(struct workloads *w, uint32_t id);

/* It is about to be acted on: its number. */
uint32_t workloads_act(struct workloads *w, struct str owner, struct str revision);
/* How often it came back, and how long it is blocked for it, when a pod of it is due that was made at
 * `created`. */
struct reverted workloads_reverted(const struct workloads *w, uint32_t id, int64_t created, int64_t now);
/* Such a pod is due: a return is counted. */
void workloads_note_due(struct workloads *w, uint32_t id, int64_t created, int64_t now);
/* The action ended; done: it was written, asked for at `asked`. */
void workloads_acted(struct workloads *w, uint32_t id, bool done, int64_t asked);
/* Nothing of this owner counts as reverted any more. */
void workloads_forgive(struct workloads *w, struct str owner);
/* Workloads that came back and are remembered. */
uint32_t workloads_reverts(const struct workloads *w);

/* Pods of this owner that are evicted from this node; make: look for a loop of them from now on, where there
 * is room. */
uint32_t workloads_loop(const struct workloads *w, struct str owner, struct str node);
uint32_t workloads_make_loop(struct workloads *w, struct str owner, struct str node);
struct evict_loop *workloads_evict_loop(const struct workloads *w, uint32_t id);

/* SAVED_ROW of a workload that was acted on. */
void workloads_on_saved(struct workloads *w, const struct msg_saved_row *m);
/* Send what changed until the outbox is full; 0 or what it said. */
int workloads_flush(struct workloads *w, uint64_t cluster, const struct outbox *out);
void workloads_expire(struct workloads *w, int64_t now);

#endif
