/* A pod that is deleted, and what owns it: whose owners have marked the workload it is left alone, and so is
 * what runs to completion. */
// SPDX-License-Identifier: Apache-2.0
#include "tests/facts_en.h"
#include "tests/suite.h"
#include "workload.h"

#define EVICTED "'phase':'Failed','reason':'Evicted'"
#define STUCK   ",'deletionTimestamp':'2026-09-21T13:13:19Z','deletionGracePeriodSeconds':30"
#define DELETE  "DELETE " POD_PATH
#define JOB     "GET /apis/batch/v1" NS "jobs/web"
#define BY_JOB  OWNED("batch/v1", "Job", "web", "job-1")
#define MARKED  ",'annotations':{'ops-pod-cleaner.io/ignore':'true'}"

static void setup(void)
{
	fake_setup();
	on_pod("41", "," BY_RS, "", EVICTED);
	on(RS, 200, "{'metadata':{'name':'web-2','uid':'rs-2'," BY_DEPLOY "}}");
	on(DEPLOY, 200, "{'metadata':{'name':'web','uid':'dep-1'}}");
	on(DISCO, 200, FLEETS(WITH_SCALE));
	on("GET " FLEET, 200, "{'metadata':{'uid':'fleet-1'}}");
	on(DELETE, 200, "{'kind':'Status','status':'Success'}");
}

static void teardown(void)
{
	str_list_done(&fake.policy.job_kinds);
	fake_teardown();
}

TEST(not_marked)
{
	go();
	REQUESTS(GET, RS, DEPLOY, DELETE);
	RESULT(DONE, EVICTED);
}

TEST_LOOP(marked_workload, 0, 3)
{
	static const struct {
		const char *meta;
		enum reason reason;
	} rows[] = {
		{ MARKED, REASON_IGNORE_ANNOTATION },
		{ ",'labels':{'ops-pod-cleaner.io/ignore':'true'}", REASON_IGNORE_ANNOTATION },
		{ ",'annotations':{'ops-pod-cleaner.io/skip':'all'}", REASON_SKIP_ANNOTATION },
	};

	on(DEPLOY, 200, "{'metadata':{'name':'web','uid':'dep-1'%s}}", rows[_i].meta);
	go();
	REQUESTS(GET, RS, DEPLOY);
	expect_result(OUTCOME_REFUSED, rows[_i].reason, _i);
	ck_assert_ptr_nonnull(strstr(EN(fake.result.detail), "Deployment/web"));
}

/* A Deployment's controller copies them down, and does not take them away. */
TEST_LOOP(marked_set, 0, 2)
{
	on(RS, 200, "{'metadata':{'name':'web-2','uid':'rs-2'" MARKED "%s}}", _i ? "" : "," BY_DEPLOY);
	go();
	if (_i)
		RESULT(REFUSED, IGNORE_ANNOTATION);
	else
		RESULT(DONE, EVICTED);
}

/* What is gone, or bears another's name, has marked nothing. */
TEST_LOOP(gone, 0, 3)
{
	on(DEPLOY, _i ? 200 : 404, _i ? "{'metadata':{'uid':'dep-9'" MARKED "}}" : NOTFOUND);
	if (_i == 2)
		on(RS, 404, NOTFOUND);
	go();
	RESULT(DONE, EVICTED);
}

TEST(not_allowed_to_look)
{
	on(DEPLOY, 403, DENIED);
	go();
	RESULT(FORBIDDEN, FORBIDDEN);
}

TEST(marked_workload_of_a_stuck_pod)
{
	without_evictions();
	fake.grant.duty = DUTY_TERMINATING;
	fake.grant.action = ACTION_FORCE_DELETE;
	on_pod("41", STUCK "," BY_RS, "'nodeName':'n1'", "'phase':'Running'");
	on("GET /api/v1/nodes/n1", 404, NOTFOUND);
	on(DEPLOY, 200, "{'metadata':{'name':'web','uid':'dep-1'" MARKED "}}");
	go();
	RESULT(REFUSED, IGNORE_ANNOTATION);
}

/* -- kinds that only discovery tells -- */

TEST_LOOP(a_kind_that_scales_or_not, 0, 6)
{
	static const struct {
		const char *list;
		int status, may_read;
		enum outcome outcome;
		enum reason reason;
	} rows[] = {
		{ FLEETS(WITH_SCALE), 200, 1, OUTCOME_DONE, REASON_EVICTED },
		{ FLEETS(WITH_SCALE), 200, 0, OUTCOME_DONE, REASON_EVICTED }, /* its right is not printed */
		{ FLEETS(), 200, 1, OUTCOME_REFUSED, REASON_JOB_POD_KEPT },
		{ NOTFOUND, 404, 1, OUTCOME_REFUSED, REASON_JOB_POD_KEPT },
		{ DENIED, 403, 1, OUTCOME_REFUSED, REASON_OWNER_UNREADABLE },
		{ FLEETS(WITH_SCALE), 200, 2, OUTCOME_REFUSED, REASON_IGNORE_ANNOTATION },
	};

	on_pod("41", "," BY_FLEET, "", EVICTED);
	on(DISCO, rows[_i].status, "%s", rows[_i].list);
	if (rows[_i].may_read == 0)
		on("GET " FLEET, 403, DENIED);
	if (rows[_i].may_read == 2)
		on("GET " FLEET, 200, "{'metadata':{'uid':'fleet-1'" MARKED "}}");
	go();
	expect_result(rows[_i].outcome, rows[_i].reason, _i);
}

TEST(a_kind_that_does_not_scale_is_included)
{
	fake.policy.duty[DUTY_EVICTED].include_jobs = true;
	on_pod("41", "," BY_FLEET, "", EVICTED);
	on(DISCO, 200, FLEETS());
	go();
	REQUESTS(GET, DISCO, "GET " FLEET, DELETE);
	RESULT(DONE, EVICTED);
}

/* Nothing is asked of the server. */
TEST(a_kind_of_the_list)
{
	str_list_add(&fake.policy.job_kinds, "Fleet.example.com", 17);
	on_pod("41", "," BY_FLEET, "", EVICTED);
	go();
	REQUESTS(GET);
	RESULT(REFUSED, JOB_POD_KEPT);
}

/* -- queues -- */

TEST_LOOP(a_job_of_a_queue, 0, 3)
{
	static const char *const jobs[] = {
		"{'metadata':{'name':'web','uid':'job-1'}}",
		"{'metadata':{'name':'web','uid':'job-1','labels':{'kueue.x-k8s.io/queue-name':'gpu'}}}",
		"{'metadata':{'name':'web','uid':'job-1'," OWNED("jobset.x-k8s.io/v1alpha2", "JobSet", "set",
								 "set-1") "}}",
	};

	fake.policy.duty[DUTY_EVICTED].include_jobs = true;
	on_pod("41", "," BY_JOB, "", EVICTED);
	on(JOB, 200, "%s", jobs[_i]);
	go();
	if (_i) {
		REQUESTS(GET, JOB);
		RESULT(REFUSED, LEFT_TO_QUEUE);
	} else {
		RESULT(DONE, EVICTED);
	}
}

TEST_MAIN("worker/owner_marks")
{
	tcase_add_checked_fixture(t, setup, teardown);
}
