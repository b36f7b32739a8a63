/* group.h - pods that share one controller and one revision: their list and their tally.
 * Layer: watcher.  Threads: none.  Borrows: the intern table.
 * A group is named by a 4-byte id and lives as long as it has a pod. Groups of one owner uid (revisions of a
 * StatefulSet) form a chain, because a Ready pod of any revision protects the whole workload. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_CACHE_GROUP_H
#define WATCHER_CACHE_GROUP_H

#include "model/duties.h"
#include "model/pod.h"
#include "watcher/cache/intern.h"

/* What a pod counts as in its group's tally; and for each duty that concerns workloads (model/duties.h): it
 * is live and fails in the way of that duty, of one duty at most; it is live and shows that its revision
 * works. Of a live pod that fails by none of them: it speaks for a workload whose main, or init, containers
 * fail (judge_proves). */
enum {
	MARK_LIVE = 1,  /* not terminating, not finished */
	MARK_READY = 2, /* Ready, terminating or not */
};
#define MARK_FAILING(i)   (4u << (i))
#define MARK_WORKS(i)     (4u << (WORKLOAD_DUTIES + (i)))
#define MARK_PROVES(kind) (4u << (2 * WORKLOAD_DUTIES + (kind))) /* CONTAINER_MAIN, CONTAINER_INIT */
#define MARK_BITS         (4 + 2 * WORKLOAD_DUTIES)
_Static_assert(MARK_BITS <= 8, "a mark is a byte");

struct groups;

struct groups *groups_new(struct intern *intern);
void groups_free(struct groups **g);

/* The group of that owner (uid not empty) and revision, made when new. One pod more is in it after. */
uint32_t groups_join(struct groups *g, const struct owner_facts *owner, struct str revision);
/* One pod less; the group goes with its last pod. */
void groups_leave(struct groups *g, uint32_t id);
/* Owner and revision of a group, valid until a group goes; ret->uid may lie in `uid` (37 bytes of the
 * caller's). */
void groups_owner(const struct groups *g, uint32_t id, struct owner_facts *ret, struct str *ret_revision,
		  char uid[static 37]);
struct str groups_owner_name(const struct groups *g, uint32_t id);

/* The list of the group's pods is kept by the store; this is where it begins. */
uint32_t *groups_head(struct groups *g, uint32_t id);
/* A pod's mark went from `before` to `after`. */
void groups_count(struct groups *g, uint32_t id, uint8_t before, uint8_t after);

struct group_tally {
	uint32_t live, failing[WORKLOAD_DUTIES], works[WORKLOAD_DUTIES]; /* of this group */
	uint32_t proves[2];          /* likewise, by kind of container: MARK_PROVES */
	uint32_t ready, failing_all; /* of all groups of this owner; failing by any duty */
	bool pulled;                 /* a pod of this group has been seen with its images */
};
void groups_tally(const struct groups *g, uint32_t id, struct group_tally *ret);
/* Groups of the same owner uid: the first one, and the next after id (0 = none). */
uint32_t groups_chain_first(const struct groups *g, uint32_t id);
uint32_t groups_chain_next(const struct groups *g, uint32_t id);

/* Is there such a group? Ids come from a queue that may be older than the group's end. */
bool groups_has(const struct groups *g, uint32_t id);

size_t groups_bytes(const struct groups *g);

#endif
