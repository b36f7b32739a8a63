/* unpack.c - see unpack.h. */
// SPDX-License-Identifier: Apache-2.0
#include "base/unpack.h"

/* A length stands in the low bits of the first byte, or behind a tag in 1, 2 or 4 bytes; 0: there is no such
 * form. */
static const struct form {
	uint8_t fix, mask, tags[3];
} text = { 0xa0, 0x1f, { 0xd9, 0xda, 0xdb } }, bytes = { 0, 0, { 0xc4, 0xc5, 0xc6 } },
  array = { 0x90, 0x0f, { 0, 0xdc, 0xdd } }, map = { 0x80, 0x0f, { 0, 0xde, 0xdf } };

/* n bytes, the highest first. */
static bool take(struct unpacker *u, size_t n, uint64_t *ret)
{
	uint64_t v = 0;

	if ((size_t)(u->end - u->p) < n)
		return false;
	for (size_t i = 0; i < n; i++)
		v = v << 8 | *u->p++;
	*ret = v;
	return true;
}

bool unpack_u64(struct unpacker *u, uint64_t *ret)
{
	uint64_t tag;

	if (!take(u, 1, &tag))
		return false;
	if (tag <= 0x7f) {
		*ret = tag;
		return true;
	}
	if (tag < 0xcc || tag > 0xcf)
		return false;
	const unsigned width = 1u << (tag - 0xcc);
	const uint64_t least = width == 1 ? 0x80 : UINT64_C(1) << (4 * width);

	return take(u, width, ret) && *ret >= least;
}

static bool take_negative(struct unpacker *u, int64_t *ret)
{
	uint64_t tag, v;

	if (!take(u, 1, &tag))
		return false;
	if (tag >= 0xe0) {
		*ret = (int8_t)tag;
		return true;
	}
	if (tag < 0xd0 || tag > 0xd3)
		return false;
	const unsigned width = 1u << (tag - 0xd0);
	const unsigned shift = 64 - 8 * width;
	const int64_t limit = width == 1 ? -32 : -(INT64_C(1) << (4 * width - 1));

	if (!take(u, width, &v))
		return false;
	*ret = (int64_t)(v << shift) >> shift;
	return *ret < limit;
}

bool unpack_i64(struct unpacker *u, int64_t *ret)
{
	uint64_t v;

	if (u->p < u->end && *u->p >= 0xd0)
		return take_negative(u, ret);
	if (!unpack_u64(u, &v) || v > INT64_MAX)
		return false;
	*ret = (int64_t)v;
	return true;
}

bool unpack_bool(struct unpacker *u, bool *ret)
{
	uint64_t tag;

	if (!take(u, 1, &tag) || (tag != 0xc2 && tag != 0xc3))
		return false;
	*ret = tag == 0xc3;
	return true;
}

bool unpack_nil(struct unpacker *u)
{
	if (u->p == u->end || *u->p != 0xc0)
		return false;
	u->p++;
	return true;
}

static bool take_length(struct unpacker *u, const struct form *f, uint64_t *ret)
{
	uint64_t tag, least = f->fix ? f->mask + 1u : 0; /* the least that the next longer form is for */

	if (!take(u, 1, &tag))
		return false;
	if (f->fix && (tag & ~(uint64_t)f->mask) == f->fix) {
		*ret = tag & f->mask;
		return true;
	}
	for (unsigned i = 0; i < 3; i++) {
		if (f->tags[i] && tag == f->tags[i])
			return take(u, (size_t)1 << i, ret) && *ret >= least;
		if (f->tags[i])
			least = UINT64_C(1) << (8u << i);
	}
	return false;
}

static bool take_run(struct unpacker *u, const struct form *f, struct str *ret)
{
	uint64_t n;

	if (!take_length(u, f, &n) || n > (size_t)(u->end - u->p))
		return false;
	*ret = (struct str){ (const char *)u->p, n };
	u->p += n;
	return true;
}

bool unpack_text(struct unpacker *u, struct str *ret)
{
	return take_run(u, &text, ret);
}

bool unpack_bytes(struct unpacker *u, struct str *ret)
{
	return take_run(u, &bytes, ret);
}

bool unpack_array(struct unpacker *u, uint64_t *ret_n)
{
	return take_length(u, &array, ret_n);
}

bool unpack_map(struct unpacker *u, uint64_t *ret_n)
{
	return take_length(u, &map, ret_n);
}
