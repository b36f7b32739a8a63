/* status.c - see status.h. */
// SPDX-License-Identifier: Apache-2.0
#include "kube/status_object.h"

#include <string.h>

#include "kube/cursor.h"

#define TOO_LARGE_TYPE "ResourceVersionTooLarge"
#define TOO_LARGE_TEXT "Too large resource version"

/* The Status as it is read, with what its causes say. */
struct reader {
	struct status_facts *facts;
	bool too_large_type, too_large_text;
};

static int cause_field(struct field f, void *out)
{
	struct reader *r = out;

	if (f.tag == TAG(1, WIRE_BYTES))
		r->too_large_type |= str_is(field_str(f), TOO_LARGE_TYPE);
	else if (f.tag == TAG(2, WIRE_BYTES))
		r->too_large_text |= str_is(field_str(f), TOO_LARGE_TEXT);
	return 0;
}

static int details_field(struct field f, void *out)
{
	struct reader *r = out;

	if (f.tag == TAG(4, WIRE_BYTES))
		return cursor_walk(field_message(f), cause_field, r);
	if (f.tag == TAG(5, WIRE_VARINT))
		r->facts->retry_after_s = (int32_t)(uint32_t)f.number;
	return 0;
}

static int status_field(struct field f, void *out)
{
	struct reader *r = out;

	switch (f.tag) {
	case TAG(2, WIRE_BYTES):
		r->facts->status = field_str(f);
		break;
	case TAG(3, WIRE_BYTES):
		r->facts->message = field_str(f);
		break;
	case TAG(4, WIRE_BYTES):
		r->facts->reason = field_str(f);
		break;
	case TAG(5, WIRE_BYTES):
		return cursor_walk(field_message(f), details_field, r);
	case TAG(6, WIRE_VARINT):
		r->facts->code = (int32_t)(uint32_t)f.number;
		break;
	}
	return 0;
}

static bool is_timeout(const struct status_facts *s)
{
	return str_is(s->reason, "Timeout") || s->code == 504;
}

int status_object_decode(const uint8_t *p, size_t n, struct status_facts *ret)
{
	struct reader r = { .facts = ret };

	*ret = (struct status_facts){ .retry_after_s = -1 };
	if (cursor_walk(cursor_of(p, n), status_field, &r) < 0)
		return -EBADMSG;
	if (ret->retry_after_s == 0)
		ret->retry_after_s = -1; /* the server writes it always; 0 is "not set" */
	ret->expired = ret->code == 410 || str_is(ret->reason, "Expired") || str_is(ret->reason, "Gone");
	ret->too_large_rv =
		r.too_large_type ||
		(is_timeout(ret) && (r.too_large_text ||
				     (ret->message.n && memmem(ret->message.p, ret->message.n, TOO_LARGE_TEXT,
							       sizeof(TOO_LARGE_TEXT) - 1))));
	return 0;
}

int status_object_open(const void *p, size_t n, struct status_facts *ret)
{
	struct envelope e;

	*ret = (struct status_facts){ .retry_after_s = -1 };
	if (envelope_open(p, n, &e) < 0 || !str_is(e.kind, "Status"))
		return -EBADMSG;
	return status_object_decode(e.raw.p, cursor_left(&e.raw), ret);
}
