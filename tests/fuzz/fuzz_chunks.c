/* fuzz_chunks.c - any bytes as a list, in one piece and in others: the same items in the same order, the same
 * verdict, the same version and continue token, and no more is kept than has come. */
// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/seen.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

static uint64_t hash_text(uint64_t hash, const char *text)
{
	return text ? pieces_hash(hash, text, strlen(text)) : hash;
}

static void end(struct seen *s, struct frame_parser *l)
{
	s->finished = frame_parser_finish(l);
	if (s->fed < 0 && s->finished == 0)
		abort(); /* what is no list does not become one */
	s->hash = hash_text(hash_text(s->hash, l->resource_version), l->continue_token);
	frame_parser_done(l);
}

static struct seen whole(const uint8_t *p, size_t n)
{
	struct seen s = { 0 };
	const struct frame_ops ops = { on_object, on_oversize, &s };
	struct frame_parser l;

	frame_parser_init(&l, FRAME_LIST, &ops);
	s.fed = frame_parser_feed(&l, p, n);
	end(&s, &l);
	return s;
}

static struct seen in_pieces(struct pieces pieces)
{
	struct seen s = { 0 };
	const struct frame_ops ops = { on_object, on_oversize, &s };
	struct frame_parser l;
	const uint8_t *p;
	size_t n;

	frame_parser_init(&l, FRAME_LIST, &ops);
	while (s.fed == 0 && pieces_next(&pieces, &p, &n)) {
		s.fed = frame_parser_feed(&l, p, n);
		if (l.payload.cap > 4096 + 2 * pieces.at || l.payload.cap > 2 * (size_t)FRAME_SIZE_MAX)
			abort();
	}
	if (s.fed != 0 && s.fed != -EBADMSG)
		abort();
	if (s.fed < 0 && frame_parser_feed(&l, "", 1) != s.fed)
		abort(); /* for good */
	end(&s, &l);
	return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct pieces pieces;

	if (!pieces_begin(&pieces, p, n))
		return 0;
	const struct seen a = whole(pieces.p, pieces.n), b = in_pieces(pieces);

	if (a.hash != b.hash || a.objects != b.objects || a.oversize != b.oversize || a.fed != b.fed ||
	    a.finished != b.finished)
		abort();
	return 0;
}
