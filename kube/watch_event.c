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

int watch_event_decode(const uint8_t *p, size_t n, struct watch_event *ret)
{
	const struct cursor event = cursor_of(p, n);
	bool bad = false;
	const struct cursor object = cursor_message(cursor_message(event, 2, &bad), 1, &bad);

	*ret = (struct watch_event){ .type = type_of(cursor_text(event, 1, &bad)) };
	return bad ? -EBADMSG : envelope_open(object.p, cursor_left(&object), &ret->object);
}
