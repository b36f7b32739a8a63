/* group.c - see group.h.
 * The index finds the first group of an owner uid; the others hang on it by `chain`. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/group.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "watcher/hash.h"
#include "watcher/slots.h"
#include "watcher/uuid.h"

enum { ID_UID, ID_API, ID_KIND, ID_NAME, ID_REVISION, ID__MAX };

struct group {
	uint32_t id[ID__MAX];
	uint32_t uid_is_text : 1; /* the uid string is text; else 16 bytes of a UUID */
	uint32_t pods : 31;       /* 0 = free, then head is the next free id */
	uint32_t head;
	uint32_t chain;
	uint32_t count[MARK_BITS];
};

struct groups {
	struct intern *intern;
	struct slots index;
	struct group *v;
	uint32_t n, cap, free_id;
};

struct groups *groups_new(struct intern *intern)
{
	struct groups *g = xcalloc(1, sizeof(*g));

	g->intern = intern;
	g->n = 1;
	return g;
}

void groups_free(struct groups **g)
{
	if (!*g)
		return;
	slots_done(&(*g)->index);
	free((*g)->v);
	free(*g);
	*g = NULL;
}

static uint32_t hash_of(const void *ctx, uint32_t id)
{
	const struct groups *g = ctx;

	return hash_u32(g->v[id].id[ID_UID]);
}

static uint32_t *first_slot(const struct groups *g, uint32_t uid, uint32_t *ret_i)
{
	uint32_t i = slots_first(&g->index, hash_u32(uid));

	while (slots_at(&g->index, i) && g->v[slots_at(&g->index, i)].id[ID_UID] != uid)
		i = slots_next(&g->index, i);
	*ret_i = i;
	return slots_at(&g->index, i) ? &g->index.v[i] : NULL;
}

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

/* UUIDs are held as 16 bytes. */
static uint32_t ref_uid(struct groups *g, struct str uid, bool *ret_is_text)
{
	uint8_t bin[16];

	*ret_is_text = !uuid_is_canonical(uid, bin);
	return intern_ref(g->intern, *ret_is_text ? uid : (struct str){ (const char *)bin, sizeof(bin) });
}

uint32_t groups_join(struct groups *g, const struct owner_facts *owner, struct str revision)
{
	bool is_text;
	uint32_t i, found = 0;
	struct group key = { 0 };

	key.id[ID_UID] = ref_uid(g, owner->uid, &is_text);
	key.id[ID_API] = intern_ref(g->intern, owner->api_version);
	key.id[ID_KIND] = intern_ref(g->intern, owner->kind);
	key.id[ID_NAME] = intern_ref(g->intern, owner->name);
	key.id[ID_REVISION] = intern_ref(g->intern, revision);
	key.uid_is_text = is_text;
	uint32_t *slot = first_slot(g, key.id[ID_UID], &i);

	for (uint32_t id = slot ? *slot : 0; id && !found; id = g->v[id].chain)
		if (memcmp(g->v[id].id, key.id, sizeof(key.id)) == 0)
			found = id;
	if (found) {
		for (int k = 0; k < ID__MAX; k++)
			intern_unref(g->intern, key.id[k]);
		g->v[found].pods++;
		return found;
	}
	key.pods = 1;
	found = take_id(g);
	g->v[found] = key;
	if (slot) {
		g->v[found].chain = g->v[*slot].chain;
		g->v[*slot].chain = found;
	} else {
		slots_add(&g->index, hash_u32(key.id[ID_UID]), found, hash_of, g);
	}
	return found;
}

static void unlink_group(struct groups *g, uint32_t id)
{
	uint32_t i, *slot = first_slot(g, g->v[id].id[ID_UID], &i), prev;

	if (*slot != id) {
		for (prev = *slot; g->v[prev].chain != id;)
			prev = g->v[prev].chain;
		g->v[prev].chain = g->v[id].chain;
	} else if (g->v[id].chain) {
		*slot = g->v[id].chain;
	} else {
		slots_remove(&g->index, i, hash_of, g);
	}
}

void groups_leave(struct groups *g, uint32_t id)
{
	struct group *group = &g->v[id];

	if (--group->pods > 0)
		return;
	unlink_group(g, id);
	for (int k = 0; k < ID__MAX; k++)
		intern_unref(g->intern, group->id[k]);
	*group = (struct group){ .head = g->free_id };
	g->free_id = id;
}

void groups_owner(const struct groups *g, uint32_t id, struct owner_facts *ret, struct str *ret_revision,
		  char uid[static 37])
{
	const struct group *group = &g->v[id];

	*ret = (struct owner_facts){
		.api_version = intern_str(g->intern, group->id[ID_API]),
		.kind = intern_str(g->intern, group->id[ID_KIND]),
		.name = intern_str(g->intern, group->id[ID_NAME]),
		.uid = intern_str(g->intern, group->id[ID_UID]),
	};
	*ret_revision = intern_str(g->intern, group->id[ID_REVISION]);
	if (!group->uid_is_text) {
		str_uuid_format((const uint8_t *)ret->uid.p, uid);
		ret->uid = (struct str){ uid, 36 };
	}
}

struct str groups_owner_name(const struct groups *g, uint32_t id)
{
	return intern_str(g->intern, g->v[id].id[ID_NAME]);
}

uint32_t *groups_head(struct groups *g, uint32_t id)
{
	return &g->v[id].head;
}

void groups_count(struct groups *g, uint32_t id, uint8_t before, uint8_t after)
{
	for (unsigned b = 0; b < MARK_BITS; b++)
		g->v[id].count[b] =
			g->v[id].count[b] + ((uint32_t)after >> b & 1u) - ((uint32_t)before >> b & 1u);
}

void groups_tally(const struct groups *g, uint32_t id, struct group_tally *ret)
{
	const struct group *group = &g->v[id];

	*ret = (struct group_tally){ .live = group->count[0],
				     .failing = group->count[1],
				     .pulled = group->count[3] };
	for (uint32_t o = groups_chain_first(g, id); o; o = g->v[o].chain) {
		ret->failing_all += g->v[o].count[1];
		ret->ready += g->v[o].count[2];
	}
}

uint32_t groups_chain_first(const struct groups *g, uint32_t id)
{
	uint32_t i, *slot = first_slot(g, g->v[id].id[ID_UID], &i);

	return slot ? *slot : 0;
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
	return sizeof(*g) + slots_bytes(&g->index) + g->cap * sizeof(*g->v);
}
