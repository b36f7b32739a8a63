/* Counted bytes that are sent by reference: the encoded forms of objects. */
// SPDX-License-Identifier: Apache-2.0
#ifndef APISIM_BLOB_H
#define APISIM_BLOB_H

#include "tests/apisim/kinds.h"
#include "tests/apisim/podpb.h"

#include <event2/buffer.h>
#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

/* Where the form of one member of an object stands, for the next version, which shares the member. */
struct part {
	json_t *tree; /* the member, counted; NULL: nothing is known */
	size_t at, size;
};

enum { PART_SPEC, PART_STATUS, PARTS };

struct blob {
	unsigned refs;
	/* pb: the item header of a list (tag and length) stands before it. text: "kind" and "apiVersion",
	 * which a list of built-in objects leaves out, stand before it, without the opening brace. */
	size_t head;
	size_t size; /* of everything in data; what ends a protobuf envelope (PODPB_TAIL) stands behind it */
	struct part parts[PARTS];
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

/* The JSON text of a tree that begins with kind and apiVersion, and its protobuf form; the caller's. What the
 * tree shares with the one that `old` (or NULL) is a form of is taken from there. */
struct blob *blob_json(const json_t *tree, const struct kind *kind, const struct blob *old);
struct blob *blob_pb(const json_t *tree, const struct kind *kind, const struct blob *old);

/* Appends data[from..size) without copying it when it is large. */
void blob_add(struct evbuffer *out, struct blob *b, size_t from);
/* A watch frame around a protobuf object, by reference; one that adds it is a single piece, as an item of a
 * list is. A piece copied behind a large one would cost libevent a buffer of the large one's size. */
void blob_add_frame(struct evbuffer *out, struct blob *b, const char *type, const char *kind);

#endif
