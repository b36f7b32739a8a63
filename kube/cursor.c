/* cursor.c - see cursor.h. */
// SPDX-License-Identifier: Apache-2.0
#include "kube/cursor.h"

#include <string.h>

struct cursor_number cursor_number_long(const uint8_t *p, const uint8_t *end)
{
	uint64_t v = 0;

	if (end - p > 10)
		end = p + 10; /* the longest */
	for (unsigned shift = 0; p < end; shift += 7) {
		const uint8_t b = *p++;

		v |= (uint64_t)(b & 0x7f) << shift; /* of the tenth byte one bit counts */
		if (b < 0x80)
			return (struct cursor_number){ p, v };
	}
	return (struct cursor_number){ NULL, 0 };
}

static const uint8_t *skip_group(const uint8_t *p, const uint8_t *end)
{
	for (size_t depth = 1; p && depth > 0;) {
		const struct cursor_number tag = cursor_number(p, end);
		const uint32_t wire = (uint32_t)tag.v & 7;

		if (!cursor_is_tag(tag))
			return NULL;
		if (wire == WIRE_GROUP)
			depth++;
		else if (wire == WIRE_GROUP_END)
			depth--;
		p = wire == WIRE_GROUP || wire == WIRE_GROUP_END ? tag.p : cursor_field_any(p, end).next;
	}
	return p;
}

/* Where the value of a field that is neither varint nor length-delimited ends, NULL when it is malformed.
 * Groups (deprecated, never sent by Kubernetes): nested to any depth in constant space. */
static const uint8_t *skip_odd(const uint8_t *p, const uint8_t *end, uint32_t tag)
{
	const ptrdiff_t n = (tag & 7) == WIRE_FIXED64 ? 8 : 4;

	if ((tag & 7) == WIRE_GROUP)
		return skip_group(p, end);
	if ((tag & 7) != WIRE_FIXED64 && (tag & 7) != WIRE_FIXED32)
		return NULL;
	return end - p < n ? NULL : p + n;
}

struct field cursor_field_any(const uint8_t *p, const uint8_t *end)
{
	const struct cursor_number tag = cursor_number(p, end);
	const uint32_t wire = (uint32_t)tag.v & 7;
	struct field f = { .tag = (uint32_t)tag.v };

	if (!cursor_is_tag(tag))
		return f;
	if (wire != WIRE_BYTES && wire != WIRE_VARINT) {
		f.next = skip_odd(tag.p, end, f.tag);
		return f;
	}
	const struct cursor_number n = cursor_number(tag.p, end);
	const uint64_t size = wire == WIRE_BYTES ? n.v : 0;

	if (!n.p || size > (size_t)(end - n.p))
		return f;
	f.number = n.v;
	f.p = n.p;
	f.next = n.p + size;
	return f;
}

struct field cursor_find(struct cursor c, uint32_t tag, bool *bad)
{
	struct field found = { 0 }, f;
	const uint8_t *p = c.p;

	for (; c.end - p >= 2; p = f.next) {
		f = cursor_field_any(p, c.end);
		if (!f.next)
			break;
		if (f.tag == tag)
			found = f;
	}
	*bad |= p != c.end;
	return found;
}

int envelope_open(const void *p, size_t n, struct envelope *ret)
{
	bool bad = false;

	*ret = (struct envelope){ 0 };
	if (n < ENVELOPE_MAGIC_SIZE || memcmp(p, ENVELOPE_MAGIC, ENVELOPE_MAGIC_SIZE) != 0)
		return -EBADMSG;
	const struct cursor c = cursor_of((const uint8_t *)p + ENVELOPE_MAGIC_SIZE, n - ENVELOPE_MAGIC_SIZE);

	const struct cursor type = cursor_message(c, 1, &bad); /* runtime.TypeMeta, not meta/v1's order */

	ret->raw = cursor_message(c, 2, &bad);
	ret->api_version = cursor_text(type, 1, &bad);
	ret->kind = cursor_text(type, 2, &bad);
	return bad ? -EBADMSG : 0;
}
