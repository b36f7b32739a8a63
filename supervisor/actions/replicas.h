/* replicas.h - this replica among those that share clusters: which it leads, which replica should lead each,
 * by who lives, and the giving away of one. Process: supervisor. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_ACTIONS_REPLICAS_H
#define SUPERVISOR_ACTIONS_REPLICAS_H

#include "supervisor/actions/parts.h"

/* LEADER. True: what waits in this cluster may be looked at again. */
bool replicas_on_leader(struct supervisor *s, const struct msg *m);
/* MEMBERS: of the home cluster alone, else it is not looked at. */
void replicas_on_members(struct supervisor *s, const struct msg *m);
/* A watcher is ready, and knows nothing. */
void replicas_on_watcher_ready(struct supervisor *s, uint64_t cluster);
/* Settings are in force: there may be other clusters. */
void replicas_on_loaded(struct supervisor *s);
/* What was said of who lives may be too old. */
void replicas_tick(struct supervisor *s, uint64_t now_ms);

/* LEADER as the watcher of the cluster has last said, NULL when it has not. */
const struct msg *replicas_leader(const struct supervisor *s, uint64_t cluster);
/* Until when a write may start that may take up to `most` ms; 0 = not at all, while another replica may lead.
 */
uint64_t replicas_write_until(const struct supervisor *s, uint64_t cluster, uint64_t now_ms, uint64_t most);
/* This replica leads the cluster, or none needs to, and begins what there is to do. */
bool replicas_leads(const struct supervisor *s, uint64_t cluster);
/* Another replica, which lives, should lead the cluster, and this one does not. */
bool replicas_prefers_another(const struct supervisor *s, uint64_t cluster);
/* It leads until what is under way has ended: nothing is begun. */
bool replicas_is_yielding(const struct supervisor *s, uint64_t cluster);
/* Of one that yields nothing is under way any more. */
void replicas_let_go(struct supervisor *s, uint64_t cluster);
/* Free what is kept of it. */
void replicas_free(struct supervisor *s);

#endif
