/* hash_index.c - see hash_index.h. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/cache/hash_index.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "base/xalloc.h"

#define HASH_INDEX_MIN 64u
/* Tables from here on are mappings of their own: all of it goes back when a table is replaced, and, read at
 * random, they are worth huge pages (every page of a hash table is in use anyway). */
#define MAPPED_MIN (1u << 20)

#define PREFETCH 16u

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

static void table_free(const struct hash_index *s)
{
	const size_t bytes = hash_index_bytes(s);

	if (bytes < MAPPED_MIN)
		free(s->v);
	else
		(void)munmap(s->v, bytes);
}

static void put(struct hash_index *s, uint64_t hash, uint32_t id)
{
	uint32_t i = hash_index_first(s, hash);

	while (s->v[i])
		i = hash_index_next(s, i);
	s->v[i] = id | (uint32_t)(hash >> (32 + HASH_INDEX_ID_BITS)) << HASH_INDEX_ID_BITS;
}

/* A table of that size with everything that is in. A few ahead are known, so that their places are on the way
 * from memory when they are needed. */
static void lay_out(struct hash_index *s, uint32_t size, const struct hash_index_owner *o, const void *ctx)
{
	uint32_t ids[PREFETCH], id = 0;
	uint64_t hashes[PREFETCH];

	table_free(s);
	s->v = table_new(size);
	s->mask = size - 1;
	do {
		size_t n = 0;

		while (n < PREFETCH && (id = o->next(ctx, id))) {
			ids[n] = id;
			hashes[n] = o->hash(ctx, id);
			hash_index_expect(s, hashes[n++]);
		}
		for (size_t i = 0; i < n; i++)
			put(s, hashes[i], ids[i]);
	} while (id);
}

void hash_index_add(struct hash_index *s, uint64_t hash, uint32_t id, const struct hash_index_owner *o,
		    const void *ctx)
{
	if (id > HASH_INDEX_ID_MAX)
		abort();
	s->used++;
	if (!s->v)
		lay_out(s, HASH_INDEX_MIN, o, ctx);
	else if ((uint64_t)s->used * 4 > ((uint64_t)s->mask + 1) * 3)
		lay_out(s, (s->mask + 1) * 2, o, ctx);
	else
		put(s, hash, id);
}

void hash_index_remove(struct hash_index *s, uint64_t hash, uint32_t id, const struct hash_index_owner *o,
		       const void *ctx)
{
	uint32_t hole = hash_index_of(s, hash, id);

	s->used--;
	if (s->mask + 1 > HASH_INDEX_MIN && (uint64_t)s->used * 8 < (uint64_t)s->mask + 1) {
		lay_out(s, (s->mask + 1) / 2, o, ctx);
		return;
	}
	for (uint32_t j = hash_index_next(s, hole); s->v[j]; j = hash_index_next(s, j)) {
		const uint32_t home = hash_index_first(s, o->hash(ctx, hash_index_id(s, j)));

		/* A value moves into the hole unless its home lies cyclically after the hole. */
		if (((j - home) & s->mask) >= ((j - hole) & s->mask)) {
			s->v[hole] = s->v[j];
			hole = j;
		}
	}
	s->v[hole] = 0;
}

size_t hash_index_bytes(const struct hash_index *s)
{
	return s->v ? ((size_t)s->mask + 1) * sizeof(*s->v) : 0;
}

void hash_index_done(struct hash_index *s)
{
	table_free(s);
	*s = (struct hash_index){ 0 };
}
