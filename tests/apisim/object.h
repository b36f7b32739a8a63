/* One version of one object: immutable, counted, with its encoded forms made when first asked for. */
// SPDX-License-Identifier: Apache-2.0
#ifndef APISIM_OBJECT_H
#define APISIM_OBJECT_H

#include "tests/apisim/kinds.h"
#include "tests/apisim/podpb.h"

#include <event2/buffer.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* Counted bytes, sent by reference. */
struct blob {
	unsigned refs;
	/* pb: the item header of a list (tag and length) stands before it. text: "kind" and "apiVersion",
	 * which a list of built-in objects leaves out, stand before it, without the opening brace. */
	size_t head;
	size_t size; /* of everything in data; what ends a protobuf envelope (PODPB_TAIL) stands behind it */
	/* pb: the head of a watch frame that adds the object, made when first asked for, ends where data
	 * begins: its last field, runtime.Unknown's raw, has the tag of a list's items, so the item header is
	 * its end. */
	uint8_t frame_size;
	char frame[PODPB_FRAME_MAX];
	char data[];
};

struct blob *blob_new(size_t size);
struct blob *blob_ref(struct blob *b);
void blob_unref(struct blob *b);

/* Appends data[from..size) without copying it when it is large. */
void blob_add(struct evbuffer *out, struct blob *b, size_t from);
/* A watch frame around a protobuf object, by reference; one that adds it is a single piece, as an item of a
 * list is. A piece copied behind a large one would cost libevent a buffer of the large one's size. */
void blob_add_frame(struct evbuffer *out, struct blob *b, const char *type, const char *kind);

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

/* The protobuf form of a pod; borrowed. */
struct blob *object_pb(struct obj *o);

/* The JSON text; the reference is the caller's. */
struct blob *object_text(struct obj *o);

/* The JSON text of a tree that begins with kind and apiVersion, and its protobuf form; the caller's. */
struct blob *object_dump(const json_t *tree, const struct kind *kind);
struct blob *object_dump_pb(const json_t *tree, const struct kind *kind);

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
