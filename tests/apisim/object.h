/* One version of one object: immutable, counted, with its encoded forms made when first asked for. */
// SPDX-License-Identifier: Apache-2.0
#ifndef APISIM_OBJECT_H
#define APISIM_OBJECT_H

#include "tests/apisim/blob.h"

#include <stdbool.h>

struct fill_group;

struct obj {
	unsigned refs;
	const struct kind *kind;
	uint64_t rv;
	char *ns; /* "" when not namespaced */
	char *name;
	char *key;    /* object_key(ns, name) */
	json_t *tree; /* NULL for a pod that fill.c can make again */
	struct blob *pb, *text;
	struct blob *old_pb, *old_text; /* of a version before, until there are own ones */
	const struct fill_group *group;
	uint32_t index, round;
};

/* "ns/name", or "name" when ns is "": the order of lists. The caller's. */
char *object_key(const char *ns, const char *name);

/* Takes the tree, a whole object with metadata.name, and gives it kind, apiVersion and
 * metadata.resourceVersion as object_with does. The tree must not be changed afterwards: parts of it may be
 * shared by many versions. */
struct obj *object_new(const struct kind *kind, json_t *tree, uint64_t rv);

/* One that fill.c makes again whenever it is needed. */
struct obj *object_new_filled(const struct kind *kind, const struct fill_group *group, const char *ns,
			      const char *name, uint32_t index, uint32_t round, uint64_t rv);

struct obj *object_ref(struct obj *o);
void object_unref(struct obj *o);

/* The object as JSON; the reference is the caller's, the tree is shared and must not be changed. */
json_t *object_tree(const struct obj *o);

/* Tells a new version which one was before it: its forms take over what both have in common. */
void object_follows(struct obj *o, const struct obj *old);

/* The protobuf form of a pod; borrowed. */
struct blob *object_pb(struct obj *o);

/* The JSON text; the reference is the caller's. */
struct blob *object_text(struct obj *o);

/* Borrowed labels (an object) or NULL; and a field by its dotted path, "" when absent. out holds 256 bytes.
 */
const json_t *object_labels(const struct obj *o);
const char *object_field(const struct obj *o, const char *path, char out[256]);

const char *object_uid(const struct obj *o, char out[64]);

/* Takes the tree and returns it with one value more or less: where anybody else holds a part of the way to
 * the value that part is copied, and what was not touched is shared. value is taken; NULL removes the member.
 * path is dotted. */
json_t *object_with(json_t *tree, const char *path, json_t *value);

/* Borrowed value at a dotted path, or NULL. */
json_t *object_at(const json_t *tree, const char *path);

#endif
