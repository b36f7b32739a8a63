/* fuzz_frames.c - any bytes as a watch stream: in pieces, in one, and by the few lines below that cut a whole
 * stream. All see the same objects, and no more is kept than has come. */
// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "tests/fuzz/seen.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

static struct seen by_reference(const uint8_t *p, size_t n)
{
	struct seen s = { 0 };

	while (n >= 4) {
		const uint32_t size =
			(uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];

		p += 4;
		n -= 4;
		if (size > FRAME_SIZE_MAX)
			on_oversize(&s, size);
		if (size > n) {
			s.inside = true;
			return s;
		}
		if (size <= FRAME_SIZE_MAX)
			(void)on_object(&s, p, size);
		p += size;
		n -= size;
	}
	s.inside = n > 0;
	return s;
}

static void bounded(const struct frame_parser *f, size_t fed)
{
	/* Doubled while it grows, 4 KiB at first; a large one is not kept. */
	if (f->payload.cap > 4096 + 2 * fed || f->payload.cap > 2 * (size_t)FRAME_SIZE_MAX)
		abort();
}

static struct seen by_pieces(struct pieces pieces)
{
	struct seen s = { 0 };
	const struct frame_ops ops = { on_object, on_oversize, &s };
	struct frame_parser f;
	const uint8_t *p;
	size_t n;

	frame_parser_init(&f, FRAME_WATCH, &ops);
	while (pieces_next(&pieces, &p, &n)) {
		if (frame_parser_feed(&f, p, n) != 0)
			abort();
		bounded(&f, pieces.at);
	}
	s.inside = frame_parser_finish(&f) < 0;
	frame_parser_done(&f);
	return s;
}

static void same(struct seen a, struct seen b)
{
	if (a.hash != b.hash || a.objects != b.objects || a.oversize != b.oversize || a.inside != b.inside)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct pieces pieces;

	if (!pieces_begin(&pieces, p, n))
		return 0;
	same(by_reference(pieces.p, pieces.n), by_pieces(pieces));
	return 0;
}
