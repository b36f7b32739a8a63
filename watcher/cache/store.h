/* store.h - the cache: every pod's judged facts in about a hundred bytes.
 * Layer: watcher.  Threads: none.  Owns: everything it holds.
 * A pod is named by a handle: a 4-byte number, 1 or more, valid until the pod is removed and reused after.
 * Facts handed out borrow from the store until its next call (store_get of another pod included). Times come
 * back in whole seconds, rounded up; messages of containers are not kept. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_CACHE_STORE_H
#define WATCHER_CACHE_STORE_H

#include "model/pod.h"
#include "model/policy.h"
#include "watcher/cache/group.h"
#include "watcher/cache/namespace_table.h"

struct store;

struct store_ops {
	/* h is about to be removed (deleted, swept, or its name was taken by another uid); it can still be
	 * read. Nothing may be put or removed in here. */
	void (*on_removed)(void *ctx, uint32_t h);
	/* The tally of this group changed. It may be the group's last sign of life. */
	void (*on_tally)(void *ctx, uint32_t group);
};

/* ops is copied. */
struct store *store_new(const struct store_ops *ops, void *ctx);
void store_free(struct store **s);

enum store_change {
	STORE_SAME,    /* known, nothing judged differs, not even the resourceVersion */
	STORE_TOUCHED, /* only the resourceVersion differs */
	STORE_CHANGED,
	STORE_ADDED, /* new, or another uid of a known name: the old pod was removed first */
};

/* Which labels matter: those of this policy's overrides (borrowed; NULL: none). Pods that are here keep what
 * was found of theirs until they are put again. */
void store_set_policy(struct store *s, const struct policy *policy);

/* Where facts that are handed out get the labels of their namespace from (borrowed; NULL: they are not
 * known). */
void store_set_namespaces(struct store *s, const struct namespace_table *namespaces);

/* Take in the facts of one pod; mark is a set of MARK_*. 0, or -EINVAL when namespace, name or uid are
 * missing or longer than Kubernetes allows (nothing is kept). */
int store_put(struct store *s, const struct pod_facts *p, uint8_t mark, uint32_t *ret_handle,
	      enum store_change *ret_change);
/* Handle of ns/name, 0 when unknown. */
uint32_t store_find(const struct store *s, struct str ns, struct str name);
void store_get(struct store *s, uint32_t h, struct pod_facts *ret);
/* The same into a text of the caller's: facts that store_get handed out stay valid. */
struct pack_text;
void store_read(const struct store *s, uint32_t h, struct pack_text *text, struct pod_facts *ret);
void store_remove(struct store *s, uint32_t h);

/* Is h the handle of a pod? */
bool store_has(const struct store *s, uint32_t h);
/* Smallest handle above h, 0 at the end: for (h = 0; (h = store_next(s, h));). Removal of h is allowed. */
uint32_t store_next(const struct store *s, uint32_t h);
uint8_t store_mark(const struct store *s, uint32_t h);
void store_set_mark(struct store *s, uint32_t h, uint8_t mark);
/* Namespace of h, without unpacking it. */
struct str store_namespace(const struct store *s, uint32_t h);

/* The group of pod h: pods of one controller and revision (0 = no controller). */
uint32_t store_group(const struct store *s, uint32_t h);
const struct groups *store_groups(const struct store *s);
/* Pods of a group: the first one, and the one after h (0 = end). */
uint32_t store_group_first(const struct store *s, uint32_t group);
uint32_t store_group_next(const struct store *s, uint32_t h);

/* A list begins: its number. store_sweep removes what was put last before that list began, in namespace ns
 * or, when ns is empty, everywhere. Returns how many. */
uint32_t store_list_begin(struct store *s);
size_t store_sweep(struct store *s, uint32_t list, struct str ns);

size_t store_count(const struct store *s);
/* Bytes of everything held, unused room included, by what it is. */
struct store_sizes {
	size_t pods;    /* their records */
	size_t handles; /* where each of them lies */
	size_t index;   /* of namespaces and names */
	size_t texts;   /* that several of them have */
	size_t groups;  /* owners and revisions, with what is counted of their pods */
};
struct store_sizes store_sizes(const struct store *s);
static inline size_t store_bytes(const struct store *s)
{
	const struct store_sizes n = store_sizes(s);

	return n.pods + n.handles + n.index + n.texts + n.groups;
}

#endif
