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

/* Groups (deprecated, never sent by Kubernetes): nested to any depth in constant space. */
static const uint8_t *end_of_group(struct cursor c)
{
	for (size_t depth = 1; depth > 0;) {
		const struct field f = cursor_head_any(c.p, c.end);
		const uint32_t wire = f.tag & 7;

		if (wire == WIRE_GROUP)
			depth++;
		else if (wire == WIRE_GROUP_END)
			depth--;
		if (wire == WIRE_GROUP || wire == WIRE_GROUP_END)
			c.p = f.p;
		else if (!cursor_pass(&c, f))
			return NULL;
	}
	return c.p;
}

const uint8_t *cursor_end_of_odd(const uint8_t *p, const uint8_t *end)
{
	const struct field f = cursor_head_any(p, end);
	const uint32_t wire = f.tag & 7;
	const ptrdiff_t n = wire == WIRE_FIXED64 ? 8 : 4;

	if (wire == WIRE_GROUP)
		return end_of_group((struct cursor){ f.p, end });
	if (wire != WIRE_FIXED64 && wire != WIRE_FIXED32)
		return NULL;
	return end - f.p < n ? NULL : f.p + n;
}

struct field cursor_head_any(const uint8_t *p, const uint8_t *end)
{
	const struct cursor_number tag = cursor_number(p, end);
	const uint32_t wire = (uint32_t)tag.v & 7;

	if (!cursor_is_tag(tag))
		return (struct field){ 0 };
	if (wire != WIRE_BYTES && wire != WIRE_VARINT)
		return (struct field){ .tag = (uint32_t)tag.v, .p = tag.p };
	const struct cursor_number n = cursor_number(tag.p, end);

	if (!n.p || (wire == WIRE_BYTES && n.v > (size_t)(end - n.p)))
		return (struct field){ 0 };
	return (struct field){ (uint32_t)tag.v, n.v, n.p };
}

int cursor_walk(struct cursor c, field_fn *take, void *out)
{
	while (c.end - c.p >= 2) {
		const struct field f = cursor_head(c);

		if (!cursor_pass(&c, f) || take(f, out) < 0)
			return -EBADMSG;
	}
	return c.p == c.end ? 0 : -EBADMSG; /* no field has one byte */
}

struct finding {
	uint32_t tag;
	struct field found;
};

static int find_field(struct field f, void *out)
{
	struct finding *finding = out;

	if (f.tag == finding->tag)
		finding->found = f;
	return 0;
}

struct field cursor_find(struct cursor c, uint32_t tag, bool *bad)
{
	struct finding finding = { .tag = tag };

	*bad |= cursor_walk(c, find_field, &finding) < 0;
	return finding.found;
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
