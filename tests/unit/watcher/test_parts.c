/* test_parts.c - what the cache is made of: uuid, slots, intern, arena. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "quiet_store.h"
#include "random.h"
#include "tests/suite.h"
#include "watcher/cache/arena.h"
#include "watcher/cache/hash.h"
#include "watcher/cache/intern.h"
#include "watcher/cache/hash_index.h"
#include "watcher/cache/uuid.h"

/* -- uuid -- */

static bool slow_is_canonical(struct str s, uint8_t ret[16])
{
	static const char digits[] = "0123456789abcdef";
	size_t n = 0;

	for (size_t i = 0; i < 36; i++) {
		const char *d = s.p[i] ? strchr(digits, s.p[i]) : NULL;

		if (i == 8 || i == 13 || i == 18 || i == 23) {
			if (s.p[i] != '-')
				return false;
			continue;
		}
		if (!d)
			return false;
		ret[n / 2] = (uint8_t)(ret[n / 2] << 4 | (uint8_t)(d - digits));
		n++;
	}
	return s.n == 36;
}

/* Every byte in every place. */
TEST(uuid_every_byte)
{
	char text[37];

	for (size_t at = 0; at < 36; at++)
		for (unsigned c = 0; c < 256; c++) {
			uint8_t a[16] = { 0 }, b[16] = { 0 };

			memcpy(text, "0189cdef-4a5b-4c6d-8e7f-f0e1d2c3b4a5", 37);
			text[at] = (char)c;
			const struct str s = { text, 36 };
			const bool ok = slow_is_canonical(s, a);

			ck_assert_msg(uuid_is_canonical(s, b) == ok, "byte %u at %zu", c, at);
			ck_assert_msg(!ok || memcmp(a, b, 16) == 0, "byte %u at %zu", c, at);
		}
	uint8_t b[16];

	ck_assert(!uuid_is_canonical((struct str){ text, 35 }, b));
	ck_assert(!uuid_is_canonical((struct str){ "", 0 }, b));
}

/* -- slots -- */

#define IDS 3000u

struct keys {
	uint64_t hash[IDS + 1];
	bool in[IDS + 1];
};

static uint64_t hash_of(const void *ctx, uint32_t id)
{
	const struct keys *k = ctx;

	ck_assert_msg(k->in[id], "asked for the hash of %u, which is out", id);
	return k->hash[id];
}

static uint32_t next_of(const void *ctx, uint32_t id)
{
	const struct keys *k = ctx;

	for (id++; id <= IDS; id++)
		if (k->in[id])
			return id;
	return 0;
}

static uint32_t find(const struct hash_index *s, const struct keys *k, uint32_t id, uint32_t *ret_i)
{
	for (uint32_t i = hash_index_first(s, k->hash[id]); hash_index_at(s, i); i = hash_index_next(s, i))
		if (hash_index_may_be(s, i, k->hash[id]) && hash_index_id(s, i) == id) {
			*ret_i = i;
			return id;
		}
	return 0;
}

/* Ids come and go at random, half of them with the same hash: what is in is found, what is out is not, and
 * the table shrinks with its content. */
/* Every byte of a text counts, and none beside it. */
TEST(hashes_of_what_is_asked)
{
	const struct hash_seed seed = hash_seed_new();
	char a[64], b[64];

	for (size_t n = 0; n < 40; n++) {
		for (size_t i = 0; i < sizeof(a); i++)
			a[i] = (char)(i * 7);
		memset(b, '#', sizeof(b));
		memcpy(b + 9, a + 4, n);
		ck_assert_uint_eq(hash_bytes(&seed, a + 4, n), hash_bytes(&seed, b + 9, n));
		ck_assert_uint_eq(hash_quick(a + 4, n), hash_quick(b + 9, n));
		for (size_t i = 0; i < n; i++) {
			b[9 + i] ^= 1;
			ck_assert_uint_ne(hash_bytes(&seed, a + 4, n), hash_bytes(&seed, b + 9, n));
			ck_assert_uint_ne(hash_quick(a + 4, n), hash_quick(b + 9, n));
			b[9 + i] ^= 1;
		}
	}
}

TEST(hash_index_against_a_set)
{
	static const struct hash_index_owner owner = { hash_of, next_of };
	static struct keys k;
	struct hash_index s = { 0 };
	uint32_t at = 0;

	random_begin("parts");
	for (uint32_t id = 1; id <= IDS; id++)
		k.hash[id] = id % 16 == 0 ? UINT64_C(0xabcdef0000000007) : random_next();
	for (int round = 0; round < 40000; round++) {
		const uint32_t id = 1 + (uint32_t)(random_next() % IDS);
		const bool more = round < 15000 || (round > 25000 && round < 30000);

		ck_assert_uint_eq(find(&s, &k, id, &at), k.in[id] ? id : 0);
		if (!k.in[id] && (more || round % 8 == 0)) {
			k.in[id] = true;
			hash_index_add(&s, k.hash[id], id, &owner, &k);
		} else if (k.in[id] && !more) {
			k.in[id] = false;
			hash_index_remove(&s, k.hash[id], id, &owner, &k);
		}
	}
	const size_t before = hash_index_bytes(&s);

	for (uint32_t id = 1; id <= IDS; id++)
		if (k.in[id]) {
			ck_assert_uint_eq(find(&s, &k, id, &at), id);
			k.in[id] = false;
			hash_index_remove(&s, k.hash[id], id, &owner, &k);
		}
	ck_assert_uint_eq(s.used, 0);
	ck_assert_uint_lt(hash_index_bytes(&s), before);
	hash_index_done(&s);
}

/* -- intern -- */

/* Strings that differ only in the middle look the same to the quick cache; ids are reused by other strings.
 */
TEST(intern_is_exact)
{
	struct intern *t = intern_new();
	uint32_t id[200];
	char text[200][64];

	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 200; i++) {
			(void)snprintf(text[i], sizeof(text[i]), "beginning-%03d-%d-the-ending", i, round);
			id[i] = intern_ref(t, STR_C(text[i]));
		}
		for (int i = 0; i < 200; i++) {
			ck_assert(str_is(intern_str(t, id[i]), text[i]));
			ck_assert_uint_eq(intern_find(t, STR_C(text[i])), id[i]);
			ck_assert_uint_eq(intern_ref(t, STR_C(text[i])), id[i]);
			intern_unref(t, id[i]);
		}
		for (int i = 0; i < 200; i++) {
			intern_unref(t, id[i]);
			ck_assert_uint_eq(intern_find(t, STR_C(text[i])), 0);
		}
	}
	ck_assert_uint_eq(intern_ref(t, STR_LIT("")), 0);
	intern_free(&t);
}

/* -- arena -- */

#define BLOCKS 30000u

struct blocks {
	uint32_t pos[BLOCKS + 1]; /* 0 = none */
	size_t size[BLOCKS + 1];
};

static uint32_t next_block(const void *ctx, uint32_t id)
{
	const struct blocks *b = ctx;

	for (id++; id <= BLOCKS; id++)
		if (b->pos[id])
			return id;
	return 0;
}

static uint32_t *block_of(void *ctx, uint32_t id, size_t *ret_size)
{
	struct blocks *b = ctx;

	*ret_size = b->size[id];
	return &b->pos[id];
}

static void check_blocks(const struct arena *a, const struct blocks *b)
{
	for (uint32_t id = 1; id <= BLOCKS; id++) {
		const unsigned char *p = b->pos[id] ? arena_at(a, b->pos[id]) : NULL;

		size_t n = 0;

		while (p && n < b->size[id] && p[n] == (unsigned char)(id + n))
			n++;
		if (p && n < b->size[id])
			ck_abort_msg("block %u, byte %zu", id, n);
	}
}

/* Filled and thinned out three times, again and again: nothing is lost, and what is held is at most what is
 * in use twice.
 */
TEST(arena_gives_back)
{
	static const struct arena_owner owner = { next_block, block_of };
	static struct blocks b;
	struct arena a = { 0 };

	random_begin("arena");
	for (int round = 0; round < 6; round++) {
		size_t used = 0;

		for (uint32_t id = 1; id <= BLOCKS; id++) {
			if (b.pos[id] || round % 3 > 0)
				continue;
			b.size[id] = 1 + random_below(id % 50 ? 200 : 3000);
			b.pos[id] = arena_alloc(&a, b.size[id]);
			for (size_t i = 0; i < b.size[id]; i++)
				((unsigned char *)arena_at(&a, b.pos[id]))[i] = (unsigned char)(id + i);
		}
		check_blocks(&a, &b);
		for (uint32_t id = 1; id <= BLOCKS; id++) {
			if (!b.pos[id] || random_below(3) == 0) {
				used += b.pos[id] ? b.size[id] : 0;
				continue;
			}
			const uint32_t pos = b.pos[id];

			b.pos[id] = 0;
			arena_free(&a, pos, b.size[id]);
			arena_give_back(&a, &owner, &b);
		}
		check_blocks(&a, &b);
		ck_assert_uint_le(arena_bytes(&a), used * 5 / 2 + (256u << 10));
	}
	arena_done(&a);
}

/* -- all of it -- */

static size_t resident_pages(void)
{
	unsigned long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	ck_assert(f && fscanf(f, "%*u %lu", &pages) == 1);
	(void)fclose(f);
	return pages;
}

#define PODS 60000u
/* AddressSanitizer holds on to what was freed. */
#ifdef __SANITIZE_ADDRESS__
#define KEEPS_FREED true
#else
#define KEEPS_FREED false
#endif

static void make_pod(struct pod_facts *p, uint32_t i, char text[4][64])
{
	(void)snprintf(text[0], 64, "namespace-%u", i / 100);
	(void)snprintf(text[1], 64, "owner-%u-7cc7fd9bc6", i / 4);
	(void)snprintf(text[2], 64, "owner-%u-7cc7fd9bc6-%05u", i / 4, i);
	(void)snprintf(text[3], 64, "0189cdef-4a5b-4c6d-8e7f-%012u", i);
	*p = (struct pod_facts){ .ns = STR_C(text[0]),
				 .name = STR_C(text[2]),
				 .uid = STR_C(text[3]),
				 .rv = STR_LIT("1"),
				 .revision = STR_LIT("7cc7fd9bc6"),
				 .grace_s = -1,
				 .owner = { STR_LIT("apps/v1"), STR_LIT("ReplicaSet"), STR_C(text[1]),
					    STR_C(text[1]) } };
}

/* Nine of ten pods go: so does most of the memory, and the others are what they were. */
TEST(mass_deletion_gives_memory_back)
{
	static struct pod_facts p, back;
	struct store *s = quiet_store();
	char text[4][64];
	enum store_change change;
	uint32_t h;
	const size_t empty = resident_pages();

	for (uint32_t i = 0; i < PODS; i++) {
		make_pod(&p, i, text);
		ck_assert_int_eq(store_put(s, &p, 0, &h, &change), 0);
	}
	const size_t full = resident_pages(), bytes = store_bytes(s);

	for (uint32_t i = 0; i < PODS; i++) {
		make_pod(&p, i, text);
		if (i / 4 % 10)
			store_remove(s, store_find(s, p.ns, p.name));
	}
	ck_assert_uint_lt(store_bytes(s) * 2, bytes);
	if (!KEEPS_FREED)
		ck_assert_uint_lt((resident_pages() - empty) * 2, full - empty);
	for (uint32_t i = 0; i < PODS; i++) {
		make_pod(&p, i, text);
		h = store_find(s, p.ns, p.name);
		ck_assert(!h == !!(i / 4 % 10));
		if (!h)
			continue;
		store_get(s, h, &back);
		ck_assert(str_eq(p.name, back.name) && str_eq(p.ns, back.ns) && str_eq(p.uid, back.uid));
		ck_assert(str_eq(p.owner.name, back.owner.name) && str_eq(p.owner.uid, back.owner.uid));
	}
	store_free(&s);
}

TEST_MAIN("watcher/parts")
{
	tcase_set_timeout(t, 60);
}
