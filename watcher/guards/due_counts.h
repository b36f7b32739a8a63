/* due_counts.h - how many pods stand how, by duty and reason, and since when the first of them does: what
 * DUE_ROW tells. Layer: watcher.  Threads: none.  Pure: times are boot milliseconds. Four bytes a handle,
 * once a duty is concerned with any pod. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_GUARDS_DUE_COUNTS_H
#define WATCHER_GUARDS_DUE_COUNTS_H

#include "ipc/msg.h"
#include "model/reasons.h"

struct due_counts;

/* Different (duty, state, reason); pods of more are not counted. */
#define DUE_CLASSES_MAX 255u
/* Since when is known to this. */
#define DUE_GRAIN_MS 4000u

struct due_counts *due_counts_new(void);
void due_counts_free(struct due_counts **t);

/* Pod h stands so from now on; where it did already, it has since then. */
void due_counts_set(struct due_counts *t, uint32_t h, enum duty duty, enum due_state state,
		    enum reason reason, uint64_t now);
/* No duty is concerned with it, or it does not exist. */
void due_counts_clear(struct due_counts *t, uint32_t h);
/* Does it stand so, by whatever reason? */
bool due_counts_is(const struct due_counts *t, uint32_t h, enum due_state state);

/* Whoever was told knows nothing any more: all rows are news. */
void due_counts_again(struct due_counts *t);
/* The wall clock was set: what was told of times is wrong. */
void due_counts_clock_stepped(struct due_counts *t);
/* Fill DUE_ROWs (but for the cluster) with what has changed since it was told, and hand each to send;
 * wall_ahead: wall time less boot time. 0, or what send said: the rest is told the next time. */
int due_counts_tell(struct due_counts *t, int64_t wall_ahead, int (*send)(void *ctx, struct msg *m),
		    void *ctx);
size_t due_counts_bytes(const struct due_counts *t);

#endif
