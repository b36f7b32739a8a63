/* The action of deleteEvictedPod, and everything all actions share: verification, conflicts, refusals of the
 * server, lost answers, time. */
// SPDX-License-Identifier: Apache-2.0
#include "fake.h"
#include "tests/facts_en.h"
#include "tests/suite.h"
#include "worker/access.h"

#define EVICTED "'phase':'Failed','reason':'Evicted'"
#define GET     "GET " POD_PATH
#define DELETE  "DELETE " POD_PATH
#define BODY(rv)                                                                                             \
	DELETE " {\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\",\"preconditions\":{\"uid\":\"pod-1\","    \
	       "\"resourceVersion\":\"" rv "\"}}"
#define SUCCESS "{'kind':'Status','apiVersion':'v1','status':'Success'}"
#define FAILURE                                                                                              \
	"{'kind':'Status','apiVersion':'v1','status':'Failure','message':'because','reason':'X','code':%d}"
#define ABSENT                                                                                               \
	"{'kind':'Status','apiVersion':'v1','status':'Failure','message':'gone','reason':'NotFound','"       \
	"details':"                                                                                          \
	"{'name':'web','kind':'pods'},'code':404}"

#define LEN(a) (int)(sizeof(a) / sizeof((a)[0]))

TEST(deletes_with_preconditions)
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
	ck_assert_str_eq(EN(fake.result.detail), "phase Failed, reason Evicted");
	ck_assert_str_eq(fake.result.request, BODY("41"));
	ck_assert_str_eq(EN(fake.result.evidence),
			 "pod web at resourceVersion 41: phase Failed, reason Evicted");
}

/* Why it was evicted goes with the pod: the history has it. */
TEST(the_words_of_the_kubelet_are_kept)
{
	on_pod("41", "", "",
	       EVICTED ",'message':'The node was low on resource: memory. Threshold quantity: 100Mi.'");
	on(DELETE, 200, SUCCESS);
	go();
	RESULT(DONE, EVICTED);
	ck_assert_str_eq(EN(fake.result.detail), "phase Failed, reason Evicted; The node was low on "
						 "resource: memory. Threshold quantity: 100Mi.");
}

/* A container may end with any bytes in its message. */
TEST(a_message_with_a_nul_is_read)
{
	on_pod("41", "", "",
	       EVICTED
	       ",'message':'low on \\u0000memory','containerStatuses':[{'name':'a','state':{'terminated':{"
	       "'exitCode':137,'reason':'Error','message':'\\u0000\\u0000'}}}]");
	on(DELETE, 200, SUCCESS);
	go();
	RESULT(DONE, EVICTED);
	ck_assert_ptr_nonnull(strstr(EN(fake.result.detail), "memory"));
}

TEST(observe_is_a_dry_run_of_the_same_path)
{
	fake.grant.observe = true;
	on_pod("41", "", "", EVICTED);
	on(DELETE, 200, SUCCESS);
	go();
	REQUESTS(GET, DELETE
		 " {\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\",\"preconditions\":{\"uid\":\"pod-1\","
		 "\"resourceVersion\":\"41\"},\"dryRun\":[\"All\"]}");
	RESULT(WOULD, EVICTED);
}

/* A credential that may only read is enough to observe; what an admission plugin forbids is the server's
 * word. */
TEST_LOOP(observe_without_the_right_to_ask, 0, 6)
{
	static const char by_rights[] = "pods \\\"web\\\" is forbidden: User \\\"u\\\" cannot delete "
					"resource \\\"pods\\\" in API group \\\"\\\" in the "
					"namespace \\\"shop\\\"";
	static const struct {
		int status;
		const char *message;
		bool enforce;
		enum outcome outcome;
	} cases[] = {
		{ 403, by_rights, false, OUTCOME_WOULD },
		{ 403, by_rights, true, OUTCOME_FORBIDDEN },
		{ 403,
		  "admission webhook \\\"w\\\" denied the request: forbidden: User \\\"u\\\" cannot do that",
		  false, OUTCOME_FORBIDDEN },
		{ 403, "pods \\\"web\\\" is forbidden: exceeded quota", false, OUTCOME_FORBIDDEN },
		{ 401, by_rights, false, OUTCOME_FORBIDDEN },
		{ 500, by_rights, false, OUTCOME_FAILED },
	};

	fake.grant.observe = !cases[_i].enforce;
	on_pod("41", "", "", EVICTED);
	on(DELETE, cases[_i].status,
	   "{'kind':'Status','apiVersion':'v1','status':'Failure','message':'%s','code':%d}",
	   cases[_i].message, cases[_i].status);
	go();
	ck_assert_uint_eq(fake.result.outcome, cases[_i].outcome);
	ck_assert_uint_eq(fake.result.http, (uint64_t)cases[_i].status);
	if (_i > 0)
		return;
	ck_assert_str_eq(fake.result.reason, "Evicted");
	ck_assert_ptr_nonnull(strstr(EN(fake.result.detail),
				     "phase Failed, reason Evicted; the server was not asked; "
				     "delete pods: 403 pods \"web\" is forbidden"));
}

/* What the credential may not write is not asked for: nothing is refused, and our own judgement stands. */
TEST(observe_asks_for_nothing_that_it_may_not_do)
{
	fake.grant.observe = true;
	on_pod("41", "", "", EVICTED);
	on("POST " ACCESS_PATH, 201, "{'status':{'allowed':false,'reason':'no rule'}}");
	go();
	REQUESTS(GET,
		 "POST " ACCESS_PATH
		 " {\"apiVersion\":\"authorization.k8s.io/v1\",\"kind\":\"SelfSubjectAccessReview\",\"spec\":"
		 "{\"resourceAttributes\":{\"group\":\"\",\"resource\":\"pods\",\"subresource\":\"\","
		 "\"verb\":\"delete\","
		 "\"namespace\":\"shop\",\"name\":\"web\"}}}");
	RESULT(WOULD, EVICTED);
	ck_assert_uint_eq(fake.result.http, 403);
	ck_assert_ptr_nonnull(strstr(fake.result.request, "\"dryRun\":[\"All\"]"));
	ck_assert_ptr_nonnull(strstr(EN(fake.result.detail),
				     "the server was not asked; delete pods: the credential "
				     "has no right to it: no rule"));
}

/* What a review does not say, the write itself is asked. */
TEST_LOOP(observe_asks_where_no_review_answers, 0, 4)
{
	static const struct {
		long status;
		const char *body;
	} answers[] = {
		{ 201, "{'status':{'allowed':true}}" }, { 201, "{}" }, { 404, "{}" }, { 500, "gone" }
	};

	fake.grant.observe = true;
	on_pod("41", "", "", EVICTED);
	on("POST " ACCESS_PATH, answers[_i].status, "%s", answers[_i].body);
	on(DELETE, 200, SUCCESS);
	go();
	REQUESTS(GET, "POST " ACCESS_PATH, DELETE);
	RESULT(WOULD, EVICTED);
}

/* A dry run reads and judges alike, sends no write, and says what it would have sent. */
TEST_LOOP(a_dry_run_writes_nothing, 0, 2)
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
	ck_assert_str_eq(EN(fake.result.evidence),
			 "pod web at resourceVersion 41: phase Failed, reason Evicted");
}

/* A dry run is one under an older mode, too: whether enforcing is allowed is not its question. */
TEST_LOOP(a_dry_run_refuses_as_the_action_does, 0, 2)
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

/* The mode was changed between grant and write: nothing is written any more. */
TEST(observe_stops_an_older_grant)
{
	fake.policy.mode = MODE_OBSERVE;
	on_pod("41", "", "", EVICTED);
	go();
	REQUESTS(GET);
	RESULT(FAILED, GRANT_EXPIRED);
}

TEST_LOOP(gone_before, 0, 2)
{
	on(GET, 404, ABSENT);
	fake.grant.verify_first = _i == 1;
	go();
	REQUESTS(GET);
	RESULT_GONE(POD_GONE);
	ck_assert_uint_eq(fake.result.http, 0);
	ck_assert_str_eq(fake.result.target, "");
}

/* The name was taken by a new pod: it is never touched. */
TEST_LOOP(another_uid, 0, 2)
{
	on(GET, 200,
	   "{'metadata':{'name':'web','namespace':'shop','uid':'pod-2','resourceVersion':'9',"
	   "'creationTimestamp':'" LIVE "'},'status':{" EVICTED "}}");
	fake.grant.verify_first = _i == 1;
	go();
	REQUESTS(GET);
	RESULT_GONE(UID_CHANGED);
}

TEST(got_better)
{
	on_pod("41", "", "", "'phase':'Running'");
	go();
	REQUESTS(GET);
	RESULT(REFUSED, NOT_EVICTED);
}

TEST_LOOP(already_being_deleted, 0, 2)
{
	on_pod("41", ",'deletionTimestamp':'2026-09-21T14:13:00Z','finalizers':['a/b']", "", EVICTED);
	fake.grant.verify_first = _i == 1;
	go();
	REQUESTS(GET);
	RESULT_GONE(BEING_DELETED);
}

#define HALF(at) ",'deletionTimestamp':'" at "','deletionGracePeriodSeconds':0"

/* The API server was cut off after it had marked it: the rest is done, bound to what was read. */
TEST(half_deleted_is_finished)
{
	on_pod("41", HALF("2026-09-21T14:12:19Z"), "", EVICTED);
	on(DELETE, 200, SUCCESS);
	go();
	REQUESTS(GET, BODY("41"));
	RESULT(DONE, EVICTED);
}

/* It may be on its way: its time is said, so that nobody asks before. */
TEST_LOOP(half_deleted_a_moment_ago, 0, 2)
{
	on_pod("41", HALF("2026-09-21T14:12:50Z"), "", EVICTED);
	fake.grant.verify_first = _i == 1;
	go();
	REQUESTS(GET);
	RESULT_GONE(BEING_DELETED);
	ck_assert_uint_eq(fake.result.retry_ms, 30001);
}

/* The client left, the server gave up after it had marked it. */
TEST(half_deleted_by_a_write_that_was_cut_off)
{
	on_pod("42", HALF("2026-09-21T14:13:20Z"), "", EVICTED);
	on_pod("41", "", "", EVICTED)->times = 1;
	on(DELETE, 504, FAILURE, 504);
	go();
	REQUESTS(GET, BODY("41"), GET);
	RESULT(UNCONFIRMED, PROBABLY_DONE);
	ck_assert_uint_eq(fake.result.retry_ms, 60001);
}

/* Accepted, and then a finalizer holds it: not done yet. */
TEST(marked)
{
	on_pod("41", ",'finalizers':['batch.kubernetes.io/job-tracking','a/b']", "", EVICTED);
	on(DELETE, 200, SUCCESS);
	go();
	REQUESTS(GET, BODY("41"));
	RESULT(MARKED, HAS_FINALIZERS);
	ck_assert_str_eq(EN(fake.result.detail), "held by batch.kubernetes.io/job-tracking, held by a/b");
	ck_assert_uint_eq(fake.result.http, 200);
}

/* The earlier holder died before it wrote: the work is still to be done. */
TEST(verify_first_finds_it_unchanged)
{
	fake.grant.verify_first = true;
	on_pod("41", "", "", EVICTED);
	on(DELETE, 200, SUCCESS);
	go();
	REQUESTS(GET, BODY("41"));
	RESULT(DONE, EVICTED);
}

TEST(conflict_reads_and_judges_again)
{
	on_pod("42", "", "", EVICTED);
	on_pod("41", "", "", EVICTED)->times = 1;
	on(DELETE, 200, SUCCESS);
	on(DELETE, 409, FAILURE, 409)->times = 1;
	go();
	REQUESTS(GET, BODY("41"), GET, BODY("42"));
	RESULT(DONE, EVICTED);
	ck_assert_str_eq(fake.result.target_rv, "42");
	ck_assert_str_eq(fake.result.request, BODY("42"));
	ck_assert_str_eq(EN(fake.result.evidence),
			 "pod web at resourceVersion 42: phase Failed, reason Evicted");
}

TEST(conflict_without_end)
{
	on_pod("41", "", "", EVICTED);
	on(DELETE, 409, FAILURE, 409);
	go();
	REQUESTS(GET, DELETE, GET, DELETE, GET, DELETE);
	RESULT(CONFLICT, PRECONDITION_FAILED);
	ck_assert_uint_eq(fake.result.http, 409);
}

TEST(conflict_because_it_got_better)
{
	on_pod("42", "", "", "'phase':'Running'");
	on_pod("41", "", "", EVICTED)->times = 1;
	on(DELETE, 409, FAILURE, 409);
	go();
	REQUESTS(GET, DELETE, GET);
	RESULT(REFUSED, NOT_EVICTED);
}

TEST(conflict_because_of_another_uid)
{
	on(GET, 200, "{'metadata':{'name':'web','namespace':'shop','uid':'pod-2','resourceVersion':'9'}}");
	on_pod("41", "", "", EVICTED)->times = 1;
	on(DELETE, 409, FAILURE, 409);
	go();
	REQUESTS(GET, DELETE, GET);
	RESULT(GONE, UID_CHANGED);
}

/* Of a grant that says "verify first", it may be the earlier holder's delete that arrived. */
TEST_LOOP(gone_at_the_write, 0, 2)
{
	fake.grant.verify_first = _i == 1;
	on_pod("41", "", "", EVICTED);
	on(DELETE, 404, ABSENT);
	go();
	REQUESTS(GET, DELETE);
	RESULT_GONE(POD_GONE);
	ck_assert_uint_eq(fake.result.http, 404);
}

/* A 404 that is not the API server's (an ingress without a backend) shows nothing: neither that the pod is
 * gone, nor that an earlier write was carried out. */
#define FOREIGN "<html>default backend - 404</html>"
TEST_LOOP(gone_says_only_the_api_server, 0, 2)
{
	fake.grant.verify_first = _i == 1;
	on(GET, 404, FOREIGN);
	go();
	REQUESTS(GET);
	RESULT(FAILED, BAD_ANSWER);
	ck_assert_str_eq(EN(fake.result.detail),
			 "get pods: 404, but not as the API server says that an object does not exist");
}

TEST(gone_at_the_write_says_only_the_api_server)
{
	on_pod("41", "", "", EVICTED);
	on(DELETE, 404, FOREIGN);
	go();
	REQUESTS(GET, DELETE, GET);
	RESULT(FAILED, BAD_ANSWER);
}

TEST(gone_after_the_write_says_only_the_api_server)
{
	on(GET, 404, FOREIGN);
	on_pod("41", "", "", EVICTED)->times = 1;
	on_failure(DELETE, HTTP_BROKEN, true);
	go();
	REQUESTS(GET, DELETE, GET);
	RESULT(UNCONFIRMED, NETWORK_ERROR);
}

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

TEST_LOOP(server_refuses_the_write, 0, LEN(refusals))
{
	on_pod("41", "", "", EVICTED);
	on(DELETE, refusals[_i].status, FAILURE, (int)refusals[_i].status)->retry_after_ms = 1500;
	go();
	REQUESTS(GET, DELETE);
	expect_result(refusals[_i].outcome, refusals[_i].reason, _i);
	ck_assert_uint_eq(fake.result.http, (uint64_t)refusals[_i].status);
	ck_assert_uint_eq(fake.credentials, refusals[_i].credentials);
	ck_assert_ptr_nonnull(strstr(EN(fake.result.detail), "delete pods: "));
	ck_assert_ptr_nonnull(strstr(EN(fake.result.detail), "because"));
	if (refusals[_i].reason == REASON_THROTTLED || refusals[_i].reason == REASON_SERVER_ERROR)
		ck_assert_uint_eq(fake.result.retry_ms, 1500);
}

TEST_LOOP(server_refuses_the_read, 0, LEN(refusals))
{
	on(GET, refusals[_i].status, FAILURE, (int)refusals[_i].status);
	go();
	REQUESTS(GET);
	expect_result(refusals[_i].outcome, refusals[_i].reason, _i);
	ck_assert_uint_eq(fake.result.http, 0);
	ck_assert_uint_eq(fake.credentials, refusals[_i].credentials);
}

/* A refusal inside a success is a refusal. */
TEST(failure_inside_200)
{
	on_pod("41", "", "", EVICTED);
	on(DELETE, 201, FAILURE, 403);
	go();
	REQUESTS(GET, DELETE);
	RESULT(FORBIDDEN, FORBIDDEN);
}

TEST(throttled_in_plain_text)
{
	on_pod("41", "", "", EVICTED);
	on(DELETE, 429, "Too many requests, please try again later.")->retry_after_ms = 1000;
	go();
	RESULT(FAILED, THROTTLED);
	ck_assert_uint_eq(fake.result.retry_ms, 1000);
	ck_assert_ptr_nonnull(strstr(EN(fake.result.detail), "Too many requests"));
}

/* The header counts in milliseconds here, retryAfterSeconds of a Status in seconds; the header is nearer. */
TEST_LOOP(how_long_the_server_wants_to_be_left_alone, 0, 4)
{
	static const struct {
		long status;
		int64_t header;
		const char *details;
		uint64_t ms;
	} rows[] = {
		{ 429, 0, "{'retryAfterSeconds':7}", 7000 },
		{ 503, 0, "{'retryAfterSeconds':2}", 2000 },
		{ 429, 1500, "{'retryAfterSeconds':7}", 1500 },
		{ 429, 0, "{}", 0 },
	};

	on_pod("41", "", "", EVICTED);
	on(DELETE, rows[_i].status, "{'kind':'Status','details':%s}", rows[_i].details)->retry_after_ms =
		rows[_i].header;
	go();
	ck_assert_uint_eq(fake.result.outcome, OUTCOME_FAILED);
	ck_assert_uint_eq(fake.result.retry_ms, rows[_i].ms);
}

/* However long the server wants to be left alone, an hour is the most. */
TEST(throttled_for_ages)
{
	on_pod("41", "", "", EVICTED);
	on(DELETE, 429, "{'kind':'Status','details':{'retryAfterSeconds':9223372036854775807}}");
	go();
	RESULT(FAILED, THROTTLED);
	ck_assert_uint_eq(fake.result.retry_ms, 3600000);
}

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

TEST_LOOP(lost_answer_and_unchanged, 0, LEN(lost))
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

TEST_LOOP(lost_answer_and_gone, 0, LEN(lost))
{
	on(GET, 404, ABSENT);
	on_pod("41", "", "", EVICTED)->times = 1;
	lose(_i);
	go();
	if (lost[_i].looks)
		RESULT(UNCONFIRMED, PROBABLY_DONE);
	else
		expect_result(OUTCOME_FAILED, lost[_i].reason, _i);
}

TEST(lost_answer_and_another_uid)
{
	on(GET, 200, "{'metadata':{'name':'web','namespace':'shop','uid':'pod-2','resourceVersion':'9'}}");
	on_pod("41", "", "", EVICTED)->times = 1;
	lose(0);
	go();
	REQUESTS(GET, DELETE, GET);
	RESULT(UNCONFIRMED, PROBABLY_DONE);
}

TEST(lost_answer_and_blind)
{
	on_failure(GET, HTTP_CONNECT, false);
	on_pod("41", "", "", EVICTED)->times = 1;
	lose(3);
	go();
	REQUESTS(GET, DELETE, GET);
	RESULT(UNCONFIRMED, NETWORK_ERROR);
	ck_assert_ptr_nonnull(strstr(EN(fake.result.detail), "delete pods"));
	ck_assert_uint_eq(fake.result.retry_ms, 5000);
}

TEST_LOOP(unreadable_answers, 0, 7)
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

TEST(expired_grant)
{
	fake.grant.valid_until = BOOT - 1;
	go();
	ck_assert_uint_eq(fake.n_log, 0);
	RESULT(FAILED, GRANT_EXPIRED);
}

TEST(grant_expires_while_reading)
{
	fake.grant.valid_until = BOOT + 999;
	fake.slowness_ms = 1000;
	on_pod("41", "", "", EVICTED);
	go();
	REQUESTS(GET);
	RESULT(FAILED, GRANT_EXPIRED);
}

TEST(grant_valid_to_the_last_moment)
{
	fake.grant.valid_until = BOOT + 1000;
	fake.slowness_ms = 1000;
	on_pod("41", "", "", EVICTED);
	on(DELETE, 200, SUCCESS);
	go();
	RESULT(DONE, EVICTED);
}

/* Nothing is written on what was read more than 2 s ago. */
TEST_LOOP(stale_reads, 0, 2)
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

/* Judged by the rules of one duty, and written as another would: nobody honest asks for that. */
TEST_LOOP(another_duty_s_action, 0, 4)
{
	static const enum action_kind others[] = { ACTION_FORCE_DELETE, ACTION_SCALE_DOWN,
						   ACTION_FRESH_ATTEMPT, ACTION_RESTORE };

	fake.grant.action = others[_i];
	on_pod("41", "", "", EVICTED);
	go();
	REQUESTS(NULL);
	RESULT(REFUSED, INCOMPLETE_FACTS);
}

TEST(job_pods)
{
	on_pod("41",
	       ",'ownerReferences':[{'apiVersion':'batch/"
	       "v1','kind':'Job','name':'j','uid':'job-1','controller':true}]",
	       "", EVICTED);
	go();
	REQUESTS(GET);
	RESULT(REFUSED, JOB_POD_KEPT);
}

TEST_MAIN("worker/evicted")
{
	tcase_add_checked_fixture(t, fake_setup, fake_teardown);
}
