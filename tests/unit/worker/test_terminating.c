/* The action of deleteTerminatingPod: what is read of node and volumes before a pod is deleted by force. */
// SPDX-License-Identifier: Apache-2.0
#include "fake.h"
#include "tests/facts_en.h"
#include "tests/suite.h"

#define GET    "GET " POD_PATH
#define NODE   "GET /api/v1/nodes/n1"
#define ATT    "GET /apis/storage.k8s.io/v1/volumeattachments"
#define CLAIM  "GET /api/v1/namespaces/shop/persistentvolumeclaims/"
#define DELETE "DELETE " POD_PATH
#define FORCE                                                                                                \
	DELETE " {\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\",\"preconditions\":{\"uid\":\"pod-1\","    \
	       "\"resourceVersion\":\"41\"},\"gracePeriodSeconds\":0}"
#define SUCCESS "{'kind':'Status','apiVersion':'v1','status':'Success'}"
#define DENIED  "{'kind':'Status','status':'Failure','message':'no','code':403}"

#define ABSENT                                                                                               \
	"{'kind':'Status','status':'Failure','reason':'NotFound','details':{'name':'n1','kind':'nodes'},'"   \
	"code':404}"

#define STUCK ",'deletionTimestamp':'2026-09-21T13:13:19Z','deletionGracePeriodSeconds':30"
#define ON_N1 "'nodeName':'n1'"
#define ENDED                                                                                                \
	"'phase':'Running','containerStatuses':[{'name':'a','state':{'terminated':{'exitCode':0,'reason':'"  \
	"Completed'}}}]"
#define RUNNING                                                                                              \
	"'phase':'Running','containerStatuses':[{'name':'a','state':{'running':{'startedAt':'" LIVE "'}}}]"
#define READY "'conditions':[{'type':'MemoryPressure','status':'False'},{'type':'Ready','status':'%s'}]"
#define CLAIMED                                                                                              \
	ON_N1 ",'volumes':[{'name':'x','emptyDir':{}},{'name':'data','persistentVolumeClaim':{'claimName':"  \
	      "'data-web'}},{'name':'tmp','ephemeral':{'volumeClaimTemplate':{}}}]"

static void setup(void)
{
	fake_setup();
	fake.grant.duty = DUTY_TERMINATING;
	fake.grant.action = ACTION_FORCE_DELETE;
	without_evictions();
	on(DELETE, 200, SUCCESS);
}

static void on_node(const char *ready, const char *taints)
{
	on(NODE, 200,
	   "{'kind':'Node','metadata':{'name':'n1','uid':'n'},'spec':{'taints':[%s]},'status':{" READY "}}",
	   taints, ready);
}

TEST(node_gone)
{
	on_pod("41", STUCK, ON_N1, RUNNING);
	on(NODE, 404, ABSENT);
	go();
	REQUESTS(GET, NODE, FORCE);
	RESULT(DONE, STUCK_TERMINATING);
	ck_assert_str_eq(fake.event.reason, "PodForceDeleted");
	ck_assert(fake.reported && !fake.event.warning &&
		  strncmp(fake.event.message, "deleted by force: ", 18) == 0);
	ck_assert_ptr_nonnull(strstr(EN(fake.result.detail), "node is gone"));
	ck_assert_str_eq(EN(fake.result.evidence),
			 "pod web at resourceVersion 41: phase Running; finalizers 0, "
			 "running container a; node n1 does not exist");
}

/* A 404 of something between us and the API server, or of a path that is not served. */
TEST_LOOP(node_gone_says_only_the_api_server, 0, 5)
{
	static const char *const bodies[] = {
		"",
		"404 page not found\n",
		"<html>no such host</html>",
		"{'kind':'Status','status':'Failure','code':404}",
		"{'kind':'Status','status':'Failure','reason':'NotFound','details':{},'code':404}",
	};

	on_pod("41", STUCK, ON_N1, RUNNING);
	on(NODE, 404, "%s", bodies[_i]);
	go();
	REQUESTS(GET, NODE);
	RESULT(FAILED, BAD_ANSWER);
	ck_assert_ptr_nonnull(strstr(EN(fake.result.detail), "404, but not as the API server says"));
}

TEST(node_ready_and_nothing_runs)
{
	on_pod("41", STUCK, ON_N1, ENDED);
	on_node("True", "");
	go();
	REQUESTS(GET, NODE, FORCE);
	RESULT(DONE, STUCK_TERMINATING);
	ck_assert_str_eq(
		EN(fake.result.evidence),
		"pod web at resourceVersion 41: phase Running; finalizers 0, terminated container a; "
		"node n1 is Ready; the pod claims no volume");
}

/* The certificate says which of the conditions blocked, whoever reads it later. */
TEST_LOOP(certificates, 0, 3)
{
	static const struct {
		const char *spec, *ready, *taints, *evidence;
	} cases[] = {
		{ "", "", "", "terminated container a; on no node" },
		{ ON_N1, "False", "{'key':'node.kubernetes.io/out-of-service'}",
		  "node n1 is not Ready; node n1 is tainted out-of-service; the pod claims no volume" },
		{ CLAIMED, "True", "",
		  "node n1 is Ready; VolumeAttachments: no volume of the pod is attached there" },
	};

	fake.dry_run = true;
	on_pod("41", STUCK, cases[_i].spec, ENDED);
	on_node(cases[_i].ready, cases[_i].taints);
	on(ATT, 200, "{'items':[]}");
	go();
	RESULT(WOULD, STUCK_TERMINATING);
	ck_assert_msg(strstr(EN(fake.result.evidence), cases[_i].evidence) != NULL, "%s",
		      EN(fake.result.evidence));
}

TEST(node_ready_and_something_runs)
{
	on_pod("41", STUCK, ON_N1, RUNNING);
	on_node("True", "");
	go();
	REQUESTS(GET, NODE);
	RESULT(REFUSED, CONTAINER_RUNNING);
}

TEST_LOOP(node_not_ready, 0, 3)
{
	static const char *const statuses[] = { "False", "Unknown", "" };

	on_pod("41", STUCK, ON_N1, ENDED);
	on_node(statuses[_i], "{'key':'node.kubernetes.io/unreachable'}");
	go();
	REQUESTS(GET, NODE);
	RESULT(REFUSED, NODE_NOT_READY);
}

TEST(node_not_ready_opted_in)
{
	fake.policy.duty[DUTY_TERMINATING].unreachable_nodes = true;
	on_pod("41", STUCK, CLAIMED, RUNNING);
	on_node("Unknown", "");
	go();
	REQUESTS(GET, NODE, FORCE);
	RESULT(DONE, STUCK_TERMINATING);
}

TEST(node_without_conditions_is_not_ready)
{
	on_pod("41", STUCK, ON_N1, ENDED);
	on(NODE, 200, "{'metadata':{'name':'n1'}}");
	go();
	RESULT(REFUSED, NODE_NOT_READY);
}

TEST(node_out_of_service)
{
	on_pod("41", STUCK, CLAIMED, RUNNING);
	on_node("Unknown", "{'key':'a'},{'key':'node.kubernetes.io/out-of-service','effect':'NoExecute'}");
	go();
	REQUESTS(GET, NODE, FORCE);
	RESULT(DONE, STUCK_TERMINATING);
}

/* It came back, and nobody took the taint away: its kubelet is at work, and its word counts. */
TEST_LOOP(node_out_of_service_but_ready, 0, 3)
{
	on_pod("41", STUCK, _i == 0 ? ON_N1 : CLAIMED, _i == 0 ? RUNNING : ENDED);
	on_node("True", "{'key':'node.kubernetes.io/out-of-service','effect':'NoExecute'}");
	on(ATT, 200, "{'items':[%s]}",
	   _i == 1 ? "{'spec':{'nodeName':'n1','source':{'persistentVolumeName':'pv-1'}}}" : "");
	on(CLAIM "data-web", 200, "{'spec':{'volumeName':'pv-1'}}");
	go();
	if (_i == 0)
		RESULT(REFUSED, CONTAINER_RUNNING);
	else if (_i == 1)
		RESULT(REFUSED, VOLUME_ATTACHED);
	else
		RESULT(DONE, STUCK_TERMINATING);
}

/* What may not be read is not assumed. */
TEST_LOOP(node_unreadable, 0, 2)
{
	on_pod("41", STUCK, ON_N1, ENDED);
	if (_i == 0)
		on(NODE, 403, DENIED);
	else
		on(NODE, 200, "{'metadata':{'name':'another'}}");
	go();
	REQUESTS(GET, NODE);
	RESULT(REFUSED, NODE_UNKNOWN);
}

TEST(node_fails)
{
	on_pod("41", STUCK, ON_N1, ENDED);
	on(NODE, 500, "{}");
	go();
	REQUESTS(GET, NODE);
	RESULT(FAILED, SERVER_ERROR);
}

TEST(never_scheduled_needs_no_node)
{
	on_pod("41", STUCK, "", "'phase':'Pending'");
	go();
	REQUESTS(GET, FORCE);
	RESULT(DONE, STUCK_TERMINATING);
}

#define STALE_READY ENDED ",'conditions':[{'type':'Ready','status':'True'}]"

TEST(ready_where_the_node_exists)
{
	on_pod("41", STUCK, ON_N1, STALE_READY);
	on_node("True", "");
	go();
	RESULT(REFUSED, POD_READY);
}

TEST(ready_is_nobodys_word_where_the_node_is_gone)
{
	on_pod("41", STUCK, ON_N1, STALE_READY);
	on(NODE, 404, ABSENT);
	go();
	REQUESTS(GET, NODE, FORCE);
	RESULT(DONE, STUCK_TERMINATING);
}

TEST_LOOP(refused_without_looking_further, 0, 3)
{
	static const struct {
		const char *meta, *status;
		enum reason reason;
	} rows[] = {
		{ STUCK ",'finalizers':['example.com/hold']", ENDED, REASON_HAS_FINALIZERS },
		{ STUCK ",'annotations':{'kubernetes.io/config.mirror':'x'}", ENDED, REASON_MIRROR_POD },
		{ "", ENDED, REASON_NOT_TERMINATING },
	};

	on_pod("41", rows[_i].meta, ON_N1, rows[_i].status);
	go();
	REQUESTS(GET);
	expect_result(OUTCOME_REFUSED, rows[_i].reason, _i);
}

TEST_LOOP(already_forced, 0, 2)
{
	on_pod("41", ",'deletionTimestamp':'2026-09-21T14:12:50Z','deletionGracePeriodSeconds':0", ON_N1,
	       ENDED);
	fake.grant.verify_first = _i == 1;
	go();
	REQUESTS(GET);
	RESULT_GONE(GRACE_ALREADY_ZERO);
	ck_assert_uint_eq(fake.result.retry_ms, 30001);
}

/* Cut off between its two halves: the same certificate, and the other half. */
TEST(half_deleted)
{
	on_pod("41", ",'deletionTimestamp':'2026-09-21T14:12:19Z','deletionGracePeriodSeconds':0", ON_N1,
	       ENDED);
	on_node("True", "");
	go();
	REQUESTS(GET, NODE, FORCE);
	RESULT(DONE, STUCK_TERMINATING);
}

TEST(threshold_to_the_millisecond)
{
	on_pod("41", ",'deletionTimestamp':'2026-09-21T13:13:20Z','deletionGracePeriodSeconds':30", ON_N1,
	       ENDED);
	on_node("True", "");
	go();
	REQUESTS(GET);
	RESULT(REFUSED, WAITING_FOR_THRESHOLD);
	ck_assert_uint_eq(fake.result.retry_ms, 1);
}

/* The API server's clock decides, not ours. One odd Date, or one of an error page, moves it as little as one
 * of a server from the future; two in a row do. */
TEST_LOOP(server_clock, 0, 9)
{
	static const struct {
		struct {
			int64_t ahead_ms; /* Date of the answer; the pod is due 3 s from NOW */
			bool refused;
		} answers[3];
		size_t n;
		enum reason reason;
	} cases[] = {
		{ { { 0, false } }, 1, REASON_WAITING_FOR_THRESHOLD },
		{ { { 6 * SEC, false } }, 1, REASON_STUCK_TERMINATING },
		{ { { 0, false }, { 6 * SEC, false } }, 2, REASON_WAITING_FOR_THRESHOLD },
		{ { { 0, false }, { 6 * SEC, false }, { 0, false } }, 3, REASON_WAITING_FOR_THRESHOLD },
		{ { { 0, false }, { 6 * SEC, false }, { 1800 * SEC, false } }, 3, REASON_STUCK_TERMINATING },
		{ { { 6 * SEC, true }, { 0, false } }, 2, REASON_WAITING_FOR_THRESHOLD },
		{ { { 0, false }, { 6 * SEC, true }, { 6 * SEC, false } }, 3, REASON_WAITING_FOR_THRESHOLD },
		{ { { HOUR + SEC, false } }, 1, REASON_CLOCK_UNCERTAIN },
		{ { { -HOUR - SEC, false } }, 1, REASON_CLOCK_UNCERTAIN },
	};

	fake.policy.duty[DUTY_TERMINATING].hours_ms = HOUR + 4 * SEC;
	on_node("True", "");
	for (size_t i = 0; i < cases[_i].n; i++) {
		on_pod("41", STUCK, ON_N1, ENDED);
		if (cases[_i].answers[i].refused)
			on(GET, 403, DENIED);
		fake.replies[fake.n_replies - 1].date_ms = NOW + cases[_i].answers[i].ahead_ms;
		fake.done = 0;
		go();
	}
	expect_result(cases[_i].reason == REASON_STUCK_TERMINATING ? OUTCOME_DONE : OUTCOME_REFUSED,
		      cases[_i].reason, _i);
	/* Nobody has judged the pod: soon again, and no round. */
	if (cases[_i].reason == REASON_CLOCK_UNCERTAIN)
		ck_assert_uint_eq(fake.result.retry_ms, 5000);
}

#define ITEM(node, pv) "{'spec':{'nodeName':'" node "','source':{'persistentVolumeName':'" pv "'}}}"

static void with_volumes(const char *attachments)
{
	on_pod("41", STUCK, CLAIMED, ENDED);
	on_node("True", "");
	on(ATT, 200, "{'kind':'VolumeAttachmentList','metadata':{},'items':[%s]}", attachments);
}

TEST(nothing_attached_to_the_node)
{
	with_volumes(ITEM("n2", "pv-data"));
	go();
	REQUESTS(GET, NODE, ATT "?limit=100", FORCE);
	RESULT(DONE, STUCK_TERMINATING);
}

TEST_LOOP(claims_are_matched, 0, 2)
{
	with_volumes(ITEM("n1", "pv-tmp"));
	on(CLAIM "data-web", 200, "{'spec':{'volumeName':'pv-data'}}");
	on(CLAIM "web-tmp", 200, "{'spec':{'volumeName':'%s'}}", _i == 0 ? "pv-tmp" : "pv-else");
	go();
	if (_i == 0) {
		REQUESTS(GET, NODE, ATT, CLAIM "data-web", CLAIM "web-tmp");
		RESULT(REFUSED, VOLUME_ATTACHED);
	} else {
		REQUESTS(GET, NODE, ATT, CLAIM "data-web", CLAIM "web-tmp", FORCE);
		RESULT(DONE, STUCK_TERMINATING);
	}
}

TEST(unbound_claims_are_not_attached)
{
	with_volumes(ITEM("n1", "pv-other"));
	on(CLAIM "data-web", 200, "{'spec':{}}");
	on(CLAIM "web-tmp", 200, "{'spec':{}}");
	go();
	RESULT(DONE, STUCK_TERMINATING);
}

TEST_LOOP(volumes_unknown, 0, 4)
{
	with_volumes(_i == 3 ? "{'spec':{'nodeName':'n1','source':{'inlineVolumeSpec':{}}}}"
			     : ITEM("n1", "pv"));
	on(CLAIM "data-web", _i == 0 ? 403 : 404, "%s", _i == 0 ? DENIED : ABSENT);
	if (_i == 2)
		on(ATT, 403, DENIED);
	go();
	RESULT(REFUSED, VOLUMES_UNKNOWN);
}

/* A claim without a name does not show that nothing is attached: the name is not fit for a path. */
TEST(claims_not_understood)
{
	with_volumes(ITEM("n1", "pv"));
	on_pod("41", STUCK, ON_N1 ",'volumes':[{'name':'x','persistentVolumeClaim':{}}]", ENDED);
	go();
	REQUESTS(GET, NODE, ATT);
	RESULT(REFUSED, INCOMPLETE_FACTS);
}

TEST(attachments_in_pages)
{
	with_volumes(ITEM("n1", "pv-data"));
	on(ATT, 200, "{'metadata':{'continue':'a/b=='},'items':[" ITEM("n2", "x") "]}")->times = 1;
	on(CLAIM "data-web", 200, "{'spec':{'volumeName':'pv-data'}}");
	go();
	REQUESTS(GET, NODE, ATT "?limit=100", ATT "?limit=100&continue=a%2Fb%3D%3D", CLAIM "data-web");
	RESULT(REFUSED, VOLUME_ATTACHED);
}

/* A continue token grew too old: all is read again. */
TEST(expired_page)
{
	with_volumes("");
	on(ATT, 410, "{'kind':'Status','status':'Failure','code':410}")->times = 1;
	on(ATT, 200, "{'metadata':{'continue':'t'},'items':[" ITEM("n1", "x") "]}")->times = 1;
	go();
	REQUESTS(GET, NODE, ATT, ATT, GET, NODE, ATT, FORCE);
	RESULT(DONE, STUCK_TERMINATING);
}

/* A force delete whose answer was lost shows as grace 0 while finalizers of others delay the end. */
TEST(lost_answer)
{
	on_pod("42", ",'deletionTimestamp':'2026-09-21T13:12:49Z','deletionGracePeriodSeconds':0", ON_N1,
	       ENDED);
	on_pod("41", STUCK, ON_N1, ENDED)->times = 1;
	on_node("True", "");
	on_failure(DELETE, HTTP_TIMEOUT, true);
	go();
	REQUESTS(GET, NODE, FORCE, GET);
	RESULT(UNCONFIRMED, PROBABLY_DONE);
}

TEST_MAIN("worker/terminating")
{
	tcase_add_checked_fixture(t, setup, fake_teardown);
}
