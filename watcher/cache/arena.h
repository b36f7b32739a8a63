/* arena.h - many small byte blocks addressed by 4-byte positions, without a header per block.
 * Layer: watcher.  Threads: none.  Owns: its chunks, each a mapping of its own. Memory of freed blocks is
 * reused; it goes back to the system when the owner lets the arena be packed anew, with arena_done, or with
 * the last block. Blocks are rounded up to 4 bytes (up to 256), above that to a quarter of a power of two. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_CACHE_ARENA_H
#define WATCHER_CACHE_ARENA_H

#include <stddef.h>
#include <stdint.h>

#define ARENA_BLOCK_MAX 16384u
#define ARENA_CLASSES   96u

struct arena {
	unsigned char **chunks; /* some NULL */
	uint32_t n_chunks, cap_chunks, blocked_chunks;
	uint32_t bump, bump_end; /* positions still unused in the newest chunk */
	uint32_t free_head[ARENA_CLASSES];
	uint64_t used; /* bytes in blocks that are out, rounded */
	/* While it is packed anew: chunks from here to there are being emptied, no new one takes their place.
	 */
	uint32_t closed, closed_end;
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

/* Who has the positions. */
struct arena_owner {
	uint32_t (*next)(const void *ctx,
			 uint32_t id); /* smallest id above `id` with a block, 0 at the end */
	/* Where the position of its block is kept; *ret_size as given to arena_alloc. */
	uint32_t *(*block)(void *ctx, uint32_t id, size_t *ret_size);
};

/* When less than half of a large arena is in use, moves all blocks together, in the order of their ids, and
 * gives the rest back to the system. Every position and every pointer into the arena is another one then. */
void arena_give_back(struct arena *a, const struct arena_owner *o, void *ctx);

#define ARENA_UNIT      4u
#define ARENA_CHUNK_LOG 14u /* units in a chunk: 64 KiB */

static inline void *arena_at(const struct arena *a, uint32_t pos)
{
	return a->chunks[pos >> ARENA_CHUNK_LOG] + (size_t)(pos & ((1u << ARENA_CHUNK_LOG) - 1)) * ARENA_UNIT;
}

#endif
