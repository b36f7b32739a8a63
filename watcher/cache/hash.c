/* hash.c - see hash.h. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/cache/hash.h"

#include <endian.h>
#include <string.h>

#include "base/random.h"

struct hash_seed hash_seed_new(void)
{
	struct hash_seed s;

	random_bytes(&s, sizeof(s));
	return s;
}

static uint64_t rotl(uint64_t x, unsigned b)
{
	return (x << b) | (x >> (64 - b));
}

static inline __attribute__((always_inline)) void sip_round(uint64_t v[static 4])
{
	v[0] += v[1];
	v[1] = rotl(v[1], 13) ^ v[0];
	v[0] = rotl(v[0], 32);
	v[2] += v[3];
	v[3] = rotl(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = rotl(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = rotl(v[1], 17) ^ v[2];
	v[2] = rotl(v[2], 32);
}

uint64_t hash_bytes(const struct hash_seed *seed, const void *p, size_t n)
{
	const uint8_t *in = p;
	uint64_t v[4] = { seed->k0 ^ 0x736f6d6570736575u, seed->k1 ^ 0x646f72616e646f6du,
			  seed->k0 ^ 0x6c7967656e657261u, seed->k1 ^ 0x7465646279746573u };
	uint64_t last = (uint64_t)n << 56, end;

	for (; n >= 8; n -= 8, in += 8) {
		uint64_t m;

		memcpy(&m, in, 8);
		v[3] ^= le64toh(m);
		sip_round(v);
		v[0] ^= le64toh(m);
	}
	if (n > 0 && in != p) { /* the last eight bytes without those that are in already */
		memcpy(&end, in + n - 8, sizeof(end));
		last |= le64toh(end) >> (64 - 8 * n);
	} else {
		for (size_t i = 0; i < n; i++)
			last |= (uint64_t)in[i] << (8 * i);
	}
	v[3] ^= last;
	sip_round(v);
	v[0] ^= last;
	v[2] ^= 0xff;
	sip_round(v);
	sip_round(v);
	sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}
