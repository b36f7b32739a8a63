/* deadline.c - see deadline.h.  A 4-ary heap: children of i are 4i + 1 to 4i + 4. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/cache/deadline.h"

#include <stdlib.h>

#include "base/xalloc.h"

#define ARITY 4u

static void put(struct deadlines *d, uint32_t i, uint64_t at, uint32_t key)
{
	d->at[i] = at;
	d->key[i] = key;
	d->index[key] = i + 1;
}

/* Put (at, key) where index i is a hole. */
static void sift(struct deadlines *d, uint32_t i, uint64_t at, uint32_t key)
{
	while (i > 0 && at < d->at[(i - 1) / ARITY]) {
		uint32_t up = (i - 1) / ARITY;

		put(d, i, d->at[up], d->key[up]);
		i = up;
	}
	for (;;) {
		uint32_t first = i * ARITY + 1, best = first;

		for (uint32_t c = first + 1; c < first + ARITY && c < d->n; c++)
			if (d->at[c] < d->at[best])
				best = c;
		if (first >= d->n || d->at[best] >= at)
			break;
		put(d, i, d->at[best], d->key[best]);
		i = best;
	}
	put(d, i, at, key);
}

static void make_room(struct deadlines *d, uint32_t key)
{
	d->index = xgrow(d->index, &d->cap_index, key, sizeof(*d->index));
	if (d->n == d->cap) {
		d->cap = d->cap + d->cap / 2 + 64;
		d->at = xreallocarray(d->at, d->cap, sizeof(*d->at));
		d->key = xreallocarray(d->key, d->cap, sizeof(*d->key));
	}
}

void deadlines_set(struct deadlines *d, uint32_t key, uint64_t at)
{
	if (key < d->cap_index && d->index[key]) {
		sift(d, d->index[key] - 1, at, key);
		return;
	}
	make_room(d, key);
	d->n++;
	sift(d, d->n - 1, at, key);
}

void deadlines_set_earlier(struct deadlines *d, uint32_t key, uint64_t at)
{
	uint64_t old;

	if (!deadlines_armed(d, key, &old) || at < old)
		deadlines_set(d, key, at);
}

void deadlines_cancel(struct deadlines *d, uint32_t key)
{
	if (key >= d->cap_index || !d->index[key])
		return;
	uint32_t hole = d->index[key] - 1, last = --d->n;

	d->index[key] = 0;
	if (hole != last)
		sift(d, hole, d->at[last], d->key[last]);
}

bool deadlines_armed(const struct deadlines *d, uint32_t key, uint64_t *ret_at)
{
	if (key >= d->cap_index || !d->index[key])
		return false;
	*ret_at = d->at[d->index[key] - 1];
	return true;
}

uint64_t deadlines_next(const struct deadlines *d)
{
	return d->n ? d->at[0] : UINT64_MAX;
}

bool deadlines_pop(struct deadlines *d, uint64_t now, uint32_t *ret_key)
{
	if (d->n == 0 || d->at[0] > now)
		return false;
	*ret_key = d->key[0];
	deadlines_cancel(d, *ret_key);
	return true;
}

size_t deadlines_bytes(const struct deadlines *d)
{
	return d->cap * (sizeof(*d->at) + sizeof(*d->key)) + d->cap_index * sizeof(*d->index);
}

void deadlines_done(struct deadlines *d)
{
	free(d->at);
	free(d->key);
	free(d->index);
	*d = (struct deadlines){ 0 };
}
