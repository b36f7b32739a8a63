/* state.h - the present, as the messages that said it last: TROUBLE_ROW by trouble and cluster, WATCH_STATS
 * by cluster, DUE_ROW by cluster, duty, state and reason, CHILD_STATS by child. The status page, the metrics,
 * health and the alarms read them here when they are asked. Clusters are kept by name: indices change when
 * the configuration does.  Layer: process (reporter), state.  Owns copies of the messages. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_STATE_STATE_H
#define REPORTER_STATE_STATE_H

#include "ipc/msg.h"

struct state;

/* One message. Only the member of m->u that m->type names is there: *m is not to be copied. */
struct state_entry {
	char *cluster; /* name; "" = of no cluster */
	struct msg *m;
};

struct state *state_new(void);
/* Accepts NULL. */
void state_free(struct state **s);
/* Replace the earlier message of the same key by a copy of m, which is of that cluster. A DUE_ROW of no
 * objects only removes the earlier one. A CHILD_STATS that says that the watcher of the cluster is not ready
 * also removes its DUE_ROWs, and its WATCH_STATS say from then on that it is not synced and does not lead. */
void state_put(struct state *s, const char *cluster, const struct msg *m);
/* The i-th message of that type, in no order; NULL behind the last one. Borrowed until the next state_put().
 */
const struct state_entry *state_at(const struct state *s, enum msg_type type, size_t i);
/* What the watcher of that cluster said last; NULL = nothing. Borrowed until the next state_put(). */
const struct msg_watch_stats *state_watch(const struct state *s, const char *cluster);

#endif
