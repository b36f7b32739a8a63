/* store.c - see store.h.
 * handle -> locations[handle] -> record in the arena; records move, handles do not. The index reads locations
 * only.
 */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/cache/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "rules/select.h"
#include "watcher/cache/arena.h"
#include "watcher/cache/hash.h"
#include "watcher/cache/pack.h"
#include "watcher/cache/hash_index.h"

#define FREE_BIT  0x80000000u
#define MARKS_ALL ((1u << MARK_BITS) - 1u)
#define LIST_BITS (32 - MARK_BITS)
#define LIST_MAX  ((1u << LIST_BITS) - 1u) /* one a second for half a year */

struct record {
	struct pack_head head;
	uint32_t next, prev;       /* in the group's list */
	uint32_t list : LIST_BITS; /* number of the newest list when it was put last */
	uint32_t mark : MARK_BITS;
	uint16_t len;
	uint8_t bytes[];
} __attribute__((packed, aligned(4)));

struct location {
	uint32_t pos;  /* of the record, or FREE_BIT | next free handle */
	uint32_t hash; /* of namespace and name */
};

struct store {
	struct store_ops ops;
	void *ctx;
	const struct policy *policy;
	const struct namespace_table *namespaces;
	struct intern *intern;
	struct groups *groups;
	struct arena arena;
	struct hash_index index;
	struct hash_seed seed;
	struct location *locations;
	uint32_t n, cap, free_handle;
	uint32_t list;
	struct pack_text text;
	uint8_t scratch[PACK_MAX];
};

struct store *store_new(const struct store_ops *ops, void *ctx)
{
	struct store *s = xcalloc(1, sizeof(*s));

	s->ops = *ops;
	s->ctx = ctx;
	s->intern = intern_new();
	s->groups = groups_new(s->intern);
	s->seed = hash_seed_new();
	s->n = 1;
	return s;
}

void store_free(struct store **s)
{
	if (!*s)
		return;
	groups_free(&(*s)->groups);
	intern_free(&(*s)->intern);
	arena_done(&(*s)->arena);
	hash_index_done(&(*s)->index);
	free((*s)->locations);
	free(*s);
	*s = NULL;
}

static struct record *record_at(const struct store *s, uint32_t h)
{
	return arena_at(&s->arena, s->locations[h].pos);
}

static size_t record_size(size_t len)
{
	return offsetof(struct record, bytes) + len;
}

/* -- index -- */

/* The namespace by its id: it is in use as long as a pod of it is here. */
static uint32_t hash_key(const struct store *s, uint32_t ns, struct str name)
{
	const struct hash_seed seed = { s->seed.k0 ^ ns, s->seed.k1 };

	return (uint32_t)hash_bytes(&seed, name.p, name.n);
}

static uint64_t hash_of(const void *ctx, uint32_t h)
{
	const struct store *s = ctx;

	return hash_spread(s->locations[h].hash);
}

static uint32_t next_of(const void *ctx, uint32_t h)
{
	return store_next(ctx, h);
}

static uint32_t *block_of(void *ctx, uint32_t h, size_t *ret_size)
{
	struct store *s = ctx;

	*ret_size = record_size(record_at(s, h)->len);
	return &s->locations[h].pos;
}

static const struct hash_index_owner hash_index_owner = { hash_of, next_of };
static const struct arena_owner arena_owner = { next_of, block_of };

/* 0 = unknown. */
static uint32_t find_at(const struct store *s, uint32_t ns, struct str name, uint32_t hash)
{
	const uint64_t wide = hash_spread(hash);

	for (uint32_t i = hash_index_first(&s->index, wide); hash_index_at(&s->index, i);
	     i = hash_index_next(&s->index, i))
		if (hash_index_may_be(&s->index, i, wide)) {
			const uint32_t h = hash_index_id(&s->index, i);

			if (s->locations[h].hash == hash &&
			    pack_is(s->groups, record_at(s, h)->bytes, ns, name))
				return h;
		}
	return 0;
}

/* find_at() of this hash comes soon. */
static void expect(const struct store *s, uint32_t hash)
{
	const uint32_t h = hash_index_likely(&s->index, hash_spread(hash));
	const char *r = h ? (const char *)record_at(s, h) : NULL;

	if (r) {
		__builtin_prefetch(r);
		__builtin_prefetch(r + 64);
	}
}

uint32_t store_find(const struct store *s, struct str ns, struct str name)
{
	const uint32_t id = intern_find(s->intern, ns);

	return id ? find_at(s, id, name, hash_key(s, id, name)) : 0;
}

/* -- groups -- */

static uint32_t group_of(const struct record *r)
{
	struct pack_key k;

	pack_key(NULL, r->bytes, &k);
	return k.group;
}

static void count_group(struct store *s, uint32_t group, uint8_t before, uint8_t after)
{
	if (!group || before == after)
		return;
	groups_count(s->groups, group, before, after);
	s->ops.on_tally(s->ctx, group);
}

/* group may be 0. */
static void link_group(struct store *s, uint32_t h, uint32_t group)
{
	struct record *r = record_at(s, h);

	if (!group)
		return;
	uint32_t *head = groups_head(s->groups, group);

	r->prev = 0;
	r->next = *head;
	if (*head)
		record_at(s, *head)->prev = h;
	*head = h;
	count_group(s, group, 0, r->mark);
}

static void unlink_group(struct store *s, uint32_t h, uint32_t group)
{
	const struct record *r = record_at(s, h);

	if (!group)
		return;
	if (r->prev)
		record_at(s, r->prev)->next = r->next;
	else
		*groups_head(s->groups, group) = r->next;
	if (r->next)
		record_at(s, r->next)->prev = r->prev;
	count_group(s, group, r->mark, 0);
}

/* -- put -- */

static uint32_t take_handle(struct store *s)
{
	uint32_t h = s->free_handle;

	if (h) {
		s->free_handle = s->locations[h].pos & ~FREE_BIT;
		return h;
	}
	if (s->n >= s->cap) {
		s->cap = s->cap ? s->cap + s->cap / 2 : 1024;
		s->locations = xreallocarray(s->locations, s->cap, sizeof(*s->locations));
		s->locations[0].pos = FREE_BIT;
	}
	if (s->n > HASH_INDEX_ID_MAX)
		abort(); /* a hundred times what any cluster holds */
	return s->n++;
}

static void fill(struct store *s, struct record *r, const struct pack_head *head, size_t len, uint8_t mark)
{
	r->head = *head;
	r->len = (uint16_t)len;
	r->mark = mark & MARKS_ALL;
	r->list = s->list & LIST_MAX;
	memcpy(r->bytes, s->scratch, len);
}

static uint32_t add(struct store *s, const struct pack_head *head, size_t len, uint32_t group, uint8_t mark,
		    uint32_t hash)
{
	uint32_t h = take_handle(s);

	s->locations[h] = (struct location){ arena_alloc(&s->arena, record_size(len)), hash };
	fill(s, record_at(s, h), head, len, mark);
	hash_index_add(&s->index, hash_spread(hash), h, &hash_index_owner, s);
	link_group(s, h, group);
	return h;
}

/* Room for a record of that many bytes under the same handle; what is outside of pack's bytes stays. */
static void make_room(struct store *s, uint32_t h, size_t len)
{
	const uint32_t pos = s->locations[h].pos;
	struct record *r = record_at(s, h);
	const size_t old_size = record_size(r->len), size = record_size(len);

	if (arena_same_class(old_size, size))
		return;
	s->locations[h].pos = arena_alloc(&s->arena, size);
	memcpy(record_at(s, h), r, offsetof(struct record, bytes));
	arena_free(&s->arena, pos, old_size);
}

/* Put new bytes in the place of h's; the references of the old ones are given back. The list of the group
 * names handles: in the same group, no neighbour is touched. */
static void replace(struct store *s, uint32_t h, const struct pack_head *head, size_t len, uint32_t group,
		    uint8_t mark)
{
	struct record *r = record_at(s, h);
	const uint32_t old_group = group_of(r);
	const uint8_t old_mark = r->mark;

	if (old_group != group)
		unlink_group(s, h, old_group);
	pack_release(s->intern, &r->head, r->bytes);
	make_room(s, h, len);
	fill(s, record_at(s, h), head, len, mark);
	if (old_group != group)
		link_group(s, h, group);
	else
		count_group(s, group, old_mark, mark);
	if (old_group)
		groups_leave(s->groups, old_group);
}

static bool fits(struct str s, size_t max)
{
	return s.n > 0 && s.n <= max;
}

/* h is known and the same pod: the new bytes are in the scratch and their references are held. */
static enum store_change update(struct store *s, uint32_t h, const struct pack_head *head, size_t len,
				uint32_t group, uint8_t mark)
{
	struct record *r = record_at(s, h);
	bool touched = r->head.rv != head->rv;

	if (r->len != len || memcmp(r->bytes, s->scratch, len) != 0 || memcmp(r->head.uid, head->uid, 16)) {
		replace(s, h, head, len, group, mark);
		return STORE_CHANGED;
	}
	pack_release(s->intern, &r->head, r->bytes);
	if (group)
		groups_leave(s->groups, group);
	r->head = *head;
	r->list = s->list & LIST_MAX;
	if (r->mark == mark)
		return touched ? STORE_TOUCHED : STORE_SAME;
	store_set_mark(s, h, mark);
	return STORE_CHANGED;
}

void store_set_policy(struct store *s, const struct policy *policy)
{
	s->policy = policy;
}

void store_set_namespaces(struct store *s, const struct namespace_table *namespaces)
{
	s->namespaces = namespaces;
}

int store_put(struct store *s, const struct pod_facts *p, uint8_t mark, uint32_t *ret_handle,
	      enum store_change *ret_change)
{
	struct pack_head head;

	if (!fits(p->ns, 63) || !fits(p->name, 253) || !fits(p->uid, 128))
		return -EINVAL;
	intern_expect(s->intern, p->node);
	struct pack_origin from = { .ns = intern_ref(s->intern, p->ns) };
	const uint32_t hash = hash_key(s, from.ns, p->name);

	hash_index_expect(&s->index, hash_spread(hash)); /* memory is fetched while the pod is packed */
	from.group = p->owner.uid.n ? groups_join(s->groups, &p->owner, p->revision) : 0;
	expect(s, hash);
	from.labels_mask = s->policy ? select_labels(s->policy, p) : p->labels_mask;
	const size_t len = pack_encode(s->intern, s->groups, p, &from, &head, s->scratch);
	uint32_t h = find_at(s, from.ns, p->name, hash);

	if (h && !pack_same_uid(s->intern, s->groups, &record_at(s, h)->head, record_at(s, h)->bytes, &head,
				p->uid)) {
		store_remove(s, h);
		h = 0;
	}
	if (h) {
		*ret_change = update(s, h, &head, len, from.group, mark);
	} else {
		h = add(s, &head, len, from.group, mark, hash);
		*ret_change = STORE_ADDED;
	}
	*ret_handle = h;
	return 0;
}

void store_remove(struct store *s, uint32_t h)
{
	struct record *r = record_at(s, h);
	uint32_t group = group_of(r), pos = s->locations[h].pos;

	s->ops.on_removed(s->ctx, h);
	unlink_group(s, h, group);
	s->locations[h].pos = FREE_BIT | s->free_handle;
	s->free_handle = h;
	hash_index_remove(&s->index, hash_of(s, h), h, &hash_index_owner, s);
	pack_release(s->intern, &r->head, r->bytes);
	arena_free(&s->arena, pos, record_size(r->len));
	if (group)
		groups_leave(s->groups, group);
	arena_give_back(&s->arena, &arena_owner, s);
}

/* -- reading -- */

void store_read(const struct store *s, uint32_t h, struct pack_text *text, struct pod_facts *ret)
{
	const struct record *r = record_at(s, h);

	pack_decode(s->intern, s->groups, &r->head, r->bytes, text, ret);
	ret->namespace_labels = s->namespaces ? namespace_table_find(s->namespaces, ret->ns) : NULL;
}

void store_get(struct store *s, uint32_t h, struct pod_facts *ret)
{
	store_read(s, h, &s->text, ret);
}

bool store_has(const struct store *s, uint32_t h)
{
	return h && h < s->n && !(s->locations[h].pos & FREE_BIT);
}

uint32_t store_next(const struct store *s, uint32_t h)
{
	for (h++; h < s->n; h++)
		if (!(s->locations[h].pos & FREE_BIT))
			return h;
	return 0;
}

uint8_t store_mark(const struct store *s, uint32_t h)
{
	return record_at(s, h)->mark;
}

void store_set_mark(struct store *s, uint32_t h, uint8_t mark)
{
	struct record *r = record_at(s, h);
	uint8_t before = r->mark;

	r->mark = mark & MARKS_ALL;
	count_group(s, group_of(r), before, mark);
}

struct str store_namespace(const struct store *s, uint32_t h)
{
	struct pack_key k;

	pack_key(NULL, record_at(s, h)->bytes, &k);
	return intern_str(s->intern, k.ns);
}

uint32_t store_group(const struct store *s, uint32_t h)
{
	return group_of(record_at(s, h));
}

const struct groups *store_groups(const struct store *s)
{
	return s->groups;
}

uint32_t store_group_first(const struct store *s, uint32_t group)
{
	return *groups_head(s->groups, group);
}

uint32_t store_group_next(const struct store *s, uint32_t h)
{
	return record_at(s, h)->next;
}

/* -- lists -- */

uint32_t store_list_begin(struct store *s)
{
	if (++s->list > LIST_MAX)
		abort();
	return s->list;
}

size_t store_sweep(struct store *s, uint32_t list, struct str ns)
{
	uint32_t ns_id = intern_find(s->intern, ns);
	size_t removed = 0;

	for (uint32_t h = 0; (h = store_next(s, h));) {
		struct pack_key k;
		const struct record *r = record_at(s, h);

		pack_key(NULL, r->bytes, &k);
		if (r->list >= list || (ns.n && k.ns != ns_id))
			continue;
		store_remove(s, h);
		removed++;
	}
	return removed;
}

size_t store_count(const struct store *s)
{
	return s->index.used;
}

struct store_sizes store_sizes(const struct store *s)
{
	return (struct store_sizes){ .pods = sizeof(*s) + arena_bytes(&s->arena),
				     .handles = s->cap * sizeof(*s->locations),
				     .index = hash_index_bytes(&s->index),
				     .texts = intern_bytes(s->intern),
				     .groups = groups_bytes(s->groups) };
}
