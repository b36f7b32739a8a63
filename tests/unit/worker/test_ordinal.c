/* A pod of an older revision that holds up the order of its StatefulSet (kubernetes/kubernetes#67250). */
// SPDX-License-Identifier: Apache-2.0

#include "tests/facts_en.h"
#include "tests/suite.h"
#include "workload.h"

#define STS     "GET /apis/apps/v1" NS "statefulsets/web"
#define OLD_POD ",'labels':{'controller-revision-hash':'web-7'}," BY_STS
#define DELETED                                                                                              \
	"DELETE " POD_PATH " {\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\",\"preconditions\":{\"uid\":"  \
	"\"pod-1\",\"resourceVersion\":\"41\"}}"
#define CORRECTED "'observedGeneration':5,'updateRevision':'web-8'"

static void on_set(const char *meta, const char *spec, const char *status)
{
	on(STS, 200,
	   "{'metadata':{'name':'web','uid':'sts-1','resourceVersion':'77','creationTimestamp':'" LIVE
	   "','generation':5%s},'spec':{%s},'status':{%s}}",
	   meta, spec, status);
}

static void setup(void)
{
	fake_setup();
	fake.grant.duty = DUTY_IMAGE_PULL;
	fake.grant.action = ACTION_SCALE_DOWN;
	fake.grant.since = NOW - HOUR - 1;
	fake.policy.duty[DUTY_IMAGE_PULL].ordinal_stuck = ORDINAL_DELETE;
	on_pod("41", OLD_POD, "", PULLING);
	on_set("", "'podManagementPolicy':'OrderedReady'", CORRECTED);
	on_scale("/apis/apps/v1" NS "statefulsets/web/scale", "sts-1", "'replicas':3");
	on(HPAS, 200, "{'items':[]}");
	on(KEDA, 404, NOTFOUND);
	on_pods(OURS(BY_STS) "," ITEM("web-0", "pod-2", BY_STS, READY));
	on("DELETE " POD_PATH, 200, "{'kind':'Status','status':'Success'}");
}

TEST(it_is_deleted_with_its_preconditions_whatever_serves)
{
	go();
	REQUESTS(GET, STS, DELETED);
	RESULT(DONE, ORDINAL_DELETED);
	ck_assert_str_eq(fake.result.target, "pods/shop/web");
	ck_assert_str_eq(fake.result.target_uid, "pod-1");
	ck_assert_int_eq(fake.result.replicas, -1);
	ck_assert_ptr_nonnull(
		strstr(EN(fake.result.evidence), "it makes revision web-8, and waits in order for pod web"));
	ck_assert(fake.reported && !fake.event.warning);
	ck_assert_str_eq(fake.event.kind, "StatefulSet");
	ck_assert_str_eq(fake.event.reason, "PodDeleted");
	ck_assert_ptr_null(strstr(fake.event.message, "undo"));
}

TEST(who_has_not_asked_for_it_is_told_how)
{
	fake.policy.duty[DUTY_IMAGE_PULL].ordinal_stuck = ORDINAL_REPORT;
	go();
	REQUESTS(GET, STS);
	RESULT(REFUSED, ORDINAL_STUCK);
	ck_assert_ptr_nonnull(strstr(EN(fake.result.detail), "kubectl -n shop delete pod web"));
	ck_assert(fake.reported && fake.event.warning);
	ck_assert_ptr_nonnull(strstr(fake.event.message, "delete the pod"));
}

static void expect_no_delete(void)
{
	for (size_t i = 0; i < fake.n_log; i++)
		ck_assert_ptr_null(strstr(fake.log[i], "DELETE"));
}

/* The set replaces it by itself, or wants it as it is, or has not looked yet; its owner says no; the pod
 * pulls. */
TEST_LOOP(what_it_is_not_deleted_for, 0, 9)
{
	static const struct {
		const char *meta, *spec, *status;
		enum reason reason;
	} rows[] = {
		{ "", "'podManagementPolicy':'Parallel'", CORRECTED, REASON_NOT_NEWEST_REVISION },
		{ "", "'updateStrategy':{'type':'OnDelete'}", CORRECTED, REASON_NOT_NEWEST_REVISION },
		{ "", "'updateStrategy':{'type':'RollingUpdate','rollingUpdate':{'partition':1}}", CORRECTED,
		  REASON_NOT_NEWEST_REVISION },
		{ "", "", "'observedGeneration':4,'updateRevision':'web-8'", REASON_NOT_OBSERVED },
		{ "", "", "'observedGeneration':5,'updateRevision':'web-7'", REASON_WORKLOAD_HAS_READY_PODS },
		{ "", "", "'observedGeneration':5", REASON_WORKLOAD_HAS_READY_PODS },
		{ ",'annotations':{'ops-pod-cleaner.io/ignore':'true'}", "", CORRECTED,
		  REASON_IGNORE_ANNOTATION },
		{ ",'annotations':{'ops-pod-cleaner.io/skip':'errImagePull'}", "", CORRECTED,
		  REASON_SKIP_ANNOTATION },
		{ "", "", CORRECTED, REASON_NOT_FAILING },
	};

	on_set(rows[_i].meta, rows[_i].spec, rows[_i].status);
	if (rows[_i].reason == REASON_NOT_FAILING)
		on_pod("41", OLD_POD, "", STARTING);
	go();
	expect_result(OUTCOME_REFUSED, rows[_i].reason, __LINE__);
	expect_no_delete();
}

/* All that holds for a scale-down holds for it. */
TEST_LOOP(it_is_judged_like_a_scale_down, 0, 3)
{
	if (_i == 0)
		fake.grant.since = NOW;
	else if (_i == 1)
		on_pod("41", OLD_POD, "",
		       "'phase':'Pending','containerStatuses':[{'name':'app','state':{'waiting':{'reason':'"
		       "ErrImagePull','message':'dial tcp: i/o timeout'}}}]");
	else
		on("GET " NAMESPACE_PATH, 200,
		   "{'kind':'Namespace','metadata':{'name':'shop','labels':{'ops-pod-cleaner.io/"
		   "ignore':'true'}}}");
	go();
	expect_result(OUTCOME_REFUSED,
		      _i == 0   ? REASON_WAITING_FOR_THRESHOLD
		      : _i == 1 ? REASON_CAUSE_TRANSIENT
				: REASON_IGNORE_ANNOTATION,
		      __LINE__);
	expect_no_delete();
}

/* Nobody knows whether another image is refused with the same secrets before the namespace was looked at. */
TEST_LOOP(a_credential_that_is_refused_condemns_no_pod, 0, 2)
{
#define DENIED_PULL(image)                                                                                   \
	"'phase':'Pending','containerStatuses':[{'name':'app','image':'" image "','state':{'waiting':{"      \
	"'reason':'ErrImagePull','message':'pull access denied'}}}]"
	str_list_add(&fake.policy.duty[DUTY_IMAGE_PULL].causes, "auth", 4);
	on_pod("41", OLD_POD, "", DENIED_PULL("registry.example.com/shop/web:1"));
	on_pods(ITEM("web", "pod-1", BY_STS, DENIED_PULL("registry.example.com/shop/web:1")) "," ITEM(
		"other", "pod-3", BY_RS, DENIED_PULL("registry.example.com/shop/other:1")));
	if (_i == 1)
		on_pods(ITEM("web", "pod-1", BY_STS, DENIED_PULL("registry.example.com/shop/web:1")));
	go();
	if (_i == 0)
		RESULT(REFUSED, CREDENTIAL_REFUSED);
	else
		RESULT(DONE, ORDINAL_DELETED);
}

/* It may have been carried out. */
TEST_LOOP(the_answer_is_lost, 0, 3)
{
	on_failure("DELETE " POD_PATH, HTTP_BROKEN, true);
	if (_i == 0)
		on(GET, 404, NOTFOUND);
	else if (_i == 1)
		on_pod("42", OLD_POD ",'deletionTimestamp':'2026-09-21T14:13:50Z'", "", PULLING);
	if (_i <= 1)
		on_pod("41", OLD_POD, "", PULLING)->times = 1;
	go();
	if (_i <= 1)
		RESULT(UNCONFIRMED, PROBABLY_DONE);
	else
		RESULT(FAILED, NETWORK_ERROR);
}

TEST(it_is_gone_when_the_write_arrives)
{
	on("DELETE " POD_PATH, 404, NOTFOUND);
	go();
	RESULT(GONE, POD_GONE);
}

TEST(a_crash_loop_is_told_and_not_deleted)
{
	fake.grant.duty = DUTY_CRASH_LOOP;
	fake.policy.duty[DUTY_CRASH_LOOP].enable = true;
	on_pod("41", OLD_POD, "",
	       "'phase':'Running','containerStatuses':[{'name':'app','restartCount':99,'state':{'waiting':{"
	       "'reason':'CrashLoopBackOff'}}}]");
	go();
	RESULT(REFUSED, ORDINAL_STUCK);
}

TEST_MAIN("worker/ordinal")
{
	tcase_add_checked_fixture(t, setup, fake_teardown);
}
