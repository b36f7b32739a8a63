/* leadership.h - holds, or waits for, the cluster's Lease, as leader or as presence: kube/leader.h put on
 * HTTP and timers. The only thing a watcher ever writes. Layer: watcher.  Threads: none. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_GUARDS_LEADERSHIP_H
#define WATCHER_GUARDS_LEADERSHIP_H

#include <stdbool.h>
#include <stdint.h>

#include "http/client.h"
#include "kube/leader.h"

struct event_base;
struct leadership;

struct leadership_ops {
	/* Whether this replica leads, and until which boot ms nobody else can. Told at every change and
	 * renewal. yielding: it leads until leadership_let_go(), for the sake of `holder`. Not of a presence.
	 * NULL: nobody asks. */
	void (*changed)(void *ctx, bool leading, bool yielding, uint64_t valid_until, const char *holder);
	/* The API server refused the credential (401). */
	void (*refused)(void *ctx);
	/* Why the Lease cannot be used; none = it can, again. Told when it changes. Of an election
	 * all is told, else only what an operator alone can change, a right or a namespace that is missing.
	 */
	void (*trouble)(void *ctx, const struct facts *why);
	/* Who else works here, "" = nobody any more; told when it changes. Of a presence alone. Returns 0,
	 * else it is told again at the next request. */
	int (*other)(void *ctx, const char *holder);
};

/* Made of the host's name, the instance and the supervisor's pid: a watcher that is restarted takes its own
 * Lease up again, and of two containers that have the name of one host, and pid 1, each is another. instance:
 * random, as long as the supervisor lives. To be asked for before the sandbox, which hides the host's name.
 */
void leadership_identity(uint64_t instance, char ret[static LEASE_TEXT]);
/* The client is borrowed; texts are copied. */
struct leadership *leadership_new(struct event_base *base, struct http_client *client, enum leader_kind kind,
				  const char *identity, const char *ns, const char *name,
				  const struct leadership_ops *ops, void *ctx);
void leadership_start(struct leadership *l);
/* What a server says that refuses a request: its status, and its words where it has any. */
void leadership_refusal(const struct http_result *r, struct facts *ret);
/* Which replica should lead: leader_prefer(). */
void leadership_prefer(struct leadership *l, const char *identity);
/* Text for the next leader, taken over: leader_remember(). */
void leadership_remember(struct leadership *l, char *memory);
/* What the leader before has left for this one, as it was last read; "" = nothing. */
const char *leadership_memory(const struct leadership *l);
/* The client reaches another server from now on: what was read from the one before, and written there, says
 * nothing about its Lease. This replica does not lead until it holds that one. */
void leadership_forget(struct leadership *l);
/* Nothing is under way any more: leader_let_go(). */
void leadership_let_go(struct leadership *l);
/* Gives the Lease back, so that another replica need not wait for it to run out; released(ctx) is called when
 * that is done or cannot be: at once when nothing is held, and after a second at the latest. A presence
 * reports nothing from then on. It may be called again meanwhile: the last one is told. */
void leadership_release(struct leadership *l, void (*released)(void *ctx), void *ctx);
/* Accepts NULL. */
void leadership_free(struct leadership **l);

#endif
