/* frame.c - see frame.h. */
// SPDX-License-Identifier: Apache-2.0
#include "kube/frame.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "kube/cursor.h"

/* A straddling object's buffer above this is freed after use: one giant must not stay for ever. */
#define PAYLOAD_KEEP (256u << 10)

struct input {
	const uint8_t *p;
	size_t n;
};

static void input_advance(struct input *in, size_t n)
{
	in->p += n;
	in->n -= n;
}

void frame_parser_init(struct frame_parser *f, enum frame_level what, const struct frame_ops *ops)
{
	*f = (struct frame_parser){ .ops = *ops, .level = what, .list_kind = "PodList" };
}

void frame_parser_done(struct frame_parser *f)
{
	free(f->payload.buf);
	free(f->resource_version);
	free(f->continue_token);
	*f = (struct frame_parser){ 0 };
}

/* -- payload -- */

/* Grows with the bytes that came, never by a length that was only announced. */
static void payload_append(struct payload *p, const uint8_t *bytes, size_t n)
{
	if (p->len + n > p->cap) {
		size_t cap = p->cap ? p->cap : 4096;

		while (cap < p->len + n)
			cap *= 2;
		p->buf = xreallocarray(p->buf, cap, 1);
		p->cap = cap;
	}
	memcpy(p->buf + p->len, bytes, n);
	p->len += n;
}

/* Takes from in what belongs to the payload. True when it is complete: *ret is it, in place or collected. */
static bool payload_take(struct payload *p, struct input *in, struct input *ret)
{
	const size_t n = p->left < in->n ? (size_t)p->left : in->n;
	const bool whole = p->len == 0 && n == p->left;

	*ret = (struct input){ in->p, n };
	if (!whole && !p->skip && n > 0)
		payload_append(p, in->p, n);
	input_advance(in, n);
	p->left -= n;
	if (p->left > 0)
		return false;
	if (!whole)
		*ret = (struct input){ p->buf, p->len };
	return true;
}

static void keep_text(char **dst, struct str s)
{
	free(*dst);
	*dst = xstrndup(s.n ? s.p : "", s.n);
}

static int take_object(struct frame_parser *f, struct input object)
{
	const struct cursor c = cursor_of(object.p, object.n);
	bool bad = false;

	switch (f->field) {
	case FRAME_FIELD_TYPE: /* TypeMeta: kind = 2 */
		f->seen_kind = str_is(cursor_text(c, 2, &bad), f->list_kind);
		return bad || !f->seen_kind ? -EBADMSG : 0;
	case FRAME_FIELD_META: /* ListMeta: resourceVersion = 2, continue = 3 */
		keep_text(&f->resource_version, cursor_text(c, 2, &bad));
		keep_text(&f->continue_token, cursor_text(c, 3, &bad));
		return bad ? -EBADMSG : 0;
	case FRAME_FIELD_OBJECT:
		return f->ops.on_object(f->ops.ctx, object.p, object.n);
	default:
		return 0;
	}
}

static int take_payload(struct frame_parser *f, struct input *in)
{
	struct payload *p = &f->payload;
	struct input object;
	int r = 0;

	if (!payload_take(p, in, &object))
		return 0;
	f->in_payload = false;
	if (!p->skip)
		r = take_object(f, object);
	p->len = 0;
	if (p->cap > PAYLOAD_KEEP) {
		free(p->buf);
		*p = (struct payload){ 0 };
	}
	if (f->level == FRAME_RAW && f->raw_left == 0)
		f->level = FRAME_ENVELOPE;
	return r;
}

static int begin_payload(struct frame_parser *f, enum frame_field field, uint64_t n)
{
	const bool large = n > FRAME_SIZE_MAX;

	if (f->level == FRAME_RAW) {
		if (n > f->raw_left)
			return -EBADMSG;
		f->raw_left -= n;
	}
	if (large && (field == FRAME_FIELD_TYPE || field == FRAME_FIELD_META))
		return -EBADMSG;
	if (large && field == FRAME_FIELD_OBJECT)
		f->ops.on_oversize(f->ops.ctx, n);
	f->field = field;
	f->in_payload = true;
	f->payload.left = n;
	f->payload.skip = large || field == FRAME_FIELD_NONE;
	return 0;
}

/* -- what comes before one: the length of a frame; of a list its magic, then the headers of its fields -- */

static int take_length(struct frame_parser *f)
{
	uint32_t n;

	if (f->n_header < sizeof(n))
		return 0;
	memcpy(&n, f->header, sizeof(n));
	f->n_header = 0;
	return begin_payload(f, FRAME_FIELD_OBJECT, be32toh(n));
}

static int take_magic(struct frame_parser *f)
{
	if (f->header[f->n_header - 1] != (uint8_t)ENVELOPE_MAGIC[f->n_header - 1])
		return -EBADMSG;
	if (f->n_header == ENVELOPE_MAGIC_SIZE) {
		f->n_header = 0;
		f->level = FRAME_ENVELOPE;
	}
	return 0;
}

/* A length-delimited field of the envelope or of the list itself. */
static int begin_field(struct frame_parser *f, uint32_t number, uint64_t n)
{
	if (f->level == FRAME_RAW)
		return begin_payload(f,
				     number == 1   ? FRAME_FIELD_META
				     : number == 2 ? FRAME_FIELD_OBJECT
						   : FRAME_FIELD_NONE,
				     n);
	if (number != 2)
		return begin_payload(f, number == 1 ? FRAME_FIELD_TYPE : FRAME_FIELD_NONE, n);
	if (f->seen_raw)
		return -EBADMSG; /* a second list inside one answer */
	f->seen_raw = true;
	f->raw_left = n;
	if (n > 0)
		f->level = FRAME_RAW;
	return 0;
}

/* Acts on a complete field header. Groups are never sent, and can not be skipped without their bytes. */
static int begin_value(struct frame_parser *f, uint32_t tag, uint64_t value)
{
	switch (tag & 7) {
	case WIRE_BYTES:
		return begin_field(f, tag >> 3, value);
	case WIRE_FIXED64:
		return begin_payload(f, FRAME_FIELD_NONE, 8);
	case WIRE_FIXED32:
		return begin_payload(f, FRAME_FIELD_NONE, 4);
	case WIRE_VARINT:
		return 0;
	default:
		return -EBADMSG;
	}
}

/* 1 = more bytes are needed. */
static int read_varint(const uint8_t *p, const uint8_t *end, struct cursor_number *ret)
{
	*ret = cursor_number(p, end);
	return ret->p ? 0 : end - p >= 10 ? -EBADMSG : 1;
}

/* The header is collected bytewise: tag, then for varints and lengths the number. 1 = more bytes needed. */
static int read_header(const struct frame_parser *f, uint32_t *ret_tag, uint64_t *ret_value)
{
	const uint8_t *end = f->header + f->n_header;
	struct cursor_number n;
	int r = read_varint(f->header, end, &n);

	if (r || !cursor_is_tag(n))
		return r ? r : -EBADMSG;
	*ret_tag = (uint32_t)n.v;
	if ((n.v & 7) == WIRE_BYTES || (n.v & 7) == WIRE_VARINT)
		r = read_varint(n.p, end, &n);
	*ret_value = n.v;
	return r;
}

static int take_header(struct frame_parser *f, struct input *in)
{
	uint32_t tag = 0;
	uint64_t value = 0;

	if (f->level == FRAME_RAW && f->raw_left-- == 0)
		return -EBADMSG;
	f->header[f->n_header++] = *in->p;
	input_advance(in, 1);
	if (f->level == FRAME_WATCH)
		return take_length(f);
	if (f->level == FRAME_LIST)
		return take_magic(f);
	const int r = read_header(f, &tag, &value);

	if (r == 1)
		return f->level == FRAME_RAW && f->raw_left == 0 ? -EBADMSG : 0;
	if (r < 0)
		return r;
	f->n_header = 0;
	if (begin_value(f, tag, value) < 0)
		return -EBADMSG;
	if (f->level == FRAME_RAW && f->raw_left == 0 && !f->in_payload)
		f->level = FRAME_ENVELOPE;
	return 0;
}

int frame_parser_feed(struct frame_parser *f, const void *p, size_t n)
{
	struct input in = { p, n };

	while (!f->bad && (in.n > 0 || (f->in_payload && f->payload.left == 0))) {
		const int r = f->in_payload ? take_payload(f, &in) : take_header(f, &in);

		f->bad = r == -EBADMSG;
		if (r)
			return r;
	}
	return f->bad ? -EBADMSG : 0;
}

int frame_parser_finish(const struct frame_parser *f)
{
	const bool whole =
		f->level == FRAME_WATCH || (f->level == FRAME_ENVELOPE && f->seen_raw && f->seen_kind);

	return whole && !f->bad && f->n_header == 0 && !f->in_payload ? 0 : -EBADMSG;
}
