/* test_store_size.c - what the cache refuses, how it rounds, and how small it is. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <errno.h>

#include "quiet_store.h"
#include "random.h"
#include "tests/suite.h"

/* -- single cases -- */

TEST(unusable_keys_are_refused)
{
	static char longer[300];
	struct store *s = quiet_store();
	struct pod_facts p = { .ns = STR_LIT("a"), .name = STR_LIT("b"), .uid = STR_LIT("c"), .grace_s = -1 };
	enum store_change change;
	uint32_t h;

	memset(longer, 'a', sizeof(longer));
	ck_assert_int_eq(store_put(s, &p, 0, &h, &change), 0);
	p.name = (struct str){ longer, 253 };
	ck_assert_int_eq(store_put(s, &p, 0, &h, &change), 0);
	p.name.n = 254;
	ck_assert_int_eq(store_put(s, &p, 0, &h, &change), -EINVAL);
	p.name.n = 0;
	ck_assert_int_eq(store_put(s, &p, 0, &h, &change), -EINVAL);
	p.name.n = 1;
	p.ns = (struct str){ longer, 64 };
	ck_assert_int_eq(store_put(s, &p, 0, &h, &change), -EINVAL);
	p.ns.n = 63;
	p.uid.n = 0;
	ck_assert_int_eq(store_put(s, &p, 0, &h, &change), -EINVAL);
	ck_assert_uint_eq(store_count(s), 2);
	store_free(&s);
}

/* A threshold must never be reached early because of rounding. */
TEST(times_are_rounded_up)
{
	struct store *s = quiet_store();
	struct pod_facts p = { .ns = STR_LIT("a"),
			       .name = STR_LIT("b"),
			       .uid = STR_LIT("c"),
			       .grace_s = -1,
			       .created = 1700000000001,
			       .deletion = 1700000009999,
			       .start_time = INT64_MAX };
	static struct pod_facts back;
	enum store_change change;
	uint32_t h;

	ck_assert_int_eq(store_put(s, &p, 0, &h, &change), 0);
	store_get(s, h, &back);
	ck_assert_int_eq(back.created, 1700000001000);
	ck_assert_int_eq(back.deletion, 1700000010000);
	ck_assert_int_eq(back.start_time, INT64_MAX / 1000 * 1000);
	store_free(&s);
}

/* -- size -- */

/* A pod as a Deployment of 1 to 8 replicas makes it: names, hashes and UIDs differ as real ones do. */
struct real_text {
	char ns[64], rs[96], name[160], uid[40], owner[40], node[64], rv[24];
};

static void real_pod(struct pod_facts *p, uint32_t i, struct real_text *t)
{
	static const char alphabet[] = "bcdfghjklmnpqrstvwxz2456789";
	static const char *const teams[] = { "checkout",       "inventory-sync",          "payments-gateway",
					     "search-indexer", "notification-dispatcher", "user-profile" };
	uint32_t workload = i / 4;
	char hash[11] = { 0 }, tail[6] = { 0 };
	uint64_t mix = (workload + 1) * 0x9e3779b97f4a7c15u;

	for (int k = 0; k < 10; k++, mix /= 27)
		hash[k] = alphabet[mix % 27];
	for (int k = 0; k < 5; k++)
		tail[k] = alphabet[random_below(27)];
	memset(p, 0, offsetof(struct pod_facts, containers));
	(void)snprintf(t->ns, sizeof(t->ns), "team-%u-%s", workload % 200, "production");
	(void)snprintf(t->rs, sizeof(t->rs), "%s-%u-%s", teams[workload % 6], workload % 1000, hash);
	(void)snprintf(t->name, sizeof(t->name), "%s-%s", t->rs, tail);
	(void)snprintf(t->uid, sizeof(t->uid), "%08x-%04x-4%03x-a%03x-%012llx", (unsigned)random_next(),
		       random_below(65536), random_below(4096), random_below(4096),
		       (unsigned long long)(random_next() & 0xffffffffffff));
	(void)snprintf(t->owner, sizeof(t->owner), "%08x-1111-4222-8333-%012llx", workload * 2654435761u,
		       (unsigned long long)workload);
	(void)snprintf(t->node, sizeof(t->node), "ip-10-%u-%u-%u.eu-central-1.compute.internal", i % 4,
		       i % 251, i % 6);
	(void)snprintf(t->rv, sizeof(t->rv), "%llu", 4000000000ull + random_below(1000000000));
	p->ns = STR_C(t->ns);
	p->name = STR_C(t->name);
	p->uid = STR_C(t->uid);
	p->rv = STR_C(t->rv);
	p->owner = (struct owner_facts){ STR_LIT("apps/v1"), STR_LIT("ReplicaSet"), STR_C(t->rs),
					 STR_C(t->owner) };
	p->revision = (struct str){ t->rs + strlen(t->rs) - 10, 10 };
	p->node = STR_C(t->node);
	p->phase = STR_LIT("Running");
	p->created = (1760000000 + (int64_t)random_below(3000000)) * 1000;
	p->scheduled_at = p->created;
	p->start_time = p->created + 1000;
	p->grace_s = -1;
	p->ready = p->initialized = p->scheduled = true;
	p->n_containers = 2;
	for (int k = 0; k < 2; k++)
		p->containers[k] =
			(struct container_facts){ .name = k ? STR_LIT("istio-proxy") : STR_C("app"),
						  .state = CONTAINER_RUNNING,
						  .ready = true,
						  .started = true };
	if (i % 20 == 0) {
		p->containers[0].restarts = 3;
		p->containers[0].last_reason = STR_LIT("OOMKilled");
		p->containers[0].last_exit_code = 137;
		p->containers[0].last_finished_at = p->created + 100000;
	}
}

TEST(at_most_200_bytes_a_pod)
{
	const uint32_t pods = 50000;
	struct store *s = quiet_store();
	static struct pod_facts p;
	enum store_change change;
	uint32_t h;
	static struct real_text text;
	size_t first;

	random_begin("size");
	for (uint32_t i = 0; i < pods; i++) {
		real_pod(&p, i, &text);
		ck_assert_int_eq(store_put(s, &p, MARK_LIVE | MARK_READY, &h, &change), 0);
		ck_assert_int_eq(change, STORE_ADDED);
	}
	first = store_bytes(s);
	printf("size: %zu bytes a pod, all in\n", first / pods);
	ck_assert_uint_le(first / pods, 200);
	/* A relist of the same pods holds no second copy. */
	uint32_t list = store_list_begin(s);

	random_begin("size");
	for (uint32_t i = 0; i < pods; i++) {
		real_pod(&p, i, &text);
		ck_assert_int_eq(store_put(s, &p, MARK_LIVE | MARK_READY, &h, &change), 0);
		ck_assert_int_eq(change, STORE_SAME);
	}
	ck_assert_uint_eq(store_sweep(s, list, STR_LIT("")), 0);
	ck_assert_uint_le(store_bytes(s), first + first / 10);
	/* All of it goes when the pods go. */
	(void)store_sweep(s, store_list_begin(s), STR_LIT(""));
	ck_assert_uint_eq(store_count(s), 0);
	ck_assert_uint_lt(store_bytes(s), first / 4);
	store_free(&s);
}

TEST_MAIN("watcher/store_size")
{
	tcase_set_timeout(t, 120);
}
