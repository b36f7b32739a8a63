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

static int raw_decode(struct cursor c, struct cursor *ret)
{
	while (cursor_more(&c)) {
		uint32_t tag;

		if (cursor_tag(&c, &tag) < 0)
			return -EBADMSG;
		if ((tag == TAG(1, WIRE_BYTES) ? cursor_message(&c, ret) : cursor_skip(&c, tag)) < 0)
			return -EBADMSG;
	}
	return 0;
}

static int event_field(struct cursor *c, uint32_t tag, struct watch_event *ret, struct cursor *object)
{
	struct cursor extension;
	struct str type;

	switch (tag) {
	case TAG(1, WIRE_BYTES):
		if (cursor_str(c, &type) < 0)
			return -EBADMSG;
		ret->type = type_of(type);
		return 0;
	case TAG(2, WIRE_BYTES):
		return cursor_message(c, &extension) < 0 ? -EBADMSG : raw_decode(extension, object);
	default:
		return cursor_skip(c, tag);
	}
}

int watch_event_decode(const uint8_t *p, size_t n, struct watch_event *ret)
{
	struct cursor c = cursor_of(p, n);
	struct cursor object = cursor_of(p, 0);

	*ret = (struct watch_event){ 0 };
	while (cursor_more(&c)) {
		uint32_t tag;

		if (cursor_tag(&c, &tag) < 0 || event_field(&c, tag, ret, &object) < 0)
			return -EBADMSG;
	}
	return envelope_open(object.p, cursor_left(&object), &ret->object);
}
