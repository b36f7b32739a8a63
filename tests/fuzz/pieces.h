/* pieces.h - cuts an input where the input says: the first bytes are lengths of pieces, the rest is the
 * stream. A stream arrives in pieces that nobody chooses; whatever they are, what is read must be the same.
 */
// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_FUZZ_PIECES_H
#define TESTS_FUZZ_PIECES_H

#include <stddef.h>
#include <stdint.h>

#include "base/fnv.h"

enum { PIECES = 8 }; /* lengths, used round and round; 0 is a piece of nothing, but never all of them */

struct pieces {
	const uint8_t *lengths, *p;
	size_t n, at;
	unsigned turn;
};

/* false: too short. */
static inline int pieces_begin(struct pieces *s, const uint8_t *p, size_t n)
{
	*s = (struct pieces){ .lengths = p };
	if (n < PIECES)
		return 0;
	s->p = p + PIECES;
	s->n = n - PIECES;
	return 1;
}

/* The next piece; false at the end. */
static inline int pieces_next(struct pieces *s, const uint8_t **ret, size_t *ret_n)
{
	const size_t left = s->n - s->at;
	size_t n = s->lengths[s->turn % PIECES] + (s->turn % PIECES ? 0u : 1u);

	s->turn++;
	if (left == 0)
		return 0;
	if (n > left)
		n = left;
	*ret = s->p + s->at;
	*ret_n = n;
	s->at += n;
	return 1;
}

/* To compare what two ways have seen: the lengths count, too. */
static inline uint64_t pieces_hash(uint64_t hash, const void *p, size_t n)
{
	return fnv_bytes(fnv_bytes(hash, p, n), &n, sizeof(n));
}

#endif
