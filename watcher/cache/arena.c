/* arena.c - see arena.h.
 * A free block holds the position of the next one of its class in its first four bytes. What is left of a
 * chunk that cannot take the next block is cut into free blocks. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/cache/arena.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/xalloc.h"

#define CHUNK_UNITS (1u << ARENA_CHUNK_LOG)
#define SMALL_LOG   6u
#define SMALL_UNITS (1u << SMALL_LOG)
#define CHUNK_BYTES ((size_t)CHUNK_UNITS * ARENA_UNIT)
/* Below this there is nothing to give back. */
#define SPARSE_MIN_CHUNKS 4u
/* Packed anew in so many steps: between them chunks go back, so that little memory is held twice. */
#define PACK_STEPS 16u

/* Class of a block of that many units; *ret_units is what a block of the class really has. */
static uint32_t class_of(uint32_t units, uint32_t *ret_units)
{
	if (units <= SMALL_UNITS) {
		*ret_units = units;
		return units - 1;
	}
	uint32_t log = 31u - (uint32_t)__builtin_clz(units - 1); /* 2^log < units <= 2^(log + 1) */
	uint32_t step = 1u << (log - 2);
	uint32_t quarter = (units - (1u << log) + step - 1) / step; /* 1 to 4 */

	*ret_units = (1u << log) + quarter * step;
	return SMALL_UNITS + (log - SMALL_LOG) * 4 + quarter - 1;
}

static uint32_t units_of(size_t size)
{
	if (size == 0 || size > ARENA_BLOCK_MAX)
		abort();
	return (uint32_t)((size + ARENA_UNIT - 1) / ARENA_UNIT);
}

static void put_free(struct arena *a, uint32_t pos, uint32_t class)
{
	memcpy(arena_at(a, pos), &a->free_head[class], sizeof(uint32_t));
	a->free_head[class] = pos;
}

static unsigned char *chunk_new(void)
{
	void *p = mmap(NULL, CHUNK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		abort();
	return p;
}

static void drop_chunk(struct arena *a, uint32_t i)
{
	if (!a->chunks[i])
		return;
	(void)munmap(a->chunks[i], CHUNK_BYTES);
	a->chunks[i] = NULL;
	a->blocked_chunks--;
}

/* A place in the table: one that was given up, or a new one. */
static uint32_t take_place(struct arena *a)
{
	for (uint32_t i = 0; a->blocked_chunks < a->n_chunks && i < a->n_chunks; i++)
		if (!a->chunks[i] && (i < a->closed || i >= a->closed_end))
			return i;
	if (a->n_chunks == a->cap_chunks) {
		a->cap_chunks = a->cap_chunks ? a->cap_chunks * 2 : 16;
		a->chunks = xreallocarray(a->chunks, a->cap_chunks, sizeof(*a->chunks));
	}
	return a->n_chunks++;
}

static void add_chunk(struct arena *a)
{
	while (a->bump < a->bump_end) {
		uint32_t units = a->bump_end - a->bump, real;

		if (units > SMALL_UNITS)
			units = SMALL_UNITS;
		put_free(a, a->bump, class_of(units, &real));
		a->bump += real;
	}
	const uint32_t i = take_place(a);

	a->chunks[i] = chunk_new();
	a->blocked_chunks++;
	a->bump = i * CHUNK_UNITS + (i == 0); /* position 0 means none */
	a->bump_end = (i + 1) * CHUNK_UNITS;
}

uint32_t arena_alloc(struct arena *a, size_t size)
{
	uint32_t units, class = class_of(units_of(size), &units), pos = a->free_head[class];

	a->used += (uint64_t)units * ARENA_UNIT;
	if (pos) {
		memcpy(&a->free_head[class], arena_at(a, pos), sizeof(uint32_t));
		return pos;
	}
	if (a->bump_end - a->bump < units)
		add_chunk(a);
	pos = a->bump;
	a->bump += units;
	return pos;
}

void arena_free(struct arena *a, uint32_t pos, size_t size)
{
	uint32_t units, class = class_of(units_of(size), &units);

	a->used -= (uint64_t)units * ARENA_UNIT;
	if (a->used == 0)
		arena_done(a);
	else
		put_free(a, pos, class);
}

int arena_same_class(size_t a, size_t b)
{
	uint32_t units;

	return class_of(units_of(a), &units) == class_of(units_of(b), &units);
}

size_t arena_bytes(const struct arena *a)
{
	return a->blocked_chunks * CHUNK_BYTES + a->cap_chunks * sizeof(*a->chunks);
}

void arena_done(struct arena *a)
{
	for (uint32_t i = 0; i < a->n_chunks; i++)
		drop_chunk(a, i);
	free(a->chunks);
	*a = (struct arena){ 0 };
}

/* -- giving back -- */

static void move_block(struct arena *a, uint32_t *pos, size_t size)
{
	const uint32_t fresh = arena_alloc(a, size);
	uint32_t units;

	(void)class_of(units_of(size), &units);
	memcpy(arena_at(a, fresh), arena_at(a, *pos), size);
	*pos = fresh;
	a->used -= (uint64_t)units * ARENA_UNIT;
}

void arena_give_back(struct arena *a, const struct arena_owner *o, void *ctx)
{
	const uint32_t n = a->n_chunks, step = n / PACK_STEPS + 1;

	if (a->blocked_chunks < SPARSE_MIN_CHUNKS || a->used * 2 > a->blocked_chunks * CHUNK_BYTES)
		return;
	memset(a->free_head, 0, sizeof(a->free_head));
	a->bump = a->bump_end = 0;
	a->closed_end = n;
	for (uint32_t from = 0; from < n; from += step) {
		a->closed = from;
		for (uint32_t id = 0; (id = o->next(ctx, id));) {
			size_t size;
			uint32_t *pos = o->block(ctx, id, &size);
			const uint32_t chunk = *pos >> ARENA_CHUNK_LOG;

			if (chunk >= from && chunk < from + step)
				move_block(a, pos, size);
		}
		for (uint32_t i = from; i < from + step && i < n; i++)
			drop_chunk(a, i);
	}
	a->closed = a->closed_end = 0;
}
