/* explain_rows.h - what each duty says about one pod of the cache, or about every pod of a workload, for an
 * operator who asks. Layer: watcher.  Threads: none. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_CONTROLLER_EXPLAIN_ROWS_H
#define WATCHER_CONTROLLER_EXPLAIN_ROWS_H

#include "watcher/controller/cluster_state.h"
#include "watcher/guards/outbox.h"

#define EXPLAIN_ROWS_MAX  8u
#define EXPLAIN_ROWS_PODS 64u /* of a workload, shown in one answer */

/* Questions not answered to the end yet, oldest first. Zero-initialised is empty. */
struct explain_rows {
	struct msg_ctl_explain asked[EXPLAIN_ROWS_MAX];
	size_t n;
	/* of the oldest: its pods, which of them is next, and how many of its rows were sent */
	uint32_t pods[EXPLAIN_ROWS_PODS];
	uint32_t n_pods, pod, left_out;
	int row;
	bool begun, workload;
};

/* CTL_EXPLAIN. More than EXPLAIN_ROWS_MAX at once: the new one is answered with an error. */
void explain_rows_ask(struct explain_rows *e, const struct msg_ctl_explain *m, const struct outbox *out);
/* Answer what is open: for each pod and duty a CTL_EXPLAIN_ROW with the verdict (an ACT that a guard blocks
 * is a WAIT with that reason) and, when `rules` was asked for, one for each check and then each guard; then
 * CTL_END (code 1 when there is no such pod or workload in the cache). 0, or -EAGAIN of the outbox: call
 * again when there is room. */
int explain_rows_step(struct explain_rows *e, const struct cluster_state *c, const struct outbox *out);

#endif
