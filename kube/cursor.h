/* cursor.h - reads protobuf wire format in place (protobuf.dev, "Encoding"): no copy, no allocation, what is
 * not asked for is skipped by its length. Layer: kube.
 * Every function returns 0 or -EBADMSG (truncated, varint above 10 bytes, length past the end, field 0). */
// SPDX-License-Identifier: Apache-2.0
#ifndef KUBE_CURSOR_H
#define KUBE_CURSOR_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct cursor {
	const uint8_t *p, *end;
};

enum cursor_wire {
	WIRE_VARINT = 0,
	WIRE_FIXED64 = 1,
	WIRE_BYTES = 2,
	WIRE_GROUP = 3,
	WIRE_GROUP_END = 4,
	WIRE_FIXED32 = 5,
};

/* A tag as it stands on the wire, for case labels: a field of another wire type matches no label and so
 * counts as unknown. */
#define TAG(field, wire) (((uint32_t)(field) << 3) | (uint32_t)(wire))

static inline struct cursor cursor_of(const void *p, size_t n)
{
	return (struct cursor){ p, n ? (const uint8_t *)p + n : p };
}

static inline bool cursor_more(const struct cursor *c)
{
	return c->p < c->end;
}

static inline size_t cursor_left(const struct cursor *c)
{
	return (size_t)(c->end - c->p);
}

static inline int cursor_varint_long(struct cursor *c, uint64_t *ret)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 70; shift += 7) {
		if (c->p == c->end)
			return -EBADMSG;
		const uint8_t b = *c->p++;

		v |= shift < 64 ? (uint64_t)(b & 0x7f) << shift : 0;
		if (b < 0x80) {
			*ret = v;
			return 0;
		}
	}
	return -EBADMSG;
}

static inline int cursor_varint(struct cursor *c, uint64_t *ret)
{
	if (c->p < c->end && *c->p < 0x80) {
		*ret = *c->p++;
		return 0;
	}
	return cursor_varint_long(c, ret);
}

/* The next tag, see TAG(). */
static inline int cursor_tag(struct cursor *c, uint32_t *ret)
{
	uint64_t v;

	if (cursor_varint(c, &v) < 0 || v > UINT32_MAX || v < 8)
		return -EBADMSG;
	*ret = (uint32_t)v;
	return 0;
}

/* A length-delimited value: a sub-message. */
static inline int cursor_message(struct cursor *c, struct cursor *ret)
{
	uint64_t n;

	if (cursor_varint(c, &n) < 0 || n > cursor_left(c))
		return -EBADMSG;
	*ret = (struct cursor){ c->p, c->p + n };
	c->p += n;
	return 0;
}

/* The same as text; protobuf does not promise UTF-8. */
static inline int cursor_str(struct cursor *c, struct str *ret)
{
	struct cursor m;

	if (cursor_message(c, &m) < 0)
		return -EBADMSG;
	*ret = (struct str){ (const char *)m.p, cursor_left(&m) };
	return 0;
}

static inline int cursor_bool(struct cursor *c, bool *ret)
{
	uint64_t v;

	if (cursor_varint(c, &v) < 0)
		return -EBADMSG;
	*ret = v != 0;
	return 0;
}

/* Negative numbers stand as 10 bytes, sign-extended; more than 32 bits are cut as protobuf does. */
static inline int cursor_i32(struct cursor *c, int32_t *ret)
{
	uint64_t v;

	if (cursor_varint(c, &v) < 0)
		return -EBADMSG;
	*ret = (int32_t)(uint32_t)v;
	return 0;
}

static inline int cursor_i64(struct cursor *c, int64_t *ret)
{
	uint64_t v;

	if (cursor_varint(c, &v) < 0)
		return -EBADMSG;
	*ret = (int64_t)v;
	return 0;
}

/* Groups (deprecated, never sent by Kubernetes): nested to any depth in constant space. */
int cursor_skip_group(struct cursor *c);

/* Step over the value of a field nobody asked for. */
static inline int cursor_skip(struct cursor *c, uint32_t tag)
{
	uint64_t v;
	size_t n;

	switch (tag & 7) {
	case WIRE_BYTES:
		if (cursor_varint(c, &v) < 0 || v > cursor_left(c))
			return -EBADMSG;
		c->p += v;
		return 0;
	case WIRE_VARINT:
		return cursor_varint(c, &v);
	case WIRE_FIXED64:
	case WIRE_FIXED32:
		n = (tag & 7) == WIRE_FIXED64 ? 8 : 4;
		if (n > cursor_left(c))
			return -EBADMSG;
		c->p += n;
		return 0;
	case WIRE_GROUP:
		return cursor_skip_group(c);
	default:
		return -EBADMSG;
	}
}

/* Kubernetes' envelope around one object: "k8s\0" + runtime.Unknown (apimachinery
 * pkg/runtime/serializer/protobuf). Strings and ret->raw borrow from p. -EBADMSG without the magic or without
 * a well-formed message. */
struct envelope {
	struct str api_version, kind;
	struct cursor raw;
};
int envelope_open(const void *p, size_t n, struct envelope *ret);
/* runtime.TypeMeta: apiVersion = 1, kind = 2 (not meta/v1's order). */
int envelope_type(struct cursor type_meta, struct envelope *ret);
#define ENVELOPE_MAGIC      "k8s"
#define ENVELOPE_MAGIC_SIZE 4 /* with the NUL */

#endif
