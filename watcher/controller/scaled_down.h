/* scaled_down.h - workloads that this program has scaled to 0 and that may come back by themselves (setting
 * restore). Their pods are gone and workloads are not watched: so each is looked at every restoreCheckEvery,
 * one after the other (RESTORE_ASK). The list comes from the history at a start, and from the results after
 * it; what is over leaves it. Layer: watcher.  Threads: none; no I/O, no timers.  Times are boot
 * milliseconds. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_CONTROLLER_SCALED_DOWN_H
#define WATCHER_CONTROLLER_SCALED_DOWN_H

#include "watcher/controller/cluster_state.h"
#include "watcher/guards/outlet.h"

/* At most so many are looked at: the newest. */
#define SCALED_DOWN_MAX 4096u

struct scaled_down;

/* Both borrowed. */
struct scaled_down *scaled_down_new(const struct cluster_state *cluster, const struct outlet *out);
void scaled_down_free(struct scaled_down **s);

/* SCALED_ROW; NOMINATION_RESULT, when it says that something was scaled down; RESTORE_END. */
void scaled_down_on_row(struct scaled_down *s, const struct msg_scaled_row *m, uint64_t now);
void scaled_down_on_result(struct scaled_down *s, const struct msg_nomination_result *m, uint64_t now);
void scaled_down_on_restore_end(struct scaled_down *s, const struct msg_restore_end *m, uint64_t now);
/* The settings have changed: all are looked at anew. */
void scaled_down_judge_anew(struct scaled_down *s, uint64_t now);

/* Ask for the next that is due. 0, or what the outlet said. */
int scaled_down_flush(struct scaled_down *s, uint64_t now);
/* When there is something to ask; UINT64_MAX = not before a change. */
uint64_t scaled_down_next(const struct scaled_down *s);

#endif
