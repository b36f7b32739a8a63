/* lease_object.c - coordination.k8s.io/v1 Lease, protobuf wire format -> struct lease_facts. Field numbers:
 * kubernetes/api coordination/v1/generated.proto, apimachinery pkg/apis/meta/v1/generated.proto. */
// SPDX-License-Identifier: Apache-2.0
#include "kube/lease_object.h"

#include <stdio.h>

#include "kube/cursor.h"

/* meta/v1 MicroTime, cut to milliseconds. */
static int time_field(struct field f, void *out)
{
	int64_t *ms = out;

	if (f.tag == TAG(1, WIRE_VARINT) && f.number < INT64_MAX / 2000)
		*ms += (int64_t)f.number * 1000;
	else if (f.tag == TAG(2, WIRE_VARINT) && f.number < 1000000000)
		*ms += (int64_t)f.number / 1000000;
	return 0;
}

/* A text too long for its member is refused: a name cut short could be taken for our own. */
static int take_text(struct field f, char *ret, size_t size)
{
	const struct str s = field_str(f);

	if (s.n >= size)
		return -EBADMSG;
	(void)snprintf(ret, size, "%.*s", STR_ARG(s));
	return 0;
}

static int spec_field(struct field f, void *out)
{
	struct lease_facts *l = out;

	switch (f.tag) {
	case TAG(1, WIRE_BYTES):
		return take_text(f, l->holder, sizeof(l->holder));
	case TAG(2, WIRE_VARINT):
		l->duration_s = (int32_t)(uint32_t)f.number;
		return 0;
	case TAG(3, WIRE_BYTES):
		return cursor_walk(field_message(f), time_field, &l->acquired);
	case TAG(4, WIRE_BYTES):
		return cursor_walk(field_message(f), time_field, &l->renewed);
	case TAG(5, WIRE_VARINT):
		l->transitions = (int32_t)(uint32_t)f.number;
		return 0;
	default:
		return 0;
	}
}

static int meta_field(struct field f, void *out)
{
	struct lease_facts *l = out;

	return f.tag == TAG(6, WIRE_BYTES) ? take_text(f, l->rv, sizeof(l->rv)) : 0;
}

static int lease_field(struct field f, void *out)
{
	switch (f.tag) {
	case TAG(1, WIRE_BYTES):
		return cursor_walk(field_message(f), meta_field, out);
	case TAG(2, WIRE_BYTES):
		return cursor_walk(field_message(f), spec_field, out);
	default:
		return 0;
	}
}

int lease_object_open(const void *p, size_t n, struct lease_facts *ret)
{
	struct envelope e;

	*ret = (struct lease_facts){ 0 };
	if (envelope_open(p, n, &e) < 0 || !str_is(e.kind, "Lease"))
		return -EBADMSG;
	if (cursor_walk(e.raw, lease_field, ret) < 0)
		return -EBADMSG;
	return ret->rv[0] ? 0 : -EBADMSG; /* a write could not be bound to it */
}
