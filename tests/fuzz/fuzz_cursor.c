/* fuzz_cursor.c - any bytes as a protobuf message, read in two ways: by cursor_head and by the slow reader
 * below that follows protobuf.dev, "Encoding", byte by byte. Both find the same fields, the same end or the
 * same fault. What is length-delimited is read as a message again. */
// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "kube/cursor.h"
#include "tests/fuzz/pieces.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

enum { DEPTH = 6 };

struct seen {
	uint64_t hash, fields;
	size_t end; /* how far it was well-formed */
};

static void note(struct seen *s, uint64_t tag, uint64_t number, size_t end)
{
	const uint64_t all[] = { tag, number, end };

	s->hash = pieces_hash(s->hash, all, sizeof(all));
	s->fields++;
	s->end = end;
}

/* -- the slow reader: offsets, no pointers -- */

static bool slow_varint(const uint8_t *p, size_t n, size_t *at, uint64_t *ret)
{
	*ret = 0;
	for (unsigned i = 0; i < 10 && *at < n; i++) {
		const uint8_t b = p[(*at)++];

		if (i * 7 < 64)
			*ret |= (uint64_t)(b & 127) << (i * 7);
		if (!(b & 128))
			return true;
	}
	return false;
}

static bool slow_tag(const uint8_t *p, size_t n, size_t *at, uint64_t *ret)
{
	return slow_varint(p, n, at, ret) && *ret >= 8 && *ret <= UINT32_MAX;
}

static bool slow_skip(const uint8_t *p, size_t n, size_t *at, uint64_t bytes)
{
	if (bytes > n - *at)
		return false;
	(void)p;
	*at += bytes;
	return true;
}

/* The value after a tag; of a group, everything to its end. */
static bool slow_value(const uint8_t *p, size_t n, size_t *at, uint64_t tag, uint64_t *ret)
{
	size_t depth = 0;

	*ret = 0;
	do {
		uint64_t v = 0;
		bool ok = false;

		if ((tag & 7) == WIRE_VARINT)
			ok = slow_varint(p, n, at, &v);
		else if ((tag & 7) == WIRE_BYTES)
			ok = slow_varint(p, n, at, &v) && slow_skip(p, n, at, v);
		else if ((tag & 7) == WIRE_FIXED64)
			ok = slow_skip(p, n, at, 8);
		else if ((tag & 7) == WIRE_FIXED32)
			ok = slow_skip(p, n, at, 4);
		else if ((tag & 7) == WIRE_GROUP)
			ok = ++depth > 0;
		else if ((tag & 7) == WIRE_GROUP_END && depth > 0)
			ok = depth-- > 0;
		if (!ok)
			return false;
		if (depth == 0) {
			*ret = (tag & 7) == WIRE_VARINT || (tag & 7) == WIRE_BYTES ? v : 0;
			return true;
		}
	} while (slow_tag(p, n, at, &tag));
	return false;
}

static struct seen slow(const uint8_t *p, size_t n)
{
	struct seen s = { 0 };
	uint64_t tag, v;

	for (size_t at = 0; at < n;) {
		if (!slow_tag(p, n, &at, &tag) || !slow_value(p, n, &at, tag, &v))
			break;
		note(&s, tag, (tag & 7) == WIRE_GROUP ? 0 : v, at);
	}
	return s;
}

/* -- ours -- */

static struct seen by_field(const uint8_t *p, size_t n, unsigned depth);

static void same(struct seen a, struct seen b)
{
	if (a.hash != b.hash || a.fields != b.fields || a.end != b.end)
		abort();
}

static void both_ways(const uint8_t *p, size_t n, unsigned depth)
{
	same(by_field(p, n, depth), slow(p, n));
}

static struct seen by_field(const uint8_t *p, size_t n, unsigned depth)
{
	struct seen s = { 0 };

	for (struct cursor c = cursor_of(p, n); cursor_left(&c) >= 2;) {
		const struct field f = cursor_head(c);
		const uint8_t *const at = c.p;
		const unsigned wire = f.tag & 7;

		if (!cursor_pass(&c, f))
			break;
		if (c.p <= at || c.p > c.end)
			abort();
		note(&s, f.tag, wire == WIRE_VARINT || wire == WIRE_BYTES ? f.number : 0, (size_t)(c.p - p));
		if (wire == WIRE_BYTES && depth < DEPTH)
			both_ways(f.p, (size_t)f.number, depth + 1);
	}
	return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct envelope e;

	both_ways(p, n, 0);
	if (envelope_open(p, n, &e) == 0 && cursor_left(&e.raw) > n)
		abort();
	return 0;
}
