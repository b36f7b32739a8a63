/* watch_event.c - see watch_event.h. WatchEvent{ type = 1, object = 2 RawExtension{ raw = 1 } }. */
// SPDX-License-Identifier: Apache-2.0
#include "kube/watch_event.h"

#include <stddef.h>

#include "base/cleanup.h"

static enum watch_type type_of(struct str s)
{
	static const struct {
		const char *name;
		enum watch_type type;
	} types[] = { { "ADDED", WATCH_ADDED },
		      { "MODIFIED", WATCH_MODIFIED },
		      { "DELETED", WATCH_DELETED },
		      { "BOOKMARK", WATCH_BOOKMARK },
		      { "ERROR", WATCH_ERROR } };

	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (str_is(s, types[i].name))
			return types[i].type;
	return WATCH_UNKNOWN;
}

/* The event as it is read, and its object as the envelope it came in. */
struct event_reader {
	enum watch_type type;
	struct cursor object;
};

static int extension_field(struct field f, void *out)
{
	struct event_reader *r = out;

	if (f.tag == TAG(1, WIRE_BYTES))
		r->object = field_message(f);
	return 0;
}

static int event_field(struct field f, void *out)
{
	struct event_reader *r = out;

	if (f.tag == TAG(1, WIRE_BYTES))
		r->type = type_of(field_str(f));
	else if (f.tag == TAG(2, WIRE_BYTES))
		return cursor_walk(field_message(f), extension_field, r);
	return 0;
}

int watch_event_decode(const uint8_t *p, size_t n, struct watch_event *ret)
{
	struct event_reader r = { .object = cursor_of(p, 0) };

	*ret = (struct watch_event){ 0 };
	if (cursor_walk(cursor_of(p, n), event_field, &r) < 0)
		return -EBADMSG;
	ret->type = r.type;
	return envelope_open(r.object.p, cursor_left(&r.object), &ret->object);
}
