/* blocked.c - see blocked.h. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/guards/blocked.h"

#include <stdlib.h>

#include "base/xalloc.h"
#include "watcher/cache/deadline.h"
#include "watcher/cache/intern.h"

#define BATCH_MAX 256u

struct bin {
	uint64_t until; /* UINT64_MAX = until blocked_wake */
	uint32_t head, tail, n;
	uint32_t out, batch; /* let out and not yet judged; how many next time */
	enum guard guard;
};

/* Of a handle: its neighbours in its bin, or that it was let out of it. */
struct link {
	uint32_t prev, next;
	uint32_t bin : 31, out : 1; /* bin 0 = not blocked */
};

struct blocked {
	struct intern *keys; /* the id is the bin's */
	struct bin *bins;
	struct link *links;
	struct deadlines due; /* of bins */
	uint32_t cap_bins, cap_links, n;
	uint32_t count[GUARD__MAX];
};

struct blocked *blocked_new(void)
{
	struct blocked *t = xcalloc(1, sizeof(*t));

	t->keys = intern_new();
	return t;
}

void blocked_free(struct blocked **t)
{
	if (!*t)
		return;
	intern_free(&(*t)->keys);
	deadlines_done(&(*t)->due);
	free((*t)->bins);
	free((*t)->links);
	free(*t);
	*t = NULL;
}

static void arm(struct blocked *t, uint32_t id)
{
	const struct bin *b = &t->bins[id];

	if (b->n == 0 || b->out || b->until == UINT64_MAX)
		deadlines_cancel(&t->due, id);
	else
		deadlines_set(&t->due, id, b->until);
}

/* The bin is as it should be again: armed, or gone with its last pod. */
static void settle(struct blocked *t, uint32_t id)
{
	struct bin *b = &t->bins[id];

	if (b->n || b->out) {
		arm(t, id);
		return;
	}
	deadlines_cancel(&t->due, id);
	intern_unref(t->keys, id);
	*b = (struct bin){ 0 };
}

static void unlink_pod(struct blocked *t, uint32_t h)
{
	struct link *l = &t->links[h];
	struct bin *b = &t->bins[l->bin];

	if (l->prev)
		t->links[l->prev].next = l->next;
	else
		b->head = l->next;
	if (l->next)
		t->links[l->next].prev = l->prev;
	else
		b->tail = l->prev;
	l->prev = l->next = 0;
	b->n--;
}

static void link_pod(struct blocked *t, uint32_t id, uint32_t h, bool front)
{
	struct bin *b = &t->bins[id];
	struct link *l = &t->links[h];

	*l = (struct link){ .prev = front ? 0 : b->tail,
			    .next = front ? b->head : 0,
			    .bin = id & 0x7fffffffu };
	if (l->prev)
		t->links[l->prev].next = h;
	else
		b->head = h;
	if (l->next)
		t->links[l->next].prev = h;
	else
		b->tail = h;
	b->n++;
}

/* Out of whatever bin it is in, or was let out of. */
static void detach(struct blocked *t, uint32_t h)
{
	struct link *l = &t->links[h];
	struct bin *b = &t->bins[l->bin];

	if (l->out)
		b->out--;
	else
		unlink_pod(t, h);
	t->n--;
	t->count[b->guard]--;
	*l = (struct link){ 0 };
}

bool blocked_has_bin(const struct blocked *t, struct str key)
{
	return intern_find(t->keys, key) != 0;
}

static uint32_t bin_of(struct blocked *t, struct str key, enum guard g)
{
	const uint32_t id = intern_once(t->keys, key);

	t->bins = xgrow(t->bins, &t->cap_bins, id, sizeof(*t->bins));
	t->bins[id].guard = g;
	return id;
}

void blocked_put(struct blocked *t, uint32_t h, struct str key, const struct block *block)
{
	uint32_t id = bin_of(t, key, block->guard), old;
	bool was_out;

	t->links = xgrow(t->links, &t->cap_links, h, sizeof(*t->links));
	t->bins[id].until = block->until > 0 ? (uint64_t)block->until : UINT64_MAX;
	t->bins[id].batch = 1;
	old = t->links[h].bin;
	was_out = old == id && t->links[h].out;
	if (old != id || was_out) {
		if (old)
			detach(t, h);
		link_pod(t, id, h, was_out);
		t->n++;
		t->count[block->guard]++;
	}
	if (old && old != id)
		settle(t, old);
	settle(t, id);
}

void blocked_remove(struct blocked *t, uint32_t h)
{
	uint32_t id = h < t->cap_links ? t->links[h].bin : 0;

	if (!id)
		return;
	detach(t, h);
	settle(t, id);
}

void blocked_take(struct blocked *t, uint64_t now, void (*fn)(void *ctx, uint32_t h), void *ctx)
{
	uint32_t id;

	while (deadlines_pop(&t->due, now, &id)) {
		struct bin *b = &t->bins[id];

		for (uint32_t i = 0; i < b->batch && b->n; i++) {
			uint32_t h = b->head;

			unlink_pod(t, h);
			t->links[h].out = 1;
			b->out++;
			fn(ctx, h);
		}
		b->batch = b->batch < BATCH_MAX ? b->batch * 2 : BATCH_MAX;
	}
}

void blocked_wake(struct blocked *t, enum guard g, uint64_t now)
{
	for (uint32_t id = 1; id < t->cap_bins && t->count[g]; id++) {
		if ((!t->bins[id].n && !t->bins[id].out) || t->bins[id].guard != g)
			continue;
		t->bins[id].until = now;
		arm(t, id);
	}
}

uint64_t blocked_next(const struct blocked *t)
{
	return deadlines_next(&t->due);
}

uint32_t blocked_count(const struct blocked *t)
{
	return t->n;
}

uint32_t blocked_count_of(const struct blocked *t, enum guard g)
{
	return t->count[g];
}

uint32_t blocked_list(const struct blocked *t, uint32_t *ret, uint32_t max)
{
	uint32_t n = 0;

	for (uint32_t id = 1; id < t->cap_bins && n < max; id++)
		for (uint32_t h = t->bins[id].n ? t->bins[id].head : 0; h && n < max; h = t->links[h].next)
			ret[n++] = h;
	return n;
}

bool blocked_lists(const struct blocked *t, uint32_t h)
{
	return h < t->cap_links && t->links[h].bin && !t->links[h].out;
}

size_t blocked_bytes(const struct blocked *t)
{
	return t->cap_bins * sizeof(*t->bins) + t->cap_links * sizeof(*t->links) + deadlines_bytes(&t->due) +
	       intern_bytes(t->keys);
}
