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

/* One field with its value. A struct of scalars, always passed by value: it lives in registers. */
struct field {
	uint32_t tag;
	uint64_t number;     /* of a varint; of a length-delimited value its length */
	const uint8_t *p;    /* a length-delimited value */
	const uint8_t *next; /* what follows; NULL when the field is malformed */
};

/* Any field; see cursor_field(). */
struct field cursor_field_any(const uint8_t *p, const uint8_t *end);

/* A field whose tag and length or number have one or two bytes each, of which at least four are here; what is
 * another or malformed has next == NULL. */
static inline __attribute__((always_inline)) struct field cursor_field_short(const uint8_t *p,
									     const uint8_t *end)
{
	struct field f = { 0 };
	uint32_t w;

	memcpy(&w, p, sizeof(w));
	w = le32toh(w);
	f.tag = w & 0x7f;
	p += 2;
	if (w & 0x80) {
		f.tag |= w >> 1 & 0x3f80;
		if (w & 0x8000)
			return f;
		w >>= 8;
		p++;
	}
	f.number = w >> 8 & 0x7f;
	if (w & 0x8000) {
		f.number |= w >> 9 & 0x3f80;
		if (w & 0x800000)
			return f;
		p++;
	}
	f.p = p;
	if (f.tag < TAG(1, 0))
		return f;
	if ((f.tag & 7) == WIRE_VARINT)
		f.next = p;
	else if ((f.tag & 7) == WIRE_BYTES && f.number <= (size_t)(end - p))
		f.next = p + f.number;
	return f;
}

/* The field at p < end, whatever it is: what nobody asks for is stepped over by going on at `next`. Most have
 * a tag and a length or number of one byte each: the bits that say so are looked at together. */
static inline __attribute__((always_inline)) struct field cursor_field(const uint8_t *p, const uint8_t *end)
{
	const size_t left = (size_t)(end - p);
	const uint32_t pair = left < 2 ? 0 : (uint32_t)p[0] | (uint32_t)p[1] << 8, n = pair >> 8;

	if (__builtin_expect((pair & 0x8087) == WIRE_BYTES && (pair & 0x78) && n <= left - 2, true))
		return (struct field){ pair & 0x7f, n, p + 2, p + 2 + n };
	if ((pair & 0x8087) == WIRE_VARINT && (pair & 0x78))
		return (struct field){ pair & 0x7f, n, p + 2, p + 2 };
	if (left >= 4) {
		const struct field f = cursor_field_short(p, end);

		if (f.next)
			return f;
	}
	return cursor_field_any(p, end);
}

static inline struct str field_str(struct field f)
{
	return (struct str){ (const char *)f.p, (size_t)f.number };
}

static inline struct cursor field_message(struct field f)
{
	return (struct cursor){ f.p, f.next };
}

/* Takes one field of a message; -EBADMSG ends the walk. What is not asked for is just not looked at. */
typedef int field_fn(struct field f, void *out);

/* Every field of a message in turn. 0, or -EBADMSG when it is malformed or a field is refused. */
static inline __attribute__((always_inline)) int cursor_walk(struct cursor c, field_fn *take, void *out)
{
	const uint8_t *p = c.p;
	struct field f;

	for (; c.end - p >= 2; p = f.next) {
		f = cursor_field(p, c.end);
		if (!f.next || take(f, out) < 0)
			return -EBADMSG;
	}
	return p == c.end ? 0 : -EBADMSG; /* no field has one byte */
}

/* For messages that come now and then: the last field with that tag, as every reader of protobuf takes it, or
 * one of which all is 0. *bad becomes true when the message is malformed. */
struct field cursor_find(struct cursor c, uint32_t tag, bool *bad);

static inline struct str cursor_text(struct cursor c, uint32_t field, bool *bad)
{
	return field_str(cursor_find(c, TAG(field, WIRE_BYTES), bad));
}

static inline struct cursor cursor_message(struct cursor c, uint32_t field, bool *bad)
{
	return field_message(cursor_find(c, TAG(field, WIRE_BYTES), bad));
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
