/* A pod that is stuck holds its workload up: the verdict and the evidence say which, and why. */
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "tests/facts_en.h"
#include "tests/suite.h"
#include "workload.h"

#define NODE   "GET /api/v1/nodes/n1"
#define JOB    "GET /apis/batch/v1" NS "jobs/web"
#define DELETE "DELETE " POD_PATH
#define STUCK  ",'deletionTimestamp':'2026-09-21T13:13:19Z','deletionGracePeriodSeconds':30,"
#define BY_JOB OWNED("batch/v1", "Job", "web", "job-1")
#define WAITS  " makes no other pod before it is gone ("

static void setup(void)
{
	fake_setup();
	without_evictions();
	fake.grant.duty = DUTY_TERMINATING;
	fake.grant.action = ACTION_FORCE_DELETE;
	on(NODE, 404, NOTFOUND);
	on(DELETE, 200, "{'kind':'Status','status':'Success'}");
	on(RS, 200, "{'metadata':{'name':'web-2','uid':'rs-2'," BY_DEPLOY "}}");
	on(DEPLOY, 200, "{'metadata':{'name':'web','uid':'dep-1'}}");
	on("GET /apis/apps/v1" NS "statefulsets/web", 200, "{'metadata':{'name':'web','uid':'sts-1'}}");
}

static void on_stuck(const char *owner, const char *phase)
{
	char meta[700], status[40];

	(void)snprintf(meta, sizeof(meta), STUCK "%s", owner);
	(void)snprintf(status, sizeof(status), "'phase':'%s'", phase);
	on_pod("41", meta, "'nodeName':'n1'", status);
}

/* NULL: nothing is said. */
static void expect_held(const char *text)
{
	RESULT(DONE, STUCK_TERMINATING);
	if (text)
		ck_assert_msg(strstr(EN(fake.result.detail), text) != NULL, "%s", EN(fake.result.detail));
	else
		ck_assert_msg(!strstr(EN(fake.result.detail), WAITS), "%s", EN(fake.result.detail));
}

TEST_LOOP(a_deployment, 0, 8)
{
	static const struct {
		const char *spec, *status, *text;
	} rows[] = {
		{ "'replicas':2,'strategy':{'type':'Recreate'}",
		  "'updatedReplicas':0,'terminatingReplicas':3",
		  "; Deployment/web" WAITS "strategy Recreate, 3 terminating)" },
		{ "'replicas':2,'strategy':{'type':'Recreate'}", "",
		  "; Deployment/web" WAITS "strategy Recreate)" },
		{ "'strategy':{'type':'Recreate'}", "", "; Deployment/web" WAITS "strategy Recreate)" },
		{ "'replicas':2,'podReplacementPolicy':'TerminationComplete'", "'updatedReplicas':1",
		  "; Deployment/web" WAITS "podReplacementPolicy TerminationComplete)" },
		{ "'replicas':2,'podReplacementPolicy':'TerminationStarted'", "'updatedReplicas':1", NULL },
		{ "'replicas':2,'strategy':{'type':'RollingUpdate'}", "'terminatingReplicas':3", NULL },
		{ "'replicas':2,'strategy':{'type':'Recreate'}", "'updatedReplicas':2", NULL },
		{ "'replicas':0,'strategy':{'type':'Recreate'}", "", NULL },
	};

	on_stuck(BY_RS, "Running");
	on(DEPLOY, 200, "{'metadata':{'name':'web','uid':'dep-1'},'spec':{%s},'status':{%s}}", rows[_i].spec,
	   rows[_i].status);
	go();
	REQUESTS(GET, NODE, RS, DEPLOY, DELETE);
	expect_held(rows[_i].text);
}

TEST_LOOP(a_job, 0, 4)
{
	static const struct {
		const char *spec, *status, *text;
	} rows[] = {
		{ "'podReplacementPolicy':'Failed'", "'terminating':1",
		  "; Job/web" WAITS "podReplacementPolicy Failed, 1 terminating)" },
		{ "'podReplacementPolicy':'Failed','suspend':true", "'terminating':1", NULL },
		{ "'podReplacementPolicy':'TerminatingOrFailed'", "'terminating':1", NULL },
		{ "", "", NULL },
	};

	on_stuck(BY_JOB, "Running");
	on(JOB, 200, "{'metadata':{'name':'web','uid':'job-1'},'spec':{%s},'status':{%s}}", rows[_i].spec,
	   rows[_i].status);
	go();
	REQUESTS(GET, NODE, JOB, DELETE);
	expect_held(rows[_i].text);
}

/* Whatever its phase: the next one bears its name. Of others one that is over is not waited for. */
TEST_LOOP(a_pod_that_is_over, 0, 3)
{
	static const char *const owners[] = { BY_STS, BY_RS, BY_JOB };

	on(JOB, 200, "{'metadata':{'name':'web','uid':'job-1'}}");
	on_stuck(owners[_i], "Failed");
	go();
	expect_held(_i == 0 ? "; StatefulSet/web" WAITS "the next bears its name)" : NULL);
}

/* What is gone, or is another object, says nothing and forbids nothing; whether what may not be read is
 * marked to be left alone is not known. */
TEST_LOOP(not_known, 0, 6)
{
	on_stuck(BY_RS, "Running");
	on(DEPLOY, 200, "{'metadata':{'uid':'dep-1'},'spec':{'strategy':{'type':'Recreate'}}}");
	if (_i == 0)
		on(RS, 403, DENIED);
	if (_i == 1)
		on(RS, 404, NOTFOUND);
	if (_i == 2)
		on(RS, 200, "{'metadata':{'uid':'rs-9'," BY_DEPLOY "}}");
	if (_i == 3)
		on(RS, 200, "{'metadata':{'uid':'rs-2'}}");
	if (_i == 4)
		on(DEPLOY, 403, DENIED);
	if (_i == 5)
		on(DEPLOY, 200, "{'metadata':{'uid':'dep-9'},'spec':{'strategy':{'type':'Recreate'}}}");
	go();
	if (_i == 0 || _i == 4)
		RESULT(FORBIDDEN, FORBIDDEN);
	else
		expect_held(NULL);
}

/* A refusal says it as well: what is refused holds it up for longer. */
TEST(refused)
{
	on_stuck(BY_STS, "Running");
	on(NODE, 200,
	   "{'metadata':{'name':'n1'},'status':{'conditions':[{'type':'Ready','status':'False'}]}}");
	go();
	RESULT(REFUSED, NODE_NOT_READY);
	ck_assert_ptr_nonnull(strstr(EN(fake.result.detail), "; StatefulSet/web" WAITS));
}

TEST_MAIN("worker/holder")
{
	tcase_add_checked_fixture(t, setup, fake_teardown);
}
