/* intern.c - see intern.h.
 * pos[id] is where the string lies in the arena, or, with the top bit set, the next free id. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/cache/intern.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "watcher/cache/arena.h"
#include "watcher/cache/hash.h"
#include "watcher/cache/hash_index.h"

#define FREE_BIT 0x80000000u
#define FEW      256u

struct interned {
	uint32_t refs;
	uint32_t hash;
	uint16_t len;
	char s[];
} __attribute__((packed, aligned(4)));

struct intern {
	struct arena arena;
	struct hash_index index;
	struct hash_seed seed;
	uint32_t *pos;
	/* The last ids found, 0 = none, by a hash that costs nothing: most strings of an event are among
	 * them. As many as there is room for ids, and so rarely two of them in one place. */
	uint32_t *recent;
	uint32_t n, cap; /* ids ever given out + 1, room: a power of two */
	uint32_t free_id;
};

static void make_room(struct intern *t, uint32_t cap)
{
	t->cap = cap;
	t->pos = xreallocarray(t->pos, cap, sizeof(*t->pos));
	free(t->recent);
	t->recent = xcalloc(cap, sizeof(*t->recent));
}

struct intern *intern_new(void)
{
	struct intern *t = xcalloc(1, sizeof(*t));

	t->seed = hash_seed_new();
	t->n = 1;
	make_room(t, FEW);
	return t;
}

void intern_free(struct intern **t)
{
	if (!*t)
		return;
	arena_done(&(*t)->arena);
	hash_index_done(&(*t)->index);
	free((*t)->pos);
	free((*t)->recent);
	free(*t);
	*t = NULL;
}

static struct interned *interned_at(const struct intern *t, uint32_t id)
{
	return arena_at(&t->arena, t->pos[id]);
}

static uint64_t interned_hash(const void *ctx, uint32_t id)
{
	return hash_spread(interned_at(ctx, id)->hash);
}

static bool is_free(const struct intern *t, uint32_t id)
{
	return t->pos[id] & FREE_BIT;
}

static uint32_t next_interned(const void *ctx, uint32_t id)
{
	const struct intern *t = ctx;

	for (id++; id < t->n; id++)
		if (!is_free(t, id))
			return id;
	return 0;
}

static size_t interned_size(size_t len)
{
	return offsetof(struct interned, s) + len;
}

static uint32_t *interned_block(void *ctx, uint32_t id, size_t *ret_size)
{
	struct intern *t = ctx;

	*ret_size = interned_size(interned_at(t, id)->len);
	return &t->pos[id];
}

static const struct hash_index_owner owner = { interned_hash, next_interned };
static const struct arena_owner arena_owner = { next_interned, interned_block };

static struct str bounded(struct str s)
{
	if (s.n > INTERN_LEN_MAX)
		s.n = INTERN_LEN_MAX;
	return s;
}

static bool interned_is(const struct intern *t, uint32_t id, struct str s)
{
	const struct interned *e = interned_at(t, id);

	return e->len == s.n && memcmp(e->s, s.p, s.n) == 0;
}

/* Where the string of that hash_quick() is among those found last. */
static uint32_t *recent_of(const struct intern *t, uint32_t quick)
{
	return &t->recent[quick & (t->cap - 1)];
}

static uint32_t look_up(const struct intern *t, struct str s, uint32_t hash)
{
	const uint64_t wide = hash_spread(hash);

	for (uint32_t i = hash_index_first(&t->index, wide); hash_index_at(&t->index, i);
	     i = hash_index_next(&t->index, i))
		if (hash_index_may_be(&t->index, i, wide) && interned_is(t, hash_index_id(&t->index, i), s))
			return hash_index_id(&t->index, i);
	return 0;
}

static uint32_t take_id(struct intern *t)
{
	uint32_t id = t->free_id;

	if (id) {
		t->free_id = t->pos[id] & ~FREE_BIT;
		return id;
	}
	if (t->n >= t->cap)
		make_room(t, t->cap * 2);
	return t->n++;
}

static uint32_t hash_str(const struct intern *t, struct str s)
{
	return (uint32_t)hash_bytes(&t->seed, s.p, s.n);
}

uint32_t intern_find(const struct intern *t, struct str s)
{
	s = bounded(s);
	if (s.n == 0)
		return 0;
	const uint32_t id = *recent_of(t, hash_quick(s.p, s.n));

	return id && !is_free(t, id) && interned_is(t, id, s) ? id : look_up(t, s, hash_str(t, s));
}

uint32_t intern_count(const struct intern *t, struct str s)
{
	const uint32_t id = intern_find(t, s);

	return id ? interned_at(t, id)->refs : 0;
}

void intern_expect(const struct intern *t, struct str s)
{
	const uint32_t id = s.n ? *recent_of(t, hash_quick(s.p, bounded(s).n)) : 0;

	if (id && !is_free(t, id))
		__builtin_prefetch(interned_at(t, id));
}

static uint32_t add(struct intern *t, struct str s, uint32_t hash)
{
	const uint32_t id = take_id(t);

	t->pos[id] = arena_alloc(&t->arena, interned_size(s.n));
	struct interned *e = interned_at(t, id);

	e->refs = 0;
	e->hash = hash;
	e->len = (uint16_t)s.n;
	memcpy(e->s, s.p, s.n);
	hash_index_add(&t->index, hash_spread(hash), id, &owner, t);
	return id;
}

uint32_t intern_ref(struct intern *t, struct str s)
{
	s = bounded(s);
	if (s.n == 0)
		return 0;
	const uint32_t quick = hash_quick(s.p, s.n);
	uint32_t id = *recent_of(t, quick);

	if (!id || is_free(t, id) || !interned_is(t, id, s)) {
		const uint32_t hash = hash_str(t, s);

		id = look_up(t, s, hash);
		if (!id)
			id = add(t, s, hash);
		*recent_of(t, quick) = id;
	}
	interned_at(t, id)->refs++;
	return id;
}

uint32_t intern_once(struct intern *t, struct str s)
{
	const uint32_t id = intern_find(t, s);

	return id ? id : intern_ref(t, s);
}

static void forget(struct intern *t, uint32_t id, const struct interned *e)
{
	const uint32_t pos = t->pos[id];
	const size_t size = interned_size(e->len);
	const uint64_t hash = hash_spread(e->hash);

	t->pos[id] = t->free_id | FREE_BIT;
	t->free_id = id;
	hash_index_remove(&t->index, hash, id, &owner, t);
	arena_free(&t->arena, pos, size);
	arena_give_back(&t->arena, &arena_owner, t);
}

void intern_unref(struct intern *t, uint32_t id)
{
	if (id == 0)
		return;
	struct interned *e = interned_at(t, id);

	if (--e->refs == 0)
		forget(t, id, e);
}

struct str intern_str(const struct intern *t, uint32_t id)
{
	if (id == 0)
		return (struct str){ "", 0 };
	const struct interned *e = interned_at(t, id);

	return (struct str){ e->s, e->len };
}

size_t intern_bytes(const struct intern *t)
{
	return sizeof(*t) + arena_bytes(&t->arena) + hash_index_bytes(&t->index) +
	       t->cap * (sizeof(*t->pos) + sizeof(*t->recent));
}
