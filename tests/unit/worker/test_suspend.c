/* Jobs and CronJobs: there is nothing to scale, they are suspended (R24). */
// SPDX-License-Identifier: Apache-2.0

#include "tests/facts_en.h"
#include "tests/suite.h"
#include "workload.h"

#define JOB    "/apis/batch/v1" NS "jobs/web"
#define CRON   "/apis/batch/v1" NS "cronjobs/web"
#define BY_JOB OWNED("batch/v1", "Job", "web", "job-1")
#define BY_CRON                                                                                              \
	",'ownerReferences':[{'apiVersion':'batch/"                                                          \
	"v1','kind':'CronJob','name':'web','uid':'cron-1','controller':true}]"
#define SELECTED "'selector':{'matchLabels':{'batch.kubernetes.io/controller-uid':'job-1'}}"
#define JOB_PODS PODS "?limit=100&labelSelector=batch.kubernetes.io%2Fcontroller-uid%3Djob-1"
#define SUSPEND(what, uid, rv)                                                                               \
	"PATCH " what                                                                                        \
	"?fieldManager=ops-pod-cleaner {\"spec\":{\"suspend\":true},\"metadata\":{\"uid\":\"" uid            \
	"\",\"resourceVersion\":\"" rv "\",\"annotations\":{\"ops-pod-cleaner.io/scaled-down-by\":"          \
	"\"ops-pod-cleaner\",\"ops-pod-cleaner.io/scaled-down-action\":\"7\","

static void on_job(const char *meta, const char *spec)
{
	on("GET " JOB, 200,
	   "{'metadata':{'name':'web','uid':'job-1','resourceVersion':'51','creationTimestamp':'" LIVE
	   "'%s},'spec':{%s}}",
	   meta, spec);
}

#define FAILING "'active':[{'name':'web'}],'lastScheduleTime':'" LIVE "'"

static void on_cron(const char *spec, const char *status)
{
	on("GET " CRON, 200,
	   "{'metadata':{'name':'web','uid':'cron-1','resourceVersion':'61','creationTimestamp':"
	   "'2026-09-01T00:00:00Z'},'spec':{%s},'status':{%s}}",
	   spec, status);
}

static void setup(void)
{
	fake_setup();
	fake.grant.duty = DUTY_IMAGE_PULL;
	fake.grant.action = ACTION_SCALE_DOWN;
	fake.grant.since = NOW - HOUR - 1;
	fake.policy.duty[DUTY_IMAGE_PULL].suspend_jobs = true;
	on_pod("41", "," BY_JOB, "", PULLING);
	on_job("", SELECTED);
	on_pods(OURS(BY_JOB));
	on("PATCH " JOB, 200, "{'kind':'Job','metadata':{'uid':'job-1'},'spec':{'suspend':true}}");
	on("PATCH " CRON, 200, "{'kind':'CronJob','metadata':{'uid':'cron-1'},'spec':{'suspend':true}}");
}

TEST(a_job)
{
	go();
	REQUESTS(GET, "GET " JOB, JOB_PODS, SUSPEND(JOB, "job-1", "51"));
	RESULT(DONE, SUSPENDED);
	ck_assert_str_eq(fake.result.target, "jobs.batch/shop/web");
	ck_assert_str_eq(fake.result.target_uid, "job-1");
	ck_assert_int_eq(fake.result.replicas, -1);
	ck_assert(fake.reported && fake.event.warning);
	ck_assert_str_eq(fake.event.kind, "Job");
	ck_assert_str_eq(fake.event.reason, "Suspended");
	ck_assert_msg(strncmp(fake.event.message, "suspended: ", 11) == 0 &&
			      strstr(fake.event.message, "; undo: kubectl -n shop patch jobs.batch web") !=
				      NULL,
		      "%s", fake.event.message);
}

/* A nomination says that it has failed for a day; the Job is two seconds old. */
TEST(a_forged_since_is_not_believed)
{
	fake.grant.since = NOW - 25 * HOUR;
	on("GET " JOB, 200,
	   "{'metadata':{'name':'web','uid':'job-1','resourceVersion':'51','creationTimestamp':"
	   "'2026-09-21T14:13:18Z'},'spec':{" SELECTED "}}");
	go();
	REQUESTS(GET, "GET " JOB, JOB_PODS);
	RESULT(REFUSED, WAITING_FOR_THRESHOLD);
}

/* A Job counts a pod that is deleted as a failure: with backoffLimit 0 that would be its end. */
TEST(a_fresh_attempt_is_none_for_a_job)
{
	fake.grant.action = ACTION_FRESH_ATTEMPT;
	on("DELETE " POD_PATH, 200, "{'kind':'Pod','metadata':{'uid':'pod-1'}}");
	go();
	REQUESTS(GET, "GET " JOB);
	RESULT(REFUSED, KIND_NOT_SCALABLE);
}

TEST_LOOP(a_cron_job_and_its_job, 0, 3)
{
	on_job(BY_CRON, SELECTED);
	on_cron(_i == 1 ? "'suspend':true" : "'suspend':false", FAILING);
	fake.policy.duty[DUTY_IMAGE_PULL].suspend_cron_jobs = true;
	fake.grant.observe = _i == 2;
	go();
	if (_i == 0)
		REQUESTS(GET, "GET " JOB, "GET " CRON, JOB_PODS, SUSPEND(CRON, "cron-1", "61"),
			 SUSPEND(JOB, "job-1", "51"));
	else if (_i == 1)
		REQUESTS(GET, "GET " JOB, "GET " CRON, JOB_PODS, SUSPEND(JOB, "job-1", "51"));
	else
		REQUESTS(GET, "GET " JOB, "GET " CRON, JOB_PODS,
			 "PATCH " CRON "?fieldManager=ops-pod-cleaner&dryRun=All {",
			 "PATCH " JOB "?fieldManager=ops-pod-cleaner&dryRun=All {");
	if (_i == 2)
		RESULT(WOULD, SUSPENDED);
	else
		RESULT(DONE, SUSPENDED);
	ck_assert_ptr_nonnull(strstr(EN(fake.result.evidence), "suspended Job/web"));
}

/* The CronJob stays where nobody has named it, and where it works: its Job alone is suspended. */
TEST_LOOP(a_cron_job_that_is_left_alone, 0, 6)
{
	static const char *const status[] = {
		FAILING,
		"",
		"'active':[],'lastScheduleTime':'" LIVE "'",
		"'active':[{'name':'web'}]",
		FAILING ",'lastSuccessfulTime':'" LIVE "'",
		FAILING ",'lastSuccessfulTime':'2026-09-21T13:30:00Z'", /* within hours */
	};

	on_job(BY_CRON, SELECTED);
	on_cron("", status[_i]);
	fake.policy.duty[DUTY_IMAGE_PULL].suspend_cron_jobs = _i > 0;
	go();
	REQUESTS(GET, "GET " JOB, "GET " CRON, JOB_PODS, SUSPEND(JOB, "job-1", "51"));
	RESULT(DONE, SUSPENDED);
}

/* It was resumed a moment ago: it cannot have failed for longer. */
TEST(a_job_that_was_started_again)
{
	on("GET " JOB, 200,
	   "{'metadata':{'name':'web','uid':'job-1','resourceVersion':'51','creationTimestamp':'" LIVE
	   "'},'spec':{" SELECTED "},'status':{'startTime':'2026-09-21T14:13:18Z'}}");
	go();
	REQUESTS(GET, "GET " JOB, JOB_PODS);
	RESULT(REFUSED, WAITING_FOR_THRESHOLD);
}

TEST(a_mark_that_the_server_leaves_out_is_said)
{
	go();
	ck_assert_ptr_nonnull(
		strstr(EN(fake.result.evidence), "its mark was not written: the server left it out"));
}

TEST(without_being_asked_to)
{
	fake.policy.duty[DUTY_IMAGE_PULL].suspend_jobs = false;
	go();
	REQUESTS(GET);
	RESULT(REFUSED, KIND_NOT_SCALABLE);
}

TEST(a_dry_run)
{
	fake.dry_run = true;
	go();
	REQUESTS(GET, "GET " JOB, JOB_PODS);
	RESULT(WOULD, SUSPENDED);
	ck_assert_ptr_nonnull(strstr(fake.result.request, SUSPEND(JOB, "job-1", "51")));
}

TEST_LOOP(already_suspended, 0, 2)
{
	on_job("", SELECTED ",'suspend':true");
	fake.grant.verify_first = _i == 1;
	go();
	REQUESTS(GET, "GET " JOB);
	if (_i == 0)
		RESULT(GONE, ALREADY_SUSPENDED);
	else
		RESULT(UNCONFIRMED, PROBABLY_DONE);
}

/* Pods that ended do not count, one that works does. */
TEST_LOOP(other_pods_of_the_job, 0, 3)
{
	on_pods(_i == 0   ? OURS(BY_JOB) "," ITEM("b", "pod-2", BY_JOB, "'phase':'Succeeded'")
		: _i == 1 ? OURS(BY_JOB) "," ITEM("b", "pod-2", BY_JOB, WORKS_NOT_READY)
			  : OURS(BY_JOB) "," ITEM("b", "pod-2", BY_JOB, READY));
	go();
	if (_i == 0)
		RESULT(DONE, SUSPENDED);
	else if (_i == 1)
		RESULT(REFUSED, NOT_ALL_FAILING);
	else
		RESULT(REFUSED, WORKLOAD_HAS_READY_PODS);
}

TEST_LOOP(a_selector_that_is_not_understood, 0, 4)
{
	static const char *const specs[] = {
		"", "'selector':{}", "'selector':{'matchLabels':{'a':7}}",
		"'selector':{'matchLabels':{'a':'b'},'matchExpressions':[{'key':'x'}]}"
	};

	on_job("", specs[_i]);
	go();
	REQUESTS(GET, "GET " JOB);
	RESULT(REFUSED, TALLY_UNKNOWN);
}

/* A Job of another controller is that controller's. */
TEST(a_job_of_something_else)
{
	on_job(",'ownerReferences':[{'apiVersion':'apps/"
	       "v1','kind':'Deployment','name':'web','uid':'dep-1','controller':"
	       "true}]",
	       SELECTED);
	on(DEPLOY, 200, "{'metadata':{'name':'web','uid':'dep-1','creationTimestamp':'" LIVE "'}}");
	on(HPAS, 200, "{'items':[]}");
	on(KEDA, 404, NOTFOUND);
	on("GET " SCALE, 404, NOTFOUND);
	go();
	REQUESTS(GET, "GET " JOB, DEPLOY, HPAS, KEDA, "GET " SCALE);
}

TEST(conflict)
{
	on_job(BY_CRON, SELECTED);
	on_cron("", "");
	on("PATCH " JOB, 409, "{'kind':'Status','status':'Failure','code':409}")->times = 1;
	go();
	RESULT(DONE, SUSPENDED);
}

/* Of the two only the second meets trouble, or is not to be suspended any more: the record tells of the
 * first. */
TEST_LOOP(what_was_suspended_before_is_told, 0, 3)
{
	on_job(BY_CRON, SELECTED);
	on_cron("'suspend':true", FAILING);
	on_cron("'suspend':false", FAILING);
	fake.replies[fake.n_replies - 1].times = 1;
	fake.policy.duty[DUTY_IMAGE_PULL].suspend_cron_jobs = true;
	if (_i == 0)
		on("PATCH " JOB, 403, "{'kind':'Status','status':'Failure','code':403}");
	else
		on("PATCH " JOB, 409, "{'kind':'Status','status':'Failure','code':409}")->times = 1;
	if (_i == 2) {
		on_pods(OURS(BY_JOB) "," ITEM("b", "pod-2", BY_JOB, READY));
		on_pods(OURS(BY_JOB));
		fake.replies[fake.n_replies - 1].times = 1;
	}
	go();
	RESULT(DONE, SUSPENDED);
	ck_assert_ptr_nonnull(strstr(EN(fake.result.evidence), "suspended CronJob/"));
	ck_assert_str_eq(fake.event.kind, "CronJob");
	ck_assert_str_eq(fake.result.target, _i == 1 ? "jobs.batch/shop/web" : "cronjobs.batch/shop/web");
	if (_i != 1)
		ck_assert_ptr_nonnull(
			strstr(EN(fake.result.detail), _i == 0 ? "Forbidden" : "WorkloadHasReadyPods"));
}

TEST(accepted_but_not_done)
{
	on("PATCH " JOB, 200, "{'kind':'Job','metadata':{'uid':'job-1'},'spec':{}}");
	go();
	RESULT(FAILED, SERVER_REJECTED);
}

TEST_LOOP(lost_answer, 0, 3)
{
	on_failure("PATCH " JOB, HTTP_BROKEN, true);
	if (_i == 0)
		on_job("", SELECTED ",'suspend':true");
	else if (_i == 1)
		on("GET " JOB, 404, NOTFOUND);
	if (_i <= 1) {
		on_job("", SELECTED);
		fake.replies[fake.n_replies - 1].times = 1;
	}
	go();
	REQUESTS(GET, "GET " JOB, JOB_PODS, "PATCH " JOB, "GET " JOB);
	if (_i <= 1)
		RESULT(UNCONFIRMED, PROBABLY_DONE);
	else
		RESULT(FAILED, NETWORK_ERROR);
}

/* It cannot have failed for longer than the Job exists. */
TEST(since_is_not_before_the_job)
{
	on("GET " JOB, 200,
	   "{'metadata':{'name':'web','uid':'job-1','resourceVersion':'51','creationTimestamp':"
	   "'2026-09-21T13:13:20Z'},'spec':{" SELECTED "}}");
	go();
	RESULT(REFUSED, WAITING_FOR_THRESHOLD);
}

TEST_MAIN("worker/suspend")
{
	tcase_add_checked_fixture(t, setup, fake_teardown);
}
