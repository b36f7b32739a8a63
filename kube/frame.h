/* frame.h - a push parser for the two things an API server streams as protobuf: watch frames and lists. It
 * takes bytes cut anywhere and hands out one object at a time; an object is copied only when it lies across
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

/* An object on its way: passed on in one piece, or stepped over. Internal. */
struct payload {
	uint8_t *buf;
	size_t len, cap;
	uint64_t left; /* bytes still to come */
	bool skip;
};

enum frame_level {
	/* Repeated { uint32 big-endian length; that many bytes } (apimachinery pkg/util/framer). */
	FRAME_WATCH,
	/* "k8s\0", runtime.Unknown { typeMeta = 1, raw = 2 { metadata = 1 ListMeta, items = 2 ... } } of a
	 * PodList; an object is one item, a bare message. */
	FRAME_LIST,
	/* within a list, behind the magic */
	FRAME_ENVELOPE,
	FRAME_RAW,
};

enum frame_field { FRAME_FIELD_NONE, FRAME_FIELD_TYPE, FRAME_FIELD_META, FRAME_FIELD_OBJECT };

struct frame_parser {
	struct frame_ops ops;
	struct payload payload;
	const char *list_kind; /* that a list must have: PodList unless it is set after the init */
	char *resource_version, *continue_token; /* of a list; NULL before they have come */
	uint64_t raw_left;                       /* bytes left of raw, FRAME_RAW only */
	uint8_t header[24];
	uint8_t n_header;
	enum frame_level level;
	enum frame_field field;
	bool in_payload, seen_raw, seen_kind, bad;
};

/* what: FRAME_WATCH or FRAME_LIST. */
void frame_parser_init(struct frame_parser *f, enum frame_level what, const struct frame_ops *ops);
void frame_parser_done(struct frame_parser *f);
/* 0; -EBADMSG when the bytes are no such list (then for good); or what on_object returned. */
int frame_parser_feed(struct frame_parser *f, const void *p, size_t n);
/* Is this a good place to end? 0: a whole list was read, or no frame of a watch is cut off. Else -EBADMSG. */
int frame_parser_finish(const struct frame_parser *f);

#endif
