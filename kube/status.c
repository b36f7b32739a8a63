/* status.c - see status.h. */
// SPDX-License-Identifier: Apache-2.0
#include "kube/status.h"

#include <string.h>

#include "kube/cursor.h"

#define TOO_LARGE_TYPE "ResourceVersionTooLarge"
#define TOO_LARGE_TEXT "Too large resource version"

struct causes {
	bool too_large_type, too_large_text;
};

static int cause_decode(struct cursor c, struct causes *ret)
{
	struct str s;

	while (cursor_more(&c)) {
		uint32_t tag;

		if (cursor_tag(&c, &tag) < 0)
			return -EBADMSG;
		if (tag != TAG(1, WIRE_BYTES) && tag != TAG(2, WIRE_BYTES)) {
			if (cursor_skip(&c, tag) < 0)
				return -EBADMSG;
			continue;
		}
		if (cursor_str(&c, &s) < 0)
			return -EBADMSG;
		if (tag == TAG(1, WIRE_BYTES))
			ret->too_large_type |= str_is(s, TOO_LARGE_TYPE);
		else
			ret->too_large_text |= str_is(s, TOO_LARGE_TEXT);
	}
	return 0;
}

static int details_decode(struct cursor c, struct status_facts *ret, struct causes *causes)
{
	while (cursor_more(&c)) {
		struct cursor m;
		uint32_t tag;
		int r;

		if (cursor_tag(&c, &tag) < 0)
			return -EBADMSG;
		if (tag == TAG(4, WIRE_BYTES))
			r = cursor_message(&c, &m) < 0 ? -EBADMSG : cause_decode(m, causes);
		else if (tag == TAG(5, WIRE_VARINT))
			r = cursor_i32(&c, &ret->retry_after_s);
		else
			r = cursor_skip(&c, tag);
		if (r < 0)
			return r;
	}
	return 0;
}

static int status_field(struct cursor *c, uint32_t tag, struct status_facts *ret, struct causes *causes)
{
	struct cursor m;

	switch (tag) {
	case TAG(2, WIRE_BYTES):
		return cursor_str(c, &ret->status);
	case TAG(3, WIRE_BYTES):
		return cursor_str(c, &ret->message);
	case TAG(4, WIRE_BYTES):
		return cursor_str(c, &ret->reason);
	case TAG(5, WIRE_BYTES):
		return cursor_message(c, &m) < 0 ? -EBADMSG : details_decode(m, ret, causes);
	case TAG(6, WIRE_VARINT):
		return cursor_i32(c, &ret->code);
	default:
		return cursor_skip(c, tag);
	}
}

static bool is_timeout(const struct status_facts *s)
{
	return str_is(s->reason, "Timeout") || s->code == 504;
}

int status_decode_protobuf(const uint8_t *p, size_t n, struct status_facts *ret)
{
	struct cursor c = cursor_of(p, n);
	struct causes causes = { 0 };

	*ret = (struct status_facts){ .retry_after_s = -1 };
	while (cursor_more(&c)) {
		uint32_t tag;

		if (cursor_tag(&c, &tag) < 0 || status_field(&c, tag, ret, &causes) < 0)
			return -EBADMSG;
	}
	if (ret->retry_after_s == 0)
		ret->retry_after_s = -1; /* the server writes it always; 0 is "not set" */
	ret->expired = ret->code == 410 || str_is(ret->reason, "Expired") || str_is(ret->reason, "Gone");
	ret->too_large_rv =
		causes.too_large_type ||
		(is_timeout(ret) && (causes.too_large_text ||
				     (ret->message.n && memmem(ret->message.p, ret->message.n, TOO_LARGE_TEXT,
							       sizeof(TOO_LARGE_TEXT) - 1))));
	return 0;
}

int status_open_protobuf(const void *p, size_t n, struct status_facts *ret)
{
	struct envelope e;

	*ret = (struct status_facts){ .retry_after_s = -1 };
	if (envelope_open(p, n, &e) < 0 || !str_is(e.kind, "Status"))
		return -EBADMSG;
	return status_decode_protobuf(e.raw.p, cursor_left(&e.raw), ret);
}
