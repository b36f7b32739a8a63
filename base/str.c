/* str.c - see str.h. */
// SPDX-License-Identifier: Apache-2.0
#include "base/str.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/unicode.h"
#include "base/xalloc.h"

bool str_empty(struct str a)
{
	return a.n == 0;
}

bool str_is_word(struct str a, const char *cstr)
{
	return a.n == strlen(cstr) && (a.n == 0 || strncasecmp(a.p, cstr, a.n) == 0);
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
	(void)str_copy_printable(dst, size, dst, strlen(dst));
	return r;
}

void str_list_add(struct str_list *l, const char *s, size_t n)
{
	l->v = xreallocarray(l->v, l->n + 1, sizeof(*l->v));
	l->v[l->n++] = xstrndup(s, n);
}

void str_list_add_all(struct str_list *l, const struct str_list *from)
{
	for (size_t i = 0; i < from->n; i++)
		str_list_add(l, from->v[i], strlen(from->v[i]));
}

bool str_list_has(const struct str_list *l, struct str s)
{
	for (size_t i = 0; i < l->n; i++)
		if (str_is(s, l->v[i]))
			return true;
	return false;
}

bool str_list_equal(const struct str_list *a, const struct str_list *b)
{
	bool same = a->n == b->n;

	for (size_t i = 0; same && i < a->n; i++)
		same = strcmp(a->v[i], b->v[i]) == 0;
	return same;
}

void str_list_done(struct str_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i]);
	free(l->v);
	*l = (struct str_list){ 0 };
}

/* The last '*' takes as little as will do; where the rest does not fit, one character more. */
bool str_glob(struct str pattern, struct str text)
{
	size_t p = 0, t = 0, star = SIZE_MAX, taken = 0;

	while (t < text.n) {
		if (p < pattern.n && pattern.p[p] == '*') {
			star = p++;
			taken = t;
		} else if (p < pattern.n && pattern.p[p] == text.p[t]) {
			p++;
			t++;
		} else if (star != SIZE_MAX) {
			p = star + 1;
			t = ++taken;
		} else {
			return false;
		}
	}
	while (p < pattern.n && pattern.p[p] == '*')
		p++;
	return p == pattern.n;
}

bool str_list_globs(const struct str_list *l, struct str s)
{
	for (size_t i = 0; i < l->n; i++)
		if (str_glob(STR_C(l->v[i]), s))
			return true;
	return false;
}

struct str str_cut(struct str *rest, char at)
{
	const char *end = rest->n ? memchr(rest->p, at, rest->n) : NULL;
	const struct str ret = { rest->p, end ? (size_t)(end - rest->p) : rest->n };

	*rest = end ? (struct str){ end + 1, rest->n - ret.n - 1 } : (struct str){ rest->p + rest->n, 0 };
	return ret;
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
		const uint32_t digit = (uint32_t)(unsigned char)s[i] - '0';

		if (digit > 9)
			return -EINVAL;
		if (i >= 19 && v > (UINT64_MAX - digit) / 10) /* nineteen digits always fit */
			return -ERANGE;
		v = v * 10 + digit;
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

/* What becomes of a character that is not shown, or of one with a meaning there. */
enum show { SHOW_PRINTABLE, SHOW_JSON, SHOW_YAML };

#define SHOWN_MAX 16

static size_t escape(char out[static SHOWN_MAX], uint32_t c, enum show how)
{
	if (c < 0x10000)
		return (size_t)snprintf(out, SHOWN_MAX, "\\u%04x", (unsigned)c);
	if (how == SHOW_YAML)
		return (size_t)snprintf(out, SHOWN_MAX, "\\U%08x", (unsigned)c);
	c -= 0x10000;
	return (size_t)snprintf(out, SHOWN_MAX, "\\u%04x\\u%04x", 0xd800u | (unsigned)(c >> 10),
				0xdc00u | (unsigned)(c & 0x3ff));
}

/* The character of len bytes at s (0 = it is none). Returns the bytes that it becomes. */
static size_t show_one(char out[static SHOWN_MAX], const char *s, size_t len, uint32_t c, enum show how)
{
	const bool shown = len > 0 && unicode_is_printable(c);

	if (how == SHOW_PRINTABLE && !shown) {
		out[0] = '?';
		return 1;
	}
	if (len == 0)
		return escape(out, 0xfffd, how);
	if (how != SHOW_PRINTABLE && (c == '"' || c == '\\'))
		return (size_t)snprintf(out, SHOWN_MAX, "\\%c", (char)c);
	if (c == '\n')
		return (size_t)snprintf(out, SHOWN_MAX, "\\n");
	if (!shown)
		return escape(out, c, how);
	memcpy(out, s, len);
	return len;
}

bool str_is_line(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < 0x20 || *s == 0x7f)
			return false;
	return true;
}

/* One byte that stands for itself wherever people read it: nearly all are. */
static bool is_plain(char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

static size_t show(char *dst, size_t size, const char *s, size_t n, enum show how)
{
	size_t w = 0;

	for (size_t i = 0; i < n;) {
		char one[SHOWN_MAX];
		uint32_t c;

		if (is_plain(s[i]) && w + 1 < size) {
			dst[w++] = s[i++];
			continue;
		}
		const size_t len = unicode_take(s + i, n - i, &c);
		const size_t k = show_one(one, s + i, len, c, how);

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
	return show(dst, size, s, n, SHOW_JSON);
}

size_t str_escape_yaml(char *dst, size_t size, const char *s, size_t n)
{
	return show(dst, size, s, n, SHOW_YAML);
}

size_t str_copy_printable(char *dst, size_t size, const char *s, size_t n)
{
	return show(dst, size, s, n, SHOW_PRINTABLE);
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
	static const uint8_t places[16] = { 0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34 };

	for (size_t i = 0; i < 16; i++) {
		ret[places[i]] = digits[uuid[i] >> 4];
		ret[places[i] + 1] = digits[uuid[i] & 15];
	}
	ret[8] = ret[13] = ret[18] = ret[23] = '-';
	ret[36] = '\0';
}
