/* slots.h - open-addressing hash index of small numbers (ids); the keys stay with whoever owns the ids.
 * Layer: watcher.  Linear probing, at most 3/4 full, removal by shifting back (no tombstones). Four bytes a
 * slot: the id and seven bits of the hash, so that a probe rarely looks at a wrong key.
 * Look-up: for (i = slots_first(s, hash); slots_at(s, i); i = slots_next(s, i))
 *                  if (slots_may_be(s, i, hash) && matches(slots_id(s, i))) ... */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_SLOTS_H
#define WATCHER_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SLOTS_ID_BITS 25u
#define SLOTS_ID_MAX  ((1u << SLOTS_ID_BITS) - 1u) /* 33 million */

/* Who has the keys. */
struct slots_owner {
	uint64_t (*hash)(const void *ctx, uint32_t id); /* of an id that is in */
	uint32_t (*next)(const void *ctx, uint32_t id); /* smallest id above `id` that is in, 0 at the end */
};

struct slots {
	uint32_t *v; /* 0 = empty */
	uint32_t mask, used;
};

/* Zero-initialised is empty. */
void slots_done(struct slots *s);
/* id is new, 1 to SLOTS_ID_MAX (above: abort), and the owner already counts it in. A table that grows is laid
 * out in the order of the ids: keys lie in memory in about that order, and a walk in any other would miss the
 * processor's caches at every step. */
void slots_add(struct slots *s, uint64_t hash, uint32_t id, const struct slots_owner *o, const void *ctx);
/* Removes what stands at i; the owner does not count it in any more. */
void slots_remove(struct slots *s, uint32_t i, const struct slots_owner *o, const void *ctx);
size_t slots_bytes(const struct slots *s);

static inline uint32_t slots_first(const struct slots *s, uint64_t hash)
{
	return (uint32_t)hash & s->mask;
}
static inline uint32_t slots_next(const struct slots *s, uint32_t i)
{
	return (i + 1) & s->mask;
}
static inline bool slots_at(const struct slots *s, uint32_t i)
{
	return s->v && s->v[i];
}
static inline bool slots_may_be(const struct slots *s, uint32_t i, uint64_t hash)
{
	return s->v[i] >> SLOTS_ID_BITS == hash >> (32 + SLOTS_ID_BITS);
}
static inline uint32_t slots_id(const struct slots *s, uint32_t i)
{
	return s->v[i] & SLOTS_ID_MAX;
}
/* Another id for the same key. */
static inline void slots_set(struct slots *s, uint32_t i, uint32_t id)
{
	s->v[i] = (s->v[i] & ~SLOTS_ID_MAX) | id;
}
/* What a look-up of this hash is likely to find, 0 = none. Looks at the first few places in any case: a
 * branch on whether they are in use would be guessed wrong as often as not. */
static inline uint32_t slots_likely(const struct slots *s, uint64_t hash)
{
	uint32_t i = slots_first(s, hash);

	for (unsigned n = 0; s->v && n < 4; n++, i = slots_next(s, i))
		if (slots_may_be(s, i, hash) && slots_id(s, i))
			return slots_id(s, i);
	return 0;
}
/* A look-up of this hash comes soon. */
static inline void slots_expect(const struct slots *s, uint64_t hash)
{
	if (s->v)
		__builtin_prefetch(&s->v[slots_first(s, hash)]);
}

#endif
