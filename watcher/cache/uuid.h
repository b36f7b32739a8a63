/* uuid.h - which uid texts may be held as 16 bytes: those that are made from the bytes again, byte for byte.
 * Layer: watcher. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_CACHE_UUID_H
#define WATCHER_CACHE_UUID_H

#include <endian.h>
#include <string.h>

#include "base/str.h"

/* Eight lower-case hex digits at once, one in each byte of x (the first in the lowest): their value in four
 * bytes, the first in the lowest. False when one of them is none. A digit is decoded by its low bits and
 * encoded again; what was a digit (g to o would be 16 to 24) is the same then. */
static inline bool uuid_digits(uint64_t x, uint32_t *ret)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	const uint64_t letter = x >> 6 & ones, v = (x & ones * 15) + letter * 9;
	const uint64_t again = v + ones * '0' + ((v + ones * 6) >> 4 & ones) * ('a' - 10 - '0');
	uint64_t y = (v << 4 | v >> 8) & UINT64_C(0x00ff00ff00ff00ff);

	y = (y | y >> 8) & UINT64_C(0x0000ffff0000ffff);
	*ret = (uint32_t)(y | y >> 16);
	return again == x && !(v & ones * 0xf0);
}

static inline uint64_t uuid_load(const char *p, const char *q)
{
	uint32_t a, b;

	memcpy(&a, p, sizeof(a));
	memcpy(&b, q, sizeof(b));
	return (uint64_t)le32toh(a) | (uint64_t)le32toh(b) << 32;
}

/* The text that str_uuid_format makes, to its 16 bytes; runs twice for every event. */
static inline bool uuid_is_canonical(struct str s, uint8_t ret[static 16])
{
	uint32_t v[4];

	if (s.n != 36 || s.p[8] != '-' || s.p[13] != '-' || s.p[18] != '-' || s.p[23] != '-')
		return false;
	if (!uuid_digits(uuid_load(s.p, s.p + 4), &v[0]) ||
	    !uuid_digits(uuid_load(s.p + 9, s.p + 14), &v[1]) ||
	    !uuid_digits(uuid_load(s.p + 19, s.p + 24), &v[2]) ||
	    !uuid_digits(uuid_load(s.p + 28, s.p + 32), &v[3]))
		return false;
	for (size_t i = 0; i < 4; i++) {
		const uint32_t le = htole32(v[i]);

		memcpy(ret + 4 * i, &le, sizeof(le));
	}
	return true;
}

#endif
