/* explain.h - what each duty says about one pod of the cache, for a person who asks.
 * Layer: watcher.  Threads: none. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_EXPLAIN_H
#define WATCHER_EXPLAIN_H

#include "watcher/judging.h"

#define EXPLAIN_MAX 8u

/* Questions not answered to the end yet, oldest first. Zero-initialised is empty. */
struct explain {
	struct msg_ctl_explain asked[EXPLAIN_MAX];
	size_t n;
	int row; /* of the oldest: rows already sent */
};

/* CTL_EXPLAIN. More than EXPLAIN_MAX at once: the new one is answered with an error. */
void explain_ask(struct explain *e, const struct msg_ctl_explain *m, judging_send_fn *send, void *ctx);
/* Answer what is open: a CTL_EXPLAIN_ROW a duty, then CTL_END (code 1 when the pod is not in the cache). 0,
 * or -EAGAIN of send: call again when there is room. */
int explain_answer(struct explain *e, struct judging *j, judging_send_fn *send, void *ctx);

#endif
