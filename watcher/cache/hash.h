/* hash.h - seeded hashing of bytes: names in a cluster are chosen by its tenants, who must not be able to
 * choose collisions.
 * Layer: watcher.  SipHash-1-3 (Aumasson, Bernstein 2012) with a seed from the kernel. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_CACHE_HASH_H
#define WATCHER_CACHE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct hash_seed {
	uint64_t k0, k1;
};

/* Random seed. */
struct hash_seed hash_seed_new(void);
uint64_t hash_bytes(const struct hash_seed *seed, const void *p, size_t n);

/* n <= 8 bytes as a number that no others of the same length have. */
static inline uint64_t hash_end(const char *p, size_t n)
{
	uint32_t a, b;

	if (n >= 4) {
		memcpy(&a, p, sizeof(a));
		memcpy(&b, p + n - 4, sizeof(b));
		return (uint64_t)a << 32 | b;
	}
	return n ? (uint64_t)(uint8_t)p[0] << 16 | (uint64_t)(uint8_t)p[n / 2] << 8 | (uint8_t)p[n - 1] : 0;
}

/* Quick mix of a text, for small caches that look whether what they hold is what was asked for: anybody can
 * make collisions. */
static inline uint32_t hash_quick(const char *p, size_t n)
{
	uint64_t h = n * 0x9e3779b97f4a7c15u, w;

	for (; n > 8; n -= 8, p += 8) {
		memcpy(&w, p, 8);
		h = (h ^ w ^ h >> 32) * 0xd6e8feb86659fd93u;
	}
	h = (h ^ hash_end(p, n) ^ h >> 32) * 0xd6e8feb86659fd93u;
	return (uint32_t)(h >> 32);
}

/* 64 bits made of 32, where no more of a hash is kept. */
static inline uint64_t hash_spread(uint32_t hash)
{
	return (uint64_t)hash * 0x9e3779b97f4a7c15u >> 32 << 32 | hash;
}

#endif
