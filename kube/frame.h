/* frame.h - push parsers for the two things an API server streams as protobuf: watch frames and lists. They
 * take bytes cut anywhere and hand out one object at a time; an object is copied only when it lies across
 * two pieces. Memory: the largest object that straddled, given back when it was large. Layer: kube. */
// SPDX-License-Identifier: Apache-2.0
#ifndef KUBE_FRAME_H
#define KUBE_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* client-go's limit for one object (apimachinery serializer/streaming); etcd's is far below. */
#define FRAME_SIZE_MAX (UINT32_C(16) << 20)

struct frame_ops {
	/* One object's bytes, valid during the call. Non-zero ends the feed and is its result. */
	int (*on_object)(void *ctx, const uint8_t *p, size_t n);
	/* An object of n bytes is above FRAME_SIZE_MAX: it is read past and dropped. */
	void (*on_oversize)(void *ctx, uint64_t n);
	void *ctx;
};

/* What both parsers do with a payload: pass it on in one piece, or step over it. Internal. */
struct payload {
	uint8_t *buf;
	size_t len, cap;
	uint64_t left; /* bytes still to come */
	bool skip;
};

/* Watch: repeated { uint32 big-endian length; that many bytes } (apimachinery pkg/util/framer). */
struct frame_splitter {
	struct frame_ops ops;
	struct payload payload;
	uint8_t header[4];
	uint8_t n_header;
	bool in_payload;
};

void frame_splitter_init(struct frame_splitter *f, const struct frame_ops *ops);
void frame_splitter_done(struct frame_splitter *f);
/* 0, or what on_object returned. */
int frame_splitter_feed(struct frame_splitter *f, const void *p, size_t n);
/* Is the stream inside a frame? Then its end now is a truncation. */
bool frame_splitter_is_inside(const struct frame_splitter *f);

/* List: "k8s\0", runtime.Unknown { typeMeta = 1, raw = 2 { metadata = 1 ListMeta, items = 2 ... } }. */
enum list_level { LIST_MAGIC, LIST_ENVELOPE, LIST_RAW };
enum list_field { LIST_FIELD_NONE, LIST_FIELD_TYPE, LIST_FIELD_META, LIST_FIELD_ITEM };

struct list_parser {
	struct frame_ops ops; /* on_object: one item, a bare message */
	struct payload payload;
	char *kind; /* expected, e.g. "PodList" */
	char *resource_version, *continue_token;
	uint64_t items;
	uint64_t raw_left; /* bytes left of raw, LIST_RAW only */
	uint8_t header[24];
	uint8_t n_header;
	enum list_level level;
	enum list_field field;
	bool in_payload, seen_raw, seen_kind, bad;
};

void list_parser_init(struct list_parser *l, const char *kind, const struct frame_ops *ops);
void list_parser_done(struct list_parser *l);
/* 0; -EBADMSG when the bytes are no such list (then for good); or what on_object returned. */
int list_parser_feed(struct list_parser *l, const void *p, size_t n);
/* At the end of the body: 0 when a whole list was read, else -EBADMSG. */
int list_parser_finish(const struct list_parser *l);

#endif
