/* unicode.c - see unicode.h. */
// SPDX-License-Identifier: Apache-2.0
#include "base/unicode.h"

#include "base/cleanup.h"

static const struct range {
	uint32_t first, last;
} unprintable[] = {
#define R(first, last) { first, last },
#include "base/unprintable.def"
#undef R
};

/* By the number of bytes: the bits of the first byte that count, and the least that needs so many. */
static const struct form {
	unsigned char bits;
	uint32_t least;
} forms[] = { { 0, 0 }, { 0x7f, 0 }, { 0x1f, 0x80 }, { 0x0f, 0x800 }, { 0x07, 0x10000 } };

static size_t length_of(unsigned char first)
{
	return first < 0x80   ? 1
	       : first < 0xc2 ? 0
	       : first < 0xe0 ? 2
	       : first < 0xf0 ? 3
	       : first < 0xf5 ? 4
			      : 0;
}

static bool is_continuation(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

size_t unicode_take(const char *s, size_t n, uint32_t *ret_c)
{
	const size_t len = n > 0 ? length_of((unsigned char)s[0]) : 0;
	uint32_t c;

	*ret_c = 0;
	if (len == 0 || len > n)
		return 0;
	c = (unsigned char)s[0] & forms[len].bits;
	for (size_t i = 1; i < len; i++) {
		if (!is_continuation(s[i]))
			return 0;
		c = c << 6 | ((unsigned char)s[i] & 0x3f);
	}
	if (c < forms[len].least || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0; /* overlong, too high, a surrogate */
	*ret_c = c;
	return len;
}

size_t unicode_len(const char *s, size_t n)
{
	uint32_t c;

	return unicode_take(s, n, &c);
}

/* Nearly all are. */
static bool is_printable_ascii(uint32_t c)
{
	return c >= 0x20 && c < 0x7f;
}

bool unicode_is_printable(uint32_t c)
{
	size_t lo = 0, hi = ARRAY_SIZE(unprintable);

	if (is_printable_ascii(c))
		return true;
	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;

		if (c > unprintable[mid].last)
			lo = mid + 1;
		else
			hi = mid;
	}
	return c <= 0x10ffff && (lo == ARRAY_SIZE(unprintable) || c < unprintable[lo].first);
}

size_t unicode_cut(const char *s, size_t n, size_t max)
{
	if (n <= max)
		return n;
	for (n = max; n > 0 && is_continuation(s[n]); n--)
		;
	return n;
}

bool unicode_all_printable(const char *s, size_t n)
{
	for (size_t i = 0, len; i < n; i += len) {
		uint32_t c;

		len = 1;
		if (is_printable_ascii((unsigned char)s[i]))
			continue;
		len = unicode_take(s + i, n - i, &c);
		if (len == 0 || !unicode_is_printable(c))
			return false;
	}
	return true;
}
