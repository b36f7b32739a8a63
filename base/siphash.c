/* siphash.c - see siphash.h. Checked against the vectors of the reference in tests/unit/base/test_siphash.c.
 */
// SPDX-License-Identifier: Apache-2.0
#include "base/siphash.h"

#include <stdio.h>

#define SIPHASH_SIZE 16

struct state {
	uint64_t v0, v1, v2, v3;
};

static uint64_t rotate(uint64_t x, unsigned bits)
{
	return x << bits | x >> (64 - bits);
}

static void mix(struct state *s, unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++) {
		s->v0 += s->v1;
		s->v1 = rotate(s->v1, 13) ^ s->v0;
		s->v0 = rotate(s->v0, 32);
		s->v2 += s->v3;
		s->v3 = rotate(s->v3, 16) ^ s->v2;
		s->v0 += s->v3;
		s->v3 = rotate(s->v3, 21) ^ s->v0;
		s->v2 += s->v1;
		s->v1 = rotate(s->v1, 17) ^ s->v2;
		s->v2 = rotate(s->v2, 32);
	}
}

/* Up to eight bytes, the first the lowest. */
static uint64_t read_word(const uint8_t *p, size_t n)
{
	uint64_t word = 0;

	for (size_t i = 0; i < n; i++)
		word |= (uint64_t)p[i] << 8 * i;
	return word;
}

static void write_word(uint64_t word, uint8_t ret[static 8])
{
	for (size_t i = 0; i < 8; i++)
		ret[i] = (uint8_t)(word >> 8 * i);
}

static void take_word(struct state *s, uint64_t word)
{
	s->v3 ^= word;
	mix(s, 2);
	s->v0 ^= word;
}

static uint64_t finish(struct state *s)
{
	mix(s, 4);
	return s->v0 ^ s->v1 ^ s->v2 ^ s->v3;
}

static void hash_bytes(const uint8_t key[static SIPHASH_KEY_SIZE], const void *data, size_t n,
		       uint8_t ret[static SIPHASH_SIZE])
{
	const uint64_t k0 = read_word(key, 8), k1 = read_word(key + 8, 8);
	struct state s = { k0 ^ UINT64_C(0x736f6d6570736575), k1 ^ UINT64_C(0x646f72616e646f6d) ^ 0xee,
			   k0 ^ UINT64_C(0x6c7967656e657261), k1 ^ UINT64_C(0x7465646279746573) };
	const uint8_t *p = data;
	const size_t rest = n % 8;

	for (const uint8_t *end = p + (n - rest); p < end; p += 8)
		take_word(&s, read_word(p, 8));
	take_word(&s, (uint64_t)n << 56 | read_word(p, rest));
	s.v2 ^= 0xee;
	write_word(finish(&s), ret);
	s.v1 ^= 0xdd;
	write_word(finish(&s), ret + 8);
}

void siphash_text(const uint8_t key[static SIPHASH_KEY_SIZE], const void *p, size_t n,
		  char ret[static SIPHASH_TEXT_MAX])
{
	uint8_t hash[SIPHASH_SIZE];

	hash_bytes(key, p, n, hash);
	for (size_t i = 0; i < SIPHASH_SIZE; i++)
		(void)snprintf(ret + 2 * i, 3, "%02x", hash[i]);
}
