/* pod_counts.c - see pod_counts.h. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/controller/pod_counts.h"

#include <stdlib.h>

#include "base/xalloc.h"
#include "watcher/cache/intern.h"
#include "watcher/cache/pack.h"

struct counts {
	struct intern *names;
	uint32_t *v;
	uint32_t cap;
};

struct pod_counts {
	struct counts namespaces, nodes;
	uint32_t workloads;
	uint64_t at;
	bool taken;
	struct pod_facts facts; /* large: not on the stack */
	struct pack_text text;
};

struct pod_counts *pod_counts_new(void)
{
	struct pod_counts *c = xcalloc(1, sizeof(*c));

	c->namespaces.names = intern_new();
	c->nodes.names = intern_new();
	return c;
}

static void counts_done(struct counts *c)
{
	intern_free(&c->names);
	free(c->v);
}

static void counts_reset(struct counts *c)
{
	counts_done(c);
	*c = (struct counts){ .names = intern_new() };
}

void pod_counts_free(struct pod_counts **c)
{
	if (!*c)
		return;
	counts_done(&(*c)->namespaces);
	counts_done(&(*c)->nodes);
	free(*c);
	*c = NULL;
}

static void one_more(struct counts *c, struct str name)
{
	const uint32_t id = intern_ref(c->names, name);

	c->v = xgrow(c->v, &c->cap, id, sizeof(*c->v));
	c->v[id]++;
}

static uint32_t of(const struct counts *c, struct str name)
{
	uint32_t id = intern_find(c->names, name);

	return id ? c->v[id] : 0;
}

/* Is h the first pod of the first group of its owner? So each workload is counted once. */
static bool stands_for_workload(const struct store *s, uint32_t h)
{
	uint32_t group = store_group(s, h);

	return !group ||
	       (groups_chain_first(store_groups(s), group) == group && store_group_first(s, group) == h);
}

void pod_counts_take(struct pod_counts *c, const struct store *s, uint64_t now)
{
	if (c->taken && now < c->at + POD_COUNTS_MS)
		return;
	counts_reset(&c->namespaces);
	counts_reset(&c->nodes);
	c->workloads = 0;
	for (uint32_t h = 0; (h = store_next(s, h));) {
		store_read(s, h, &c->text, &c->facts);
		one_more(&c->namespaces, c->facts.ns);
		if (c->facts.node.n)
			one_more(&c->nodes, c->facts.node);
		c->workloads += stands_for_workload(s, h);
	}
	c->at = now;
	c->taken = true;
}

uint32_t pod_counts_namespace(const struct pod_counts *c, struct str ns)
{
	return of(&c->namespaces, ns);
}

uint32_t pod_counts_node(const struct pod_counts *c, struct str node)
{
	return of(&c->nodes, node);
}

uint32_t pod_counts_workloads(const struct pod_counts *c)
{
	return c->workloads;
}

bool pod_counts_many_nodes(struct pod_counts *c, const struct store *s)
{
	struct str first = { 0 };

	for (uint32_t h = 0; (h = store_next(s, h));) {
		store_read(s, h, &c->text, &c->facts);
		if (str_empty(c->facts.node))
			continue;
		if (first.n && !str_eq(c->facts.node, first))
			return true;
		first = c->facts.node;
	}
	return false;
}
