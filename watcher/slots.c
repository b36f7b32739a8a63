/* slots.c - see slots.h. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/slots.h"

#include <stdlib.h>

#include "base/xalloc.h"

#define SLOTS_MIN 64u

static void put(struct slots *s, uint32_t hash, uint32_t v)
{
	uint32_t i = slots_first(s, hash);

	while (s->v[i])
		i = slots_next(s, i);
	s->v[i] = v;
}

static void resize(struct slots *s, uint32_t size, slots_hash_fn *fn, const void *ctx)
{
	struct slots old = *s;

	s->v = xcalloc(size, sizeof(*s->v));
	s->mask = size - 1;
	for (uint32_t i = 0; old.v && i <= old.mask; i++)
		if (old.v[i])
			put(s, fn(ctx, old.v[i]), old.v[i]);
	free(old.v);
}

void slots_add(struct slots *s, uint32_t hash, uint32_t v, slots_hash_fn *fn, const void *ctx)
{
	if (!s->v)
		resize(s, SLOTS_MIN, fn, ctx);
	else if ((uint64_t)s->used * 4 >= ((uint64_t)s->mask + 1) * 3)
		resize(s, (s->mask + 1) * 2, fn, ctx);
	put(s, hash, v);
	s->used++;
}

void slots_remove(struct slots *s, uint32_t i, slots_hash_fn *fn, const void *ctx)
{
	uint32_t hole = i;

	for (uint32_t j = slots_next(s, i); s->v[j]; j = slots_next(s, j)) {
		uint32_t home = slots_first(s, fn(ctx, s->v[j]));

		/* A value moves into the hole unless its home lies cyclically after the hole. */
		if (((j - home) & s->mask) >= ((j - hole) & s->mask)) {
			s->v[hole] = s->v[j];
			hole = j;
		}
	}
	s->v[hole] = 0;
	s->used--;
	if (s->mask + 1 > SLOTS_MIN && (uint64_t)s->used * 8 < (uint64_t)s->mask + 1)
		resize(s, (s->mask + 1) / 2, fn, ctx);
}

size_t slots_bytes(const struct slots *s)
{
	return s->v ? ((size_t)s->mask + 1) * sizeof(*s->v) : 0;
}

void slots_done(struct slots *s)
{
	free(s->v);
	*s = (struct slots){ 0 };
}
