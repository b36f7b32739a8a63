/* reporter_queue.h - messages for the reporter while it cannot take them, in their order. Of a statistic one
 * message is kept: a later value replaces it, and counts are added up. Everything else is limited: in all,
 * and by cluster, so that a flood from one leaves room for the others.
 * Process: supervisor.  Owns: the messages in it. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_ACTIONS_REPORTER_QUEUE_H
#define SUPERVISOR_ACTIONS_REPORTER_QUEUE_H

#include "ipc/msg.h"

#define REPORTER_QUEUE_MAX 4096u /* messages */

struct reporter_queue;

struct reporter_queue *reporter_queue_new(void);
void reporter_queue_free(struct reporter_queue **q);

/* Add m at the end, or to the statistic of its kind that waits already. Without room m is dropped, which
 * reporter_queue_dropped() counts. */
void reporter_queue_put(struct reporter_queue *q, const struct msg *m);
/* Copy the first message. Returns false when there is none. */
bool reporter_queue_first(const struct reporter_queue *q, struct msg *ret);
/* Remove the first message; there must be one. */
void reporter_queue_remove_first(struct reporter_queue *q);
size_t reporter_queue_count(const struct reporter_queue *q);

/* Number of messages of a cluster (CLUSTERS_MAX: of none) that were dropped since
 * reporter_queue_reset_dropped(). */
uint64_t reporter_queue_dropped(const struct reporter_queue *q, uint64_t cluster);
void reporter_queue_reset_dropped(struct reporter_queue *q);

#endif
