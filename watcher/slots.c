/* slots.c - see slots.h. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/slots.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "base/xalloc.h"

#define SLOTS_MIN 64u
/* Tables from here on are mappings of their own: all of it goes back when a table is replaced, and, read at
 * random, they are worth huge pages (every page of a hash table is in use anyway). */
#define MAPPED_MIN (1u << 20)

#define AHEAD 16u

static uint32_t *table_new(uint32_t size)
{
	const size_t bytes = (size_t)size * sizeof(uint32_t);

	if (bytes < MAPPED_MIN)
		return xcalloc(size, sizeof(uint32_t));
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		abort();
	(void)madvise(p, bytes, MADV_HUGEPAGE);
	return p;
}

static void table_free(const struct slots *s)
{
	const size_t bytes = slots_bytes(s);

	if (bytes < MAPPED_MIN)
		free(s->v);
	else
		(void)munmap(s->v, bytes);
}

static void put(struct slots *s, uint64_t hash, uint32_t id)
{
	uint32_t i = slots_first(s, hash);

	while (s->v[i])
		i = slots_next(s, i);
	s->v[i] = id | (uint32_t)(hash >> (32 + SLOTS_ID_BITS)) << SLOTS_ID_BITS;
}

/* A table of that size with everything that is in. A few ahead are known, so that their places are on the way
 * from memory when they are needed. */
static void lay_out(struct slots *s, uint32_t size, const struct slots_owner *o, const void *ctx)
{
	uint32_t ids[AHEAD], id = 0;
	uint64_t hashes[AHEAD];

	table_free(s);
	s->v = table_new(size);
	s->mask = size - 1;
	do {
		size_t n = 0;

		while (n < AHEAD && (id = o->next(ctx, id))) {
			ids[n] = id;
			hashes[n] = o->hash(ctx, id);
			slots_expect(s, hashes[n++]);
		}
		for (size_t i = 0; i < n; i++)
			put(s, hashes[i], ids[i]);
	} while (id);
}

void slots_add(struct slots *s, uint64_t hash, uint32_t id, const struct slots_owner *o, const void *ctx)
{
	if (id > SLOTS_ID_MAX)
		abort();
	s->used++;
	if (!s->v)
		lay_out(s, SLOTS_MIN, o, ctx);
	else if ((uint64_t)s->used * 4 > ((uint64_t)s->mask + 1) * 3)
		lay_out(s, (s->mask + 1) * 2, o, ctx);
	else
		put(s, hash, id);
}

void slots_remove(struct slots *s, uint32_t i, const struct slots_owner *o, const void *ctx)
{
	uint32_t hole = i;

	s->used--;
	if (s->mask + 1 > SLOTS_MIN && (uint64_t)s->used * 8 < (uint64_t)s->mask + 1) {
		lay_out(s, (s->mask + 1) / 2, o, ctx);
		return;
	}
	for (uint32_t j = slots_next(s, i); s->v[j]; j = slots_next(s, j)) {
		const uint32_t home = slots_first(s, o->hash(ctx, slots_id(s, j)));

		/* A value moves into the hole unless its home lies cyclically after the hole. */
		if (((j - home) & s->mask) >= ((j - hole) & s->mask)) {
			s->v[hole] = s->v[j];
			hole = j;
		}
	}
	s->v[hole] = 0;
}

size_t slots_bytes(const struct slots *s)
{
	return s->v ? ((size_t)s->mask + 1) * sizeof(*s->v) : 0;
}

void slots_done(struct slots *s)
{
	table_free(s);
	*s = (struct slots){ 0 };
}
