/* group.c - see group.h.
 * The index finds the first group of an owner uid; the others hang on it by `chain`. What only one group has,
 * uid, name and revision, lies in one piece in an arena of its own; apiVersion and kind are interned. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/cache/group.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "watcher/cache/arena.h"
#include "watcher/cache/hash.h"
#include "watcher/cache/hash_index.h"
#include "watcher/cache/uuid.h"

/* A ReplicaSet's name ends with its revision: then it is not written twice. */
#define IN_NAME 0x8000u

struct origin {
	uint16_t n_uid, n_name, n_revision; /* n_revision: maybe with IN_NAME */
	char s[];                           /* uid, name, revision */
};

/* Pods of each mark. A group of more pods than a byte can count has its counts in a table of such groups. */
union counts {
	uint8_t few[MARK_BITS];
	uint32_t many; /* its place there */
};

struct many {
	uint32_t count[MARK_BITS]; /* the first of a free one: the next free one */
};

struct group {
	uint32_t origin;
	uint32_t api, kind;
	uint32_t pods; /* 0 = free, then head is the next free id */
	uint32_t head;
	uint32_t chain;
	union counts counts;
	uint8_t is_first : 1; /* of its chain: it stands in the index */
	uint8_t uid_is_binary : 1;
	uint8_t pulled : 1;
	uint8_t is_many : 1;
};

struct groups {
	struct intern *intern;
	struct arena arena;
	struct hash_index index;
	struct hash_seed seed;
	struct group *v;
	uint32_t n, cap, free_id;
	struct many *many;
	uint32_t n_many, room_many, free_many; /* the place 0 is none */
	uint32_t last;                         /* joined; the pods of a list come in its order */
};

/* Owner and revision as they are kept. */
struct key {
	struct str uid, name, revision, api, kind;
	uint8_t binary[16];
	bool uid_is_binary;
};

static const struct hash_index_owner owner_of_index;

struct groups *groups_new(struct intern *intern)
{
	struct groups *g = xcalloc(1, sizeof(*g));

	g->intern = intern;
	g->seed = hash_seed_new();
	g->n = 1;
	g->n_many = 1;
	return g;
}

void groups_free(struct groups **g)
{
	if (!*g)
		return;
	hash_index_done(&(*g)->index);
	arena_done(&(*g)->arena);
	free((*g)->v);
	free((*g)->many);
	free(*g);
	*g = NULL;
}

/* -- keys -- */

static struct str bounded(struct str s)
{
	if (s.n > INTERN_LEN_MAX)
		s.n = INTERN_LEN_MAX;
	return s.n ? s : (struct str){ "", 0 };
}

/* UUIDs are held as 16 bytes. */
static void key_of(const struct owner_facts *owner, struct str revision, struct key *ret)
{
	ret->uid_is_binary = uuid_is_canonical(owner->uid, ret->binary);
	ret->uid = ret->uid_is_binary ? (struct str){ (const char *)ret->binary, sizeof(ret->binary) }
				      : bounded(owner->uid);
	ret->name = bounded(owner->name);
	ret->revision = bounded(revision);
	ret->api = bounded(owner->api_version);
	ret->kind = bounded(owner->kind);
}

static const struct origin *origin_of(const struct groups *g, uint32_t id)
{
	return arena_at(&g->arena, g->v[id].origin);
}

static struct str origin_uid(const struct origin *l)
{
	return (struct str){ l->s, l->n_uid };
}

static struct str origin_name(const struct origin *l)
{
	return (struct str){ l->s + l->n_uid, l->n_name };
}

static struct str origin_revision(const struct origin *l)
{
	const uint32_t n = l->n_revision & ~IN_NAME, end = (uint32_t)l->n_uid + l->n_name;

	return (struct str){ l->s + end - (l->n_revision & IN_NAME ? n : 0), n };
}

static size_t origin_size(const struct origin *l)
{
	return offsetof(struct origin, s) + l->n_uid + l->n_name +
	       (l->n_revision & IN_NAME ? 0u : l->n_revision);
}

static bool ends_with(struct str s, struct str end)
{
	return end.n <= s.n && memcmp(s.p + s.n - end.n, end.p, end.n) == 0;
}

static uint32_t origin_new(struct groups *g, const struct key *k)
{
	const struct origin head = {
		.n_uid = (uint16_t)k->uid.n,
		.n_name = (uint16_t)k->name.n,
		.n_revision = (uint16_t)(k->revision.n | (ends_with(k->name, k->revision) ? IN_NAME : 0)),
	};
	const uint32_t pos = arena_alloc(&g->arena, origin_size(&head));
	struct origin *l = arena_at(&g->arena, pos);

	*l = head;
	memcpy(l->s, k->uid.p, k->uid.n);
	memcpy(l->s + k->uid.n, k->name.p, k->name.n);
	if (!(head.n_revision & IN_NAME))
		memcpy(l->s + k->uid.n + k->name.n, k->revision.p, k->revision.n);
	return pos;
}

static bool has_uid(const struct groups *g, uint32_t id, const struct key *k)
{
	return g->v[id].uid_is_binary == k->uid_is_binary && str_eq(origin_uid(origin_of(g, id)), k->uid);
}

static bool is_group(const struct groups *g, uint32_t id, const struct key *k)
{
	const struct group *v = &g->v[id];
	const struct origin *l = origin_of(g, id);

	return has_uid(g, id, k) && str_eq(origin_name(l), k->name) &&
	       str_eq(origin_revision(l), k->revision) && str_eq(intern_str(g->intern, v->kind), k->kind) &&
	       str_eq(intern_str(g->intern, v->api), k->api);
}

/* -- index -- */

static uint64_t hash_of_uid(const struct groups *g, struct str uid)
{
	return hash_spread((uint32_t)hash_bytes(&g->seed, uid.p, uid.n));
}

static uint64_t hash_of(const void *ctx, uint32_t id)
{
	const struct groups *g = ctx;

	return hash_of_uid(g, origin_uid(origin_of(g, id)));
}

static uint32_t next_first(const void *ctx, uint32_t id)
{
	const struct groups *g = ctx;

	for (id++; id < g->n; id++)
		if (g->v[id].is_first)
			return id;
	return 0;
}

static const struct hash_index_owner owner_of_index = { hash_of, next_first };

static uint32_t next_group(const void *ctx, uint32_t id)
{
	const struct groups *g = ctx;

	for (id++; id < g->n; id++)
		if (g->v[id].pods > 0)
			return id;
	return 0;
}

static uint32_t *origin_block(void *ctx, uint32_t id, size_t *ret_size)
{
	struct groups *g = ctx;

	*ret_size = origin_size(origin_of(g, id));
	return &g->v[id].origin;
}

static const struct arena_owner owner_of_arena = { next_group, origin_block };

/* The first group of that uid, 0 = none. */
static uint32_t find_first(const struct groups *g, const struct key *k, uint64_t hash)
{
	const struct hash_index *s = &g->index;

	for (uint32_t i = hash_index_first(s, hash); hash_index_at(s, i); i = hash_index_next(s, i))
		if (hash_index_may_be(s, i, hash) && has_uid(g, hash_index_id(s, i), k))
			return hash_index_id(s, i);
	return 0;
}

/* -- in and out -- */

static uint32_t take_id(struct groups *g)
{
	uint32_t id = g->free_id;

	if (id) {
		g->free_id = g->v[id].head;
		return id;
	}
	if (g->n >= g->cap) {
		g->cap = g->cap ? g->cap + g->cap / 2 : 64;
		g->v = xreallocarray(g->v, g->cap, sizeof(*g->v));
	}
	return g->n++;
}

static uint32_t add(struct groups *g, const struct key *k, uint64_t hash, uint32_t first)
{
	const uint32_t id = take_id(g);

	g->v[id] = (struct group){ .origin = origin_new(g, k),
				   .api = intern_ref(g->intern, k->api),
				   .kind = intern_ref(g->intern, k->kind),
				   .pods = 1,
				   .is_first = !first,
				   .uid_is_binary = k->uid_is_binary };
	if (first) {
		g->v[id].chain = g->v[first].chain;
		g->v[first].chain = id;
	} else {
		hash_index_add(&g->index, hash, id, &owner_of_index, g);
	}
	return id;
}

/* -- counts -- */

static uint32_t count_of(const struct groups *g, const struct group *v, size_t mark)
{
	return v->is_many ? g->many[v->counts.many].count[mark] : v->counts.few[mark];
}

/* From now on the counts of this group stand in the table. */
static void count_many(struct groups *g, struct group *v)
{
	const union counts few = v->counts;
	uint32_t place = g->free_many;

	if (place) {
		g->free_many = g->many[place].count[0];
	} else {
		g->many = xgrow(g->many, &g->room_many, g->n_many, sizeof(*g->many));
		place = g->n_many++;
	}
	for (size_t i = 0; i < MARK_BITS; i++)
		g->many[place].count[i] = few.few[i];
	v->counts.many = place;
	v->is_many = true;
}

static void free_many(struct groups *g, uint32_t place)
{
	g->many[place].count[0] = g->free_many;
	g->free_many = place;
}

static void count(struct groups *g, struct group *v, size_t mark, bool up)
{
	if (v->is_many)
		g->many[v->counts.many].count[mark] += up ? 1u : -1u;
	else
		v->counts.few[mark] = (uint8_t)(v->counts.few[mark] + (up ? 1 : -1));
}

uint32_t groups_join(struct groups *g, const struct owner_facts *owner, struct str revision)
{
	struct key k;

	key_of(owner, revision, &k);
	if (!groups_has(g, g->last) || !is_group(g, g->last, &k)) {
		const uint64_t hash = hash_of_uid(g, k.uid);
		const uint32_t first = find_first(g, &k, hash);
		uint32_t id = first;

		while (id && !is_group(g, id, &k))
			id = g->v[id].chain;
		if (!id) {
			g->last = add(g, &k, hash, first);
			return g->last;
		}
		g->last = id;
	}
	if (++g->v[g->last].pods > UINT8_MAX && !g->v[g->last].is_many)
		count_many(g, &g->v[g->last]);
	return g->last;
}

static uint32_t first_of(const struct groups *g, uint32_t id)
{
	const struct group *v = &g->v[id];
	const struct str uid = origin_uid(origin_of(g, id));
	const struct key k = { .uid = uid, .uid_is_binary = v->uid_is_binary };

	return v->is_first ? id : find_first(g, &k, hash_of_uid(g, uid));
}

static void unlink_group(struct groups *g, uint32_t id)
{
	struct group *v = &g->v[id];
	uint32_t prev = first_of(g, id);

	if (prev != id) {
		while (g->v[prev].chain != id)
			prev = g->v[prev].chain;
		g->v[prev].chain = v->chain;
		return;
	}
	v->is_first = false;
	if (v->chain) {
		g->v[v->chain].is_first = true;
		hash_index_set(&g->index, hash_of(g, id), id, v->chain);
	} else {
		hash_index_remove(&g->index, hash_of(g, id), id, &owner_of_index, g);
	}
}

void groups_leave(struct groups *g, uint32_t id)
{
	struct group *group = &g->v[id];

	if (--group->pods > 0)
		return;
	unlink_group(g, id);
	arena_free(&g->arena, group->origin, origin_size(origin_of(g, id)));
	intern_unref(g->intern, group->api);
	intern_unref(g->intern, group->kind);
	if (group->is_many)
		free_many(g, group->counts.many);
	*group = (struct group){ .head = g->free_id };
	g->free_id = id;
	arena_give_back(&g->arena, &owner_of_arena, g);
}

void groups_owner(const struct groups *g, uint32_t id, struct owner_facts *ret, struct str *ret_revision,
		  char uid[static 37])
{
	const struct group *group = &g->v[id];
	const struct origin *l = origin_of(g, id);

	*ret = (struct owner_facts){
		.api_version = intern_str(g->intern, group->api),
		.kind = intern_str(g->intern, group->kind),
		.name = origin_name(l),
		.uid = origin_uid(l),
	};
	*ret_revision = origin_revision(l);
	if (group->uid_is_binary) {
		str_uuid_format((const uint8_t *)ret->uid.p, uid);
		ret->uid = (struct str){ uid, 36 };
	}
}

struct str groups_owner_name(const struct groups *g, uint32_t id)
{
	return origin_name(origin_of(g, id));
}

uint32_t *groups_head(struct groups *g, uint32_t id)
{
	return &g->v[id].head;
}

void groups_count(struct groups *g, uint32_t id, uint8_t before, uint8_t after)
{
	const unsigned works = MARK_WORKS((unsigned)duty_workload(DUTY_IMAGE_PULL));

	g->v[id].pulled |= (after & works) != 0;
	for (uint32_t changed = (before ^ after) & ((1u << MARK_BITS) - 1u); changed;
	     changed &= changed - 1) {
		const int b = __builtin_ctz(changed);

		count(g, &g->v[id], (size_t)b, after >> b & 1);
	}
}

void groups_tally(const struct groups *g, uint32_t id, struct group_tally *ret)
{
	const struct group *group = &g->v[id];

	*ret = (struct group_tally){ .live = count_of(g, group, 0), .pulled = group->pulled };
	for (size_t i = 0; i < WORKLOAD_DUTIES; i++) {
		ret->failing[i] = count_of(g, group, 2 + i);
		ret->works[i] = count_of(g, group, 2 + WORKLOAD_DUTIES + i);
	}
	for (size_t i = 0; i < ARRAY_SIZE(ret->proves); i++)
		ret->proves[i] = count_of(g, group, 2 + 2 * WORKLOAD_DUTIES + i);
	for (uint32_t o = groups_chain_first(g, id); o; o = g->v[o].chain) {
		ret->ready += count_of(g, &g->v[o], 1);
		for (size_t i = 0; i < WORKLOAD_DUTIES; i++)
			ret->failing_all += count_of(g, &g->v[o], 2 + i);
	}
}

uint32_t groups_chain_first(const struct groups *g, uint32_t id)
{
	return groups_has(g, id) ? first_of(g, id) : 0;
}

uint32_t groups_chain_next(const struct groups *g, uint32_t id)
{
	return g->v[id].chain;
}

bool groups_has(const struct groups *g, uint32_t id)
{
	return id && id < g->n && g->v[id].pods > 0;
}

size_t groups_bytes(const struct groups *g)
{
	return sizeof(*g) + arena_bytes(&g->arena) + hash_index_bytes(&g->index) + g->cap * sizeof(*g->v) +
	       g->room_many * sizeof(*g->many);
}
