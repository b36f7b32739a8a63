/* uuid.h - which uid texts may be held as 16 bytes: those that are made from the bytes again, byte for byte.
 * Layer: watcher. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_UUID_H
#define WATCHER_UUID_H

#include "base/str.h"

/* Value of a lower-case hex digit, else 16. */
static inline unsigned uuid_digit(char c)
{
	const unsigned d = (unsigned char)c - (unsigned)'0', a = (unsigned char)c - (unsigned)'a';

	return d < 10 ? d : a < 6 ? a + 10 : 16;
}

/* As str_uuid_parse, but capitals are not canonical; runs twice for every event, hence without branches on
 * the digits. */
static inline bool uuid_is_canonical(struct str s, uint8_t ret[static 16])
{
	static const uint8_t at[16] = { 0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34 };
	unsigned bad = 0;

	if (s.n != 36 || s.p[8] != '-' || s.p[13] != '-' || s.p[18] != '-' || s.p[23] != '-')
		return false;
	for (size_t i = 0; i < 16; i++) {
		const unsigned hi = uuid_digit(s.p[at[i]]), lo = uuid_digit(s.p[at[i] + 1]);

		bad |= hi | lo;
		ret[i] = (uint8_t)(hi << 4 | (lo & 15u));
	}
	return !(bad & 16u);
}

#endif
