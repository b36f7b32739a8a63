/* rows.h - the messages of an answer, by their type: rows.ctl_cluster.v[0] is the first CTL_CLUSTER.
 * Process: cli. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CLI_INSTANCE_ROWS_H
#define CLI_INSTANCE_ROWS_H

#include "ipc/msg.h"

/* Zeroed = empty. Each v is the owner's (rows_done). */
struct rows {
#define M(ID, name, ...)                                                                                     \
	struct {                                                                                             \
		struct msg_##name *v;                                                                        \
		size_t n;                                                                                    \
	} name;
	MSG_LIST(M)
#undef M
};

/* For ctl_ask() and ctl_request(): ctx is the rows, of which m becomes one more. */
void rows_take(void *ctx, const struct msg *m);
/* Sort the rows of the history by action key, of one key the newest first. */
void rows_sort_history(struct rows *r);
void rows_done(struct rows *r);

#endif
