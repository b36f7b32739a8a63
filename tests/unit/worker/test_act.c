/* The last gate: what the object's owner wrote on it, the grace that is announced, and the fresh attempt. */
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "tests/facts_en.h"
#include "tests/suite.h"
#include "workload.h"

#define DELETE       "DELETE " POD_PATH
#define EVICTED      "'phase':'Failed','reason':'Evicted'"
#define SUCCESS      "{'kind':'Status','apiVersion':'v1','status':'Success'}"
#define KEY          "ops-pod-cleaner.io/"
#define DEPLOY_PATH  "/apis/apps/v1" NS "deployments/web"
#define MARKED(text) ",'annotations':{" text "}"
#define ANNOUNCE_POD                                                                                         \
	"PATCH " POD_PATH "?fieldManager=ops-pod-cleaner {\"metadata\":{\"uid\":\"pod-1\","                  \
	"\"resourceVersion\":\"41\",\"annotations\":{\"ops-pod-cleaner.io/announced\":\"deleteEvictedPod="   \
	"2026-09-21T14:13:20Z\"}}}"
#define ANNOUNCE_DEPLOY                                                                                      \
	"PATCH " DEPLOY_PATH "?fieldManager=ops-pod-cleaner {\"metadata\":{\"uid\":\"dep-1\","               \
	"\"resourceVersion\":\"77\",\"annotations\":{\"ops-pod-cleaner.io/announced\":\"errImagePull="       \
	"2026-09-21T14:13:20Z\"}}}"

static void on_deploy(const char *meta)
{
	on(DEPLOY, 200,
	   "{'metadata':{'name':'web','uid':'dep-1','resourceVersion':'77','creationTimestamp':'" LIVE
	   "','generation':4%s},'status':{'observedGeneration':4}}",
	   meta);
}

static void setup_evicted(void)
{
	fake_setup();
	fake.policy.duty[DUTY_EVICTED].announce_ms = 10 * 60 * SEC;
	on_pod("41", "", "", EVICTED);
	on("PATCH " POD_PATH, 200, "{'kind':'Pod','metadata':{'uid':'pod-1'}}");
	on(DELETE, 200, SUCCESS);
}

static void setup_workload(void)
{
	setup_deployment();
	fake.policy.duty[DUTY_IMAGE_PULL].announce_ms = 10 * 60 * SEC;
	on_deploy("");
	on("PATCH " DEPLOY_PATH, 200,
	   "{'kind':'Deployment','metadata':{'uid':'dep-1'},'spec':{'replicas':0}}");
	on(DELETE, 200, SUCCESS);
}

/* -- pods -- */

TEST(a_pod_is_announced_first)
{
	go();
	REQUESTS("GET " POD_PATH, ANNOUNCE_POD);
	RESULT(ANNOUNCED, ANNOUNCED);
	ck_assert_uint_eq(fake.result.retry_ms, 10 * 60 * SEC + 1);
	ck_assert_str_eq(fake.result.target, "pods/shop/web");
	ck_assert_str_eq(EN(fake.result.detail),
			 "acts after 2026-09-21T14:23:20Z, phase Failed, reason Evicted");
}

TEST_LOOP(an_announcement_is_a_write, 0, 2)
{
	if (_i == 0)
		fake.dry_run = true;
	else
		fake.grant.observe = true;
	go();
	if (_i == 0) {
		REQUESTS("GET " POD_PATH);
		RESULT(WOULD, ANNOUNCED);
		ck_assert_str_eq(fake.result.request, ANNOUNCE_POD);
	} else {
		REQUESTS("GET " POD_PATH, "PATCH " POD_PATH "?fieldManager=ops-pod-cleaner&dryRun=All {");
		RESULT(WOULD, ANNOUNCED);
	}
}

/* To the millisecond: acts strictly after the grace and what the owner adds to it. */
TEST_LOOP(the_grace_of_a_pod, 0, 7)
{
	static const struct {
		const char *annotations;
		const char *how; /* W waits, A acts, N announces anew */
		uint64_t retry;
	} cases[] = {
		{ "'" KEY "announced':'deleteEvictedPod=2026-09-21T14:03:20Z'", "W", 1 },
		{ "'" KEY "announced':'deleteEvictedPod=2026-09-21T14:03:19Z'", "A", 0 },
		{ "'" KEY "announced':'deleteEvictedPod=2026-09-21T14:03:19Z','" KEY "extend':'1s'", "W", 1 },
		{ "'" KEY "announced':'deleteEvictedPod=2026-09-21T14:03:18Z','" KEY "extend':'1s'", "A", 0 },
		{ "'" KEY "announced':'errImagePull=2026-09-21T14:00:00Z'", "N", 0 },
		{ "'" KEY "announced':'deleteEvictedPod=2027-09-21T14:00:00Z'", "N", 0 },
		{ "'" KEY "announced':'yesterday'", "N", 0 },
	};
	char meta[400];

	(void)snprintf(meta, sizeof(meta), MARKED("%s"), cases[_i].annotations);
	on_pod("41", meta, "", EVICTED);
	go();
	if (*cases[_i].how == 'W') {
		REQUESTS("GET " POD_PATH);
		RESULT(REFUSED, ANNOUNCED);
		ck_assert_uint_eq(fake.result.retry_ms, cases[_i].retry);
	} else if (*cases[_i].how == 'A') {
		REQUESTS("GET " POD_PATH, DELETE);
		RESULT(DONE, EVICTED);
	} else {
		ck_assert_ptr_nonnull(strstr(fake.log[1], "PATCH " POD_PATH));
		RESULT(ANNOUNCED, ANNOUNCED);
	}
}

/* What is announced for another duty stays. */
TEST(announcements_beside_one_another)
{
	on_pod("41", MARKED("'" KEY "announced':'errImagePull=2026-09-21T14:00:00Z'"), "", EVICTED);
	go();
	ck_assert_ptr_nonnull(strstr(fake.log[1], "errImagePull=2026-09-21T14:00:00Z"));
	ck_assert_ptr_nonnull(strstr(fake.log[1], "deleteEvictedPod=2026-09-21T14:13:20Z"));
}

TEST_LOOP(marks_of_a_pod, 0, 6)
{
	static const struct {
		const char *annotations;
		enum reason reason;
	} cases[] = {
		{ "'" KEY "ignore':'true'", REASON_IGNORE_ANNOTATION },
		{ "'" KEY "skip':'all'", REASON_SKIP_ANNOTATION },
		{ "'" KEY "skip':'errImagePull, deleteEvictedPod'", REASON_SKIP_ANNOTATION },
		{ "'" KEY "skip':'deleteEvicted'", REASON_SKIP_ANNOTATION },
		{ "'" KEY "extend':'soon'", REASON_SKIP_ANNOTATION },
		{ "'" KEY "skip':'errImagePull'", REASON_EVICTED },
	};
	char meta[400];

	fake.policy.duty[DUTY_EVICTED].announce_ms = 0;
	(void)snprintf(meta, sizeof(meta), MARKED("%s"), cases[_i].annotations);
	on_pod("41", meta, "", EVICTED);
	go();
	expect_result(cases[_i].reason == REASON_EVICTED ? OUTCOME_DONE : OUTCOME_REFUSED, cases[_i].reason,
		      __LINE__);
}

TEST_LOOP(the_announcement_is_refused, 0, 5)
{
	static const struct {
		long status;
		enum outcome outcome;
		enum reason reason;
	} cases[] = { { 403, OUTCOME_FORBIDDEN, REASON_FORBIDDEN },
		      { 404, OUTCOME_GONE, REASON_POD_GONE },
		      { 409, OUTCOME_CONFLICT, REASON_PRECONDITION_FAILED },
		      { 422, OUTCOME_FAILED, REASON_SERVER_REJECTED },
		      { 500, OUTCOME_FAILED, REASON_SERVER_ERROR } };

	on("PATCH " POD_PATH, cases[_i].status, "{'kind':'Status','status':'Failure','code':%ld%s}",
	   cases[_i].status, cases[_i].status == 404 ? ",'reason':'NotFound','details':{'name':'web'}" : "");
	go();
	expect_result(cases[_i].outcome, cases[_i].reason, __LINE__);
	for (size_t i = 0; i < fake.n_log; i++)
		ck_assert_ptr_null(strstr(fake.log[i], DELETE));
}

/* Whether it arrived shows on the object, the next time. */
TEST(the_answer_is_lost)
{
	on_failure("PATCH " POD_PATH, HTTP_BROKEN, true);
	go();
	REQUESTS("GET " POD_PATH, ANNOUNCE_POD);
	RESULT(FAILED, NETWORK_ERROR);
}

/* -- workloads -- */

START_TEST(a_workload_is_announced_first)
{
	go();
	REQUESTS(GET, RS, DEPLOY, HPAS, KEDA, "GET " SCALE, RSES, PODS, ANNOUNCE_DEPLOY);
	RESULT(ANNOUNCED, ANNOUNCED);
	ck_assert_str_eq(fake.result.target, "deployments.apps/shop/web");
	ck_assert_str_eq(fake.result.target_rv, "77");
	ck_assert_int_eq(fake.result.replicas, -1);
}

START_TEST(the_grace_of_a_workload)
{
	static const struct {
		const char *annotations;
		char how;
	} cases[] = {
		{ "'" KEY "announced':'errImagePull=2026-09-21T14:03:20Z'", 'W' },
		{ "'" KEY "announced':'errImagePull=2026-09-21T14:03:19Z'", 'A' },
		{ "'" KEY "announced':'errImagePull=2026-09-21T14:03:19Z','" KEY "extend':'2h'", 'W' },
		/* made for an earlier failure: this one began 13:13:19.999 */
		{ "'" KEY "announced':'errImagePull=2026-09-21T13:13:19Z'", 'N' },
		{ "'" KEY "announced':'errImagePull=2026-09-21T13:13:20Z'", 'A' },
		{ "'" KEY "announced':'errImagePull=2026-09-21T14:03:19Z','" KEY "skip':'errImagePull'",
		  'S' },
		{ "'" KEY "announced':'errImagePull=2026-09-21T14:03:19Z','" KEY "ignore':'true'", 'I' },
	};
	char meta[400];

	(void)snprintf(meta, sizeof(meta), MARKED("%s"), cases[_i].annotations);
	on_deploy(meta);
	go();
	switch (cases[_i].how) {
	case 'W':
		RESULT(REFUSED, ANNOUNCED);
		break;
	case 'A':
		RESULT(DONE, CANNOT_PULL_IMAGE);
		ck_assert_ptr_nonnull(strstr(EN(fake.result.evidence), "was announced"));
		break;
	case 'N':
		RESULT(ANNOUNCED, ANNOUNCED);
		break;
	case 'S':
		RESULT(REFUSED, SKIP_ANNOTATION);
		ck_assert_str_eq(EN(fake.result.detail), KEY "skip on Deployment/web");
		break;
	default:
		RESULT(REFUSED, IGNORE_ANNOTATION);
	}
}

/* Controllers copy annotations down and leave them there: what the ReplicaSet bears is not its owner's wish.
 */
START_TEST(marks_below_the_workload_do_not_count)
{
	on(RS, 200,
	   "{'metadata':{'name':'web-2','uid':'rs-2','creationTimestamp':'" LIVE "','annotations':{'" KEY
	   "skip':'all'}," BY_DEPLOY "}}");
	fake.policy.duty[DUTY_IMAGE_PULL].announce_ms = 0;
	go();
	RESULT(DONE, CANNOT_PULL_IMAGE);
}

/* -- the fresh attempt -- */

#define RETRIED                                                                                              \
	DELETE " {\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\",\"preconditions\":{\"uid\":\"pod-1\","    \
	       "\"resourceVersion\":\"41\"}}"

START_TEST(one_pod_is_deleted_for_a_fresh_attempt)
{
	fake.grant.action = ACTION_FRESH_ATTEMPT;
	go();
	REQUESTS(GET, RS, DEPLOY, HPAS, KEDA, "GET " SCALE, RSES, PODS, RETRIED);
	RESULT(DONE, FRESH_ATTEMPT);
	ck_assert_str_eq(fake.result.target, "pods/shop/web");
	ck_assert_int_eq(fake.result.replicas, -1);
}

START_TEST(a_fresh_attempt_is_judged_alike)
{
	fake.grant.action = ACTION_FRESH_ATTEMPT;
	if (_i == 0)
		on_pods(OURS(BY_RS) "," ITEM("web-b", "pod-2", BY_RS, READY));
	else if (_i == 1)
		on_deploy(MARKED("'" KEY "skip':'errImagePull'"));
	else
		fake.grant.since = NOW;
	go();
	expect_result(OUTCOME_REFUSED,
		      _i == 0   ? REASON_WORKLOAD_HAS_READY_PODS
		      : _i == 1 ? REASON_SKIP_ANNOTATION
				: REASON_WAITING_FOR_THRESHOLD,
		      __LINE__);
	for (size_t i = 0; i < fake.n_log; i++)
		ck_assert_ptr_null(strstr(fake.log[i], DELETE));
}

START_TEST(the_answer_of_a_fresh_attempt_is_lost)
{
	fake.grant.action = ACTION_FRESH_ATTEMPT;
	on_failure(DELETE, HTTP_BROKEN, true);
	if (_i == 0)
		on(GET, 404, NOTFOUND);
	else if (_i == 1)
		on_pod("42", "," BY_RS ",'deletionTimestamp':'2026-09-21T14:13:50Z'", "", PULLING);
	if (_i <= 1) {
		on_pod("41", "," BY_RS, "", PULLING)->times = 1;
	}
	go();
	if (_i <= 1)
		RESULT(UNCONFIRMED, PROBABLY_DONE);
	else
		RESULT(FAILED, NETWORK_ERROR);
}

TEST_MAIN("worker/act")
{
	TCase *tc = suite_case(suite, "workloads");
	tcase_add_checked_fixture(t, setup_evicted, fake_teardown);
	tcase_add_checked_fixture(tc, setup_workload, fake_teardown);
	tcase_add_test(tc, a_workload_is_announced_first);
	tcase_add_loop_test(tc, the_grace_of_a_workload, 0, 7);
	tcase_add_test(tc, marks_below_the_workload_do_not_count);
	tcase_add_test(tc, one_pod_is_deleted_for_a_fresh_attempt);
	tcase_add_loop_test(tc, a_fresh_attempt_is_judged_alike, 0, 3);
	tcase_add_loop_test(tc, the_answer_of_a_fresh_attempt_is_lost, 0, 3);
}
