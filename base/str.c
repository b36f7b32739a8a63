/* str.c - see str.h. */
// SPDX-License-Identifier: Apache-2.0
#include "base/str.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

bool str_empty(struct str a)
{
	return a.n == 0;
}

const char *str_env(const char *name)
{
	const char *v = getenv(name);

	return v && *v ? v : NULL;
}

int str_fail(char *dst, size_t size, int r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(dst, size, fmt, ap);
	va_end(ap);
	return r;
}

int str_fail_at(struct str_error *reterr, size_t pos, const char *fmt, ...)
{
	va_list ap;

	if (!reterr)
		return -EINVAL;
	reterr->pos = pos;
	va_start(ap, fmt);
	(void)vsnprintf(reterr->text, sizeof(reterr->text), fmt, ap);
	va_end(ap);
	return -EINVAL;
}

void str_list_add(struct str_list *l, const char *s, size_t n)
{
	l->v = xreallocarray(l->v, l->n + 1, sizeof(*l->v));
	l->v[l->n++] = xstrndup(s, n);
}

bool str_list_has(const struct str_list *l, struct str s)
{
	for (size_t i = 0; i < l->n; i++)
		if (str_is(s, l->v[i]))
			return true;
	return false;
}

void str_list_done(struct str_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i]);
	free(l->v);
	*l = (struct str_list){ 0 };
}

struct str str_trim(struct str s, const char *blanks)
{
	for (; s.n > 0 && *s.p && strchr(blanks, *s.p); s.p++)
		s.n--;
	while (s.n > 0 && s.p[s.n - 1] && strchr(blanks, s.p[s.n - 1]))
		s.n--;
	return s;
}

int str_to_u64(const char *s, size_t n, uint64_t *ret)
{
	uint64_t v = 0;

	if (n == 0)
		return -EINVAL;
	for (size_t i = 0; i < n; i++) {
		if (s[i] < '0' || s[i] > '9')
			return -EINVAL;
		if (__builtin_mul_overflow(v, UINT64_C(10), &v) ||
		    __builtin_add_overflow(v, (uint64_t)(s[i] - '0'), &v))
			return -ERANGE;
	}
	*ret = v;
	return 0;
}

int str_to_i64(const char *s, size_t n, int64_t *ret)
{
	const bool minus = n > 0 && s[0] == '-';
	uint64_t v;
	int r = str_to_u64(s + minus, n - minus, &v);

	if (r < 0)
		return r;
	if (v > (uint64_t)INT64_MAX + minus)
		return -ERANGE;
	*ret = minus ? (int64_t)(0 - v) : (int64_t)v;
	return 0;
}

size_t str_utf8_len(const char *s, size_t n)
{
	const unsigned char *u = (const unsigned char *)s;
	size_t len = n == 0        ? 0
		     : u[0] < 0x80 ? 1
		     : u[0] < 0xc2 ? 0
		     : u[0] < 0xe0 ? 2
		     : u[0] < 0xf0 ? 3
		     : u[0] < 0xf5 ? 4
				   : 0;

	if (len == 0 || len > n)
		return 0;
	for (size_t i = 1; i < len; i++)
		if ((u[i] & 0xc0) != 0x80)
			return 0;
	if (len == 3 && ((u[0] == 0xe0 && u[1] < 0xa0) || (u[0] == 0xed && u[1] > 0x9f)))
		return 0; /* overlong, surrogate */
	if (len == 4 && ((u[0] == 0xf0 && u[1] < 0x90) || (u[0] == 0xf4 && u[1] > 0x8f)))
		return 0; /* overlong, above U+10FFFF */
	return len;
}

/* U+200E/F, U+202A-E, U+2066-9: they reorder what is read. */
static bool is_bidi_control(const char *s, size_t len)
{
	const unsigned char *u = (const unsigned char *)s;

	if (len != 3 || u[0] != 0xe2)
		return false;
	return (u[1] == 0x80 && (u[2] == 0x8e || u[2] == 0x8f || (u[2] >= 0xaa && u[2] <= 0xae))) ||
	       (u[1] == 0x81 && u[2] >= 0xa6 && u[2] <= 0xa9);
}

/* One byte that stands for itself wherever people read it: nearly all are. */
static bool is_plain(char c)
{
	return c >= 0x20 && c < 0x7f;
}

/* A character of len bytes (0 = it is none), as it may be shown: escaped for JSON, or '?' for what is not
 * printable. Returns the bytes of it. */
static size_t show_one(char out[static 8], const char *s, size_t len, bool json)
{
	const unsigned char c = (unsigned char)s[0];
	const bool control = c < 0x20 || c == 0x7f;

	if (!json && (len == 0 || control || is_bidi_control(s, len))) {
		out[0] = '?';
		return 1;
	}
	if (len == 0)
		return (size_t)snprintf(out, 8, "\\ufffd");
	if (is_bidi_control(s, len)) {
		const unsigned code = 0x2000u | ((unsigned)(s[1] & 0x3f) << 6) | (unsigned)(s[2] & 0x3f);
		return (size_t)snprintf(out, 8, "\\u%04x", code);
	}
	if (json && (c == '"' || c == '\\'))
		return (size_t)snprintf(out, 8, "\\%c", c);
	if (c == '\n')
		return (size_t)snprintf(out, 8, "\\n");
	if (control)
		return (size_t)snprintf(out, 8, "\\u%04x", c);
	memcpy(out, s, len);
	return len;
}

static size_t show(char *dst, size_t size, const char *s, size_t n, bool json)
{
	size_t w = 0;

	for (size_t i = 0; i < n;) {
		char one[8];

		if (is_plain(s[i]) && !(json && (s[i] == '"' || s[i] == '\\')) && w + 1 < size) {
			dst[w++] = s[i++];
			continue;
		}
		const size_t len = str_utf8_len(s + i, n - i);
		const size_t k = show_one(one, s + i, len, json);

		if (w + k + 1 > size)
			break;
		memcpy(dst + w, one, k);
		w += k;
		i += len ? len : 1;
	}
	if (size)
		dst[w] = '\0';
	return w;
}

size_t str_escape_json(char *dst, size_t size, const char *s, size_t n)
{
	return show(dst, size, s, n, true);
}

size_t str_copy_printable(char *dst, size_t size, const char *s, size_t n)
{
	return show(dst, size, s, n, false);
}

size_t str_distance(const char *a, const char *b)
{
	size_t row[66];
	const size_t na = strlen(a), nb = strlen(b);

	if (na > 64 || nb > 64)
		return SIZE_MAX;
	for (size_t j = 0; j <= nb; j++)
		row[j] = j;
	for (size_t i = 1; i <= na; i++) {
		size_t diag = row[0];

		row[0] = i;
		for (size_t j = 1; j <= nb; j++) {
			const size_t swap = diag + (a[i - 1] != b[j - 1]);
			size_t best = row[j] + 1 < row[j - 1] + 1 ? row[j] + 1 : row[j - 1] + 1;

			diag = row[j];
			row[j] = swap < best ? swap : best;
		}
	}
	return row[nb];
}

void str_uuid_format(const uint8_t uuid[static 16], char ret[static 37])
{
	static const char digits[] = "0123456789abcdef";
	size_t w = 0;

	for (size_t i = 0; i < 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			ret[w++] = '-';
		ret[w++] = digits[uuid[i] >> 4];
		ret[w++] = digits[uuid[i] & 15];
	}
	ret[w] = '\0';
}
