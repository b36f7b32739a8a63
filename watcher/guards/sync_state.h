/* sync_state.h - whether the cache may be judged at all, and by which time nominations may begin.
 * Layer: watcher.  Threads: none.  Pure: times are boot milliseconds.
 * Nothing is judged from a list that is not complete, nor from a cache whose last byte is old, nor before
 * the saved state has arrived from the reporter; nothing is nominated in a quiet period after the first sync.
 */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_GUARDS_SYNC_STATE_H
#define WATCHER_GUARDS_SYNC_STATE_H

#include "base/str.h"
#include "text/texts.h"

/* The server sends a bookmark every minute: silence for this long means that the cache is stale. */
#define SYNC_STATE_STALE_MS 300000u

/* Zero-initialised is of no list. The first two members are its own, the others are set by whoever owns it.
 */
struct sync_state {
	struct sync_scope *v;
	size_t n;
	uint64_t quiet_ms;  /* no nomination this long after the first sync */
	uint64_t last_byte; /* when bytes arrived */
	bool remembered;    /* what the reporter remembers is here */
	bool waits;         /* labels of namespaces are asked for, and their list is still to come */
};

void sync_state_done(struct sync_state *g);
/* Forget all lists: another set of namespaces is watched from now on. */
void sync_state_reset(struct sync_state *g);

/* The list of ns ("" = all) began, was completed, was given up. `list` is kept for sync_state_sync. */
void sync_state_list(struct sync_state *g, struct str ns, uint32_t list);
struct sync_state_synced {
	uint32_t list; /* what sync_state_list was given */
	bool first;    /* never complete before */
	bool narrowed; /* until now everything was watched: what sync_state_watches() denies is not kept in
			  step */
};
struct sync_state_synced sync_state_sync(struct sync_state *g, struct str ns, uint64_t boot_ms);
void sync_state_list_failed(struct sync_state *g, struct str ns);

/* May anything be judged now? */
bool sync_state_open(const struct sync_state *g, uint64_t boot_ms);
/* Are pods of this namespace kept in step, and from when on may they be nominated? */
bool sync_state_namespace(const struct sync_state *g, struct str ns, uint64_t *ret_nominate_at);
/* Is ns listed, by itself or with all others, complete or not? */
bool sync_state_watches(const struct sync_state *g, struct str ns);
/* Did bytes arrive lately? */
bool sync_state_fresh(const struct sync_state *g, uint64_t boot_ms);
/* Is every namespace's list complete? */
bool sync_state_synced(const struct sync_state *g);
/* Why nothing is judged; TEXT__MAX when it may be judged. */
enum text sync_state_reason(const struct sync_state *g, uint64_t boot_ms);

#endif
