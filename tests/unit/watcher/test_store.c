/* test_store.c - the cache against a dictionary that keeps plain structs, and its size. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "random.h"
#include "tests/same_facts.h"
#include "tests/suite.h"
#include "watcher/cache/store.h"

/* -- random pods -- */

static const char *const namespaces[] = { "default", "kube-system", "shop", "team-a", "x" };
#define NS_N   ARRAY_SIZE(namespaces)
#define NAME_N 60

/* Strings that outlive every pod of a test. */
static struct str keep(const char *text)
{
	static char texts[4096][64];
	static uint32_t used;

	for (uint32_t i = 0; i < used; i++)
		if (strcmp(text, texts[i]) == 0)
			return STR_C(texts[i]);
	ck_assert_uint_lt(used, ARRAY_SIZE(texts));
	(void)snprintf(texts[used], sizeof(texts[0]), "%s", text);
	used++;
	return STR_C(texts[used - 1]);
}
#define POOL(...)                                                                                            \
	({                                                                                                   \
		char text_[64];                                                                              \
		(void)snprintf(text_, sizeof(text_), __VA_ARGS__);                                           \
		keep(text_);                                                                                 \
	})

static struct str pick(const char *const *v, size_t n)
{
	const char *chosen = v[random_below((uint32_t)n)];

	return STR_C(chosen);
}
#define PICK(...) pick((const char *const[]){ __VA_ARGS__ }, sizeof((const char *const[]){ __VA_ARGS__ }) / 8)

static int64_t some_time(int64_t after)
{
	static const int64_t spread[] = { 0, 1, 2, 60, 3600, 86400 * 30, 86400LL * 36500 };

	return after + spread[random_below(ARRAY_SIZE(spread))] * 1000 - (random_below(20) == 0 ? 5000 : 0);
}

static int64_t maybe_time(int64_t after)
{
	return random_below(2) ? some_time(after) : 0;
}

/* A fact of each kind; texts by the name of the fact. */
static struct str random_text(const char *member)
{
	static const struct {
		const char *member, *values[8];
	} pools[] = {
		{ "revision", { "", "7d9c8b5f6d", "6c5b4a3928" } },
		{ "phase", { "", "Pending", "Running", "Succeeded", "Failed", "Unknown", "Invented" } },
		{ "priority_class", { "", "", "system-node-critical" } },
		{ "name", { "app", "istio-proxy", "init-db", "vault-agent" } },
		{ NULL, { "", "", "Evicted", "NodeLost", "ErrImagePull" } },
	};
	size_t i = 0, n = 0;

	while (pools[i].member && strcmp(pools[i].member, member) != 0)
		i++;
	while (n < ARRAY_SIZE(pools[i].values) && pools[i].values[n])
		n++;
	return pick(pools[i].values, n);
}

static int64_t random_seconds(void)
{
	static const int64_t graces[] = { 0, 30, 3600, INT64_MAX, INT64_MIN };

	return random_below(4) ? -1 : graces[random_below(ARRAY_SIZE(graces))];
}

#define RANDOM_TEXT(member)                       random_text(#member)
#define RANDOM_BOOL(member)                       (random_below(3) == 0)
#define RANDOM_INT32(member)                      (random_below(3) ? 0 : (int32_t)random_next())
#define RANDOM_TIME(member)                       maybe_time(created)
#define RANDOM_SECONDS(member)                    random_seconds()
#define RANDOM(kind, member, packed, duties, doc) p->member = RANDOM_##kind(member);

static void random_container(struct container_facts *p, int64_t created)
{
	memset(p, 0, sizeof(*p));
	CONTAINER_FACTS(RANDOM)
	p->kind = (enum container_kind)random_below(3);
	p->state = (enum container_state)random_below(4);
}

static struct str random_uid(void)
{
	static const char *const odd[] = { "not-a-uuid", "x", "B0A5E6F0-1111-2222-3333-444455556666" };
	const uint32_t n = random_below(40);

	if (n < ARRAY_SIZE(odd))
		return STR_C(odd[n]);
	return POOL("0a%06x-1111-4222-8333-444455556607", n % 4);
}

static struct str random_rv(void)
{
	static const char *const odd[] = {
		"", "0", "007", "abc", "18446744073709551615", "18446744073709551616"
	};
	const uint32_t n = random_below(40);

	return n < ARRAY_SIZE(odd) ? STR_C(odd[n]) : POOL("%u", 1000 + n * (1 + random_below(20)));
}

static void random_pod(struct pod_facts *p, uint32_t ns, uint32_t name)
{
	const int64_t created = random_below(30) ? some_time(1700000000000) : 0;

	memset(p, 0, sizeof(*p));
	POD_FACTS(RANDOM)
	p->created = created;
	p->ns = STR_C(namespaces[ns]);
	p->name = POOL("app-%u-7d9c8b5f6d-x%02u", name % 6, name);
	p->uid = random_uid();
	p->rv = random_rv();
	if (random_below(5)) {
		p->owner.api_version = PICK("apps/v1", "batch/v1");
		p->owner.kind = PICK("ReplicaSet", "StatefulSet");
		p->owner.name = random_below(3) ? POOL("app-%u-7d9c8b5f6d", name % 6) : STR_LIT("other");
		p->owner.uid = random_below(10) ? POOL("0b%06x-1111-4222-8333-444455556666", name % 6)
						: STR_LIT("odd owner");
	}
	p->n_finalizers = random_below(4) ? 0 : random_below(20);
	for (uint32_t i = 0; i < p->n_finalizers && i < POD_FINALIZERS_MAX; i++)
		p->finalizers[i] = PICK("example.com/hold", "batch.kubernetes.io/job-tracking");
	p->n_containers = random_below(50) ? random_below(4) : POD_CONTAINERS_MAX;
	for (uint32_t i = 0; i < p->n_containers; i++)
		random_container(&p->containers[i], p->created);
}

/* -- the model -- */

struct model {
	struct pod_facts *pod[NS_N][NAME_N];
	uint8_t mark[NS_N][NAME_N];
	bool named[NS_N][NAME_N]; /* in the list that runs */
	size_t count;
	/* what on_removed said */
	uint32_t removed;
	char removed_uid[64];
	uint64_t tallies;
	struct store *store;
};

static void on_removed(void *ctx, uint32_t h)
{
	struct model *m = ctx;
	static struct pod_facts p;

	store_get(m->store, h, &p);
	m->removed++;
	(void)snprintf(m->removed_uid, sizeof(m->removed_uid), "%.*s", STR_ARG(p.uid));
}

static void on_tally(void *ctx, uint32_t group)
{
	struct model *m = ctx;

	ck_assert(groups_has(store_groups(m->store), group));
	m->tallies++;
}

static const struct store_ops ops = { on_removed, on_tally };

static void model_forget(struct model *m, uint32_t ns, uint32_t name)
{
	free(m->pod[ns][name]);
	m->pod[ns][name] = NULL;
	m->count--;
}

static void model_put(struct model *m, uint32_t ns, uint32_t name)
{
	static struct pod_facts p;
	struct pod_facts *old = m->pod[ns][name];
	uint8_t mark = (uint8_t)random_below(1u << MARK_BITS);
	enum store_change change;
	uint32_t h, removed = m->removed;
	int again = old && random_below(3) == 0;

	if (again) {
		p = *old;
		mark = m->mark[ns][name];
		if (random_below(2))
			p.rv = random_rv();
	} else {
		random_pod(&p, ns, name);
	}
	ck_assert_msg(store_put(m->store, &p, mark, &h, &change) == 0, "%.*s/%.*s %.*s", STR_ARG(p.ns),
		      STR_ARG(p.name), STR_ARG(p.uid));
	if (!old) {
		ck_assert_int_eq(change, STORE_ADDED);
	} else if (!str_eq(old->uid, p.uid)) {
		ck_assert_int_eq(change, STORE_ADDED);
		ck_assert_uint_eq(m->removed, removed + 1);
		ck_assert_str_eq(m->removed_uid, old->uid.p);
	} else if (again) {
		bool same_rv = str_eq(old->rv, p.rv);

		/* A number that becomes a text or back is a change of the packed form: harmless. */
		ck_assert(same_rv ? change == STORE_SAME
				  : change == STORE_TOUCHED || change == STORE_CHANGED);
	} else {
		ck_assert_int_eq(m->removed, removed);
	}
	if (!old)
		m->pod[ns][name] = old = xmalloc(sizeof(*old)), m->count++;
	*old = p;
	m->mark[ns][name] = mark;
	m->named[ns][name] = true;
}

static void model_remove(struct model *m, uint32_t ns, uint32_t name)
{
	struct str key = POOL("app-%u-7d9c8b5f6d-x%02u", name % 6, name);
	uint32_t h = store_find(m->store, STR_C(namespaces[ns]), key);

	ck_assert_int_eq(h != 0, m->pod[ns][name] != NULL);
	if (!h)
		return;
	store_remove(m->store, h);
	ck_assert(!store_has(m->store, h));
	model_forget(m, ns, name);
}

/* A list of one namespace, or of all, that names some pods again. */
static void model_list(struct model *m)
{
	uint32_t list = store_list_begin(m->store), only = random_below(NS_N + 1);
	struct str ns = only < NS_N ? STR_C(namespaces[only]) : STR_LIT("");
	size_t gone = 0;

	memset(m->named, 0, sizeof(m->named));
	for (uint32_t i = 0; i < 100; i++)
		model_put(m, random_below(NS_N), random_below(NAME_N));
	for (uint32_t n = 0; n < NS_N; n++)
		for (uint32_t k = 0; k < NAME_N; k++)
			if (m->pod[n][k] && !m->named[n][k] && (only == NS_N || only == n)) {
				model_forget(m, n, k);
				gone++;
			}
	ck_assert_uint_eq(store_sweep(m->store, list, ns), gone);
}

static void check_group(struct model *m, const struct pod_facts *p, uint32_t h)
{
	struct group_tally t, want = { 0 };
	uint32_t group = store_group(m->store, h), members = 0, listed = 0;

	ck_assert_int_eq(group != 0, p->owner.uid.n != 0);
	if (!group)
		return;
	for (uint32_t n = 0; n < NS_N; n++)
		for (uint32_t k = 0; k < NAME_N; k++) {
			const struct pod_facts *o = m->pod[n][k];
			uint8_t mark = m->mark[n][k];

			if (!o || !str_eq(o->owner.uid, p->owner.uid))
				continue;
			for (int d = 0; d < WORKLOAD_DUTIES; d++)
				want.failing_all += mark & MARK_FAILING(d) ? 1 : 0;
			want.ready += mark & MARK_READY ? 1 : 0;
			if (!str_eq(o->revision, p->revision) || !str_eq(o->owner.name, p->owner.name) ||
			    !str_eq(o->owner.kind, p->owner.kind) ||
			    !str_eq(o->owner.api_version, p->owner.api_version))
				continue;
			members++;
			want.live += mark & MARK_LIVE ? 1 : 0;
			for (unsigned kind = 0; kind < 2; kind++)
				want.proves[kind] += mark & MARK_PROVES(kind) ? 1 : 0;
			for (int d = 0; d < WORKLOAD_DUTIES; d++) {
				want.failing[d] += mark & MARK_FAILING(d) ? 1 : 0;
				want.works[d] += mark & MARK_WORKS(d) ? 1 : 0;
			}
		}
	groups_tally(store_groups(m->store), group, &t);
	ck_assert(t.pulled || t.works[duty_workload(DUTY_IMAGE_PULL)] == 0);
	want.pulled = t.pulled; /* also of pods that are gone */
	ck_assert_int_eq(memcmp(&t, &want, sizeof(t)), 0);
	for (uint32_t i = store_group_first(m->store, group); i; i = store_group_next(m->store, i)) {
		ck_assert_uint_eq(store_group(m->store, i), group);
		listed++;
	}
	ck_assert_uint_eq(listed, members);
}

static void check_all(struct model *m)
{
	static struct pod_facts p;
	size_t seen = 0;

	ck_assert_uint_eq(store_count(m->store), m->count);
	for (uint32_t h = 0; (h = store_next(m->store, h));)
		seen++;
	ck_assert_uint_eq(seen, m->count);
	for (uint32_t n = 0; n < NS_N; n++)
		for (uint32_t k = 0; k < NAME_N; k++) {
			struct str name = POOL("app-%u-7d9c8b5f6d-x%02u", k % 6, k);
			uint32_t h = store_find(m->store, STR_C(namespaces[n]), name);

			ck_assert_int_eq(h != 0, m->pod[n][k] != NULL);
			if (!h)
				continue;
			store_get(m->store, h, &p);
			same_facts(m->pod[n][k], &p, true, "kept");
			ck_assert_uint_eq(store_mark(m->store, h), m->mark[n][k]);
			ck_assert(str_eq(store_namespace(m->store, h), p.ns));
			if (k % 7 == 0)
				check_group(m, m->pod[n][k], h);
		}
}

TEST(st06_against_a_dictionary)
{
	struct model m = { 0 };

	random_begin("store");
	m.store = store_new(&ops, &m);
	for (uint32_t i = 0; i < 100000; i++) {
		uint32_t what = random_below(1000);

		if (what < 700)
			model_put(&m, random_below(NS_N), random_below(NAME_N));
		else if (what < 998)
			model_remove(&m, random_below(NS_N), random_below(NAME_N));
		else
			model_list(&m);
		if (i % 500 == 0)
			check_all(&m);
	}
	check_all(&m);
	ck_assert_uint_gt(m.tallies, 0);
	for (uint32_t h = 0; (h = store_next(m.store, h));)
		store_remove(m.store, h);
	ck_assert_uint_eq(store_count(m.store), 0);
	for (uint32_t n = 0; n < NS_N; n++)
		for (uint32_t k = 0; k < NAME_N; k++)
			free(m.pod[n][k]);
	store_free(&m.store);
}

TEST_MAIN("watcher/store")
{
	tcase_set_timeout(t, 120);
}
