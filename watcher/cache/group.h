/* group.h - pods that share one controller and one revision: their list and their tally.
 * Layer: watcher.  Threads: none.  Borrows: the intern table.
 * A group is named by a 4-byte id and lives as long as it has a pod. Groups of one owner uid (revisions of a
 * StatefulSet) form a chain, because a Ready pod of any revision protects the whole workload. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_CACHE_GROUP_H
#define WATCHER_CACHE_GROUP_H

#include "model/pod.h"
#include "watcher/cache/intern.h"

/* What a pod counts as in its group's tally. */
enum {
	MARK_LIVE = 1,    /* not terminating, not finished */
	MARK_FAILING = 2, /* live, and fails to pull an image */
	MARK_READY = 4,   /* Ready, terminating or not */
	MARK_PULLED = 8,  /* live, not failing, and has pulled every image */
};
#define MARK_BITS 4

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
	uint32_t live, failing, pulled; /* of this group */
	uint32_t ready, failing_all;    /* of all groups of this owner */
};
void groups_tally(const struct groups *g, uint32_t id, struct group_tally *ret);
/* Groups of the same owner uid: the first one, and the next after id (0 = none). */
uint32_t groups_chain_first(const struct groups *g, uint32_t id);
uint32_t groups_chain_next(const struct groups *g, uint32_t id);

/* Is there such a group? Ids come from a queue that may be older than the group's end. */
bool groups_has(const struct groups *g, uint32_t id);

size_t groups_bytes(const struct groups *g);

#endif
