/* The namespace, read live: its labels where the configuration asks for labels, and whether it is marked to
 * be left alone. What is not known never acts. */
// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "fake.h"
#include "tests/facts_en.h"
#include "tests/suite.h"

#define NAMESPACE "GET /api/v1/namespaces/shop"
#define GET       "GET " POD_PATH
#define DELETE    "DELETE " POD_PATH
#define EVICTED   "'phase':'Failed','reason':'Evicted'"
#define SUCCESS   "{'kind':'Status','apiVersion':'v1','status':'Success'}"

static void select_by(struct str_list *l, const char *item)
{
	str_list_done(l);
	*l = (struct str_list){ 0 };
	str_list_add(l, item, strlen(item));
}

static struct str_list *served(void)
{
	return &fake.policy.duty[DUTY_EVICTED].namespaces;
}

static void teardown(void)
{
	str_list_done(&fake.policy.exclude_namespaces);
	fake_teardown();
}

static struct fake_reply *on_namespace(const char *labels)
{
	return on(NAMESPACE, 200, "{'kind':'Namespace','metadata':{'name':'shop'%s}}", labels);
}

/* Nobody asks for labels: it is read all the same, for its mark. */
TEST_LOOP(a_mark_is_honoured, 0, 6)
{
	static const struct {
		const char *meta;
		enum outcome outcome;
		enum reason reason;
	} rows[] = {
		{ "", OUTCOME_DONE, REASON_EVICTED },
		{ ",'annotations':{'ops-pod-cleaner.io/ignore':'false'}", OUTCOME_DONE, REASON_EVICTED },
		{ ",'annotations':{'ops-pod-cleaner.io/skip':'errImagePull'}", OUTCOME_DONE, REASON_EVICTED },
		{ ",'annotations':{'ops-pod-cleaner.io/ignore':'true'}", OUTCOME_REFUSED,
		  REASON_IGNORE_ANNOTATION },
		{ ",'labels':{'ops-pod-cleaner.io/ignore':'true'}", OUTCOME_REFUSED,
		  REASON_IGNORE_ANNOTATION },
		{ ",'annotations':{'ops-pod-cleaner.io/skip':'deleteEvictedPod'}", OUTCOME_REFUSED,
		  REASON_SKIP_ANNOTATION },
	};

	select_by(served(), "sh*");
	on_namespace(rows[_i].meta);
	on_pod("41", "", "", EVICTED);
	on(DELETE, 200, SUCCESS);
	go();
	if (rows[_i].outcome == OUTCOME_DONE)
		REQUESTS(NAMESPACE, GET, DELETE);
	else
		REQUESTS(NAMESPACE, GET);
	expect_result(rows[_i].outcome, rows[_i].reason, __LINE__);
}

TEST(acts_by_the_label_it_reads)
{
	select_by(served(), "label:team=a*");
	on_namespace(",'labels':{'x':'y','team':'ab'}");
	on_pod("41", "", "", EVICTED);
	on(DELETE, 200, SUCCESS);
	go();
	REQUESTS(NAMESPACE, GET, DELETE);
	RESULT(DONE, EVICTED);
	ck_assert_ptr_nonnull(strstr(EN(fake.result.evidence), "namespace shop has 2 labels"));
}

static const struct {
	const char *labels;
	enum reason reason;
} others[] = {
	{ ",'labels':{'team':'b'}", REASON_NAMESPACE_NOT_SELECTED },
	{ ",'labels':{}", REASON_NAMESPACE_NOT_SELECTED },
	{ "", REASON_NAMESPACE_NOT_SELECTED },
	{ ",'labels':null", REASON_NAMESPACE_UNKNOWN },
	{ ",'labels':['team','a']", REASON_NAMESPACE_UNKNOWN },
	{ ",'labels':{'x':'y','team':7}", REASON_NAMESPACE_UNKNOWN },
	{ ",'labels':{'team':'a'},'name':'bank'", REASON_NAMESPACE_UNKNOWN },
};

TEST_LOOP(refuses_by_the_label_it_reads, 0, (int)(sizeof(others) / sizeof(others[0])))
{
	select_by(served(), "label:team=a");
	on_namespace(others[_i].labels);
	on_pod("41", "", "", EVICTED);
	go();
	REQUESTS(NAMESPACE, GET);
	expect_result(OUTCOME_REFUSED, others[_i].reason, __LINE__);
}

/* It may not be read, is gone, or something else answers. */
TEST_LOOP(unknown_never_acts, 0, 3)
{
	static const int statuses[] = { 403, 404, 200 };

	select_by(served(), "label:team=a");
	on(NAMESPACE, statuses[_i],
	   "{'kind':'Status','apiVersion':'v1','metadata':{'name':'shop','labels':{'team':'a'}},'reason':'"
	   "NotFound','details':{'name':'shop'},'status':'%s'"
	   ","
	   "'code':%d}",
	   _i == 2 ? "Success" : "Failure", statuses[_i]);
	on_pod("41", "", "", EVICTED);
	go();
	REQUESTS(NAMESPACE, GET);
	RESULT(REFUSED, NAMESPACE_UNKNOWN);
}

/* Where a name decides, its labels do not matter; its mark does. */
TEST_LOOP(a_name_beside_a_label, 0, 2)
{
	select_by(served(), "shop");
	select_by(_i ? &fake.policy.exclude_namespaces : served(), "label:env=prod");
	if (!_i)
		str_list_add(served(), "shop", 4);
	on(NAMESPACE, 403, "{'kind':'Status','apiVersion':'v1','status':'Failure','code':403}");
	on_pod("41", "", "", EVICTED);
	on(DELETE, 200, SUCCESS);
	go();
	RESULT(REFUSED, NAMESPACE_UNKNOWN);
}

TEST(excluded_by_a_label)
{
	select_by(&fake.policy.exclude_namespaces, "label:env=prod");
	on_namespace(",'labels':{'env':'prod'}");
	on_pod("41", "", "", EVICTED);
	go();
	RESULT(REFUSED, NAMESPACE_EXCLUDED);
}

/* Both are read again. */
static void delete_with_a_conflict(void)
{
	on_pod("41", "", "", EVICTED);
	on(DELETE, 409,
	   "{'kind':'Status','apiVersion':'v1','status':'Failure','reason':'Conflict','code':409}");
	go();
	REQUESTS(NAMESPACE, GET, DELETE, NAMESPACE, GET);
}

/* The pod has changed: all is read again, the labels, too. */
TEST(read_again_after_a_conflict)
{
	select_by(served(), "label:team=a");
	on_namespace(",'labels':{'team':'b'}");
	on_namespace(",'labels':{'team':'a'}")->times = 1;
	delete_with_a_conflict();
	RESULT(REFUSED, NAMESPACE_NOT_SELECTED);
}

/* What was read ahead counts from the older of the two reads. */
TEST(labels_that_were_read_long_ago_are_read_again)
{
	select_by(served(), "label:team=a");
	on_namespace(",'labels':{'team':'a'}");
	on_pod("41", "", "", EVICTED);
	on(DELETE, 200, SUCCESS);
	fake.slowness_ms = ACTION_FRESH_MS / 2 + 1;
	go_prefetch();
	fake_drain();
	fake.slowness_ms = 0;
	grant();
	fake_drain();
	REQUESTS(NAMESPACE, GET, NAMESPACE, GET, DELETE);
	RESULT(DONE, EVICTED);
}

/* A first deletion reads it; then it is marked, and some time passes until the second. */
static void delete_twice(int64_t ms)
{
	fake.namespaces = namespace_cache_new();
	on_namespace(",'annotations':{'ops-pod-cleaner.io/ignore':'true'}");
	on_namespace("")->times = 1;
	on_pod("41", "", "", EVICTED);
	on(DELETE, 200, SUCCESS);
	go();
	RESULT(DONE, EVICTED);
	clock_fake_advance(ms);
	fake.done = 0;
	go();
}

TEST(one_read_serves_the_deletions_of_a_moment)
{
	delete_twice(NAMESPACE_CACHE_MS);
	REQUESTS(NAMESPACE, GET, DELETE, GET, DELETE);
	RESULT(DONE, EVICTED);
}

TEST(a_mark_is_seen_after_a_moment)
{
	delete_twice(NAMESPACE_CACHE_MS + 1);
	REQUESTS(NAMESPACE, GET, DELETE, NAMESPACE, GET);
	RESULT(REFUSED, IGNORE_ANNOTATION);
}

/* A mark that is taken away counts at once, also that of another duty. */
TEST_LOOP(what_refuses_is_not_remembered, 0, 2)
{
	fake.namespaces = namespace_cache_new();
	on_namespace("");
	on_namespace(_i ? ",'annotations':{'ops-pod-cleaner.io/skip':'errImagePull'}"
			: ",'annotations':{'ops-pod-cleaner.io/ignore':'true'}")
		->times = 1;
	on_pod("41", "", "", EVICTED);
	on(DELETE, 200, SUCCESS);
	go();
	fake.done = 0;
	go();
	if (_i)
		REQUESTS(NAMESPACE, GET, DELETE, NAMESPACE, GET, DELETE);
	else
		REQUESTS(NAMESPACE, GET, NAMESPACE, GET, DELETE);
	RESULT(DONE, EVICTED);
}

/* Labels that decide are read each time. */
TEST(labels_are_not_remembered)
{
	fake.namespaces = namespace_cache_new();
	select_by(served(), "label:team=a");
	on_namespace(",'labels':{'team':'b'}");
	on_namespace(",'labels':{'team':'a'}")->times = 1;
	on_pod("41", "", "", EVICTED);
	on(DELETE, 200, SUCCESS);
	go();
	fake.done = 0;
	go();
	REQUESTS(NAMESPACE, GET, DELETE, NAMESPACE, GET);
	RESULT(REFUSED, NAMESPACE_NOT_SELECTED);
}

/* After a conflict it may be the mark that changed. */
TEST(a_conflict_makes_it_read_again)
{
	fake.namespaces = namespace_cache_new();
	on_namespace(",'annotations':{'ops-pod-cleaner.io/ignore':'true'}");
	on_namespace("")->times = 1;
	delete_with_a_conflict();
	RESULT(REFUSED, IGNORE_ANNOTATION);
}

/* What could not be read is not kept, and a name has its own entry. */
TEST(what_is_kept_is_what_was_read)
{
	struct namespace_cache *c = namespace_cache_new();
	json_t *a = json_pack("{s:s}", "kind", "Namespace"), *b = json_pack("{s:s}", "kind", "Namespace");
	char name[64];
	uint64_t at;

	ck_assert_ptr_null(namespace_cache_find(c, "a", 10, &at));
	namespace_cache_put(c, "a", a, 10);
	namespace_cache_put(c, "b", b, 11);
	ck_assert_ptr_eq(namespace_cache_find(c, "a", 10 + NAMESPACE_CACHE_MS, &at), a);
	ck_assert_uint_eq(at, 10);
	ck_assert_ptr_eq(namespace_cache_find(c, "b", 11, &at), b);
	ck_assert_ptr_null(namespace_cache_find(c, "a", 11 + NAMESPACE_CACHE_MS, &at));
	namespace_cache_put(c, "a", b, 20);
	ck_assert_ptr_eq(namespace_cache_find(c, "a", 21, &at), b);
	for (unsigned i = 0; i < 16; i++) {
		(void)snprintf(name, sizeof(name), "other-%u", i);
		namespace_cache_put(c, name, a, 30 + i);
	}
	ck_assert_ptr_null(namespace_cache_find(c, "a", 40, &at));
	ck_assert_ptr_eq(namespace_cache_find(c, "other-0", 50, &at), a);
	json_decref(a);
	json_decref(b);
	namespace_cache_free(&c);
	ck_assert_ptr_null(c);
}

/* What is done to a workload reads all of its own. */
TEST(a_scale_down_reads_it_anew)
{
	json_t *ns = json_loads("{\"kind\":\"Namespace\",\"metadata\":{\"name\":\"shop\"}}", 0, NULL);

	fake.namespaces = namespace_cache_new();
	namespace_cache_put(fake.namespaces, "shop", ns, clock_boot_ms());
	json_decref(ns);
	on_namespace(",'annotations':{'ops-pod-cleaner.io/ignore':'true'}");
	fake.grant.duty = DUTY_IMAGE_PULL;
	fake.grant.action = ACTION_SCALE_DOWN;
	on_pod("41", "", "", EVICTED);
	go();
	ck_assert_str_eq(fake.log[0], NAMESPACE);
}

TEST_MAIN("worker/namespace")
{
	tcase_add_checked_fixture(t, fake_setup, teardown);
}
