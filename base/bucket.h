/* bucket.h - a token bucket, as the boot time by which it is full again; all zero = full. Layer: base. */
// SPDX-License-Identifier: Apache-2.0
#ifndef BASE_BUCKET_H
#define BASE_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

struct bucket {
	uint64_t full_ms;
};

/* It holds so many tokens, and gets one after each period. */
struct bucket_size {
	uint64_t burst, period_ms;
};

static inline bool bucket_is_empty(const struct bucket *b, const struct bucket_size *s, uint64_t now_ms)
{
	return b->full_ms > now_ms + (s->burst - 1) * s->period_ms;
}

/* False, and nothing changes, when it is empty. */
static inline bool bucket_take(struct bucket *b, const struct bucket_size *s, uint64_t now_ms)
{
	if (bucket_is_empty(b, s, now_ms))
		return false;
	b->full_ms = (b->full_ms > now_ms ? b->full_ms : now_ms) + s->period_ms;
	return true;
}

/* Take one that may not be there yet. Returns in how many ms it is. */
static inline uint64_t bucket_reserve(struct bucket *b, const struct bucket_size *s, uint64_t now_ms)
{
	const uint64_t full_if_empty = now_ms + s->burst * s->period_ms;

	b->full_ms = (b->full_ms > now_ms ? b->full_ms : now_ms) + s->period_ms;
	return b->full_ms > full_if_empty ? b->full_ms - full_if_empty : 0;
}

/* One token comes back. */
static inline void bucket_put(struct bucket *b, const struct bucket_size *s)
{
	b->full_ms = b->full_ms > s->period_ms ? b->full_ms - s->period_ms : 0;
}

#endif
