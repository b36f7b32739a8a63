/* replica.h - this replica among others: it leads a cluster or waits for its Lease (election), lives among
 * those that share clusters (home), or notices another instance (presence). Layer: watcher.  Threads: none.
 */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_REPLICA_H
#define WATCHER_REPLICA_H

#include "config/settings.h"
#include "http/client.h"
#include "ipc/msg.h"
#include "watcher/controller/cluster_state.h"

struct event_base;
struct replica;

struct replica_ops {
	int (*send)(void *ctx, const struct msg *m); /* 0 or -EAGAIN */
	/* Whether this replica may act, and who leads, "" = not known. */
	void (*leads)(void *ctx, bool leading, const char *holder);
	/* What the leader before did in the last hour: SAVED_ROW, ACTION_ROW. Once it leads and SAVED_END was
	 * noted, before it may act. */
	void (*recall)(void *ctx, const struct msg *m);
	/* There is something new to replica_tell(). */
	void (*news)(void *ctx);
	/* The API server refused the credential (401). */
	void (*refused)(void *ctx);
};

/* Before the sandbox. instance: as of leadership_identity(). The client and the cluster are borrowed and
 * outlive it, and so do the settings until the next replica_set_settings(). Where an election is configured
 * `leads` says at once that it does not. */
struct replica *replica_new(struct event_base *base, struct http_client *client,
			    const struct cluster_state *cluster, uint64_t instance, const struct settings *s,
			    const struct replica_ops *ops, void *ctx);
/* Accepts NULL. */
void replica_free(struct replica **r);
void replica_start(struct replica *r);
/* Whether an election is needed only a restart changes; a presence is kept or given back at once. */
void replica_set_settings(struct replica *r, const struct settings *s);
/* The cluster is at another server, which may be another cluster: leadership_forget(). */
void replica_server_changed(struct replica *r);
/* PREFERRED, LET_GO. False: it is another message. */
bool replica_on_msg(struct replica *r, const struct msg *m);
/* What is said (SAVED) or heard (SAVED_ROW, ACTION_ROW, SAVED_END, NOMINATION_RESULT) of what is done, for
 * the next leader; heard: once the cluster's state knows of it. */
void replica_note(struct replica *r, const struct msg *m);
/* Its part of WATCH_STATS. */
void replica_tell(const struct replica *r, struct msg_watch_stats *ret);
/* All Leases are given back; left(ctx) when that is done or cannot be, perhaps at once. Nothing is begun any
 * more. Again: the last one is told. */
void replica_leave(struct replica *r, void (*left)(void *ctx), void *ctx);

#endif
