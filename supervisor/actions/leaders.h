/* leaders.h - which clusters this replica leads, as their watchers have last said (LEADER). Process:
 * supervisor. Pure. Times: boot ms. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_ACTIONS_LEADERS_H
#define SUPERVISOR_ACTIONS_LEADERS_H

#include "ipc/msg.h"

/* Zeroed: nothing is known. */
struct leaders {
	struct msg v[CLUSTERS_MAX]; /* type 0 = nothing yet */
};

/* Keep what a watcher says. It holds no longer than a Lease does, whatever the watcher says. */
void leaders_put(struct leaders *l, const struct msg *m, uint64_t now_ms);
/* LEADER as it was kept, NULL = none. */
const struct msg *leaders_get(const struct leaders *l, uint64_t cluster);
/* Until when a write may start that may take up to `most` ms: not beyond the Lease; 0 = not at all. */
uint64_t leaders_valid_until(const struct leaders *l, uint64_t cluster, uint64_t now_ms, uint64_t most);

#endif
