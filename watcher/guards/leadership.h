/* leadership.h - holds, or waits for, the cluster's Lease: kube/leader.h put on HTTP and timers. The only
 * thing a watcher ever writes. Layer: watcher.  Threads: none. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_GUARDS_LEADERSHIP_H
#define WATCHER_GUARDS_LEADERSHIP_H

#include <stdbool.h>
#include <stdint.h>

#include "http/client.h"

struct event_base;
struct leadership;

struct leadership_ops {
	/* Whether this replica leads, and until which boot ms nobody else can. Told at every change and
	 * renewal. */
	void (*changed)(void *ctx, bool leading, uint64_t valid_until, const char *holder);
	/* The API server refused the credential (401). */
	void (*refused)(void *ctx);
	/* Why the Lease cannot be used; "" = it can, again. Told when it changes. */
	void (*trouble)(void *ctx, const char *text);
};

/* The client is borrowed; ns and name are copied. The identity is made of the host's name and the
 * supervisor's pid: a watcher that is restarted takes its own Lease up again. */
struct leadership *leadership_new(struct event_base *base, struct http_client *client, const char *ns,
				  const char *name, const struct leadership_ops *ops, void *ctx);
void leadership_start(struct leadership *l);
/* Gives the Lease back, so that another replica need not wait for it to run out; released(ctx) is called when
 * that is done or cannot be: at once when nothing is held, and after a second at the latest. */
void leadership_release(struct leadership *l, void (*released)(void *ctx), void *ctx);
/* Accepts NULL. */
void leadership_free(struct leadership **l);

#endif
