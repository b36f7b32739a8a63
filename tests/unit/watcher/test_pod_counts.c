/* What a share is a share of; and the pod that is being judged stays itself while others are counted. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <stdlib.h>

#include "quiet_store.h"
#include "tests/suite.h"
#include "watcher/controller/pod_counts.h"

static struct store *s;
static struct pod_counts *pods;

static void begin(void)
{
	s = quiet_store();
	pods = pod_counts_new();
}

static void end(void)
{
	pod_counts_free(&pods);
	store_free(&s);
}

static uint32_t put(const char *ns, const char *name, const char *uid, const char *node)
{
	const struct pod_facts p = { .ns = STR_C(ns),
				     .name = STR_C(name),
				     .uid = STR_C(uid),
				     .rv = STR_LIT("7"),
				     .node = STR_C(node),
				     .grace_s = -1 };
	enum store_change change;
	uint32_t h = 0;

	ck_assert_int_eq(store_put(s, &p, 0, &h, &change), 0);
	return h;
}

#define UID_1 "0b8f0f3e-0000-4000-8000-000000000001"
#define UID_2 "0b8f0f3e-0000-4000-8000-000000000002"

TEST(counts)
{
	put("shop", "a", UID_1, "n1");
	ck_assert(!pod_counts_many_nodes(pods, s));
	put("shop", "b", UID_2, "n2");
	ck_assert(pod_counts_many_nodes(pods, s));
	pod_counts_take(pods, s, 1000);
	ck_assert_uint_eq(pod_counts_namespace(pods, STR_LIT("shop")), 2);
	ck_assert_uint_eq(pod_counts_node(pods, STR_LIT("n1")), 1);
	ck_assert_uint_eq(pod_counts_workloads(pods), 2);
}

/* A nomination once bore the name of one pod and the uid of another. */
TEST_LOOP(the_pod_that_is_judged_stays_itself, 0, 2)
{
	struct pod_facts judged;
	const uint32_t h = put("shop", "a", UID_1, "n1");

	put("shop", "b", UID_2, "n1");
	store_get(s, h, &judged);
	if (_i == 0)
		pod_counts_take(pods, s, 1000);
	else
		(void)pod_counts_many_nodes(pods, s);
	ck_assert(str_is(judged.name, "a"));
	ck_assert(str_is(judged.uid, UID_1));
	ck_assert(str_is(judged.rv, "7"));
}

TEST_MAIN("watcher/pod_counts")
{
	tcase_add_checked_fixture(t, begin, end);
}
