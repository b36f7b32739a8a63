/* access.h - asks the API server what this worker's credential may do (SelfSubjectAccessReview): for `rbac
 * --check`, and before a write of mode observe, which needs no right to write. The server keeps nothing of
 * it. Layer: worker. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_ACCESS_H
#define WORKER_ACCESS_H

#include "http/client.h"
#include "ipc/msg.h"

#define ACCESS_PATH "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"

struct access;
/* client is borrowed. answer() gets a CTL_ACCESS_ROW for each question. */
struct access *access_new(struct http_client *client, void (*answer)(void *ctx, const struct msg *m),
			  void *ctx);
/* Cancels what is under way. Accepts NULL. */
void access_free(struct access **a);
/* One question at a time: while one is open, the next one is answered as unknown. */
void access_ask(struct access *a, const struct msg_ctl_access *q);

/* The body that asks whether this write may be made; owned by the caller. NULL: the path is that of no object
 * in a namespace. */
char *access_review_of(const char *method, const char *path);
/* Does the answer say that it may not? What else it says, or that it says nothing, is no. Adds the server's
 * word. */
bool access_is_denied(const struct http_result *r, struct facts *why);

#endif
