/* test_index.c - the cache's one index, pods by owner and revision: client-go's cases for its thread-safe
 * store (ST, tools/cache/thread_safe_store_test.go, index_test.go, controller_test.go). */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "tests/suite.h"
#include "watcher/cache/store.h"

static struct store *s;
static char told[256]; /* what on_removed was called for */
static unsigned tallies;

static void on_removed(void *ctx, uint32_t h)
{
	static struct pod_facts p;
	const size_t n = strlen(told);

	(void)ctx;
	store_get(s, h, &p);
	(void)snprintf(told + n, sizeof(told) - n, "-%.*s ", STR_ARG(p.name));
}

static void on_tally(void *ctx, uint32_t group)
{
	(void)ctx;
	(void)group;
	tallies++;
}

static const struct store_ops ops = { on_removed, on_tally };

static void begin(void)
{
	s = store_new(&ops, NULL);
	told[0] = '\0';
	tallies = 0;
}

static void end(void)
{
	store_free(&s);
}

static char *uid_of(char out[static 40], const char *name, int serial)
{
	(void)snprintf(out, 40, "0b8f0f3e-0000-4000-8000-%08x%02x%02x", serial, name[0], name[1]);
	return out;
}

/* A pod of the workload `owner` ("" = none) in that revision. */
static uint32_t put(const char *name, const char *owner, const char *revision, const char *rv)
{
	char uid[40], owner_uid[40];
	struct pod_facts p = { .ns = STR_LIT("shop"), .grace_s = -1 };
	enum store_change change;
	uint32_t h = 0;

	p.name = STR_C(name);
	p.uid = STR_C(uid_of(uid, name, 1));
	p.rv = STR_C(rv);
	if (*owner) {
		p.owner = (struct owner_facts){ STR_LIT("apps/v1"), STR_LIT("StatefulSet"), STR_C(owner),
						STR_C(uid_of(owner_uid, owner, 2)) };
		p.revision = STR_C(revision);
	}
	ck_assert_int_eq(store_put(s, &p, MARK_LIVE, &h, &change), 0);
	return h;
}

static uint32_t find(const char *name)
{
	return store_find(s, STR_LIT("shop"), STR_C(name));
}

/* Names of a group in alphabetical order; they are single letters followed by a digit. */
static const char *members(uint32_t group)
{
	static char text[128];
	static struct pod_facts p;

	text[0] = '\0';
	for (int digit = '0'; digit <= '9'; digit++)
		for (uint32_t h = store_group_first(s, group); h; h = store_group_next(s, h)) {
			const size_t n = strlen(text);

			store_get(s, h, &p);
			if (p.name.p[1] == digit)
				(void)snprintf(text + n, sizeof(text) - n, "%.*s ", STR_ARG(p.name));
		}
	return text;
}

TEST(st01_group_goes_with_its_last_pod)
{
	const uint32_t group = store_group(s, put("p1", "db", "1", "1"));
	const size_t bytes = store_bytes(s);

	ck_assert(groups_has(store_groups(s), group));
	store_remove(s, find("p1"));
	ck_assert(!groups_has(store_groups(s), group));
	for (int i = 0; i < 10000; i++) { /* and its memory with it */
		char owner[16];

		(void)snprintf(owner, sizeof(owner), "w%d", i);
		put("p1", owner, "1", "1");
		store_remove(s, find("p1"));
	}
	ck_assert_uint_le(store_bytes(s), bytes);
}

TEST(st02_group_stays_while_it_has_pods)
{
	const uint32_t group = store_group(s, put("p1", "db", "1", "1"));

	ck_assert_uint_eq(store_group(s, put("p2", "db", "1", "2")), group);
	store_remove(s, find("p1"));
	ck_assert(groups_has(store_groups(s), group));
	ck_assert_str_eq(members(group), "p2 ");
	put("p3", "db", "1", "3");
	ck_assert_str_eq(members(group), "p2 p3 ");
}

static unsigned live_of(uint32_t group)
{
	struct group_tally t;

	groups_tally(store_groups(s), group, &t);
	return t.live;
}

/* More pods than a byte counts, in two groups at a time; what the first leaves is used again. */
TEST(groups_of_any_size)
{
	const char *const owners[] = { "big", "small", "big", "other" };
	const unsigned sizes[] = { 600, 3, 300, 257 };
	uint32_t of[4];
	char name[16];

	for (unsigned round = 0; round < 2; round++)
		for (size_t g = 0; g < 4; g++) {
			for (unsigned i = 0; i < sizes[g]; i++) {
				(void)snprintf(name, sizeof(name), "%zu-%u", g, i);
				of[g] = store_group(s, put(name, owners[g], g == 2 ? "2" : "1", "1"));
				ck_assert_uint_eq(live_of(of[g]), i + 1);
			}
			for (unsigned i = g == 1 ? 1 : 0; round == 0 && i < sizes[g]; i++) {
				(void)snprintf(name, sizeof(name), "%zu-%u", g, i);
				store_remove(s, find(name));
				if (i + 1 < sizes[g])
					ck_assert_uint_eq(live_of(of[g]), sizes[g] - i - (g != 1));
			}
		}
	for (size_t g = 0; g < 4; g++)
		ck_assert_uint_eq(live_of(of[g]), sizes[g]);
}

/* There a pod has several values; here it moves between them, and each set is exact at every step. */
TEST(st03_pod_moves_between_groups)
{
	static const struct {
		const char *name, *owner, *revision, *foo, *bar;
	} steps[] = {
		{ "k1", "db", "foo", "k1 k8 ", "k9 " },
		{ "k2", "db", "foo", "k1 k2 k8 ", "k9 " },
		{ "k1", "db", "bar", "k2 k8 ", "k1 k9 " },
		{ "k2", "db", "bar", "k8 ", "k1 k2 k9 " },
		{ "k1", "db", "foo", "k1 k8 ", "k2 k9 " },
		{ "k2", "other", "bar", "k1 k8 ", "k9 " },
		{ "k1", "", "", "k8 ", "k9 " },
		{ "k1", "db", "bar", "k8 ", "k1 k9 " },
	};
	const uint32_t foo = store_group(s, put("k8", "db", "foo", "1"));
	const uint32_t bar = store_group(s, put("k9", "db", "bar", "1"));

	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		struct group_tally t;

		put(steps[i].name, steps[i].owner, steps[i].revision, "2");
		ck_assert_str_eq(members(foo), steps[i].foo);
		ck_assert_str_eq(members(bar), steps[i].bar);
		groups_tally(store_groups(s), foo, &t);
		ck_assert_uint_eq(t.live, strlen(steps[i].foo) / 3);
		groups_tally(store_groups(s), bar, &t);
		ck_assert_uint_eq(t.live, strlen(steps[i].bar) / 3);
	}
	ck_assert_str_eq(told, ""); /* moved, not removed */
	ck_assert_uint_gt(tallies, 0);
}

/* TestThreadSafeStoreRV, by object: each keeps the version it came with, and a removal touches no other. */
TEST(st04_versions_by_object)
{
	static struct pod_facts p;
	char uid[40];
	enum store_change change;
	uint32_t h;

	put("p1", "db", "1", "10");
	put("p2", "db", "1", "10");
	put("p2", "db", "1", "20");
	store_remove(s, find("p1"));
	store_get(s, find("p2"), &p);
	ck_assert(str_is(p.rv, "20"));
	p.rv = STR_LIT("30");
	p.uid = STR_C(uid_of(uid, "p2", 1));
	ck_assert_int_eq(store_put(s, &p, MARK_LIVE, &h, &change), 0);
	ck_assert_int_eq(change, STORE_TOUCHED);
	store_get(s, h, &p);
	ck_assert(str_is(p.rv, "30"));
}

/* The chain has so many groups. */
static unsigned pods_in_chain(uint32_t group, unsigned groups)
{
	struct group_tally t;
	unsigned n = 0, pods = 0;

	for (uint32_t g = groups_chain_first(store_groups(s), group); g;
	     g = groups_chain_next(store_groups(s), g), n++) {
		groups_tally(store_groups(s), g, &t);
		pods += t.live;
	}
	ck_assert_uint_eq(n, groups);
	return pods;
}

/* TestMultiIndexKeys: what is asked over several sets is their union. */
TEST(st05_chain_is_the_union_of_its_groups)
{
	const uint32_t group = store_group(s, put("p1", "db", "1", "1"));

	put("p2", "db", "2", "1");
	put("p3", "db", "3", "1");
	put("p4", "web", "1", "1");
	ck_assert_uint_eq(pods_in_chain(group, 3), 3);
	store_remove(s, find("p2"));
	ck_assert_uint_eq(pods_in_chain(group, 2), 2);
}

/* TestProcessDeltasInBatch: what can not be kept calls nobody back and leaves the rest as it is. */
TEST(st07_a_refused_put_changes_nothing)
{
	char uid[40];
	struct pod_facts p = { .ns = STR_LIT("shop"), .name = STR_LIT("p1"), .grace_s = -1 };
	enum store_change change;
	uint32_t h, list = store_list_begin(s);

	put("p1", "db", "1", "1");
	put("p2", "db", "1", "1");
	const unsigned before = tallies;

	ck_assert_int_eq(store_put(s, &p, MARK_LIVE, &h, &change), -EINVAL); /* no uid */
	ck_assert_uint_eq(tallies, before);
	ck_assert_str_eq(told, "");
	p.uid = STR_C(uid_of(uid, "p1", 7));
	ck_assert_int_eq(store_put(s, &p, MARK_LIVE, &h, &change), 0);
	ck_assert_str_eq(told, "-p1 ");
	ck_assert_uint_gt(tallies, before);
	ck_assert_uint_eq(store_sweep(s, list, STR_LIT("")), 0);
	ck_assert_uint_eq(store_count(s), 2);
}

TEST_MAIN("watcher/index")
{
	tcase_add_checked_fixture(t, begin, end);
}
