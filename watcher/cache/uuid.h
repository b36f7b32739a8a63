/* uuid.h - which uid texts may be held as 16 bytes: those that are made from the bytes again, byte for byte.
 * Layer: watcher. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_CACHE_UUID_H
#define WATCHER_CACHE_UUID_H

#include <endian.h>
#include <string.h>

#include "base/str.h"

typedef uint8_t uuid_digits __attribute__((vector_size(16)));
typedef int8_t uuid_signed __attribute__((vector_size(16)));
typedef uint16_t uuid_pairs __attribute__((vector_size(16)));
typedef uint8_t uuid_half __attribute__((vector_size(8)));

/* The four times four lower-case hex digits at these places, to eight bytes. False when one of them is none:
 * a digit is decoded by its low bits and encoded again; what was a digit (g to o would be 16 to 24) is the
 * same then. */
static inline bool uuid_read(const char *p, size_t a, size_t b, size_t c, uint8_t ret[static 8])
{
	const bool little = htole16(1) == 1;
	uuid_digits x;
	uint64_t bad[2];
	char text[16];

	memcpy(text, p, 4);
	memcpy(text + 4, p + a, 4);
	memcpy(text + 8, p + b, 4);
	memcpy(text + 12, p + c, 4);
	memcpy(&x, text, sizeof(x));
	const uuid_digits letter = (uuid_digits)((uuid_signed)x > '9'), v = (x & 15) + (letter & 9);
	const uuid_digits again = v + '0' + ((uuid_digits)((uuid_signed)v > 9) & ('a' - 10 - '0')),
			  wrong = (again ^ x) | (v & 0xf0);
	const uuid_pairs pair = (uuid_pairs)v;
	const uuid_half half = __builtin_convertvector(
		(little ? pair << 4 | pair >> 8 : pair >> 4 | pair) & 0xff, uuid_half);

	memcpy(bad, &wrong, sizeof(bad));
	memcpy(ret, &half, sizeof(half));
	return !(bad[0] | bad[1]);
}

/* The text that str_uuid_format makes, to its 16 bytes; runs twice for every event. */
static inline bool uuid_is_canonical(struct str s, uint8_t ret[static 16])
{
	return s.n == 36 && s.p[8] == '-' && s.p[13] == '-' && s.p[18] == '-' && s.p[23] == '-' &&
	       uuid_read(s.p, 4, 9, 14, ret) && uuid_read(s.p + 19, 5, 9, 13, ret + 8);
}

#endif
