/* explain_rows.h - what each duty says about one pod of the cache, or about every pod of a workload, for a
 * person who asks. Layer: watcher.  Threads: none. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_CONTROLLER_EXPLAIN_ROWS_H
#define WATCHER_CONTROLLER_EXPLAIN_ROWS_H

#include "watcher/controller/controller.h"

#define EXPLAIN_MAX      8u
#define EXPLAIN_PODS_MAX 64u /* of a workload, shown in one answer */

/* Questions not answered to the end yet, oldest first. Zero-initialised is empty. */
struct explain {
	struct msg_ctl_explain asked[EXPLAIN_MAX];
	size_t n;
	/* of the oldest: its pods, which of them is told, and how many of its rows were sent */
	uint32_t pods[EXPLAIN_PODS_MAX];
	uint32_t n_pods, pod, left_out;
	int row;
	bool begun, workload;
};

/* CTL_EXPLAIN. More than EXPLAIN_MAX at once: the new one is answered with an error. */
void explain_ask(struct explain *e, const struct msg_ctl_explain *m, controller_send_fn *send, void *ctx);
/* Answer what is open: for each pod and duty a CTL_EXPLAIN_ROW with the verdict (an ACT that a guard blocks
 * is a WAIT with that reason) and, when `rules` was asked for, one for each check and then each guard; then
 * CTL_END (code 1 when there is no such pod or workload in the cache). 0, or -EAGAIN of send: call again when
 * there is room. */
int explain_answer(struct explain *e, struct controller *c, controller_send_fn *send, void *ctx);

#endif
