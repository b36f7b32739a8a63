/* status.c - see status.h. */
// SPDX-License-Identifier: Apache-2.0
#include "kube/status_object.h"

#include <string.h>

#include "kube/cursor.h"

#define TOO_LARGE_TYPE "ResourceVersionTooLarge"
#define TOO_LARGE_TEXT "Too large resource version"

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

int status_object_decode(const uint8_t *p, size_t n, struct status_facts *ret)
{
	const struct cursor c = cursor_of(p, n);
	struct causes causes = { 0 };
	bool bad = false;
	const struct cursor details = cursor_message(c, 5, &bad);

	*ret = (struct status_facts){ .status = cursor_text(c, 2, &bad),
				      .message = cursor_text(c, 3, &bad),
				      .reason = cursor_text(c, 4, &bad),
				      .code = cursor_int32(c, 6, &bad),
				      .retry_after_s = cursor_int32(details, 5, &bad) };
	if (bad || cursor_walk(details, details_field, &causes) < 0 || causes.bad)
		return -EBADMSG;
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

int status_object_open(const void *p, size_t n, struct status_facts *ret)
{
	struct envelope e;

	*ret = (struct status_facts){ .retry_after_s = -1 };
	if (envelope_open(p, n, &e) < 0 || !str_is(e.kind, "Status"))
		return -EBADMSG;
	return status_object_decode(e.raw.p, cursor_left(&e.raw), ret);
}
