/* access.h - asks the API server what this worker's credential may do (SelfSubjectAccessReview), for `rbac
 * --check`. The server keeps nothing of it.  Layer: worker. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_ACCESS_H
#define WORKER_ACCESS_H

#include "http/client.h"
#include "ipc/msg.h"

struct access_env {
	/* As in action_env.h. */
	struct http_request *(*start)(void *ctx, const struct http_call *call);
	void (*cancel)(void *ctx, struct http_request *r);
	/* m is a CTL_ACCESS_ROW. */
	void (*answer)(void *ctx, const struct msg *m);
	void *ctx;
};

struct access;
struct access *access_new(const struct access_env *env);
/* Cancels what is under way. Accepts NULL. */
void access_free(struct access **a);
/* One question at a time: while one is open, the next one is answered as unknown. */
void access_ask(struct access *a, const struct msg_ctl_access *q);

#endif
