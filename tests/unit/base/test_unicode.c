/* test_unicode.c - which characters are shown to people, and that every printer of the lowest layer agrees.
 */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "base/unicode.h"
#include "tests/hostile.h"
#include "tests/suite.h"

/* As UTF-8, by the rule of RFC 3629 written down once more. */
static size_t encode(uint32_t c, char out[static 5])
{
	const size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	for (size_t i = n; i-- > 1; c >>= 6)
		out[i] = (char)(0x80 | (c & 0x3f));
	out[0] = (char)(n == 1 ? c : (0xf00u >> n & 0xffu) | c);
	out[n] = '\0';
	return n;
}

static bool is_surrogate(uint32_t c)
{
	return c >= 0xd800 && c <= 0xdfff;
}

TEST(every_character_and_its_length)
{
	for (uint32_t c = 0; c <= 0x10ffff; c++) {
		char s[5];
		uint32_t got = 7, less;
		const size_t n = encode(c, s), taken = unicode_take(s, n, &got);

		if (taken != (is_surrogate(c) ? 0 : n) || got != (is_surrogate(c) ? 0 : c) ||
		    unicode_take(s, n - 1, &less) != 0)
			ck_abort_msg("U+%04X", (unsigned)c);
	}
}

TEST(no_other_bytes_are_a_character)
{
	static const char *const bad[] = { "",
					   "\x80",
					   "\xbf",
					   "\xc0\x80",
					   "\xc1\xbf",
					   "\xe0\x9f\xbf",
					   "\xed\xa0\x80",
					   "\xf0\x8f\xbf\xbf",
					   "\xf4\x90\x80\x80",
					   "\xf5\x80\x80\x80",
					   "\xff",
					   "\xc3(",
					   "\xe2\x82(",
					   "\xf0\x9f\x98(" };
	uint32_t c;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ck_assert_uint_eq(unicode_take(bad[i], strlen(bad[i]), &c), 0);
}

TEST(what_is_shown)
{
	static const struct {
		uint32_t first, last;
		bool shown;
	} rows[] = {
		{ 0, 0x1f, false },          { 0x20, 0x7e, true },          { 0x7f, 0x9f, false },
		{ 0xa0, 0xac, true },        { 0xad, 0xad, false },         { 0xae, 0x34e, true },
		{ 0x34f, 0x34f, false },     { 0x350, 0x377, true },        { 0x115e, 0x115e, true },
		{ 0x115f, 0x1160, false },   { 0x1161, 0x1161, true },      { 0x17b4, 0x17b5, false },
		{ 0x180b, 0x180f, false },   { 0x27ff, 0x27ff, true },      { 0x2800, 0x2800, false },
		{ 0x2801, 0x28ff, true },    { 0x3163, 0x3163, true },      { 0x3164, 0x3164, false },
		{ 0xfe00, 0xfe0f, false },   { 0xfe10, 0xfe19, true },      { 0xffa0, 0xffa0, false },
		{ 0xf0000, 0xffffd, false }, { 0x100000, 0x10fffd, false }, { 0xe0100, 0xe01ef, false },
		{ 0x378, 0x379, false },     { 0x61b, 0x61b, true },        { 0x61c, 0x61c, false },
		{ 0x200b, 0x200f, false },   { 0x2010, 0x2027, true },      { 0x2028, 0x202e, false },
		{ 0x2030, 0x205f, true },    { 0x2060, 0x206f, false },     { 0x4e00, 0x9fff, true },
		{ 0xac00, 0xd7a3, true },    { 0xe000, 0xf8ff, false },     { 0xfdd0, 0xfdef, false },
		{ 0xfeff, 0xfeff, false },   { 0xfff9, 0xfffb, false },     { 0xfffd, 0xfffd, true },
		{ 0xfffe, 0xffff, false },   { 0x1f600, 0x1f64f, true },    { 0x20000, 0x2a6df, true },
		{ 0xe0000, 0xe00ff, false }, { 0x10fffe, 0x10ffff, false }, { 0x110000, 0x110010, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		for (uint32_t c = rows[i].first; c <= rows[i].last; c++)
			if (unicode_is_printable(c) != rows[i].shown)
				ck_abort_msg("U+%04X", (unsigned)c);
}

TEST(never_cut_in_two)
{
	static const char text[] = "a\xc3\xa9\xe9\x87\x8d\xf0\x9f\x98\x80";
	static const size_t ends[] = { 0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10 };

	for (size_t max = 0; max < ARRAY_SIZE(ends); max++)
		ck_assert_uint_eq(unicode_cut(text, sizeof(text) - 1, max), ends[max]);
}

/* -- the printers: nothing that is not shown leaves them, of any character alone and of random bytes -- */

typedef size_t printer(char *dst, size_t size, const char *s, size_t n);

/* An assertion that holds is slow where there are millions. */
static void check_all_shown(printer *print, const char *s, size_t n)
{
	char out[8 * STR_ESCAPED_MAX + 1];
	const size_t w = print(out, sizeof(out), s, n);

	if (strlen(out) != w || !unicode_all_printable(out, w))
		ck_abort_msg("of %zu bytes that begin with %02x", n, (unsigned char)s[0]);
}

static printer *const printers[] = { str_copy_printable, str_escape_json, str_escape_yaml };

TEST_LOOP(printers_show_nothing_else, 0, 3)
{
	uint64_t x = 88172645463325252u;

	for (uint32_t c = 0; c <= 0x10ffff; c++) {
		char s[5];

		check_all_shown(printers[_i], s, encode(c, s));
	}
	for (unsigned i = 0; i < 200000; i++) {
		x ^= x << 13, x ^= x >> 7, x ^= x << 17;
		check_all_shown(printers[_i], (const char *)&x, sizeof(x));
	}
}

TEST_LOOP(printers_and_hostile_text, 0, 3)
{
	char out[sizeof(HOSTILE) * STR_ESCAPED_MAX];

	(void)printers[_i](out, sizeof(out), HOSTILE, sizeof(HOSTILE) - 1);
	ck_assert(hostile_is_gone(out));
	ck_assert_int_eq(out[0], 'a');
	ck_assert_int_eq(out[strlen(out) - 1], 'z');
}

TEST(escapes_beyond_the_first_plane)
{
	char out[64];

	(void)str_escape_json(out, sizeof(out), "\xf3\xa0\x81\x81", 4);
	ck_assert_str_eq(out, "\\udb40\\udc41");
	(void)str_escape_yaml(out, sizeof(out), "\xf3\xa0\x81\x81", 4);
	ck_assert_str_eq(out, "\\U000e0041");
}

SUITE("base/unicode");
