/* The action of deleteEvictedPod, and everything all actions share: verification, conflicts, refusals of the
 * server, lost answers, time. */
// SPDX-License-Identifier: Apache-2.0
#include "fake.h"
#include "tests/suite.h"

#define EVICTED "'phase':'Failed','reason':'Evicted'"
#define GET     "GET " POD_PATH
#define DELETE  "DELETE " POD_PATH
#define BODY(rv)                                                                                             \
	DELETE " {\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\",\"preconditions\":{\"uid\":\"pod-1\","    \
	       "\"resourceVersion\":\"" rv "\"}}"
#define SUCCESS "{'kind':'Status','apiVersion':'v1','status':'Success'}"
#define FAILURE                                                                                              \
	"{'kind':'Status','apiVersion':'v1','status':'Failure','message':'because','reason':'X','code':%d}"

START_TEST(deletes_with_preconditions)
{
	on_pod("41", "", "", EVICTED);
	on(DELETE, 200, SUCCESS);
	go();
	REQUESTS(GET, BODY("41"));
	RESULT(DONE, EVICTED);
	ck_assert_str_eq(fake.result.target, "pods/shop/web");
	ck_assert_str_eq(fake.result.target_uid, "pod-1");
	ck_assert_str_eq(fake.result.target_rv, "41");
	ck_assert_uint_eq(fake.result.http, 200);
	ck_assert_int_eq(fake.result.replicas, -1);
	ck_assert_int_eq(fake.result.at, NOW);
	ck_assert_str_eq(fake.result.detail, "phase Failed, reason Evicted");
	ck_assert_str_eq(fake.result.request, BODY("41"));
	ck_assert_str_eq(fake.result.evidence, "pod web at resourceVersion 41: phase Failed, reason Evicted");
}
END_TEST

START_TEST(observe_is_a_dry_run_of_the_same_path)
{
	fake.grant.observe = true;
	on_pod("41", "", "", EVICTED);
	on(DELETE, 200, SUCCESS);
	go();
	REQUESTS(GET, DELETE
		 " {\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\",\"preconditions\":{\"uid\":\"pod-1\","
		 "\"resourceVersion\":\"41\"},\"dryRun\":[\"All\"]}");
	RESULT(DONE, EVICTED);
}
END_TEST

/* A dry run reads and judges alike, sends no write, and says what it would have sent. */
START_TEST(a_dry_run_writes_nothing)
{
	fake.dry_run = true;
	fake.grant.observe = _i == 1;
	on_pod("41", "", "", EVICTED);
	go();
	REQUESTS(GET);
	RESULT(WOULD, EVICTED);
	ck_assert_str_eq(fake.result.target, "pods/shop/web");
	ck_assert_str_eq(fake.result.target_uid, "pod-1");
	ck_assert_str_eq(fake.result.target_rv, "41");
	ck_assert_uint_eq(fake.result.http, 0);
	ck_assert_str_eq(fake.result.request,
			 _i == 0 ? BODY("41")
				 : DELETE
				 " {\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\",\"preconditions\":"
				 "{\"uid\":\"pod-1\",\"resourceVersion\":\"41\"},\"dryRun\":[\"All\"]}");
	ck_assert_str_eq(fake.result.evidence, "pod web at resourceVersion 41: phase Failed, reason Evicted");
}
END_TEST

/* A dry run is one under an older mode, too: whether enforcing is allowed is not its question. */
START_TEST(a_dry_run_refuses_as_the_action_does)
{
	fake.dry_run = true;
	fake.policy.mode = MODE_OBSERVE;
	on_pod("41", "", "", _i == 0 ? "'phase':'Running'" : EVICTED);
	go();
	REQUESTS(GET);
	if (_i == 0)
		RESULT(REFUSED, NOT_EVICTED);
	else
		RESULT(WOULD, EVICTED);
}
END_TEST

/* The mode was changed between grant and write: nothing is written any more. */
START_TEST(observe_stops_an_older_grant)
{
	fake.policy.mode = MODE_OBSERVE;
	on_pod("41", "", "", EVICTED);
	go();
	REQUESTS(GET);
	RESULT(FAILED, GRANT_EXPIRED);
}
END_TEST

START_TEST(gone_before)
{
	on(GET, 404, FAILURE, 404);
	fake.grant.verify_first = _i == 1;
	go();
	REQUESTS(GET);
	if (_i == 1)
		RESULT(UNCONFIRMED, PROBABLY_DONE);
	else
		RESULT(GONE, POD_GONE);
	ck_assert_uint_eq(fake.result.http, 0);
	ck_assert_str_eq(fake.result.target, "");
}
END_TEST

/* The name was taken by a new pod: it is never touched. */
START_TEST(another_uid)
{
	on(GET, 200,
	   "{'metadata':{'name':'web','namespace':'shop','uid':'pod-2','resourceVersion':'9',"
	   "'creationTimestamp':'" LIVE "'},'status':{" EVICTED "}}");
	fake.grant.verify_first = _i == 1;
	go();
	REQUESTS(GET);
	if (_i == 1)
		RESULT(UNCONFIRMED, PROBABLY_DONE);
	else
		RESULT(GONE, UID_CHANGED);
}
END_TEST

START_TEST(got_better)
{
	on_pod("41", "", "", "'phase':'Running'");
	go();
	REQUESTS(GET);
	RESULT(REFUSED, NOT_EVICTED);
}
END_TEST

START_TEST(already_being_deleted)
{
	on_pod("41", ",'deletionTimestamp':'2026-09-21T14:13:00Z','finalizers':['a/b']", "", EVICTED);
	fake.grant.verify_first = _i == 1;
	go();
	REQUESTS(GET);
	if (_i == 1)
		RESULT(UNCONFIRMED, PROBABLY_DONE);
	else
		RESULT(GONE, BEING_DELETED);
}
END_TEST

/* The earlier holder died before it wrote: the work is still to be done. */
START_TEST(verify_first_finds_it_unchanged)
{
	fake.grant.verify_first = true;
	on_pod("41", "", "", EVICTED);
	on(DELETE, 200, SUCCESS);
	go();
	REQUESTS(GET, BODY("41"));
	RESULT(DONE, EVICTED);
}
END_TEST

START_TEST(conflict_reads_and_judges_again)
{
	on_pod("42", "", "", EVICTED);
	on_pod("41", "", "", EVICTED);
	fake.replies[1].times = 1;
	on(DELETE, 200, SUCCESS);
	on(DELETE, 409, FAILURE, 409)->times = 1;
	go();
	REQUESTS(GET, BODY("41"), GET, BODY("42"));
	RESULT(DONE, EVICTED);
	ck_assert_str_eq(fake.result.target_rv, "42");
	ck_assert_str_eq(fake.result.request, BODY("42"));
	ck_assert_str_eq(fake.result.evidence, "pod web at resourceVersion 42: phase Failed, reason Evicted");
}
END_TEST

START_TEST(conflict_without_end)
{
	on_pod("41", "", "", EVICTED);
	on(DELETE, 409, FAILURE, 409);
	go();
	REQUESTS(GET, DELETE, GET, DELETE, GET, DELETE);
	RESULT(CONFLICT, PRECONDITION_FAILED);
	ck_assert_uint_eq(fake.result.http, 409);
}
END_TEST

START_TEST(conflict_because_it_got_better)
{
	on_pod("42", "", "", "'phase':'Running'");
	on_pod("41", "", "", EVICTED);
	fake.replies[1].times = 1;
	on(DELETE, 409, FAILURE, 409);
	go();
	REQUESTS(GET, DELETE, GET);
	RESULT(REFUSED, NOT_EVICTED);
}
END_TEST

START_TEST(conflict_because_of_another_uid)
{
	on(GET, 200, "{'metadata':{'name':'web','namespace':'shop','uid':'pod-2','resourceVersion':'9'}}");
	on_pod("41", "", "", EVICTED);
	fake.replies[1].times = 1;
	on(DELETE, 409, FAILURE, 409);
	go();
	REQUESTS(GET, DELETE, GET);
	RESULT(GONE, UID_CHANGED);
}
END_TEST

/* Of a grant that says "verify first", it may be the earlier holder's delete that arrived. */
START_TEST(gone_at_the_write)
{
	fake.grant.verify_first = _i == 1;
	on_pod("41", "", "", EVICTED);
	on(DELETE, 404, FAILURE, 404);
	go();
	REQUESTS(GET, DELETE);
	if (_i == 1)
		RESULT(UNCONFIRMED, PROBABLY_DONE);
	else
		RESULT(GONE, POD_GONE);
	ck_assert_uint_eq(fake.result.http, 404);
}
END_TEST

/* What the server may say to a write that was certainly not carried out. */
static const struct {
	long status;
	enum outcome outcome;
	enum reason reason;
	unsigned credentials;
} refusals[] = {
	{ 400, OUTCOME_FAILED, REASON_SERVER_REJECTED, 0 },
	{ 401, OUTCOME_FORBIDDEN, REASON_UNAUTHORIZED, 1 },
	{ 403, OUTCOME_FORBIDDEN, REASON_FORBIDDEN, 0 },
	{ 405, OUTCOME_FAILED, REASON_SERVER_REJECTED, 0 },
	{ 422, OUTCOME_FAILED, REASON_SERVER_REJECTED, 0 },
	{ 429, OUTCOME_FAILED, REASON_THROTTLED, 0 },
	{ 503, OUTCOME_FAILED, REASON_SERVER_ERROR, 0 },
};

START_TEST(server_refuses_the_write)
{
	on_pod("41", "", "", EVICTED);
	on(DELETE, refusals[_i].status, FAILURE, (int)refusals[_i].status)->retry_after_ms = 1500;
	go();
	REQUESTS(GET, DELETE);
	expect_result(refusals[_i].outcome, refusals[_i].reason, _i);
	ck_assert_uint_eq(fake.result.http, (uint64_t)refusals[_i].status);
	ck_assert_uint_eq(fake.credentials, refusals[_i].credentials);
	ck_assert_ptr_nonnull(strstr(fake.result.detail, "delete pods: "));
	ck_assert_ptr_nonnull(strstr(fake.result.detail, "because"));
	if (refusals[_i].reason == REASON_THROTTLED || refusals[_i].reason == REASON_SERVER_ERROR)
		ck_assert_uint_eq(fake.result.retry_ms, 1500);
}
END_TEST

START_TEST(server_refuses_the_read)
{
	on(GET, refusals[_i].status, FAILURE, (int)refusals[_i].status);
	go();
	REQUESTS(GET);
	expect_result(refusals[_i].outcome, refusals[_i].reason, _i);
	ck_assert_uint_eq(fake.result.http, 0);
	ck_assert_uint_eq(fake.credentials, refusals[_i].credentials);
}
END_TEST

/* A refusal inside a success is a refusal. */
START_TEST(failure_inside_200)
{
	on_pod("41", "", "", EVICTED);
	on(DELETE, 201, FAILURE, 403);
	go();
	REQUESTS(GET, DELETE);
	RESULT(FORBIDDEN, FORBIDDEN);
}
END_TEST

START_TEST(throttled_in_plain_text)
{
	on_pod("41", "", "", EVICTED);
	on(DELETE, 429, "Too many requests, please try again later.")->retry_after_ms = 1000;
	go();
	RESULT(FAILED, THROTTLED);
	ck_assert_uint_eq(fake.result.retry_ms, 1000);
	ck_assert_ptr_nonnull(strstr(fake.result.detail, "Too many requests"));
}
END_TEST

/* Lost answers of a write: it is looked at, never sent again. */
static const struct {
	long status;
	enum http_failure failure;
	bool sent, looks;
	enum reason reason;
} lost[] = {
	{ 500, HTTP_OK, true, true, REASON_SERVER_ERROR },
	{ 502, HTTP_OK, true, true, REASON_SERVER_ERROR },
	{ 504, HTTP_OK, true, true, REASON_SERVER_ERROR },
	{ 0, HTTP_TIMEOUT, true, true, REASON_NETWORK_ERROR },
	{ 0, HTTP_BROKEN, true, true, REASON_NETWORK_ERROR },
	{ 0, HTTP_TOO_LARGE, true, true, REASON_BAD_ANSWER },
	{ 0, HTTP_TIMEOUT, false, false, REASON_NETWORK_ERROR },
	{ 0, HTTP_BROKEN, false, false, REASON_NETWORK_ERROR },
	{ 0, HTTP_CONNECT, false, false, REASON_NETWORK_ERROR },
};

static void lose(int i)
{
	if (lost[i].status)
		on(DELETE, lost[i].status, FAILURE, (int)lost[i].status);
	else
		on_failure(DELETE, lost[i].failure, lost[i].sent);
}

START_TEST(lost_answer_and_unchanged)
{
	on_pod("41", "", "", EVICTED);
	lose(_i);
	go();
	if (lost[_i].looks)
		REQUESTS(GET, DELETE, GET);
	else
		REQUESTS(GET, DELETE);
	expect_result(OUTCOME_FAILED, lost[_i].reason, _i);
}
END_TEST

START_TEST(lost_answer_and_gone)
{
	on(GET, 404, FAILURE, 404);
	on_pod("41", "", "", EVICTED);
	fake.replies[1].times = 1;
	lose(_i);
	go();
	if (lost[_i].looks)
		RESULT(UNCONFIRMED, PROBABLY_DONE);
	else
		expect_result(OUTCOME_FAILED, lost[_i].reason, _i);
}
END_TEST

START_TEST(lost_answer_and_another_uid)
{
	on(GET, 200, "{'metadata':{'name':'web','namespace':'shop','uid':'pod-2','resourceVersion':'9'}}");
	on_pod("41", "", "", EVICTED);
	fake.replies[1].times = 1;
	lose(0);
	go();
	REQUESTS(GET, DELETE, GET);
	RESULT(UNCONFIRMED, PROBABLY_DONE);
}
END_TEST

START_TEST(lost_answer_and_blind)
{
	on_failure(GET, HTTP_CONNECT, false);
	on_pod("41", "", "", EVICTED);
	fake.replies[1].times = 1;
	lose(3);
	go();
	REQUESTS(GET, DELETE, GET);
	RESULT(FAILED, NETWORK_ERROR);
	ck_assert_ptr_nonnull(strstr(fake.result.detail, "delete pods"));
}
END_TEST

START_TEST(unreadable_answers)
{
	static const char *const bodies[] = {
		"",
		"nonsense",
		"[]",
		"{}",
		"{'metadata':{'name':'web','namespace':'shop'}}",
		"{'metadata':{'name':'other','namespace':'shop','uid':'pod-1'}}",
		"{'metadata':{'name':'web','namespace':'other','uid':'pod-1'}}",
	};

	on(GET, 200, "%s", bodies[_i]);
	go();
	REQUESTS(GET);
	RESULT(FAILED, BAD_ANSWER);
}
END_TEST

START_TEST(expired_grant)
{
	fake.grant.valid_until = BOOT - 1;
	go();
	ck_assert_uint_eq(fake.n_log, 0);
	RESULT(FAILED, GRANT_EXPIRED);
}
END_TEST

START_TEST(grant_expires_while_reading)
{
	fake.grant.valid_until = BOOT + 999;
	fake.slowness_ms = 1000;
	on_pod("41", "", "", EVICTED);
	go();
	REQUESTS(GET);
	RESULT(FAILED, GRANT_EXPIRED);
}
END_TEST

START_TEST(grant_valid_to_the_last_moment)
{
	fake.grant.valid_until = BOOT + 1000;
	fake.slowness_ms = 1000;
	on_pod("41", "", "", EVICTED);
	on(DELETE, 200, SUCCESS);
	go();
	RESULT(DONE, EVICTED);
}
END_TEST

/* Nothing is written on what was read more than 2 s ago. */
START_TEST(stale_reads)
{
	on_pod("41", "", "", EVICTED);
	on(DELETE, 200, SUCCESS);
	fake.slowness_ms = 2000;
	if (_i == 0) {
		go();
		RESULT(DONE, EVICTED);
		return;
	}
	fake.slowness_ms = 2001;
	go();
	REQUESTS(GET, GET, GET);
	RESULT(FAILED, GRANT_EXPIRED);
}
END_TEST

/* Judged by the rules of one duty, and written as another would: nobody honest asks for that. */
START_TEST(another_duty_s_action)
{
	static const enum action_kind others[] = { ACTION_FORCE_DELETE, ACTION_SCALE_DOWN,
						   ACTION_FRESH_ATTEMPT, ACTION_RESTORE };

	fake.grant.action = others[_i];
	on_pod("41", "", "", EVICTED);
	go();
	REQUESTS(NULL);
	RESULT(REFUSED, INCOMPLETE_FACTS);
}
END_TEST

START_TEST(job_pods)
{
	on_pod("41",
	       ",'ownerReferences':[{'apiVersion':'batch/"
	       "v1','kind':'Job','name':'j','uid':'job-1','controller':true}]",
	       "", EVICTED);
	go();
	REQUESTS(GET);
	RESULT(REFUSED, JOB_POD_KEPT);
}
END_TEST

#define LEN(a) (int)(sizeof(a) / sizeof((a)[0]))

TEST_MAIN("worker/evicted")
{
	tcase_add_checked_fixture(t, fake_setup, fake_teardown);
	tcase_add_test(t, deletes_with_preconditions);
	tcase_add_test(t, observe_is_a_dry_run_of_the_same_path);
	tcase_add_loop_test(t, a_dry_run_writes_nothing, 0, 2);
	tcase_add_loop_test(t, a_dry_run_refuses_as_the_action_does, 0, 2);
	tcase_add_test(t, observe_stops_an_older_grant);
	tcase_add_loop_test(t, gone_before, 0, 2);
	tcase_add_loop_test(t, another_uid, 0, 2);
	tcase_add_test(t, got_better);
	tcase_add_loop_test(t, already_being_deleted, 0, 2);
	tcase_add_test(t, verify_first_finds_it_unchanged);
	tcase_add_test(t, conflict_reads_and_judges_again);
	tcase_add_test(t, conflict_without_end);
	tcase_add_test(t, conflict_because_it_got_better);
	tcase_add_test(t, conflict_because_of_another_uid);
	tcase_add_loop_test(t, gone_at_the_write, 0, 2);
	tcase_add_loop_test(t, server_refuses_the_write, 0, LEN(refusals));
	tcase_add_loop_test(t, server_refuses_the_read, 0, LEN(refusals));
	tcase_add_test(t, failure_inside_200);
	tcase_add_test(t, throttled_in_plain_text);
	tcase_add_loop_test(t, lost_answer_and_unchanged, 0, LEN(lost));
	tcase_add_loop_test(t, lost_answer_and_gone, 0, LEN(lost));
	tcase_add_test(t, lost_answer_and_another_uid);
	tcase_add_test(t, lost_answer_and_blind);
	tcase_add_loop_test(t, unreadable_answers, 0, 7);
	tcase_add_test(t, expired_grant);
	tcase_add_test(t, grant_expires_while_reading);
	tcase_add_test(t, grant_valid_to_the_last_moment);
	tcase_add_loop_test(t, stale_reads, 0, 2);
	tcase_add_loop_test(t, another_duty_s_action, 0, 4);
	tcase_add_test(t, job_pods);
}
