/* hash_index.h - open-addressing hash index of small numbers (ids); the keys stay with whoever owns the ids.
 * Layer: watcher.  Linear probing, at most 3/4 full, removal by shifting back (no tombstones). Four bytes a
 * slot: the id and seven bits of the hash, so that a probe rarely looks at a wrong key.
 * Look-up: for (i = hash_index_first(s, hash); hash_index_at(s, i); i = hash_index_next(s, i))
 *                  if (hash_index_may_be(s, i, hash) && matches(hash_index_id(s, i))) ... */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_CACHE_HASH_INDEX_H
#define WATCHER_CACHE_HASH_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HASH_INDEX_ID_BITS 25u
#define HASH_INDEX_ID_MAX  ((1u << HASH_INDEX_ID_BITS) - 1u) /* 33 million */

/* Who has the keys. */
struct hash_index_owner {
	uint64_t (*hash)(const void *ctx, uint32_t id); /* of an id that is in */
	uint32_t (*next)(const void *ctx, uint32_t id); /* smallest id above `id` that is in, 0 at the end */
};

struct hash_index {
	uint32_t *v; /* 0 = empty */
	uint32_t mask, used;
};

/* Zero-initialised is empty. */
void hash_index_done(struct hash_index *s);
/* id is new, 1 to HASH_INDEX_ID_MAX (above: abort), and the owner already counts it in. A table that grows is
 * laid out in the order of the ids: keys lie in memory in about that order, and a walk in any other would
 * miss the processor's caches at every step. */
void hash_index_add(struct hash_index *s, uint64_t hash, uint32_t id, const struct hash_index_owner *o,
		    const void *ctx);
/* Removes an id that is in; the owner does not count it in any more. */
void hash_index_remove(struct hash_index *s, uint64_t hash, uint32_t id, const struct hash_index_owner *o,
		       const void *ctx);
size_t hash_index_bytes(const struct hash_index *s);

static inline uint32_t hash_index_first(const struct hash_index *s, uint64_t hash)
{
	return (uint32_t)hash & s->mask;
}
static inline uint32_t hash_index_next(const struct hash_index *s, uint32_t i)
{
	return (i + 1) & s->mask;
}
static inline bool hash_index_at(const struct hash_index *s, uint32_t i)
{
	return s->v && s->v[i];
}
static inline bool hash_index_may_be(const struct hash_index *s, uint32_t i, uint64_t hash)
{
	return s->v[i] >> HASH_INDEX_ID_BITS == hash >> (32 + HASH_INDEX_ID_BITS);
}
static inline uint32_t hash_index_id(const struct hash_index *s, uint32_t i)
{
	return s->v[i] & HASH_INDEX_ID_MAX;
}
/* Where an id stands that is in. */
static inline uint32_t hash_index_of(const struct hash_index *s, uint64_t hash, uint32_t id)
{
	uint32_t i = hash_index_first(s, hash);

	while (hash_index_id(s, i) != id)
		i = hash_index_next(s, i);
	return i;
}
/* The key of `old` has the id `id` from now on. */
static inline void hash_index_set(struct hash_index *s, uint64_t hash, uint32_t old, uint32_t id)
{
	const uint32_t i = hash_index_of(s, hash, old);

	s->v[i] = (s->v[i] & ~HASH_INDEX_ID_MAX) | id;
}
/* What a look-up of this hash is likely to find, 0 = none. Looks at the first few places in any case: a
 * branch on whether they are in use would be guessed wrong as often as not. */
static inline uint32_t hash_index_likely(const struct hash_index *s, uint64_t hash)
{
	uint32_t i = hash_index_first(s, hash);

	for (unsigned n = 0; s->v && n < 4; n++, i = hash_index_next(s, i))
		if (hash_index_may_be(s, i, hash) && hash_index_id(s, i))
			return hash_index_id(s, i);
	return 0;
}
/* A look-up of this hash comes soon. */
static inline void hash_index_expect(const struct hash_index *s, uint64_t hash)
{
	if (s->v)
		__builtin_prefetch(&s->v[hash_index_first(s, hash)]);
}

#endif
