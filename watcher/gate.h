/* gate.h - whether the cache may be judged at all, and by which time nominations may begin.
 * Layer: watcher.  Threads: none.  Pure: times are boot milliseconds.
 * Nothing is judged from a list that is not complete, nor from a cache whose last byte is old, nor before
 * what the reporter remembers has arrived; nothing is nominated in a quiet period after the first sync. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_GATE_H
#define WATCHER_GATE_H

#include "base/str.h"

/* The server sends a bookmark every minute: silence for this long means that the cache is stale. */
#define GATE_STALE_MS 300000u

struct gate;

struct gate *gate_new(uint64_t quiet_ms);
void gate_free(struct gate **g);
void gate_set_quiet(struct gate *g, uint64_t quiet_ms);
/* Forget all lists: another set of namespaces is watched from now on. */
void gate_reset(struct gate *g);

/* The list of ns ("" = all) began, was completed, was given up. `list` is kept for gate_sync. */
void gate_list(struct gate *g, struct str ns, uint32_t list);
struct gate_synced {
	uint32_t list; /* what gate_list was given */
	bool first;    /* never complete before */
	bool narrowed; /* until now everything was watched: what gate_watches() denies is not kept in step */
};
struct gate_synced gate_sync(struct gate *g, struct str ns, uint64_t boot_ms);
void gate_list_failed(struct gate *g, struct str ns);
void gate_alive(struct gate *g, uint64_t boot_ms);
/* What the reporter remembers is here. */
void gate_remembered(struct gate *g);

/* May anything be judged now? */
bool gate_open(const struct gate *g, uint64_t boot_ms);
/* Are pods of this namespace kept in step, and from when on may they be nominated? */
bool gate_namespace(const struct gate *g, struct str ns, uint64_t *ret_nominate_at);
/* Is ns listed, by itself or with all others, complete or not? */
bool gate_watches(const struct gate *g, struct str ns);
/* Did bytes arrive lately? */
bool gate_fresh(const struct gate *g, uint64_t boot_ms);
/* Is every namespace's list complete? */
bool gate_synced(const struct gate *g);
/* Why nothing is judged, for people; "" when the gate is open. */
const char *gate_reason(const struct gate *g, uint64_t boot_ms);

#endif
