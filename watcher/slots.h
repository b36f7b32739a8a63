/* slots.h - open-addressing hash index of 4-byte values; the keys stay with whoever owns the values.
 * Layer: watcher.  Linear probing, at most 3/4 full, removal by shifting back (no tombstones).
 * Look-up: for (i = slots_first(s, hash); (v = slots_at(s, i)); i = slots_next(s, i)) if (matches(v)) ... */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_SLOTS_H
#define WATCHER_SLOTS_H

#include <stddef.h>
#include <stdint.h>

/* Hash of the key that value v stands for. */
typedef uint32_t slots_hash_fn(const void *ctx, uint32_t v);

struct slots {
	uint32_t *v; /* 0 = empty */
	uint32_t mask, used;
};

/* Zero-initialised is empty. */
void slots_done(struct slots *s);
/* v != 0 and not yet in. */
void slots_add(struct slots *s, uint32_t hash, uint32_t v, slots_hash_fn *fn, const void *ctx);
/* Remove what stands at i. */
void slots_remove(struct slots *s, uint32_t i, slots_hash_fn *fn, const void *ctx);
size_t slots_bytes(const struct slots *s);

static inline uint32_t slots_first(const struct slots *s, uint32_t hash)
{
	return hash & s->mask;
}
static inline uint32_t slots_next(const struct slots *s, uint32_t i)
{
	return (i + 1) & s->mask;
}
static inline uint32_t slots_at(const struct slots *s, uint32_t i)
{
	return s->v ? s->v[i] : 0;
}

#endif
