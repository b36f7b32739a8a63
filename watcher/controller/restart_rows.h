/* restart_rows.h - the rows of a digest: every pod of the cache that restarts too often, a slice at a time.
 * Layer: watcher.  Threads: none. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_CONTROLLER_RESTART_ROWS_H
#define WATCHER_CONTROLLER_RESTART_ROWS_H

#include "watcher/controller/cluster_state.h"
#include "watcher/guards/outbox.h"

/* Zero-initialised: no digest is asked for. */
struct restart_rows {
	uint64_t digest; /* its number, 0 = none is asked for */
	uint32_t last;   /* handle judged last */
	bool all_seen;
};

/* DIGEST_GET: begin, also when one is on its way (the older one is ended as not complete). */
void restart_rows_start(struct restart_rows *d, uint64_t digest, const struct cluster_state *c,
			const struct outbox *out);
/* Judge some hundred pods. 0; or -EAGAIN of the outbox: call again when there is room. d->digest is 0 after
 * the end. */
int restart_rows_step(struct restart_rows *d, const struct cluster_state *c, const struct outbox *out);

/* Name of the workload as far as the pod says: a ReplicaSet's without the revision that ends it, the pod's
 * own without a controller. For display only. */
struct str restart_rows_workload(const struct pod_facts *p);

#endif
