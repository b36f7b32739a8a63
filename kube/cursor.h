/* cursor.h - reads protobuf wire format in place (protobuf.dev, "Encoding"): no copy, no allocation, what is
 * not asked for is skipped by its length. Layer: kube.
 * Malformed is what is truncated, a varint above 10 bytes, a length past the end, field 0. */
// SPDX-License-Identifier: Apache-2.0
#ifndef KUBE_CURSOR_H
#define KUBE_CURSOR_H

#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

static inline size_t cursor_left(const struct cursor *c)
{
	return (size_t)(c->end - c->p);
}

/* A varint and where it ends; p is NULL when it is malformed. By value, so that cursors stay in registers. */
struct cursor_number {
	const uint8_t *p;
	uint64_t v;
};

/* Any length; 1 to 10 bytes are well-formed. */
struct cursor_number cursor_number_long(const uint8_t *p, const uint8_t *end);

/* Most tags and lengths have one byte, nearly all others two. */
static inline __attribute__((always_inline)) struct cursor_number cursor_number(const uint8_t *p,
										const uint8_t *end)
{
	if (p < end && p[0] < 0x80)
		return (struct cursor_number){ p + 1, p[0] };
	if (end - p >= 2 && p[1] < 0x80)
		return (struct cursor_number){ p + 2, (uint64_t)(p[0] & 0x7f) | (uint64_t)p[1] << 7 };
	return cursor_number_long(p, end);
}

/* May it stand as a tag? There is no field 0. */
static inline bool cursor_is_tag(struct cursor_number n)
{
	return n.p && n.v >= 8 && n.v <= UINT32_MAX;
}

/* The head of a field: its tag, and the number or the length behind it. A struct of scalars, always passed by
 * value: it lives in registers. */
struct field {
	uint32_t tag;     /* 0: the head is malformed */
	uint64_t number;  /* of a varint; of a length-delimited value its length */
	const uint8_t *p; /* the value; behind a varint, what follows */
};

/* Any head; see cursor_head(). */
struct field cursor_head_any(const uint8_t *p, const uint8_t *end);

/* A head whose tag and number have one or two bytes each, at the least. */
static inline __attribute__((always_inline)) struct field cursor_head_wide(const uint8_t *p,
									   const uint8_t *end)
{
	uint32_t w;

	if (end - p < 4)
		return cursor_head_any(p, end);
	memcpy(&w, p, sizeof(w));
	w = le32toh(w);
	if (!(w & 0x800080))
		return (struct field){ w & 0x7f, (w >> 8 & 0x7f) | (w >> 9 & 0x3f80), p + 3 };
	const uint32_t tag = (w & 0x7f) | (w >> 1 & 0x3f80);

	if (!(w & 0x808000))
		return (struct field){ tag, w >> 16 & 0x7f, p + 3 };
	if (!(w & 0x80008000))
		return (struct field){ tag, (w >> 16 & 0x7f) | (w >> 17 & 0x3f80), p + 4 };
	return cursor_head_any(p, end);
}

/* The head at c.p, of which two bytes are here. Most have a tag and a number of one byte each. */
static inline __attribute__((always_inline)) struct field cursor_head(struct cursor c)
{
	const uint32_t tag = c.p[0], number = c.p[1];

	if (__builtin_expect((tag | number) < 0x80, true))
		return (struct field){ tag, number, c.p + 2 };
	return cursor_head_wide(c.p, c.end);
}

/* Goes on behind a length-delimited field; false when it is longer than the message. */
static inline __attribute__((always_inline)) bool cursor_pass_bytes(struct cursor *c, struct field f)
{
	if ((uintptr_t)f.p + f.number > (uintptr_t)c->end) /* no head has a number that goes around */
		return false;
	c->p = f.p + f.number;
	return true;
}

/* Where the field at p ends that is neither a varint nor length-delimited; NULL when it is malformed. */
const uint8_t *cursor_end_of_odd(const uint8_t *p, const uint8_t *end);

/* The same for any field: what nobody asks for. */
static inline __attribute__((always_inline)) bool cursor_pass(struct cursor *c, struct field f)
{
	if (f.tag < TAG(1, 0))
		return false;
	if ((f.tag & 7) == WIRE_BYTES)
		return cursor_pass_bytes(c, f);
	c->p = (f.tag & 7) == WIRE_VARINT ? f.p : cursor_end_of_odd(c->p, c->end);
	return c->p;
}

static inline struct str field_str(struct field f)
{
	return (struct str){ (const char *)f.p, (size_t)f.number };
}

static inline struct cursor field_message(struct field f)
{
	return (struct cursor){ f.p, f.p + f.number };
}

/* Takes one field of a message; -EBADMSG ends the walk. What is not asked for is just not looked at. */
typedef int field_fn(struct field f, void *out);

/* Every field of a message in turn. 0, or -EBADMSG when it is malformed or a field is refused. */
int cursor_walk(struct cursor c, field_fn *take, void *out);

/* For messages that come now and then: the last field with that tag, as every reader of protobuf takes it, or
 * one of which all is 0. *bad becomes true when the message is malformed. */
struct field cursor_find(struct cursor c, uint32_t tag, bool *bad);

static inline struct str cursor_text(struct cursor c, uint32_t field, bool *bad)
{
	return field_str(cursor_find(c, TAG(field, WIRE_BYTES), bad));
}

static inline struct cursor cursor_message(struct cursor c, uint32_t field, bool *bad)
{
	const struct field f = cursor_find(c, TAG(field, WIRE_BYTES), bad);

	return f.p ? field_message(f) : (struct cursor){ 0 };
}

static inline int32_t cursor_int32(struct cursor c, uint32_t field, bool *bad)
{
	return (int32_t)(uint32_t)cursor_find(c, TAG(field, WIRE_VARINT), bad).number;
}

/* Kubernetes' envelope around one object: "k8s\0" + runtime.Unknown (apimachinery
 * pkg/runtime/serializer/protobuf). Strings and ret->raw borrow from p. -EBADMSG without the magic or without
 * a well-formed message. */
struct envelope {
	struct str api_version, kind;
	struct cursor raw;
};
int envelope_open(const void *p, size_t n, struct envelope *ret);
#define ENVELOPE_MAGIC      "k8s"
#define ENVELOPE_MAGIC_SIZE 4 /* with the NUL */

#endif
