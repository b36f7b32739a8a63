/* arena.h - many small byte blocks addressed by 4-byte positions, without a header per block.
 * Layer: watcher.  Threads: none.  Owns: its chunks; memory of freed blocks is reused, and given back only by
 * arena_done or when the last block goes.
 * Blocks are rounded up to 8 bytes (up to 256), above that to a quarter of a power of two. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_ARENA_H
#define WATCHER_ARENA_H

#include <stddef.h>
#include <stdint.h>

#define ARENA_BLOCK_MAX 16384u
#define ARENA_CLASSES   64u

struct arena {
	unsigned char **chunks;
	uint32_t n_chunks, cap_chunks;
	uint32_t bump, bump_end; /* positions still unused in the newest chunk */
	uint32_t free_head[ARENA_CLASSES];
	uint64_t used; /* bytes in blocks that are out, rounded */
};

/* Zero-initialised is empty. */
void arena_done(struct arena *a);
/* 1 <= size <= ARENA_BLOCK_MAX. Never 0. Content is undefined. */
uint32_t arena_alloc(struct arena *a, size_t size);
/* size as given to arena_alloc, or any size of the same class. */
void arena_free(struct arena *a, uint32_t pos, size_t size);
/* Would a block of size `a` also hold `b` without waste, i.e. is it the same class? */
int arena_same_class(size_t a, size_t b);
size_t arena_bytes(const struct arena *a);

#define ARENA_UNIT      8u
#define ARENA_CHUNK_LOG 13u /* units in a chunk: 64 KiB */

static inline void *arena_at(const struct arena *a, uint32_t pos)
{
	return a->chunks[pos >> ARENA_CHUNK_LOG] + (size_t)(pos & ((1u << ARENA_CHUNK_LOG) - 1)) * ARENA_UNIT;
}

#endif
