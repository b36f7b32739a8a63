/* seen.h - what a reader of lists or streams has given out, to compare two ways of reading. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_FUZZ_SEEN_H
#define TESTS_FUZZ_SEEN_H

#include <stdbool.h>
#include <stdlib.h>

#include "kube/frame.h"
#include "tests/fuzz/pieces.h"

struct seen {
	uint64_t hash, objects, oversize;
	int fed, finished; /* what the parser of a list said */
	bool inside;       /* of a stream: in the middle of a frame */
};

static inline int on_object(void *ctx, const uint8_t *p, size_t n)
{
	struct seen *s = ctx;

	s->hash = pieces_hash(s->hash, p, n);
	s->objects++;
	return 0;
}

static inline void on_oversize(void *ctx, uint64_t n)
{
	struct seen *s = ctx;

	s->oversize++;
	if (n <= FRAME_SIZE_MAX)
		abort();
}

#endif
