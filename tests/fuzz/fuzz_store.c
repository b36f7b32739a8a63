/* fuzz_store.c - what happens to the cache, written as bytes: pods come with any facts, change, go, and lists
 * sweep. Beside it a table of plain structs. Properties: the cache has the pods of the table and no other,
 * and gives out every fact that it keeps as it was; the number of those that a list sweeps away is right. */
// SPDX-License-Identifier: Apache-2.0
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "watcher/cache/store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NAMESPACES 3u
#define NAMES      12u
#define CONTAINERS 4u /* of a pod, mostly */

static void require(int ok)
{
	if (!ok)
		abort();
}

/* -- facts from bytes -- */

struct input {
	const uint8_t *p, *end;
};

static uint8_t take(struct input *in)
{
	return in->p < in->end ? *in->p++ : 0;
}

static int64_t take_number(struct input *in)
{
	static const uint8_t bytes[] = { 0, 1, 4, 8 };
	uint64_t v = 0;

	for (uint8_t n = bytes[take(in) % ARRAY_SIZE(bytes)]; n > 0; n--)
		v = v << 8 | take(in);
	return (int64_t)v;
}

/* A part of the input, which outlives the cache. */
static struct str take_text(struct input *in)
{
	size_t n = take(in) % 48;

	if (n > (size_t)(in->end - in->p))
		n = (size_t)(in->end - in->p);
	in->p += n;
	return (struct str){ (const char *)in->p - n, n };
}

#define TAKE_TEXT(in)                                   take_text(in)
#define TAKE_BOOL(in)                                   (take(in) & 1)
#define TAKE_INT32(in)                                  ((int32_t)take_number(in))
#define TAKE_TIME(in)                                   (take_number(in) / 1000 * 1000) /* the API server knows no parts of a second */
#define TAKE_SECONDS(in)                                (take(in) & 1 ? -1 : take_number(in))
#define TAKE(kind, member, packed, duties, doc)         f->member = TAKE_##kind(in);
#define SAME_TEXT(m)                                    str_eq(a->m, b->m)
#define SAME_BOOL(m)                                    (a->m == b->m)
#define SAME_INT32(m)                                   (a->m == b->m)
#define SAME_TIME(m)                                    (a->m == b->m)
#define SAME_SECONDS(m)                                 (a->m == b->m)
#define IS_KEPT_BIT                                     true
#define IS_KEPT_RARE                                    true
#define IS_KEPT_FIELD                                   true
#define IS_KEPT_AGAIN                                   (a->state != CONTAINER_RUNNING || a->restarts != 0)
#define IS_KEPT_OWN                                     true
#define IS_KEPT_PART                                    false
#define IS_KEPT_NO                                      false
#define REQUIRE_SAME(kind, member, packed, duties, doc) require(!IS_KEPT_##packed || SAME_##kind(member));

static void take_container(struct input *in, struct container_facts *f)
{
	*f = (struct container_facts){ 0 };
	CONTAINER_FACTS(TAKE)
	f->kind = (enum container_kind)(take(in) % 3);
	f->state = (enum container_state)(take(in) % 4);
}

static void same_container(const struct container_facts *a, const struct container_facts *b)
{
	CONTAINER_FACTS(REQUIRE_SAME)
	require(a->kind == b->kind && a->state == b->state);
}

static void take_pod(struct input *in, struct pod_facts *f)
{
	memset(f, 0, sizeof(*f));
	POD_FACTS(TAKE)
	f->owner = (struct owner_facts){ take_text(in), take_text(in), take_text(in), take_text(in) };
	f->n_finalizers = take(in) % 20;
	for (uint32_t i = 0; i < f->n_finalizers && i < POD_FINALIZERS_MAX; i++)
		f->finalizers[i] = take_text(in);
	f->n_containers = take(in);
	f->n_containers = f->n_containers > 250 ? POD_CONTAINERS_MAX : f->n_containers % CONTAINERS;
	for (uint32_t i = 0; i < f->n_containers; i++)
		take_container(in, &f->containers[i]);
}

static void same_pod(const struct pod_facts *a, const struct pod_facts *b)
{
	POD_FACTS(REQUIRE_SAME)
	require(str_eq(a->owner.uid, b->owner.uid));
	require(str_empty(a->owner.uid) ||
		(SAME_TEXT(owner.api_version) && SAME_TEXT(owner.kind) && SAME_TEXT(owner.name)));
	require(a->n_finalizers == b->n_finalizers && a->n_containers == b->n_containers);
	for (uint32_t i = 0; i < a->n_finalizers && i < POD_FINALIZERS_MAX; i++)
		require(SAME_TEXT(finalizers[i]));
	for (uint32_t i = 0; i < a->n_containers; i++)
		same_container(&a->containers[i], &b->containers[i]);
}

/* -- the cache and its model -- */

static struct model {
	struct store *store;
	struct pod_facts pods[NAMESPACES][NAMES];
	char names[NAMESPACES + NAMES][32];
	bool there[NAMESPACES][NAMES], listed[NAMESPACES][NAMES];
	bool list_runs;
	uint32_t list;
	size_t n;
} m;

static void on_removed(void *ctx, uint32_t h)
{
	(void)ctx;
	require(store_has(m.store, h));
}

static void on_tally(void *ctx, uint32_t group)
{
	(void)ctx;
	require(groups_has(store_groups(m.store), group));
}

static struct str ns_of(unsigned ns)
{
	return STR_C(m.names[ns]);
}

static struct str name_of(unsigned name)
{
	return STR_C(m.names[NAMESPACES + name]);
}

static void begin(void)
{
	memset(&m.there, 0, sizeof(m.there));
	m.list_runs = false;
	m.n = 0;
	for (unsigned i = 0; i < NAMESPACES; i++)
		(void)snprintf(m.names[i], sizeof(m.names[i]), "ns-%u", i);
	for (unsigned i = 0; i < NAMES; i++)
		(void)snprintf(m.names[NAMESPACES + i], sizeof(m.names[0]), "web-%u-7d9c8b5f6d-x%u", i / 3,
			       i);
	m.store = store_new(&(struct store_ops){ on_removed, on_tally }, NULL);
}

static void forget(unsigned ns, unsigned name)
{
	m.n -= m.there[ns][name];
	m.there[ns][name] = false;
}

static void put(struct input *in, unsigned ns, unsigned name)
{
	static struct pod_facts p;
	enum store_change change;
	uint32_t h = 0;

	take_pod(in, &p);
	p.ns = ns_of(ns);
	p.name = name_of(name);
	if (store_put(m.store, &p, 0, &h, &change) < 0) {
		require(str_empty(p.uid) || p.uid.n > 63);
		return;
	}
	require(!str_empty(p.uid) &&
		(change == STORE_ADDED) == !(m.there[ns][name] && str_eq(m.pods[ns][name].uid, p.uid)));
	m.n += !m.there[ns][name];
	m.there[ns][name] = m.listed[ns][name] = true;
	m.pods[ns][name] = p;
}

static void drop(unsigned ns, unsigned name)
{
	const uint32_t h = store_find(m.store, ns_of(ns), name_of(name));

	require(!h == !m.there[ns][name]);
	if (h)
		store_remove(m.store, h);
	forget(ns, name);
}

static void list(unsigned ns)
{
	size_t gone = 0;

	if (!m.list_runs) {
		m.list = store_list_begin(m.store);
		memset(&m.listed, 0, sizeof(m.listed));
		m.list_runs = true;
		return;
	}
	for (unsigned k = 0; k < NAMES; k++) {
		gone += m.there[ns][k] && !m.listed[ns][k];
		if (!m.listed[ns][k])
			forget(ns, k);
	}
	require(store_sweep(m.store, m.list, ns_of(ns)) == gone);
	m.list_runs = false;
}

static void check(unsigned ns, unsigned name)
{
	static struct pod_facts got;
	const uint32_t h = store_find(m.store, ns_of(ns), name_of(name));

	require(!h == !m.there[ns][name] && store_count(m.store) == m.n);
	if (!h)
		return;
	store_get(m.store, h, &got);
	same_pod(&m.pods[ns][name], &got);
}

static void check_all(void)
{
	for (unsigned i = 0; i < NAMESPACES * NAMES; i++)
		check(i % NAMESPACES, i / NAMESPACES);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, data + size };

	begin();
	while (in.p < in.end) {
		const uint8_t what = take(&in), where = take(&in);
		const unsigned ns = where % NAMESPACES, name = where / NAMESPACES % NAMES;

		if (what % 8 < 5)
			put(&in, ns, name);
		else if (what % 8 < 7)
			drop(ns, name);
		else
			list(ns);
		check(ns, name);
	}
	check_all();
	for (unsigned i = 0; i < NAMESPACES * NAMES; i++)
		drop(i % NAMESPACES, i / NAMESPACES);
	require(store_count(m.store) == 0 && !store_next(m.store, 0));
	store_free(&m.store);
	return 0;
}
