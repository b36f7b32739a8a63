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
	struct cursor c = { p, end };

	for (size_t depth = 1; depth > 0;) {
		uint32_t tag;

		if (cursor_tag(&c, &tag) < 0)
			return NULL;
		if ((tag & 7) == WIRE_GROUP)
			depth++;
		else if ((tag & 7) == WIRE_GROUP_END)
			depth--;
		else if (cursor_skip(&c, tag) < 0)
			return NULL;
	}
	return c.p;
}

const uint8_t *cursor_skip_odd(const uint8_t *p, const uint8_t *end, uint32_t tag)
{
	const ptrdiff_t n = (tag & 7) == WIRE_FIXED64 ? 8 : 4;

	if ((tag & 7) == WIRE_GROUP)
		return skip_group(p, end);
	if ((tag & 7) != WIRE_FIXED64 && (tag & 7) != WIRE_FIXED32)
		return NULL;
	return end - p < n ? NULL : p + n;
}

int envelope_type(struct cursor c, struct envelope *ret)
{
	while (cursor_more(&c)) {
		uint32_t tag;

		if (cursor_tag(&c, &tag) < 0)
			return -EBADMSG;
		const int r = tag == TAG(1, WIRE_BYTES)   ? cursor_str(&c, &ret->api_version)
			      : tag == TAG(2, WIRE_BYTES) ? cursor_str(&c, &ret->kind)
							  : cursor_skip(&c, tag);

		if (r < 0)
			return r;
	}
	return 0;
}

static int envelope_field(struct cursor *c, uint32_t tag, struct envelope *ret)
{
	struct cursor type;

	switch (tag) {
	case TAG(1, WIRE_BYTES):
		return cursor_message(c, &type) < 0 ? -EBADMSG : envelope_type(type, ret);
	case TAG(2, WIRE_BYTES):
		return cursor_message(c, &ret->raw);
	default:
		return cursor_skip(c, tag);
	}
}

int envelope_open(const void *p, size_t n, struct envelope *ret)
{
	*ret = (struct envelope){ 0 };
	if (n < ENVELOPE_MAGIC_SIZE || memcmp(p, ENVELOPE_MAGIC, ENVELOPE_MAGIC_SIZE) != 0)
		return -EBADMSG;
	struct cursor c = cursor_of((const uint8_t *)p + ENVELOPE_MAGIC_SIZE, n - ENVELOPE_MAGIC_SIZE);

	ret->raw = (struct cursor){ c.p, c.p };
	while (cursor_more(&c)) {
		uint32_t tag;

		if (cursor_tag(&c, &tag) < 0 || envelope_field(&c, tag, ret) < 0)
			return -EBADMSG;
	}
	return 0;
}
