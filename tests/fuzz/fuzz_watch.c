/* fuzz_watch.c - any bytes as a watch stream and as a list, whole and in pieces: both ways see the same
 * objects. The first byte says how long the pieces are. */
// SPDX-License-Identifier: Apache-2.0
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "kube/decode_protobuf.h"
#include "kube/frame.h"
#include "kube/decode_objects.h"
#include "tests/fuzz/pieces.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

struct seen {
	uint64_t hash, objects, oversize;
};

static int on_object(void *ctx, const uint8_t *p, size_t n)
{
	static struct pod_facts f;
	struct seen *s = ctx;
	struct watch_event e;

	s->hash = pieces_hash(s->hash, p, n);
	s->objects++;
	if (decode_watch_event(p, n, &e) == 0)
		(void)decode_pod_protobuf(e.object.raw.p, cursor_left(&e.object.raw), &f);
	return 0;
}

static void on_oversize(void *ctx, uint64_t n)
{
	struct seen *s = ctx;

	s->oversize += n > FRAME_SIZE_MAX;
}

static struct seen as_watch(const uint8_t *p, size_t n, size_t piece)
{
	struct seen s = { 0 };
	const struct frame_ops ops = { on_object, on_oversize, &s };
	struct frame_parser f;

	frame_parser_init(&f, FRAME_WATCH, &ops);
	for (size_t i = 0; i < n; i += piece)
		if (frame_parser_feed(&f, p + i, n - i < piece ? n - i : piece) != 0)
			abort();
	s.hash ^= frame_parser_finish(&f) < 0;
	frame_parser_done(&f);
	return s;
}

static struct seen as_list(const uint8_t *p, size_t n, size_t piece)
{
	struct seen s = { 0 };
	const struct frame_ops ops = { on_object, on_oversize, &s };
	struct frame_parser l;
	int r = 0;

	frame_parser_init(&l, FRAME_LIST, &ops);
	for (size_t i = 0; i < n && r == 0; i += piece)
		r = frame_parser_feed(&l, p + i, n - i < piece ? n - i : piece);
	s.hash ^= (uint64_t)(r == 0) << 1 | (frame_parser_finish(&l) == 0);
	frame_parser_done(&l);
	return s;
}

static void same(struct seen a, struct seen b)
{
	if (a.hash != b.hash || a.objects != b.objects || a.oversize != b.oversize)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	if (n < 2)
		return 0;
	const size_t piece = (size_t)p[0] % 64 + 1;

	p++;
	n--;
	same(as_watch(p, n, n), as_watch(p, n, piece));
	same(as_list(p, n, n), as_list(p, n, piece));
	return 0;
}
