/* membership.h - this replica among those that share clusters: it keeps a Lease of its own in the home
 * cluster and lists those of the others: kube/members.h and kube/leader.h put on HTTP and timers. Layer:
 * watcher. Threads: none. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_GUARDS_MEMBERSHIP_H
#define WATCHER_GUARDS_MEMBERSHIP_H

#include <stdint.h>

#include "http/client.h"

struct event_base;
struct membership;

struct membership_ops {
	/* The identities that live, one a line, and until which boot ms that can be relied on; with each
	 * list. */
	void (*members)(void *ctx, const char *live, uint64_t valid_until);
	/* The API server refused the credential (401). */
	void (*refused)(void *ctx);
	/* Why replicas cannot see one another, where only an operator helps; none = they can, again. */
	void (*trouble)(void *ctx, const struct facts *why);
};

/* It begins at once. The client is borrowed; texts are copied. identity: leadership_identity(); name: of
 * the clusters' Lease. */
struct membership *membership_new(struct event_base *base, struct http_client *client, const char *identity,
				  const char *ns, const char *name, const struct membership_ops *ops,
				  void *ctx);
/* Nothing is listed any more, and the own Lease is given back: as leadership_release(). */
void membership_release(struct membership *m, void (*released)(void *ctx), void *ctx);
/* Accepts NULL. */
void membership_free(struct membership **m);

#endif
