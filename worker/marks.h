/* marks.h - finds the workloads that bear the mark of a scale-down (steps/mark.c) and are still at 0: for
 * `restore`, where the history does not know of them. Kinds that only discovery tells are not looked at.
 * Layer: worker. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_MARKS_H
#define WORKER_MARKS_H

#include "http/client.h"
#include "ipc/msg.h"

struct marks;
/* client is borrowed. answer() gets a CTL_MARKED_ROW for each, and a CTL_END. */
struct marks *marks_new(struct http_client *client, void (*answer)(void *ctx, const struct msg *m),
			void *ctx);
/* Cancels what is under way. Accepts NULL. */
void marks_free(struct marks **m);
/* One question at a time: while one is open, the next one ends at once. */
void marks_ask(struct marks *m, const struct msg_ctl_marked *q);

#endif
