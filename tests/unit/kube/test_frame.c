/* test_frame.c - the push parsers of watch frames and lists, cut at every byte. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <endian.h>
#include <errno.h>
#include <stdlib.h>

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

static struct seen s;
static struct frame_parser f;

static void end(void)
{
	frame_parser_done(&f);
	wire_done(&s.bytes);
}

/* A new stream or list; of the one before nothing is left. */
static void begin(enum frame_level what)
{
	const struct frame_ops ops = { on_object, on_oversize, &s };

	end();
	s = (struct seen){ 0 };
	frame_parser_init(&f, what, &ops);
}

static void feed(const void *p, size_t n)
{
	ck_assert_int_eq(frame_parser_feed(&f, p, n), 0);
}

static void expect(const void *p, size_t n)
{
	ck_assert_uint_eq(s.bytes.n, n);
	ck_assert_mem_eq(s.bytes.p, p, n);
}

static const uint8_t frames[] = { 0, 0, 0, 4, 1, 2, 3, 4, 0, 0, 0, 3, 5, 6, 7, 0, 0, 0, 0, 0, 0, 0, 1, 8 };
static const uint8_t objects[] = { 1, 2, 3, 4, '|', 5, 6, 7, '|', '|', 8, '|' };

TEST(fr01_every_split)
{
	for (size_t i = 0; i <= sizeof(frames); i++)
		for (size_t j = i; j <= sizeof(frames); j++) {
			begin(FRAME_WATCH);
			feed(frames, i);
			feed(frames + i, j - i);
			feed(frames + j, sizeof(frames) - j);
			ck_assert(frame_parser_finish(&f) == 0);
			expect(objects, sizeof(objects));
		}
}

TEST(fr01_small_buffers)
{
	for (size_t size = 1; size <= 3; size++) {
		begin(FRAME_WATCH);
		for (size_t i = 0; i < sizeof(frames); i += size) {
			const size_t n = sizeof(frames) - i < size ? sizeof(frames) - i : size;

			feed(frames + i, n);
		}
		expect(objects, sizeof(objects));
	}
}

TEST(fr01_truncated)
{
	for (size_t n = 0; n <= sizeof(frames); n++) {
		const bool border = n == 0 || n == 8 || n == 15 || n == 19 || n == sizeof(frames);

		begin(FRAME_WATCH);
		feed(frames, n);
		ck_assert((frame_parser_finish(&f) == 0) == border);
		begin(FRAME_WATCH); /* a new stream */
		ck_assert(frame_parser_finish(&f) == 0);
		feed(frames, sizeof(frames));
		expect(objects, sizeof(objects));
	}
}

TEST(fr02_oversize_is_drained)
{
	const uint32_t big = FRAME_SIZE_MAX + 5;
	const uint32_t header = htobe32(big);
	uint8_t *junk = xcalloc(1, 1 << 20);

	begin(FRAME_WATCH);
	feed(&header, 4);
	for (uint32_t left = big; left > 0;) {
		const uint32_t n = left < (1 << 20) ? left : 1 << 20;

		feed(junk, n);
		left -= n;
	}
	ck_assert_uint_eq(f.payload.cap, 0); /* nothing was kept of it */
	feed(frames, sizeof(frames));
	ck_assert_uint_eq(s.n_oversize, 1);
	ck_assert_uint_eq(s.oversize, big);
	expect(objects, sizeof(objects));
	free(junk);
}

/* TestDecoder: 1025 B, 5 KiB, 17 MiB, 1025 B; only the third is left out. */
TEST(fr02_sizes)
{
	static const uint32_t sizes[] = { 1025, 5120, 17u << 20, 1025 };
	uint8_t *body = xcalloc(1, 17u << 20);

	begin(FRAME_WATCH);
	for (size_t i = 0; i < 4; i++) {
		const uint32_t n = sizes[i];
		const uint32_t header = htobe32(n);

		feed(&header, 4);
		for (uint32_t at = 0, piece; at < n; at += piece) {
			piece = n - at < 16384 ? n - at : 16384;
			feed(body + at, piece);
		}
	}
	ck_assert_uint_eq(s.n, 3);
	ck_assert_uint_eq(s.n_oversize, 1);
	ck_assert_uint_eq(s.bytes.n, 1025 + 5120 + 1025 + 3);
	free(body);
}

TEST(fr02_announced_length_reserves_nothing)
{
	static const uint8_t header[] = { 0, 0xff, 0xff, 0xff, 1 };

	begin(FRAME_WATCH);
	feed(header, sizeof(header));
	ck_assert_uint_le(f.payload.cap, 4096);
}

TEST(frame_stops_on_request)
{
	begin(FRAME_WATCH);
	s.stop_at = 2;
	ck_assert_int_eq(frame_parser_feed(&f, frames, sizeof(frames)), -ECANCELED);
	ck_assert_uint_eq(s.n, 2);
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
			begin(FRAME_LIST);
			feed(w.p, i);
			feed(w.p + i, j - i);
			feed(w.p + j, w.n - j);
			ck_assert_int_eq(frame_parser_finish(&f), 0);
			ck_assert_str_eq(f.resource_version, "4711");
			ck_assert_str_eq(f.continue_token, "tok");
			ck_assert_uint_eq(s.n, 3);
			expect("ab0||ab2|", 9);
		}
	wire_done(&w);
}

/* A list cut anywhere is not a list, except where only the empty tail of the envelope is missing. */
TEST(list_truncated)
{
	struct wire w = { 0 };

	make_list(&w, "PodList", "", 2);
	for (size_t n = 0; n < w.n; n++) {
		begin(FRAME_LIST);
		feed(w.p, n);
		ck_assert_int_eq(frame_parser_finish(&f), n == w.n - 4 || n == w.n - 2 ? 0 : -EBADMSG);
	}
	wire_done(&w);
}

static int feed_whole(const struct wire *w)
{
	begin(FRAME_LIST);
	const int r = frame_parser_feed(&f, w->p, w->n);

	return r == 0 ? frame_parser_finish(&f) : r;
}

TEST(list_refuses)
{
	struct wire w = { 0 }, raw = { 0 };

	wire_bytes(&w, "{\"kind\":\"PodList\"}", 18);
	ck_assert_int_eq(feed_whole(&w), -EBADMSG);
	w.n = 0;
	make_list(&w, "SecretList", "", 1);
	ck_assert_int_eq(feed_whole(&w), -EBADMSG);
	w.n = 0;
	wire_tag(&raw, 2, 2); /* an item longer than the list around it */
	wire_varint(&raw, 1000);
	wire_envelope(&w, "v1", "PodList", &raw);
	ck_assert_int_eq(feed_whole(&w), -EBADMSG);
	w.n = 0;
	wire_field_bytes(&raw, 1, "\x12\xff", 2); /* broken ListMeta */
	wire_envelope(&w, "v1", "PodList", &raw);
	ck_assert_int_eq(feed_whole(&w), -EBADMSG);
	w.n = 0;
	wire_tag(&raw, 5, 3); /* a group */
	wire_envelope(&w, "v1", "PodList", &raw);
	ck_assert_int_eq(feed_whole(&w), -EBADMSG);
	wire_done(&w);
}

/* What was no list does not become one by what follows, nor by its end. */
TEST(list_refuses_for_good)
{
	struct wire w = { 0 };

	make_list(&w, "PodList", "tok", 3);
	begin(FRAME_LIST);
	feed(w.p, w.n);
	ck_assert_int_eq(frame_parser_finish(&f), 0);
	ck_assert_int_eq(frame_parser_feed(&f, "\x12\x02", 2), -EBADMSG); /* a second list */
	ck_assert_int_eq(frame_parser_feed(&f, "\x22", 1), -EBADMSG);
	ck_assert_int_eq(frame_parser_finish(&f), -EBADMSG);
	ck_assert_uint_eq(s.n, 3);
	wire_done(&w);
}

TEST(list_empty)
{
	struct wire w = { 0 };

	make_list(&w, "PodList", "", 0);
	ck_assert_int_eq(feed_whole(&w), 0);
	ck_assert_uint_eq(s.n, 0);
	wire_done(&w);
}

TEST(list_random_bytes)
{
	uint64_t seed = 11;

	for (int i = 0; i < 3000; i++) {
		struct wire w = { 0 };

		make_list(&w, "PodList", "t", 4);
		for (int k = 0; k < 3; k++)
			w.p[wire_random(&seed) % w.n] = (uint8_t)wire_random(&seed);
		const int r = feed_whole(&w);

		ck_assert(r == 0 || r == -EBADMSG);
		wire_done(&w);
	}
}

TEST(list_large_item_is_not_kept)
{
	const size_t big = 1 << 20;
	uint8_t *junk = xcalloc(1, big);
	struct wire w = { 0 }, raw = { 0 }, meta = { 0 };

	wire_field_message(&raw, 1, &meta);
	wire_field_bytes(&raw, 2, junk, big);
	wire_field_str(&raw, 2, "x");
	wire_envelope(&w, "v1", "PodList", &raw);
	begin(FRAME_LIST);
	feed(w.p, 1000);
	feed(w.p + 1000, w.n - 1000);
	ck_assert_int_eq(frame_parser_finish(&f), 0);
	ck_assert_uint_eq(f.payload.cap, 0);
	ck_assert_uint_eq(s.bytes.n, big + 3);
	wire_done(&w);
	free(junk);
}

TEST_MAIN("kube/frame")
{
	tcase_add_checked_fixture(t, NULL, end);
	tcase_set_timeout(t, 100);
}
