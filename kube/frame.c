/* frame.c - see frame.h. */
// SPDX-License-Identifier: Apache-2.0
#include "kube/frame.h"

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

static size_t min_size(uint64_t a, size_t b)
{
	return a < b ? (size_t)a : b;
}

/* -- payload -- */

static void payload_begin(struct payload *p, uint64_t n, bool skip)
{
	p->len = 0;
	p->left = n;
	p->skip = skip;
}

static void payload_done(struct payload *p)
{
	free(p->buf);
	*p = (struct payload){ 0 };
}

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
	const size_t n = min_size(p->left, in->n);
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

static void payload_end(struct payload *p)
{
	p->len = 0;
	if (p->cap > PAYLOAD_KEEP)
		payload_done(p);
}

/* -- watch frames -- */

void frame_splitter_init(struct frame_splitter *f, const struct frame_ops *ops)
{
	*f = (struct frame_splitter){ .ops = *ops };
}

void frame_splitter_done(struct frame_splitter *f)
{
	payload_done(&f->payload);
}

bool frame_splitter_is_inside(const struct frame_splitter *f)
{
	return f->in_payload || f->n_header > 0;
}

static void splitter_header(struct frame_splitter *f, struct input *in)
{
	f->header[f->n_header++] = *in->p;
	input_advance(in, 1);
	if (f->n_header < sizeof(f->header))
		return;
	const uint32_t n = (uint32_t)f->header[0] << 24 | (uint32_t)f->header[1] << 16 |
			   (uint32_t)f->header[2] << 8 | f->header[3];

	f->n_header = 0;
	f->in_payload = true;
	payload_begin(&f->payload, n, n > FRAME_SIZE_MAX);
	if (n > FRAME_SIZE_MAX && f->ops.on_oversize)
		f->ops.on_oversize(f->ops.ctx, n);
}

static int splitter_payload(struct frame_splitter *f, struct input *in)
{
	struct input object;
	int r = 0;

	if (!payload_take(&f->payload, in, &object))
		return 0;
	f->in_payload = false;
	if (!f->payload.skip)
		r = f->ops.on_object(f->ops.ctx, object.p, object.n);
	payload_end(&f->payload);
	return r;
}

int frame_splitter_feed(struct frame_splitter *f, const void *p, size_t n)
{
	struct input in = { p, n };

	while (in.n > 0 || (f->in_payload && f->payload.left == 0)) {
		int r = 0;

		if (f->in_payload)
			r = splitter_payload(f, &in);
		else
			splitter_header(f, &in);
		if (r)
			return r;
	}
	return 0;
}

/* -- lists -- */

void list_parser_init(struct list_parser *l, const char *kind, const struct frame_ops *ops)
{
	*l = (struct list_parser){ .ops = *ops, .kind = xstrdup(kind) };
}

void list_parser_done(struct list_parser *l)
{
	payload_done(&l->payload);
	free(l->kind);
	free(l->resource_version);
	free(l->continue_token);
	*l = (struct list_parser){ 0 };
}

static void keep_text(char **dst, struct str s)
{
	free(*dst);
	*dst = xstrndup(s.n ? s.p : "", s.n);
}

/* ListMeta: resourceVersion = 2, continue = 3. */
static int list_take_meta(struct list_parser *l, struct cursor c)
{
	bool bad = false;

	keep_text(&l->resource_version, cursor_text(c, 2, &bad));
	keep_text(&l->continue_token, cursor_text(c, 3, &bad));
	return bad ? -EBADMSG : 0;
}

static int list_take_type(struct list_parser *l, struct cursor c)
{
	struct envelope e = { 0 };

	if (envelope_type(c, &e) < 0 || !str_is(e.kind, l->kind))
		return -EBADMSG;
	l->seen_kind = true;
	return 0;
}

static int list_take(struct list_parser *l, struct input object)
{
	switch (l->field) {
	case LIST_FIELD_TYPE:
		return list_take_type(l, cursor_of(object.p, object.n));
	case LIST_FIELD_META:
		return list_take_meta(l, cursor_of(object.p, object.n));
	case LIST_FIELD_ITEM:
		l->items++;
		return l->ops.on_object(l->ops.ctx, object.p, object.n);
	default:
		return 0;
	}
}

static int list_payload(struct list_parser *l, struct input *in)
{
	struct input object;
	int r = 0;

	if (!payload_take(&l->payload, in, &object))
		return 0;
	l->in_payload = false;
	if (!l->payload.skip)
		r = list_take(l, object);
	payload_end(&l->payload);
	if (l->level == LIST_RAW && l->raw_left == 0)
		l->level = LIST_ENVELOPE;
	return r;
}

static int list_begin_payload(struct list_parser *l, enum list_field field, uint64_t n)
{
	const bool large = n > FRAME_SIZE_MAX;

	if (l->level == LIST_RAW) {
		if (n > l->raw_left)
			return -EBADMSG;
		l->raw_left -= n;
	}
	if (large && field != LIST_FIELD_NONE && field != LIST_FIELD_ITEM)
		return -EBADMSG;
	if (large && field == LIST_FIELD_ITEM && l->ops.on_oversize)
		l->ops.on_oversize(l->ops.ctx, n);
	l->field = field;
	l->in_payload = true;
	payload_begin(&l->payload, n, large || field == LIST_FIELD_NONE);
	return 0;
}

/* A length-delimited field of the envelope or of the list itself. */
static int list_begin_field(struct list_parser *l, uint32_t tag, uint64_t n)
{
	static const enum list_field of_raw[] = { LIST_FIELD_NONE, LIST_FIELD_META, LIST_FIELD_ITEM };
	const uint32_t number = tag >> 3;

	if (l->level == LIST_RAW)
		return list_begin_payload(l, number <= 2 ? of_raw[number] : LIST_FIELD_NONE, n);
	if (number != 2)
		return list_begin_payload(l, number == 1 ? LIST_FIELD_TYPE : LIST_FIELD_NONE, n);
	if (l->seen_raw)
		return -EBADMSG; /* a second list inside one answer */
	l->seen_raw = true;
	l->raw_left = n;
	if (n > 0)
		l->level = LIST_RAW;
	return 0;
}

/* Acts on a complete field header. Groups are never sent, and can not be skipped without their bytes. */
static int list_begin_value(struct list_parser *l, uint32_t tag, uint64_t value)
{
	switch (tag & 7) {
	case WIRE_BYTES:
		return list_begin_field(l, tag, value);
	case WIRE_FIXED64:
		return list_begin_payload(l, LIST_FIELD_NONE, 8);
	case WIRE_FIXED32:
		return list_begin_payload(l, LIST_FIELD_NONE, 4);
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
static int list_read_header(const struct list_parser *l, uint32_t *ret_tag, uint64_t *ret_value)
{
	const uint8_t *end = l->header + l->n_header;
	struct cursor_number n;
	int r = read_varint(l->header, end, &n);

	if (r || !cursor_is_tag(n))
		return r ? r : -EBADMSG;
	*ret_tag = (uint32_t)n.v;
	if ((n.v & 7) == WIRE_BYTES || (n.v & 7) == WIRE_VARINT)
		r = read_varint(n.p, end, &n);
	*ret_value = n.v;
	return r;
}

static int list_header(struct list_parser *l, struct input *in)
{
	uint32_t tag = 0;
	uint64_t value = 0;

	if (l->level == LIST_RAW && l->raw_left-- == 0)
		return -EBADMSG;
	l->header[l->n_header++] = *in->p;
	input_advance(in, 1);
	if (l->level == LIST_MAGIC) {
		if (l->header[l->n_header - 1] != (uint8_t)ENVELOPE_MAGIC[l->n_header - 1])
			return -EBADMSG;
		if (l->n_header == ENVELOPE_MAGIC_SIZE) {
			l->n_header = 0;
			l->level = LIST_ENVELOPE;
		}
		return 0;
	}
	const int r = list_read_header(l, &tag, &value);

	if (r == 1)
		return l->level == LIST_RAW && l->raw_left == 0 ? -EBADMSG : 0;
	if (r < 0)
		return r;
	l->n_header = 0;
	if (list_begin_value(l, tag, value) < 0)
		return -EBADMSG;
	if (l->level == LIST_RAW && l->raw_left == 0 && !l->in_payload)
		l->level = LIST_ENVELOPE;
	return 0;
}

int list_parser_feed(struct list_parser *l, const void *p, size_t n)
{
	struct input in = { p, n };

	while (!l->bad && (in.n > 0 || (l->in_payload && l->payload.left == 0))) {
		const int r = l->in_payload ? list_payload(l, &in) : list_header(l, &in);

		l->bad = r == -EBADMSG;
		if (r)
			return r;
	}
	return l->bad ? -EBADMSG : 0;
}

int list_parser_finish(const struct list_parser *l)
{
	return !l->bad && l->level == LIST_ENVELOPE && l->n_header == 0 && !l->in_payload && l->seen_raw &&
			       l->seen_kind
		       ? 0
		       : -EBADMSG;
}
