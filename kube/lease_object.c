/* lease_object.c - see lease_object.h. Field numbers: kubernetes/api coordination/v1/generated.proto,
 * apimachinery pkg/apis/meta/v1/generated.proto. */
// SPDX-License-Identifier: Apache-2.0
#include "kube/lease_object.h"

#include <stdio.h>

#include "kube/cursor.h"

/* meta/v1 MicroTime, cut to milliseconds; 0 when it is none. */
static int64_t micro_time(struct cursor c, bool *bad)
{
	const uint64_t seconds = cursor_find(c, TAG(1, WIRE_VARINT), bad).number,
		       nanos = cursor_find(c, TAG(2, WIRE_VARINT), bad).number;

	return (seconds < INT64_MAX / 2000 ? (int64_t)seconds * 1000 : 0) +
	       (nanos < 1000000000 ? (int64_t)nanos / 1000000 : 0);
}

/* A text too long for its member is refused: a name cut short could be taken for our own. */
static void take_text(struct str s, char *ret, size_t size, bool *bad)
{
	*bad |= s.n >= size;
	if (!*bad)
		(void)snprintf(ret, size, "%.*s", STR_ARG(s));
}

int lease_object_open(const void *p, size_t n, struct lease_facts *ret)
{
	struct envelope e;
	bool bad = false;

	*ret = (struct lease_facts){ 0 };
	if (envelope_open(p, n, &e) < 0 || !str_is(e.kind, "Lease"))
		return -EBADMSG;
	const struct cursor meta = cursor_message(e.raw, 1, &bad), spec = cursor_message(e.raw, 2, &bad);

	ret->duration_s = cursor_int32(spec, 2, &bad);
	ret->acquired = micro_time(cursor_message(spec, 3, &bad), &bad);
	ret->renewed = micro_time(cursor_message(spec, 4, &bad), &bad);
	ret->transitions = cursor_int32(spec, 5, &bad);
	take_text(cursor_text(spec, 1, &bad), ret->holder, sizeof(ret->holder), &bad);
	take_text(cursor_text(meta, 6, &bad), ret->rv, sizeof(ret->rv), &bad);
	return bad || !ret->rv[0] ? -EBADMSG : 0; /* without a version a write could not be bound to it */
}
