/* pack.h - the judged facts of one pod as a few dozen bytes, and back.
 * Layer: watcher.  Pure but for the references it takes and gives in the intern table.
 * Varints, one bit for what is absent or common, times as differences to the creation in whole seconds
 * (rounded up: a threshold is never reached early by rounding), a name without the prefix its owner gave it.
 */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_CACHE_PACK_H
#define WATCHER_CACHE_PACK_H

#include "model/pod.h"
#include "watcher/cache/group.h"
#include "watcher/cache/intern.h"

/* More than any pod needs: 64 containers with every field at its longest. */
#define PACK_MAX 8192u

#define PACK_RV_BITS 48
#define PACK_RV_MAX                                                                                          \
	((UINT64_C(1) << PACK_RV_BITS) - 1) /* a thousand years at ten thousand changes a second */

/* Fixed part of a packed pod, kept by the store outside the bytes. */
struct pack_head {
	uint8_t uid[16];            /* UUID, or zero when the uid is another text */
	uint64_t rv : PACK_RV_BITS; /* the number, or the id of the text when it is none, or too large */
} __attribute__((packed));

/* Where pack_decode assembles what is not stored as text. */
struct pack_text {
	char name[256], uid[37], owner_uid[37], rv[24];
};

/* What the store knows of a pod before it is packed. */
struct pack_origin {
	uint32_t ns;          /* interned: this reference is the bytes' from now on */
	uint32_t group;       /* 0 = no controller */
	uint32_t labels_mask; /* of its labels (rules/select.h) */
};

/* Pack p. Takes a reference on each other string. Returns the bytes. */
size_t pack_encode(struct intern *t, const struct groups *g, const struct pod_facts *p,
		   const struct pack_origin *from, struct pack_head *ret_head, uint8_t buf[static PACK_MAX]);
/* Give back the references that the bytes hold; they are dead after. */
void pack_release(struct intern *t, const struct pack_head *head, const uint8_t *buf);
/* Unpack. Strings are borrowed from the intern table and from *text. Containers beyond n_containers and
 * finalizers beyond n_finalizers are left as they were. */
void pack_decode(const struct intern *t, const struct groups *g, const struct pack_head *head,
		 const uint8_t *buf, struct pack_text *text, struct pod_facts *ret);
/* Have these bytes the uid that `other` was made of? */
bool pack_same_uid(const struct intern *t, const struct groups *g, const struct pack_head *head,
		   const uint8_t *buf, const struct pack_head *other, struct str uid);
/* Are these the bytes of pod ns/name? ns is an interned id. */
bool pack_is(const struct groups *g, const uint8_t *buf, uint32_t ns, struct str name);
/* Namespace id, group, and name (prefix may be empty; both borrowed) of packed bytes. */
struct pack_key {
	uint32_t ns, group;
	struct str prefix, rest;
};
void pack_key(const struct groups *g, const uint8_t *buf, struct pack_key *ret);

#endif
