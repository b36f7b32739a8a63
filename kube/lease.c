/* lease.c - coordination.k8s.io/v1 Lease, protobuf wire format -> struct lease_facts. Field numbers:
 * kubernetes/api coordination/v1/generated.proto, apimachinery pkg/apis/meta/v1/generated.proto. See
 * leader.h. */
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "kube/cursor.h"
#include "kube/leader.h"

typedef int field_fn(struct cursor *c, uint32_t tag, void *out);

static int walk(struct cursor c, field_fn *field, void *out)
{
	while (cursor_more(&c)) {
		uint32_t tag;

		if (cursor_tag(&c, &tag) < 0 || field(&c, tag, out) < 0)
			return -EBADMSG;
	}
	return 0;
}

static int walk_next(struct cursor *c, field_fn *field, void *out)
{
	struct cursor m;

	return cursor_message(c, &m) < 0 ? -EBADMSG : walk(m, field, out);
}

/* meta/v1 MicroTime, cut to milliseconds. */
static int time_field(struct cursor *c, uint32_t tag, void *out)
{
	int64_t *ms = out;
	uint64_t v;

	if (tag != TAG(1, WIRE_VARINT) && tag != TAG(2, WIRE_VARINT))
		return cursor_skip(c, tag);
	if (cursor_varint(c, &v) < 0)
		return -EBADMSG;
	if (tag == TAG(1, WIRE_VARINT) && v < INT64_MAX / 2000)
		*ms += (int64_t)v * 1000;
	else if (tag == TAG(2, WIRE_VARINT) && v < 1000000000)
		*ms += (int64_t)v / 1000000;
	return 0;
}

/* A text too long for its member is refused: a name cut short could be taken for our own. */
static int take_text(struct cursor *c, char *ret, size_t size)
{
	struct str s;

	if (cursor_str(c, &s) < 0 || s.n >= size)
		return -EBADMSG;
	(void)snprintf(ret, size, "%.*s", STR_ARG(s));
	return 0;
}

static int spec_field(struct cursor *c, uint32_t tag, void *out)
{
	struct lease_facts *l = out;
	int32_t n = 0;
	int r;

	switch (tag) {
	case TAG(1, WIRE_BYTES):
		return take_text(c, l->holder, sizeof(l->holder));
	case TAG(2, WIRE_VARINT):
		r = cursor_i32(c, &n);
		l->duration_s = n;
		return r;
	case TAG(3, WIRE_BYTES):
		return walk_next(c, time_field, &l->acquired);
	case TAG(4, WIRE_BYTES):
		return walk_next(c, time_field, &l->renewed);
	case TAG(5, WIRE_VARINT):
		r = cursor_i32(c, &n);
		l->transitions = n;
		return r;
	default:
		return cursor_skip(c, tag);
	}
}

static int meta_field(struct cursor *c, uint32_t tag, void *out)
{
	struct lease_facts *l = out;

	return tag == TAG(6, WIRE_BYTES) ? take_text(c, l->rv, sizeof(l->rv)) : cursor_skip(c, tag);
}

static int lease_field(struct cursor *c, uint32_t tag, void *out)
{
	switch (tag) {
	case TAG(1, WIRE_BYTES):
		return walk_next(c, meta_field, out);
	case TAG(2, WIRE_BYTES):
		return walk_next(c, spec_field, out);
	default:
		return cursor_skip(c, tag);
	}
}

int lease_open_protobuf(const void *p, size_t n, struct lease_facts *ret)
{
	struct envelope e;

	*ret = (struct lease_facts){ 0 };
	if (envelope_open(p, n, &e) < 0 || !str_is(e.kind, "Lease"))
		return -EBADMSG;
	if (walk(e.raw, lease_field, ret) < 0)
		return -EBADMSG;
	return ret->rv[0] ? 0 : -EBADMSG; /* a write could not be bound to it */
}
