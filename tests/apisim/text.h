/* Text that grows, and JSON written into it. */
// SPDX-License-Identifier: Apache-2.0
#ifndef APISIM_TEXT_H
#define APISIM_TEXT_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

/* All zero is empty. `size` may be set back to cut the end off; text_done frees it. */
struct text {
	char *data; /* not terminated */
	size_t size, room;
};

void text_done(struct text *t);

/* Makes room for n more bytes at data + size. */
char *text_room(struct text *t, size_t n);

void text_add(struct text *t, const void *data, size_t n);
void text_string(struct text *t, const char *s);
void text_number(struct text *t, int64_t n);

/* Seconds since 1970 (not negative) with seven decimals, which is what a double of them can tell apart. */
void text_seconds(struct text *t, double seconds);

/* A JSON string of n bytes of UTF-8. */
void text_quoted(struct text *t, const char *s, size_t n);

/* Byte for byte what json_dumps(v, JSON_COMPACT) returns, without the tables it keeps to find circles. */
void text_json(struct text *t, const json_t *v);

#endif
