/* pod_counts.c - see pod_counts.h. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/controller/pod_counts.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "watcher/cache/intern.h"
#include "watcher/cache/pack.h"

struct pod_counts {
	struct intern *namespaces, *nodes; /* each name is held once for each of its pods */
	uint32_t workloads;
	uint64_t at;
	bool taken;
	struct pod_facts facts; /* large: not on the stack */
	struct pack_text text;
};

struct pod_counts *pod_counts_new(void)
{
	struct pod_counts *c = xcalloc(1, sizeof(*c));

	c->namespaces = intern_new();
	c->nodes = intern_new();
	return c;
}

void pod_counts_free(struct pod_counts **c)
{
	if (!*c)
		return;
	intern_free(&(*c)->namespaces);
	intern_free(&(*c)->nodes);
	free(TAKE_PTR(*c));
}

static void forget(struct intern **names)
{
	intern_free(names);
	*names = intern_new();
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
	forget(&c->namespaces);
	forget(&c->nodes);
	c->workloads = 0;
	for (uint32_t h = 0; (h = store_next(s, h));) {
		store_read(s, h, &c->text, &c->facts);
		(void)intern_ref(c->namespaces, c->facts.ns);
		(void)intern_ref(c->nodes, c->facts.node);
		c->workloads += stands_for_workload(s, h);
	}
	c->at = now;
	c->taken = true;
}

uint32_t pod_counts_namespace(const struct pod_counts *c, struct str ns)
{
	return intern_count(c->namespaces, ns);
}

uint32_t pod_counts_node(const struct pod_counts *c, struct str node)
{
	return intern_count(c->nodes, node);
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
