/* test_frame.c - the push parsers of watch frames and lists, cut at every byte. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "kube/frame.h"
#include "tests/suite.h"
#include "tests/unit/kube/wire.h"

struct seen {
	struct wire bytes; /* every object, each ended by '|' */
	uint64_t oversize;
	unsigned n_oversize, n, stop_at;
};

static int on_object(void *ctx, const uint8_t *p, size_t n)
{
	struct seen *s = ctx;

	wire_bytes(&s->bytes, p, n);
	wire_bytes(&s->bytes, "|", 1);
	return ++s->n == s->stop_at ? -ECANCELED : 0;
}

static void on_oversize(void *ctx, uint64_t n)
{
	struct seen *s = ctx;

	s->n_oversize++;
	s->oversize = n;
}

static struct frame_ops ops_of(struct seen *s)
{
	return (struct frame_ops){ on_object, on_oversize, s };
}

static const uint8_t frames[] = { 0, 0, 0, 4, 1, 2, 3, 4, 0, 0, 0, 3, 5, 6, 7, 0, 0, 0, 0, 0, 0, 0, 1, 8 };
static const uint8_t objects[] = { 1, 2, 3, 4, '|', 5, 6, 7, '|', '|', 8, '|' };

TEST(fr01_every_split)
{
	for (size_t i = 0; i <= sizeof(frames); i++)
		for (size_t j = i; j <= sizeof(frames); j++) {
			struct seen s = { 0 };
			const struct frame_ops ops = ops_of(&s);
			struct frame_splitter f;

			frame_splitter_init(&f, &ops);
			ck_assert_int_eq(frame_splitter_feed(&f, frames, i), 0);
			ck_assert_int_eq(frame_splitter_feed(&f, frames + i, j - i), 0);
			ck_assert_int_eq(frame_splitter_feed(&f, frames + j, sizeof(frames) - j), 0);
			ck_assert(!frame_splitter_is_inside(&f));
			ck_assert_uint_eq(s.bytes.n, sizeof(objects));
			ck_assert_mem_eq(s.bytes.p, objects, sizeof(objects));
			frame_splitter_done(&f);
			wire_done(&s.bytes);
		}
}

TEST(fr01_small_buffers)
{
	for (size_t size = 1; size <= 3; size++) {
		struct seen s = { 0 };
		const struct frame_ops ops = ops_of(&s);
		struct frame_splitter f;

		frame_splitter_init(&f, &ops);
		for (size_t i = 0; i < sizeof(frames); i += size) {
			const size_t n = sizeof(frames) - i < size ? sizeof(frames) - i : size;

			ck_assert_int_eq(frame_splitter_feed(&f, frames + i, n), 0);
		}
		ck_assert_uint_eq(s.bytes.n, sizeof(objects));
		ck_assert_mem_eq(s.bytes.p, objects, sizeof(objects));
		frame_splitter_done(&f);
		wire_done(&s.bytes);
	}
}

TEST(fr01_truncated)
{
	for (size_t n = 0; n <= sizeof(frames); n++) {
		struct seen s = { 0 };
		const struct frame_ops ops = ops_of(&s);
		struct frame_splitter f;
		const bool border = n == 0 || n == 8 || n == 15 || n == 19 || n == sizeof(frames);

		frame_splitter_init(&f, &ops);
		ck_assert_int_eq(frame_splitter_feed(&f, frames, n), 0);
		ck_assert(frame_splitter_is_inside(&f) == !border);
		frame_splitter_done(&f);
		frame_splitter_init(&f, &ops); /* a new stream */
		ck_assert(!frame_splitter_is_inside(&f));
		s.bytes.n = 0;
		ck_assert_int_eq(frame_splitter_feed(&f, frames, sizeof(frames)), 0);
		ck_assert_mem_eq(s.bytes.p, objects, sizeof(objects));
		frame_splitter_done(&f);
		wire_done(&s.bytes);
	}
}

TEST(fr02_oversize_is_drained)
{
	const uint32_t big = FRAME_SIZE_MAX + 5;
	const uint8_t header[4] = { (uint8_t)(big >> 24), (uint8_t)(big >> 16), (uint8_t)(big >> 8),
				    (uint8_t)big };
	uint8_t *junk = xcalloc(1, 1 << 20);
	struct seen s = { 0 };
	const struct frame_ops ops = ops_of(&s);
	struct frame_splitter f;

	frame_splitter_init(&f, &ops);
	ck_assert_int_eq(frame_splitter_feed(&f, header, 4), 0);
	for (uint32_t left = big; left > 0;) {
		const uint32_t n = left < (1 << 20) ? left : 1 << 20;

		ck_assert_int_eq(frame_splitter_feed(&f, junk, n), 0);
		left -= n;
	}
	ck_assert_uint_eq(f.payload.cap, 0); /* nothing was kept of it */
	ck_assert_int_eq(frame_splitter_feed(&f, frames, sizeof(frames)), 0);
	ck_assert_uint_eq(s.n_oversize, 1);
	ck_assert_uint_eq(s.oversize, big);
	ck_assert_mem_eq(s.bytes.p, objects, sizeof(objects));
	frame_splitter_done(&f);
	wire_done(&s.bytes);
	free(junk);
}

/* TestDecoder: 1025 B, 5 KiB, 17 MiB, 1025 B; only the third is left out. */
TEST(fr02_sizes)
{
	static const uint32_t sizes[] = { 1025, 5120, 17u << 20, 1025 };
	uint8_t *body = xcalloc(1, 17u << 20);
	struct seen s = { 0 };
	const struct frame_ops ops = ops_of(&s);
	struct frame_splitter f;

	frame_splitter_init(&f, &ops);
	for (size_t i = 0; i < 4; i++) {
		const uint32_t n = sizes[i];
		const uint8_t header[4] = { (uint8_t)(n >> 24), (uint8_t)(n >> 16), (uint8_t)(n >> 8),
					    (uint8_t)n };

		ck_assert_int_eq(frame_splitter_feed(&f, header, 4), 0);
		for (uint32_t at = 0, piece; at < n; at += piece) {
			piece = n - at < 16384 ? n - at : 16384;
			ck_assert_int_eq(frame_splitter_feed(&f, body + at, piece), 0);
		}
	}
	ck_assert_uint_eq(s.n, 3);
	ck_assert_uint_eq(s.n_oversize, 1);
	ck_assert_uint_eq(s.bytes.n, 1025 + 5120 + 1025 + 3);
	frame_splitter_done(&f);
	wire_done(&s.bytes);
	free(body);
}

TEST(fr02_announced_length_reserves_nothing)
{
	static const uint8_t header[] = { 0, 0xff, 0xff, 0xff, 1 };
	struct seen s = { 0 };
	const struct frame_ops ops = ops_of(&s);
	struct frame_splitter f;

	frame_splitter_init(&f, &ops);
	ck_assert_int_eq(frame_splitter_feed(&f, header, sizeof(header)), 0);
	ck_assert_uint_le(f.payload.cap, 4096);
	frame_splitter_done(&f);
}

TEST(frame_stops_on_request)
{
	struct seen s = { .stop_at = 2 };
	const struct frame_ops ops = ops_of(&s);
	struct frame_splitter f;

	frame_splitter_init(&f, &ops);
	ck_assert_int_eq(frame_splitter_feed(&f, frames, sizeof(frames)), -ECANCELED);
	ck_assert_uint_eq(s.n, 2);
	frame_splitter_done(&f);
	wire_done(&s.bytes);
}

/* -- lists -- */

static void make_list(struct wire *w, const char *kind, const char *token, unsigned items)
{
	struct wire meta = { 0 }, raw = { 0 };

	wire_field_str(&meta, 1, "");
	wire_field_str(&meta, 2, "4711");
	wire_field_str(&meta, 3, token);
	wire_field_varint(&meta, 4, 99);
	wire_field_message(&raw, 1, &meta);
	for (unsigned i = 0; i < items; i++) {
		const char text[4] = { 'a', 'b', (char)('0' + i), '\0' };

		wire_field_str(&raw, 2, i == 1 ? "" : text);
	}
	wire_field_varint(&raw, 9, 300);
	wire_tag(&raw, 10, 1);
	wire_bytes(&raw, "12345678", 8);
	wire_field_str(&raw, 11, "unknown");
	wire_envelope(w, "v1", kind, &raw);
}

TEST(list_every_split)
{
	struct wire w = { 0 };

	make_list(&w, "PodList", "tok", 3);
	for (size_t i = 0; i <= w.n; i++)
		for (size_t j = i; j <= w.n; j++) {
			struct seen s = { 0 };
			const struct frame_ops ops = ops_of(&s);
			struct list_parser l;

			list_parser_init(&l, "PodList", &ops);
			ck_assert_int_eq(list_parser_feed(&l, w.p, i), 0);
			ck_assert_int_eq(list_parser_feed(&l, w.p + i, j - i), 0);
			ck_assert_int_eq(list_parser_feed(&l, w.p + j, w.n - j), 0);
			ck_assert_int_eq(list_parser_finish(&l), 0);
			ck_assert_str_eq(l.resource_version, "4711");
			ck_assert_str_eq(l.continue_token, "tok");
			ck_assert_uint_eq(l.items, 3);
			ck_assert_uint_eq(s.bytes.n, 9);
			ck_assert_mem_eq(s.bytes.p, "ab0||ab2|", 9);
			list_parser_done(&l);
			wire_done(&s.bytes);
		}
	wire_done(&w);
}

/* A list cut anywhere is not a list, except where only the empty tail of the envelope is missing. */
TEST(list_truncated)
{
	struct wire w = { 0 };

	make_list(&w, "PodList", "", 2);
	for (size_t n = 0; n < w.n; n++) {
		struct seen s = { 0 };
		const struct frame_ops ops = ops_of(&s);
		struct list_parser l;

		list_parser_init(&l, "PodList", &ops);
		ck_assert_int_eq(list_parser_feed(&l, w.p, n), 0);
		ck_assert_int_eq(list_parser_finish(&l), n == w.n - 4 || n == w.n - 2 ? 0 : -EBADMSG);
		list_parser_done(&l);
		wire_done(&s.bytes);
	}
	wire_done(&w);
}

static int feed_whole(const struct wire *w, struct seen *s)
{
	const struct frame_ops ops = ops_of(s);
	struct list_parser l;

	list_parser_init(&l, "PodList", &ops);
	int r = list_parser_feed(&l, w->p, w->n);

	if (r == 0)
		r = list_parser_finish(&l);
	list_parser_done(&l);
	return r;
}

TEST(list_refuses)
{
	struct wire w = { 0 }, raw = { 0 };
	struct seen s = { 0 };

	wire_bytes(&w, "{\"kind\":\"PodList\"}", 18);
	ck_assert_int_eq(feed_whole(&w, &s), -EBADMSG);
	w.n = 0;
	make_list(&w, "SecretList", "", 1);
	ck_assert_int_eq(feed_whole(&w, &s), -EBADMSG);
	w.n = 0;
	wire_tag(&raw, 2, 2); /* an item longer than the list around it */
	wire_varint(&raw, 1000);
	wire_envelope(&w, "v1", "PodList", &raw);
	ck_assert_int_eq(feed_whole(&w, &s), -EBADMSG);
	w.n = 0;
	wire_field_bytes(&raw, 1, "\x12\xff", 2); /* broken ListMeta */
	wire_envelope(&w, "v1", "PodList", &raw);
	ck_assert_int_eq(feed_whole(&w, &s), -EBADMSG);
	w.n = 0;
	wire_tag(&raw, 5, 3); /* a group */
	wire_envelope(&w, "v1", "PodList", &raw);
	ck_assert_int_eq(feed_whole(&w, &s), -EBADMSG);
	wire_done(&w);
	wire_done(&s.bytes);
}

/* What was no list does not become one by what follows, nor by its end. */
TEST(list_refuses_for_good)
{
	struct wire w = { 0 };
	struct seen s = { 0 };
	const struct frame_ops ops = ops_of(&s);
	struct list_parser l;

	make_list(&w, "PodList", "tok", 3);
	list_parser_init(&l, "PodList", &ops);
	ck_assert_int_eq(list_parser_feed(&l, w.p, w.n), 0);
	ck_assert_int_eq(list_parser_finish(&l), 0);
	ck_assert_int_eq(list_parser_feed(&l, "\x12\x02", 2), -EBADMSG); /* a second list */
	ck_assert_int_eq(list_parser_feed(&l, "\x22", 1), -EBADMSG);
	ck_assert_int_eq(list_parser_finish(&l), -EBADMSG);
	ck_assert_uint_eq(l.items, 3);
	list_parser_done(&l);
	wire_done(&s.bytes);
	wire_done(&w);
}

TEST(list_empty)
{
	struct wire w = { 0 };
	struct seen s = { 0 };

	make_list(&w, "PodList", "", 0);
	ck_assert_int_eq(feed_whole(&w, &s), 0);
	ck_assert_uint_eq(s.n, 0);
	wire_done(&w);
}

TEST(list_random_bytes)
{
	uint64_t seed = 11;

	for (int i = 0; i < 3000; i++) {
		struct wire w = { 0 };
		struct seen s = { 0 };

		make_list(&w, "PodList", "t", 4);
		for (int k = 0; k < 3; k++)
			w.p[wire_random(&seed) % w.n] = (uint8_t)wire_random(&seed);
		const int r = feed_whole(&w, &s);

		ck_assert(r == 0 || r == -EBADMSG);
		wire_done(&w);
		wire_done(&s.bytes);
	}
}

TEST(list_large_item_is_not_kept)
{
	const size_t big = 1 << 20;
	uint8_t *junk = xcalloc(1, big);
	struct wire w = { 0 }, raw = { 0 }, meta = { 0 };
	struct seen s = { 0 };
	const struct frame_ops ops = ops_of(&s);
	struct list_parser l;

	wire_field_message(&raw, 1, &meta);
	wire_field_bytes(&raw, 2, junk, big);
	wire_field_str(&raw, 2, "x");
	wire_envelope(&w, "v1", "PodList", &raw);
	list_parser_init(&l, "PodList", &ops);
	ck_assert_int_eq(list_parser_feed(&l, w.p, 1000), 0);
	ck_assert_int_eq(list_parser_feed(&l, w.p + 1000, w.n - 1000), 0);
	ck_assert_int_eq(list_parser_finish(&l), 0);
	ck_assert_uint_eq(l.payload.cap, 0);
	ck_assert_uint_eq(s.bytes.n, big + 3);
	list_parser_done(&l);
	wire_done(&w);
	wire_done(&s.bytes);
	free(junk);
}

TEST_MAIN("kube/frame")
{
	tcase_set_timeout(t, 100);
}
