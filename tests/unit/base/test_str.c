/* test_str.c - bounded parsing and escaping. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "base/unicode.h"
#include "base/xalloc.h"
#include "tests/hostile.h"
#include "tests/suite.h"

TEST(integers)
{
	uint64_t u = 7;
	int64_t i = 7;

	ck_assert_int_eq(str_to_u64("18446744073709551615", 20, &u), 0);
	ck_assert_uint_eq(u, UINT64_MAX);
	ck_assert_int_eq(str_to_u64("18446744073709551616", 20, &u), -ERANGE);
	ck_assert_uint_eq(u, UINT64_MAX); /* untouched on error */
	ck_assert_int_eq(str_to_u64("", 0, &u), -EINVAL);
	ck_assert_int_eq(str_to_u64("1 ", 2, &u), -EINVAL);
	ck_assert_int_eq(str_to_u64("+1", 2, &u), -EINVAL);
	ck_assert_int_eq(str_to_i64("-9223372036854775808", 20, &i), 0);
	ck_assert_int_eq(i, INT64_MIN);
	ck_assert_int_eq(str_to_i64("-9223372036854775809", 20, &i), -ERANGE);
	ck_assert_int_eq(str_to_i64("9223372036854775808", 19, &i), -ERANGE);
	ck_assert_int_eq(str_to_i64("-", 1, &i), -EINVAL);
}

/* What was read is quoted in why it was refused. */
TEST(reasons_may_be_shown)
{
	char why[sizeof(HOSTILE) + 16];

	ck_assert_int_eq(str_fail(why, sizeof(why), -EINVAL, "key \"%s\"", HOSTILE), -EINVAL);
	ck_assert(hostile_is_gone(why));
	ck_assert_int_eq(strncmp(why, "key \"a?", 7), 0);
	ck_assert_int_eq(why[strlen(why) - 1], '"');
	ck_assert_int_eq(str_fail(why, 4, 0, "ab\xe9\x87\x8d"), 0);
	ck_assert_str_eq(why, "ab?");
}

TEST(json_escapes)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{ "plain", "plain" },
		{ "a\"b\\c", "a\\\"b\\\\c" },
		{ "line\nend\t", "line\\nend\\u0009" },
		{ "\x1b[31m\x7f", "\\u001b[31m\\u007f" },
		{ "\xff", "\\ufffd" },
		{ "\xc0\x80", "\\ufffd\\ufffd" },            /* overlong NUL */
		{ "\xed\xa0\x80", "\\ufffd\\ufffd\\ufffd" }, /* surrogate */
		{ "\xe2\x80\xae"
		  "evil",
		  "\\u202eevil" }, /* right-to-left override */
		{ "重启", "重启" },
	};
	char buf[64];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		(void)str_escape_json(buf, sizeof(buf), cases[i].in, strlen(cases[i].in));
		ck_assert_str_eq(buf, cases[i].out);
	}
}

/* Whatever the room: never past it, always terminated, never half an escape or half a character. */
TEST(never_past_the_end)
{
	static const char in[] = "a\"\n\x1b重\xff\xe2\x80\xaez";

	for (size_t size = 1; size < 80; size++) {
		char *buf = malloc(size);
		const size_t n = str_escape_json(buf, size, in, sizeof(in) - 1);

		ck_assert_uint_lt(n, size);
		ck_assert_uint_eq(strlen(buf), n);
		ck_assert(n == 0 || buf[n - 1] != '\\' || (n > 1 && buf[n - 2] == '\\'));
		(void)str_copy_printable(buf, size, in, sizeof(in) - 1);
		ck_assert_uint_lt(strlen(buf), size);
		for (size_t i = 0; buf[i];) {
			const size_t len = unicode_len(buf + i, strlen(buf + i));

			ck_assert_uint_gt(len, 0);
			i += len;
		}
		free(buf);
	}
}

TEST(distance)
{
	ck_assert_uint_eq(str_distance("delteEvictedPod", "deleteEvictedPod"), 1);
	ck_assert_uint_eq(str_distance("", "abc"), 3);
	ck_assert_uint_eq(str_distance("abc", "abc"), 0);
	ck_assert_uint_eq(str_distance("status", "history"), 6);
}

TEST(uuid)
{
	static const uint8_t bytes[16] = { 0x0f, 0x1e, 0x2d, 0x3c, 0x4b, 0x5a, 0x69, 0x78,
					   0x87, 0x96, 0xa5, 0xb4, 0xc3, 0xd2, 0xe1, 0xf0 };
	char text[37];

	str_uuid_format(bytes, text);
	ck_assert_str_eq(text, "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0");
}

TEST(concatenation)
{
	char *one = xconcat("", NULL), *more = xconcat("a", "", "bc", "d", NULL);

	ck_assert_str_eq(one, "");
	ck_assert_str_eq(more, "abcd");
	free(one);
	free(more);
}

TEST(trimming)
{
	static const struct {
		struct str in, out;
	} rows[] = {
		{ STR_LIT(""), STR_LIT("") },       { STR_LIT(" \t "), STR_LIT("") },
		{ STR_LIT("a b"), STR_LIT("a b") }, { STR_LIT("\t a b \t"), STR_LIT("a b") },
		{ STR_LIT("a\n"), STR_LIT("a\n") }, { STR_LIT("\0 a \0"), STR_LIT("\0 a \0") },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		ck_assert(str_eq(str_trim(rows[i].in, " \t"), rows[i].out));
}

TEST(what_is_cut_off)
{
	struct str rest = STR_LIT("a//b");

	ck_assert(str_is(str_cut(&rest, '/'), "a"));
	ck_assert(str_is(rest, "/b"));
	ck_assert(str_empty(str_cut(&rest, '/')));
	ck_assert(str_is(str_cut(&rest, '/'), "b"));
	ck_assert(str_empty(rest) && str_empty(str_cut(&rest, '/')));
}

SUITE("base/str");
