// SPDX-License-Identifier: Apache-2.0
#include "tests/apisim/text.h"
#include "tests/apisim/util.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 4096, REAL_MAX = 64, ESCAPED_MAX = 6 };

void text_done(struct text *t)
{
	free(t->data);
	*t = (struct text){ 0 };
}

static void grow(struct text *t, size_t n)
{
	size_t room = t->room ? t->room : FIRST_ROOM;

	while (room - t->size < n)
		room *= 2;
	t->data = util_realloc(t->data, room);
	t->room = room;
}

char *text_room(struct text *t, size_t n)
{
	if (t->room - t->size < n)
		grow(t, n);
	return t->data + t->size;
}

void text_add(struct text *t, const void *data, size_t n)
{
	memcpy(text_room(t, n), data, n);
	t->size += n;
}

void text_string(struct text *t, const char *s)
{
	text_add(t, s, strlen(s));
}

/* At least `width` digits. */
static void add_digits(struct text *t, uint64_t n, size_t width)
{
	char digits[21];
	const size_t len = strlen(util_number(n, digits));

	if (len < width) {
		memset(text_room(t, width - len), '0', width - len);
		t->size += width - len;
	}
	text_add(t, digits, len);
}

void text_number(struct text *t, int64_t n)
{
	if (n < 0)
		text_add(t, "-", 1);
	add_digits(t, n < 0 ? -(uint64_t)n : (uint64_t)n, 1);
}

void text_seconds(struct text *t, double seconds)
{
	const uint64_t whole = (uint64_t)seconds;

	add_digits(t, whole, 1);
	text_add(t, ".", 1);
	add_digits(t, (uint64_t)((seconds - (double)whole) * 1e7), 7);
}

static char *put_escaped(char *out, unsigned char c)
{
	static const char letters[128] = { ['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r',
					   ['\t'] = 't', ['"'] = '"',  ['\\'] = '\\' };
	static const char hex[] = "0123456789ABCDEF";

	*out++ = '\\';
	if (letters[c]) {
		*out++ = letters[c];
		return out;
	}
	memcpy(out, "u00", 3);
	out[3] = hex[c >> 4];
	out[4] = hex[c & 15];
	return out + 5;
}

/* Is any of eight bytes a quote, a backslash or a control character? */
static bool any_special(uint64_t bytes)
{
	const uint64_t ones = 0x0101010101010101u, tops = ones << 7;
	const uint64_t quote = bytes ^ (ones * '"'), backslash = bytes ^ (ones * '\\');

	return (((bytes - ones * ' ') & ~bytes) | ((quote - ones) & ~quote) |
		((backslash - ones) & ~backslash)) &
	       tops;
}

/* n bytes of the inside of a string, eight at once where all of them stand for themselves. */
static char *put_inside(char *out, const char *s, size_t n)
{
	uint64_t bytes;

	while (n) {
		const unsigned char c = (unsigned char)*s;

		if (n >= sizeof(bytes)) {
			memcpy(&bytes, s, sizeof(bytes));
			if (!any_special(bytes)) {
				memcpy(out, &bytes, sizeof(bytes));
				out += sizeof(bytes);
				s += sizeof(bytes);
				n -= sizeof(bytes);
				continue;
			}
		}
		if (c >= ' ' && c != '"' && c != '\\')
			*out++ = (char)c;
		else
			out = put_escaped(out, c);
		s++;
		n--;
	}
	return out;
}

void text_quoted(struct text *t, const char *s, size_t n)
{
	char *out = text_room(t, ESCAPED_MAX * n + 2);

	*out++ = '"';
	out = put_inside(out, s, n);
	*out++ = '"';
	t->size = (size_t)(out - t->data);
}

static void add_character(struct text *t, char c)
{
	*text_room(t, 1) = c;
	t->size++;
}

static void add_object(struct text *t, const json_t *o)
{
	const char *key;
	char before = '{';
	json_t *value;

	json_object_foreach ((json_t *)(uintptr_t)o, key, value) {
		add_character(t, before);
		text_quoted(t, key, strlen(key));
		add_character(t, ':');
		text_json(t, value);
		before = ',';
	}
	if (before == '{')
		add_character(t, before);
	add_character(t, '}');
}

static void add_array(struct text *t, const json_t *a)
{
	json_t *value;
	size_t i;

	add_character(t, '[');
	json_array_foreach (a, i, value) {
		if (i)
			add_character(t, ',');
		text_json(t, value);
	}
	add_character(t, ']');
}

void text_json(struct text *t, const json_t *v)
{
	switch (json_typeof(v)) {
	case JSON_OBJECT:
		add_object(t, v);
		break;
	case JSON_ARRAY:
		add_array(t, v);
		break;
	case JSON_STRING:
		text_quoted(t, json_string_value(v), json_string_length(v));
		break;
	case JSON_INTEGER:
		text_number(t, (int64_t)json_integer_value(v));
		break;
	case JSON_REAL:
		t->size += json_dumpb(v, text_room(t, REAL_MAX), REAL_MAX, JSON_ENCODE_ANY);
		break;
	case JSON_TRUE:
		text_string(t, "true");
		break;
	case JSON_FALSE:
		text_string(t, "false");
		break;
	case JSON_NULL:
		text_string(t, "null");
		break;
	}
}
