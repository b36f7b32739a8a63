/* cursor.c - see cursor.h. */
// SPDX-License-Identifier: Apache-2.0
#include "kube/cursor.h"

#include <string.h>

int cursor_skip_group(struct cursor *c)
{
	size_t depth = 1;

	while (depth > 0) {
		uint32_t tag;

		if (cursor_tag(c, &tag) < 0)
			return -EBADMSG;
		if ((tag & 7) == WIRE_GROUP)
			depth++;
		else if ((tag & 7) == WIRE_GROUP_END)
			depth--;
		else if (cursor_skip(c, tag) < 0)
			return -EBADMSG;
	}
	return 0;
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
