/* blocked.h - pods that are due but blocked, in bins: all that wait for the same thing share one bin and one
 * timer. Layer: watcher.  Threads: none.  Pure: times are boot milliseconds. When a bin's time comes, a few
 * of its pods are let out to be judged again, oldest first; when those may go, twice as many follow, and when
 * one is blocked again the bin waits on. So ten thousand pods that wait for a budget of one a minute cost
 * one judgement a minute. 12 bytes a handle, once anything is blocked. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_GUARDS_BLOCKED_H
#define WATCHER_GUARDS_BLOCKED_H

#include <stdbool.h>

#include "rules/admit.h"

struct blocked;

struct blocked *blocked_new(void);
void blocked_free(struct blocked **t);

/* Is there a bin of that key? */
bool blocked_has_bin(const struct blocked *t, struct str key);
/* Pod h waits in the bin of that key, for what `block` says, until block->until (0 = until blocked_wake).
 * Where it waits in that bin already it keeps its place; where it was let out of it, it goes back to the
 * front. */
void blocked_put(struct blocked *t, uint32_t h, struct str key, const struct block *block);
/* Pod h waits no more: it goes, is not due, or does not exist. */
void blocked_remove(struct blocked *t, uint32_t h);
/* Let out the pods that are due: fn has each judged again. */
void blocked_take(struct blocked *t, uint64_t now, void (*fn)(void *ctx, uint32_t h), void *ctx);
/* Something changed for this guard: its bins are due now. */
void blocked_wake(struct blocked *t, enum guard g, uint64_t now);
/* When blocked_take has something to do; UINT64_MAX = not before a change. */
uint64_t blocked_next(const struct blocked *t);

/* Pods that are blocked, in all and by this guard. */
uint32_t blocked_count(const struct blocked *t);
uint32_t blocked_count_of(const struct blocked *t, enum guard g);
/* At most max of the pods that are blocked, oldest first within a bin; returns how many. */
uint32_t blocked_list(const struct blocked *t, uint32_t *ret, uint32_t max);
/* Is h one of those? */
bool blocked_lists(const struct blocked *t, uint32_t h);
size_t blocked_bytes(const struct blocked *t);

#endif
