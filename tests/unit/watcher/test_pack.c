/* What the cache keeps of what it does not keep: causes of messages, hosts of images, masks of labels. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "model/annotations.h"
#include "quiet_store.h"
#include "rules/cause.h"
#include "rules/select.h"
#include "tests/suite.h"

static struct store *store;
static uint32_t handle;

static void setup(void)
{
	store = quiet_store();
}

static void teardown(void)
{
	store_free(&store);
}

static struct pod_facts failing_pod(void)
{
	struct pod_facts p = { .ns = STR_LIT("shop"),
			       .name = STR_LIT("web-1"),
			       .uid = STR_LIT("0b8f0f3e-0000-4000-8000-000000000001"),
			       .rv = STR_LIT("7"),
			       .phase = STR_LIT("Pending"),
			       .created = 1700000000000,
			       .grace_s = -1,
			       .n_containers = 1 };

	p.containers[0] = (struct container_facts){ .name = STR_LIT("app"),
						    .state = CONTAINER_WAITING,
						    .reason = STR_LIT("ImagePullBackOff"),
						    .message = STR_LIT("manifest unknown"),
						    .image = STR_LIT("r.example.com:5000/shop/app:v1") };
	return p;
}

static enum store_change put(const struct pod_facts *p)
{
	enum store_change change;

	ck_assert_int_eq(store_put(store, p, 0, &handle, &change), 0);
	return change;
}

static const struct pod_facts *got(void)
{
	static struct pod_facts p;

	memset(&p, 0xa5, sizeof(p));
	store_get(store, handle, &p);
	return &p;
}

TEST(cause_and_host_of_a_failed_pull)
{
	struct pod_facts p = failing_pod();
	const struct container_facts *c;

	ck_assert_int_eq(put(&p), STORE_ADDED);
	c = &got()->containers[0];
	ck_assert_int_eq(cause_of(c), CAUSE_PERMANENT);
	ck_assert(str_is(image_host(c->image), "r.example.com:5000"));
	ck_assert_uint_eq(c->message.n, 0);
	/* another cause is news, another text of the same cause is not */
	p.containers[0].message = STR_LIT("manifest unknown: really");
	ck_assert_int_eq(put(&p), STORE_SAME);
	p.containers[0].message = STR_LIT("i/o timeout");
	ck_assert_int_eq(put(&p), STORE_CHANGED);
	ck_assert_int_eq(cause_of(&got()->containers[0]), CAUSE_TRANSIENT);
	p.containers[0].image = STR_LIT("nginx");
	put(&p);
	ck_assert(str_is(image_host(got()->containers[0].image), "docker.io"));
	p.containers[0].image = STR_LIT("");
	put(&p);
	ck_assert(str_is(image_host(got()->containers[0].image), ""));
}

/* Whatever is kept as a number, and what is not. */
TEST(versions_are_texts)
{
	static const char *const versions[] = { "0",
						"7",
						"281474976710655",
						"281474976710656",
						"18446744073709551615",
						"18446744073709551616",
						"007",
						"v1",
						"" };
	struct pod_facts p = failing_pod();

	put(&p);
	for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
		p.rv = STR_C(versions[i]);
		put(&p);
		ck_assert(str_is(got()->rv, versions[i]));
	}
}

TEST(no_image_of_what_does_not_fail_to_pull)
{
	struct pod_facts p = failing_pod();

	p.containers[0].reason = STR_LIT("CrashLoopBackOff");
	put(&p);
	ck_assert_uint_eq(got()->containers[0].image.n, 0);
	ck_assert_int_eq(got()->containers[0].cause, CAUSE_UNKNOWN);
}

TEST(marks)
{
	struct pod_facts p = failing_pod();

	put(&p);
	ck_assert(!annotations_any(&got()->annotations));
	p.annotations = (struct annotations){ .skip = 5,
					      .extend_ms = INT64_MAX,
					      .announced = { 1, 0, -7, INT64_MAX } };
	ck_assert_int_eq(put(&p), STORE_CHANGED);
	ck_assert_int_eq(got()->annotations.skip, 5);
	ck_assert_int_eq(got()->annotations.extend_ms, INT64_MAX);
	for (size_t d = 0; d < DUTY__MAX; d++)
		ck_assert_int_eq(got()->annotations.announced[d], p.annotations.announced[d]);
}

TEST(masks_of_labels)
{
	struct policy_override o = { 0 };
	const struct policy policy = { .overrides = &o, .n_overrides = 1 };
	struct pod_facts p = failing_pod();

	str_list_add(&o.labels, "tier=gold", 9);
	p.labels[p.n_labels++] = (struct label){ STR_LIT("tier"), STR_LIT("gold") };
	put(&p);
	ck_assert_uint_eq(got()->labels_mask, 0); /* nobody asks for labels yet */
	store_set_policy(store, &policy);
	ck_assert_int_eq(put(&p), STORE_CHANGED);
	ck_assert_uint_eq(got()->labels_mask, 1);
	ck_assert_uint_eq(got()->n_labels, 0);
	p.labels[0].value = STR_LIT("silver");
	ck_assert_int_eq(put(&p), STORE_CHANGED);
	ck_assert_uint_eq(got()->labels_mask, 0);
	p.labels_cut = true;
	put(&p);
	ck_assert_uint_eq(got()->labels_mask, SELECT_LABELS_UNKNOWN);
	str_list_done(&o.labels);
}

/* Another program kept its pods by name: db-0 of one namespace was judged by the facts of db-0 of another. */
TEST(the_same_name_in_two_namespaces)
{
	struct pod_facts a = failing_pod(), b = failing_pod();
	uint32_t ha, hb;

	b.ns = STR_LIT("bank");
	b.uid = STR_LIT("0b8f0f3e-0000-4000-8000-000000000002");
	b.phase = STR_LIT("Running");
	put(&a);
	ha = handle;
	put(&b);
	hb = handle;
	ck_assert_uint_ne(ha, hb);
	ck_assert_uint_eq(store_find(store, a.ns, a.name), ha);
	ck_assert_uint_eq(store_find(store, b.ns, b.name), hb);
	ck_assert(str_is(got()->phase, "Running"));
	handle = ha;
	ck_assert(str_is(got()->phase, "Pending"));
	store_remove(store, hb);
	ck_assert_uint_eq(store_find(store, a.ns, a.name), ha);
}

TEST_MAIN("watcher/pack")
{
	tcase_add_checked_fixture(t, setup, teardown);
}
