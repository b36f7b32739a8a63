// SPDX-License-Identifier: Apache-2.0
#include "tests/apisim/store.h"
#include "tests/apisim/util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LEVELS = 20 };

struct node {
	struct obj *obj;
	struct node *next[];
};

/* A skip list: objects of one kind by key. */
struct list {
	struct node *head[LEVELS];
	size_t count;
};

struct store {
	struct list *lists;
	struct change *ring;
	size_t history;
	uint64_t rv, floor;
	uint64_t dice;
	store_change_fn on_change;
	void *arg;
};

struct store *store_new(size_t history, store_change_fn on_change, void *arg)
{
	struct store *s = util_alloc(sizeof(*s));

	s->lists = util_alloc(kinds_count * sizeof(*s->lists));
	s->history = history ? history : 1;
	s->ring = util_alloc(s->history * sizeof(*s->ring));
	s->on_change = on_change;
	s->arg = arg;
	s->rv = s->floor = 1;
	return s;
}

static void change_clear(struct change *e)
{
	object_unref(e->obj);
	object_unref(e->prev);
	*e = (struct change){ 0 };
}

void store_free(struct store *s)
{
	for (size_t i = 0; i < s->history; i++)
		change_clear(&s->ring[i]);
	for (size_t i = 0; i < kinds_count; i++) {
		struct node *n = s->lists[i].head[0], *next;

		for (; n; n = next) {
			next = n->next[0];
			object_unref(n->obj);
			free(n);
		}
	}
	free(s->lists);
	free(s->ring);
	free(s);
}

uint64_t store_rv(const struct store *s)
{
	return s->rv;
}

uint64_t store_floor(const struct store *s)
{
	return s->floor;
}

void store_start(struct store *s, uint64_t rv)
{
	s->rv = s->floor = rv;
}

size_t store_count(const struct store *s, const struct kind *kind)
{
	return s->lists[kinds_index(kind)].count;
}

/* The links that lead to the first node whose key is not below; before[] holds where to change them. */
static struct node *list_seek(struct list *l, const char *key, struct node ***before)
{
	struct node **at = l->head;

	for (int level = LEVELS - 1; level >= 0; level--) {
		while (at[level] && strcmp(at[level]->obj->key, key) < 0)
			at = at[level]->next;
		if (before)
			before[level] = at;
	}
	return at[0];
}

static int dice_level(struct store *s)
{
	uint64_t r = util_mix(s->dice++);
	int level = 1;

	while (level < LEVELS && (r & 3) == 0) {
		level++;
		r >>= 2;
	}
	return level;
}

/* Puts the object at its key, takes the reference; returns the one that was there, whose reference is the
 * caller's. */
static struct obj *list_put(struct store *s, struct obj *o)
{
	struct list *l = &s->lists[kinds_index(o->kind)];
	struct node **before[LEVELS], *n = list_seek(l, o->key, before);
	int level;

	if (n && !strcmp(n->obj->key, o->key)) {
		struct obj *old = n->obj;

		n->obj = o;
		return old;
	}
	level = dice_level(s);
	n = util_alloc(sizeof(*n) + (size_t)level * sizeof(n->next[0]));
	n->obj = o;
	for (int i = 0; i < level; i++) {
		n->next[i] = before[i][i];
		before[i][i] = n;
	}
	l->count++;
	return NULL;
}

/* Returns the object, whose reference is the caller's. */
static struct obj *list_remove(struct store *s, const struct obj *o)
{
	struct list *l = &s->lists[kinds_index(o->kind)];
	struct node **before[LEVELS], *n = list_seek(l, o->key, before);
	struct obj *old;

	if (!n || strcmp(n->obj->key, o->key) != 0)
		return NULL;
	old = n->obj;
	for (int i = 0; i < LEVELS && before[i][i] == n; i++)
		before[i][i] = n->next[i];
	free(n);
	l->count--;
	return old;
}

struct obj *store_get(const struct store *s, const struct kind *kind, const char *ns, const char *name)
{
	char *key = object_key(ns, name);
	struct node *n = list_seek(&s->lists[kinds_index(kind)], key, NULL);
	struct obj *o = n && !strcmp(n->obj->key, key) ? n->obj : NULL;

	free(key);
	return o;
}

const struct change *store_change(const struct store *s, uint64_t rv)
{
	const struct change *e = &s->ring[rv % s->history];

	return rv > s->floor && rv <= s->rv && e->obj && e->obj->rv == rv ? e : NULL;
}

/* Takes both references. */
static void record(struct store *s, enum change_type type, struct obj *o, struct obj *prev)
{
	struct change *e = &s->ring[o->rv % s->history];

	if (e->obj && e->obj->rv > s->floor)
		s->floor = e->obj->rv;
	change_clear(e);
	*e = (struct change){ .type = type, .obj = o, .prev = prev };
	s->rv = o->rv;
	if (s->on_change)
		s->on_change(s->arg, e);
}

static struct obj *put(struct store *s, struct obj *o)
{
	struct obj *old = list_put(s, object_ref(o));

	if (old)
		object_follows(o, old);
	record(s, old ? CHANGE_MODIFIED : CHANGE_ADDED, o, old);
	return o;
}

struct obj *store_put(struct store *s, const struct kind *kind, json_t *tree)
{
	return put(s, object_new(kind, tree, s->rv + 1));
}

struct obj *store_put_filled(struct store *s, struct obj *old, uint32_t round)
{
	return put(s, object_new_filled(old->kind, old->group, old->ns, old->name, old->index, round,
					s->rv + 1));
}

struct obj *store_delete(struct store *s, struct obj *old)
{
	struct obj *removed = list_remove(s, old), *last;

	if (old->group)
		last = object_new_filled(old->kind, old->group, old->ns, old->name, old->index, old->round,
					 s->rv + 1);
	else
		last = object_new(old->kind, object_tree(old), s->rv + 1);
	object_follows(last, removed);
	record(s, CHANGE_DELETED, last, removed);
	return last;
}

void store_load(struct store *s, struct obj *o)
{
	s->rv = s->floor = o->rv;
	object_unref(list_put(s, o));
}

void store_compact(struct store *s)
{
	for (size_t i = 0; i < s->history; i++)
		change_clear(&s->ring[i]);
	s->floor = s->rv;
}

/* What a key was at the snapshot's time, where that differs from now. */
struct past {
	const char *key;
	struct obj *obj; /* NULL: it was not there */
	uint64_t rv;     /* of the first change after the snapshot */
};

static int past_order(const void *a, const void *b)
{
	const struct past *x = a, *y = b;
	int c = strcmp(x->key, y->key);

	if (c)
		return c;
	return x->rv < y->rv ? -1 : x->rv > y->rv;
}

/* The changes of the kind after rv, one a key, the earliest; sorted. */
static size_t past_collect(const struct store *s, const struct kind *kind, uint64_t rv, struct past **ret)
{
	struct past *all = NULL;
	size_t n = 0, kept = 0;

	for (uint64_t r = rv + 1; r <= s->rv; r++) {
		const struct change *e = store_change(s, r);

		if (!e || e->obj->kind != kind)
			continue;
		if ((n & (n - 1)) == 0)
			all = util_realloc(all, (n ? n * 2 : 1) * sizeof(*all));
		all[n++] = (struct past){ .key = e->obj->key, .obj = e->prev, .rv = r };
	}
	if (n)
		qsort(all, n, sizeof(*all), past_order);
	for (size_t i = 0; i < n; i++)
		if (!kept || strcmp(all[kept - 1].key, all[i].key) != 0)
			all[kept++] = all[i];
	*ret = all;
	return kept;
}

struct taker {
	struct snapshot *snap;
	size_t room, limit;
	const char *ns;
	store_match_fn match;
	const void *arg;
};

static void take(struct taker *t, struct obj *o)
{
	struct snapshot *snap = t->snap;

	if (!o || (t->ns && strcmp(o->ns, t->ns) != 0) || (t->match && !t->match(t->arg, o)))
		return;
	if (t->limit && snap->count == t->limit) {
		snap->left++;
		return;
	}
	if (snap->count == t->room) {
		t->room = t->room ? t->room * 2 : 64;
		snap->items = util_realloc(snap->items, t->room * sizeof(struct obj *));
	}
	snap->items[snap->count++] = object_ref(o);
}

static bool beyond(const char *key, const char *prefix)
{
	return prefix && strncmp(key, prefix, strlen(prefix)) > 0;
}

int store_snapshot(const struct store *s, const struct kind *kind, const char *ns, uint64_t rv,
		   const char *after, size_t limit, store_match_fn match, const void *arg,
		   struct snapshot *ret)
{
	struct taker t = { .snap = ret, .limit = limit, .ns = ns, .match = match, .arg = arg };
	char *prefix = ns ? util_format("%s/", ns) : NULL;
	const char *start = after ? after : prefix ? prefix : "";
	struct past *past = NULL;
	size_t changed = 0, i = 0;
	struct node *n;

	*ret = (struct snapshot){ .rv = rv ? rv : s->rv };
	if (rv && rv < s->floor) {
		free(prefix);
		return -ESTALE;
	}
	if (rv && rv < s->rv)
		changed = past_collect(s, kind, rv, &past);
	n = list_seek(&s->lists[kinds_index(kind)], start, NULL);
	while (i < changed && strcmp(past[i].key, start) < 0)
		i++;
	while ((n && !beyond(n->obj->key, prefix)) || i < changed) {
		int c = !n ? 1 : i == changed ? -1 : strcmp(n->obj->key, past[i].key);
		struct obj *o = c < 0 ? n->obj : past[i].obj;
		const char *key = c < 0 ? n->obj->key : past[i].key;

		if (!after || strcmp(key, after) > 0)
			take(&t, o);
		i += c >= 0;
		if (c <= 0)
			n = n->next[0];
	}
	if (ret->left)
		ret->last_key = ret->items[ret->count - 1]->key;
	free(past);
	free(prefix);
	return 0;
}

void store_snapshot_done(struct snapshot *snap)
{
	for (size_t i = 0; i < snap->count; i++)
		object_unref(snap->items[i]);
	free(snap->items);
	*snap = (struct snapshot){ 0 };
}
