/* decode_objects.c - see decode_objects.h. Field numbers: kubernetes/api coordination/v1/generated.proto,
 * apimachinery pkg/apis/meta/v1/generated.proto. */
// SPDX-License-Identifier: Apache-2.0
#include "kube/decode_objects.h"

#include <stdio.h>

#include "base/cleanup.h"
#include "model/annotations.h"

#define INITIAL_END_KEY "k8s.io/initial-events-end"
#define TOO_LARGE_TYPE  "ResourceVersionTooLarge"
#define TOO_LARGE_TEXT  "Too large resource version"

/* -- watch events: WatchEvent{ type = 1, object = 2 RawExtension{ raw = 1 } } -- */

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

int decode_watch_event(const uint8_t *p, size_t n, struct watch_event *ret)
{
	const struct cursor event = cursor_of(p, n);
	bool bad = false;
	const struct cursor object = cursor_message(cursor_message(event, 2, &bad), 1, &bad);

	*ret = (struct watch_event){ .type = type_of(cursor_text(event, 1, &bad)) };
	return bad ? -EBADMSG : envelope_open(object.p, cursor_left(&object), &ret->object);
}

static int bookmark_meta_field(struct field f, void *out)
{
	struct bookmark *b = out;
	bool bad = false;

	if (f.tag == TAG(6, WIRE_BYTES))
		b->rv = field_str(f);
	if (f.tag == TAG(12, WIRE_BYTES) && str_is(cursor_text(field_message(f), 1, &bad), INITIAL_END_KEY))
		b->initial_end = str_is(cursor_text(field_message(f), 2, &bad), "true");
	return bad ? -EBADMSG : 0;
}

int decode_bookmark(const uint8_t *p, size_t n, struct bookmark *ret)
{
	bool bad = false;
	const struct cursor meta = cursor_message(cursor_of(p, n), 1, &bad);

	*ret = (struct bookmark){ 0 };
	return bad ? -EBADMSG : cursor_walk(meta, bookmark_meta_field, ret);
}

/* -- Status -- */

/* What the causes say. */
struct causes {
	bool too_large_type, too_large_text, bad;
};

static int details_field(struct field f, void *out)
{
	struct causes *c = out;

	if (f.tag != TAG(4, WIRE_BYTES))
		return 0;
	c->too_large_type |= str_is(cursor_text(field_message(f), 1, &c->bad), TOO_LARGE_TYPE);
	c->too_large_text |= str_is(cursor_text(field_message(f), 2, &c->bad), TOO_LARGE_TEXT);
	return 0;
}

static bool is_timeout(const struct status_facts *s)
{
	return str_is(s->reason, "Timeout") || s->code == 504;
}

int decode_status(const uint8_t *p, size_t n, struct status_facts *ret)
{
	const struct cursor c = cursor_of(p, n);
	struct causes causes = { 0 };
	bool bad = false;
	const struct cursor details = cursor_message(c, 5, &bad);

	*ret = (struct status_facts){ .message = cursor_text(c, 3, &bad),
				      .reason = cursor_text(c, 4, &bad),
				      .code = cursor_int32(c, 6, &bad) };
	if (bad || cursor_walk(details, details_field, &causes) < 0 || causes.bad)
		return -EBADMSG;
	ret->expired = ret->code == 410 || str_is(ret->reason, "Expired") || str_is(ret->reason, "Gone");
	ret->too_large_rv =
		causes.too_large_type ||
		(is_timeout(ret) && (causes.too_large_text ||
				     (ret->message.n && memmem(ret->message.p, ret->message.n, TOO_LARGE_TEXT,
							       sizeof(TOO_LARGE_TEXT) - 1))));
	return 0;
}

int decode_status_answer(const void *p, size_t n, struct status_facts *ret)
{
	struct envelope e;

	*ret = (struct status_facts){ 0 };
	if (envelope_open(p, n, &e) < 0 || !str_is(e.kind, "Status"))
		return -EBADMSG;
	return decode_status(e.raw.p, cursor_left(&e.raw), ret);
}

/* -- Lease -- */

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

/* ObjectMeta: annotations = 12, entries of a map with key = 1 and value = 2. */
static int lease_meta_field(struct field f, void *out)
{
	struct lease_facts *l = out;
	bool bad = false;

	if (f.tag == TAG(1, WIRE_BYTES))
		take_text(field_str(f), l->name, sizeof(l->name), &bad);
	else if (f.tag == TAG(6, WIRE_BYTES))
		take_text(field_str(f), l->rv, sizeof(l->rv), &bad);
	else if (f.tag == TAG(12, WIRE_BYTES) &&
		 str_is(cursor_text(field_message(f), 1, &bad), ANNOTATION_CLAIM))
		take_text(cursor_text(field_message(f), 2, &bad), l->claim, sizeof(l->claim), &bad);
	return bad ? -EBADMSG : 0;
}

static int decode_lease(struct cursor c, struct lease_facts *ret)
{
	bool bad = false;
	const struct cursor meta = cursor_message(c, 1, &bad), spec = cursor_message(c, 2, &bad);

	*ret = (struct lease_facts){ 0 };
	ret->duration_s = cursor_int32(spec, 2, &bad);
	ret->acquired = micro_time(cursor_message(spec, 3, &bad), &bad);
	ret->renewed = micro_time(cursor_message(spec, 4, &bad), &bad);
	ret->transitions = cursor_int32(spec, 5, &bad);
	take_text(cursor_text(spec, 1, &bad), ret->holder, sizeof(ret->holder), &bad);
	if (bad || cursor_walk(meta, lease_meta_field, ret) < 0)
		return -EBADMSG;
	return ret->rv[0] ? 0 : -EBADMSG; /* without a version a write could not be bound to it */
}

int decode_lease_answer(const void *p, size_t n, struct lease_facts *ret)
{
	struct envelope e;

	*ret = (struct lease_facts){ 0 };
	if (envelope_open(p, n, &e) < 0 || !str_is(e.kind, "Lease"))
		return -EBADMSG;
	return decode_lease(e.raw, ret);
}

static int memory_field(struct field f, void *out)
{
	bool bad = false;

	if (f.tag == TAG(12, WIRE_BYTES) && str_is(cursor_text(field_message(f), 1, &bad), ANNOTATION_MEMORY))
		*(struct str *)out = cursor_text(field_message(f), 2, &bad);
	return bad ? -EBADMSG : 0;
}

struct str decode_lease_memory(const void *p, size_t n)
{
	struct str ret = { 0 };
	struct envelope e;
	bool bad = false;

	if (envelope_open(p, n, &e) < 0 || !str_is(e.kind, "Lease") ||
	    cursor_walk(cursor_message(e.raw, 1, &bad), memory_field, &ret) < 0 || bad)
		return (struct str){ 0 };
	return ret;
}

struct lease_list {
	void (*fn)(void *ctx, const struct lease_facts *facts);
	void *ctx;
};

/* LeaseList: items = 2. */
static int lease_list_field(struct field f, void *out)
{
	const struct lease_list *list = out;
	struct lease_facts facts;

	if (f.tag != TAG(2, WIRE_BYTES))
		return 0;
	if (decode_lease(field_message(f), &facts) < 0)
		return -EBADMSG;
	list->fn(list->ctx, &facts);
	return 0;
}

int decode_lease_list(const void *p, size_t n, void (*fn)(void *ctx, const struct lease_facts *facts),
		      void *ctx)
{
	struct lease_list list = { fn, ctx };
	struct envelope e;

	if (envelope_open(p, n, &e) < 0 || !str_is(e.kind, "LeaseList"))
		return -EBADMSG;
	return cursor_walk(e.raw, lease_list_field, &list);
}
