/* All objects, by kind in key order, and the last N changes. One resourceVersion for everything, one step a
 * change. */
// SPDX-License-Identifier: Apache-2.0
#ifndef APISIM_STORE_H
#define APISIM_STORE_H

#include "tests/apisim/object.h"

enum change_type { CHANGE_ADDED, CHANGE_MODIFIED, CHANGE_DELETED };

struct change {
	enum change_type type;
	struct obj *obj;  /* of a deletion: the last state with the resourceVersion of the deletion */
	struct obj *prev; /* the state before, NULL for an addition */
};

struct store;
typedef void (*store_change_fn)(void *arg, const struct change *event);

/* history: how many events are kept. The callback is called after each change. */
struct store *store_new(size_t history, store_change_fn on_change, void *arg);
void store_free(struct store *s);

uint64_t store_rv(const struct store *s);

/* Events with resourceVersion > floor are all kept. */
uint64_t store_floor(const struct store *s);

/* The event that made this resourceVersion; NULL when it is not kept (or was none: fill). */
const struct change *store_change(const struct store *s, uint64_t rv);

/* Borrowed, NULL when there is none. ns "" for kinds without. */
struct obj *store_get(const struct store *s, const struct kind *kind, const char *ns, const char *name);

/* Creates or replaces, with the next resourceVersion; takes the tree. Returns the new version, borrowed. */
struct obj *store_put(struct store *s, const struct kind *kind, json_t *tree);

/* The same for a filled pod whose `round` moves on. */
struct obj *store_put_filled(struct store *s, struct obj *old, uint32_t round);

/* Removes it; returns the last state with the deletion's resourceVersion, borrowed. */
struct obj *store_delete(struct store *s, struct obj *old);

/* Puts it in without an event; takes the reference. Its rv must be store_rv() + 1, which becomes the new one.
 */
void store_load(struct store *s, struct obj *o);

/* Sets the resourceVersion of a store without objects. */
void store_start(struct store *s, uint64_t rv);

/* Forgets all history up to now. */
void store_compact(struct store *s);

size_t store_count(const struct store *s, const struct kind *kind);

/* Objects of a kind as they were at a resourceVersion. */
struct snapshot {
	struct obj **items; /* counted */
	size_t count;
	uint64_t rv;
	size_t left;          /* matching objects beyond the limit */
	const char *last_key; /* of the last item, when left > 0; borrowed from it */
};
typedef bool (*store_match_fn)(const void *arg, const struct obj *o);

/* ns NULL: all. rv 0: now. after NULL: from the start. limit 0: none. match NULL: everything.
 * -ESTALE when that resourceVersion is not kept any more. */
int store_snapshot(const struct store *s, const struct kind *kind, const char *ns, uint64_t rv,
		   const char *after, size_t limit, store_match_fn match, const void *arg,
		   struct snapshot *ret);
void store_snapshot_done(struct snapshot *snap);

#endif
