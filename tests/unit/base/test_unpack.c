/* test_unpack.c - every form of a value: taken when it is the shortest, refused when it is another or cut
 * off. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>

#include "base/cleanup.h"
#include "base/unpack.h"
#include "tests/suite.h"

enum kind { U64, I64, BOOL, NIL, TEXT, BYTES, ARRAY, MAP };

#define BYTES_OF(s)                                                                                          \
	{                                                                                                    \
		s, sizeof(s) - 1                                                                             \
	}
static const struct {
	enum kind kind;
	struct str in; /* the head of a text or of bytes: what it announces is put behind it */
	bool ok;
	int64_t value;
} rows[] = {
	{ U64, BYTES_OF("\x00"), true, 0 },
	{ U64, BYTES_OF("\x7f"), true, 127 },
	{ U64, BYTES_OF("\xcc\x80"), true, 128 },
	{ U64, BYTES_OF("\xcc\x7f"), false, 0 },
	{ U64, BYTES_OF("\xcd\x01\x00"), true, 256 },
	{ U64, BYTES_OF("\xcd\x00\xff"), false, 0 },
	{ U64, BYTES_OF("\xce\x00\x01\x00\x00"), true, 65536 },
	{ U64, BYTES_OF("\xce\x00\x00\xff\xff"), false, 0 },
	{ U64, BYTES_OF("\xcf\x00\x00\x00\x01\x00\x00\x00\x00"), true, INT64_C(1) << 32 },
	{ U64, BYTES_OF("\xcf\x00\x00\x00\x00\xff\xff\xff\xff"), false, 0 },
	{ U64, BYTES_OF("\xff"), false, 0 },
	{ I64, BYTES_OF("\x05"), true, 5 },
	{ I64, BYTES_OF("\xff"), true, -1 },
	{ I64, BYTES_OF("\xe0"), true, -32 },
	{ I64, BYTES_OF("\xd0\xdf"), true, -33 },
	{ I64, BYTES_OF("\xd0\xe0"), false, 0 },
	{ I64, BYTES_OF("\xd0\x05"), false, 0 },
	{ I64, BYTES_OF("\xd1\xff\x7f"), true, -129 },
	{ I64, BYTES_OF("\xd1\xff\x80"), false, 0 },
	{ I64, BYTES_OF("\xd3\x80\x00\x00\x00\x00\x00\x00\x00"), true, INT64_MIN },
	{ I64, BYTES_OF("\xcf\x80\x00\x00\x00\x00\x00\x00\x00"), false, 0 },
	{ BOOL, BYTES_OF("\xc2"), true, 0 },
	{ BOOL, BYTES_OF("\xc3"), true, 1 },
	{ BOOL, BYTES_OF("\x01"), false, 0 },
	{ NIL, BYTES_OF("\xc0"), true, 0 },
	{ NIL, BYTES_OF("\xc2"), false, 0 },
	{ TEXT, BYTES_OF("\xa0"), true, 0 },
	{ TEXT, BYTES_OF("\xbf"), true, 31 },
	{ TEXT, BYTES_OF("\xd9\x20"), true, 32 },
	{ TEXT, BYTES_OF("\xd9\x1f"), false, 0 },
	{ TEXT, BYTES_OF("\xda\x01\x00"), true, 256 },
	{ TEXT, BYTES_OF("\xda\x00\xff"), false, 0 },
	{ TEXT, BYTES_OF("\xdb\x00\x01\x00\x00"), true, 65536 },
	{ TEXT, BYTES_OF("\xdb\x00\x00\xff\xff"), false, 0 },
	{ TEXT, BYTES_OF("\xc4\x01"), false, 0 },
	{ BYTES, BYTES_OF("\xc4\x00"), true, 0 },
	{ BYTES, BYTES_OF("\xc5\x01\x00"), true, 256 },
	{ BYTES, BYTES_OF("\xc5\x00\xff"), false, 0 },
	{ BYTES, BYTES_OF("\xa1"), false, 0 },
	{ ARRAY, BYTES_OF("\x9f"), true, 15 },
	{ ARRAY, BYTES_OF("\xdc\x00\x10"), true, 16 },
	{ ARRAY, BYTES_OF("\xdc\x00\x0f"), false, 0 },
	{ ARRAY, BYTES_OF("\xdd\x00\x01\x00\x00"), true, 65536 },
	{ ARRAY, BYTES_OF("\x80"), false, 0 },
	{ MAP, BYTES_OF("\x8f"), true, 15 },
	{ MAP, BYTES_OF("\xde\x00\x10"), true, 16 },
	{ MAP, BYTES_OF("\xde\x00\x0f"), false, 0 },
	{ MAP, BYTES_OF("\x90"), false, 0 },
};

static bool take(enum kind kind, struct unpacker *u, int64_t *ret)
{
	struct str s = { 0 };
	uint64_t n = 0;
	bool b = false, ok;

	switch (kind) {
	case I64:
		return unpack_i64(u, ret);
	case BOOL:
		ok = unpack_bool(u, &b);
		n = b;
		break;
	case NIL:
		ok = unpack_nil(u);
		break;
	case TEXT:
	case BYTES:
		ok = (kind == TEXT ? unpack_text : unpack_bytes)(u, &s);
		n = s.n;
		break;
	default:
		ok = (kind == U64 ? unpack_u64 : kind == ARRAY ? unpack_array : unpack_map)(u, &n);
	}
	*ret = (int64_t)n;
	return ok;
}

TEST_LOOP(shortest_form_alone, 0, ARRAY_SIZE(rows))
{
	const bool has_body = rows[_i].kind == TEXT || rows[_i].kind == BYTES;
	const size_t head = rows[_i].in.n, n = head + (has_body ? (size_t)rows[_i].value : 0);
	uint8_t *bytes = calloc(1, n);
	int64_t value = 0;

	memcpy(bytes, rows[_i].in.p, head);
	struct unpacker whole = { bytes, bytes + n };
	ck_assert_int_eq(take(rows[_i].kind, &whole, &value), rows[_i].ok);
	if (rows[_i].ok) {
		ck_assert_int_eq(value, rows[_i].value);
		ck_assert_ptr_eq(whole.p, whole.end);
	}
	/* Everywhere near the ends; within a long body now and then. */
	for (size_t cut = 0; cut < n; cut += cut < 300 || n - cut <= 300 ? 1 : 251) {
		uint8_t *exact = calloc(1, cut + !cut); /* a byte too far shows under the sanitizers */
		struct unpacker part = { exact, exact + cut };

		memcpy(exact, bytes, cut);
		ck_assert(!take(rows[_i].kind, &part, &value));
		free(exact);
	}
	free(bytes);
}

SUITE("base/unpack");
