/* url_template.c - see url_template.h. */
// SPDX-License-Identifier: Apache-2.0
#include "base/url_template.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The next {{key}} of s, its braces included; empty: there is none. */
static struct str next_place(const char *s)
{
	const char *begin = strstr(s, "{{"), *end = begin ? strstr(begin, "}}") : NULL;

	return end ? (struct str){ begin, (size_t)(end + 2 - begin) } : (struct str){ s, 0 };
}

static struct str key_of(struct str place)
{
	return (struct str){ place.p + 2, place.n - 4 };
}

static bool is_known(struct str key, const char *const *keys, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq(key, STR_C(keys[i])))
			return true;
	return false;
}

static bool is_plain(char c)
{
	return isascii((unsigned char)c) &&
	       (isalnum((unsigned char)c) || (c && strchr("-._~:/?#@$&+,;=%", c)));
}

/* The first of n bytes that no part of the template may have; NULL: there is none. */
static const char *find_bad(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!is_plain(s[i]))
			return s + i;
	return NULL;
}

enum url_template_fault url_template_check(const char *s, const char *const *keys, size_t n,
					   struct str *ret_at)
{
	const size_t scheme = strncmp(s, "https://", 8) == 0 ? 8 : strncmp(s, "http://", 7) == 0 ? 7 : 0;
	const size_t host = strcspn(s + scheme, "/?#{");
	struct str place;

	*ret_at = STR_C(s);
	if (!scheme)
		return URL_TEMPLATE_SCHEME;
	if (host == 0 || s[scheme + host] == '{')
		return URL_TEMPLATE_HOST;
	for (const char *at = s;; at = place.p + place.n) {
		place = next_place(at);
		const size_t text = place.n ? (size_t)(place.p - at) : strlen(at);
		const char *bad = find_bad(at, text);

		if (bad) {
			*ret_at = (struct str){ bad, 1 };
			return URL_TEMPLATE_CHARACTER;
		}
		if (place.n == 0)
			return URL_TEMPLATE_OK;
		*ret_at = key_of(place);
		if (!is_known(*ret_at, keys, n))
			return URL_TEMPLATE_KEY;
	}
}

static void write_encoded(FILE *f, const char *s)
{
	for (; *s; s++)
		if (isascii((unsigned char)*s) && (isalnum((unsigned char)*s) || strchr("-._~", *s)))
			(void)fputc(*s, f);
		else
			(void)fprintf(f, "%%%02X", (unsigned char)*s);
}

char *url_template_fill(const char *s, const char *(*value)(const void *ctx, struct str key), const void *ctx)
{
	const char *text = "";
	char *ret = NULL;
	size_t size;
	FILE *f = open_memstream(&ret, &size);

	if (!f)
		abort();
	while (text) {
		const struct str place = next_place(s);

		(void)fwrite(s, 1, place.n ? (size_t)(place.p - s) : strlen(s), f);
		if (place.n == 0)
			break;
		text = value(ctx, key_of(place));
		if (text)
			write_encoded(f, text);
		s = place.p + place.n;
	}
	(void)fclose(f);
	if (!text) {
		free(ret);
		return NULL;
	}
	return ret;
}
