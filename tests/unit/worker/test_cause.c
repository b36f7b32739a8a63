/* Why the image cannot be pulled: from the pod's message, else from its Events (R3). */
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "tests/facts_en.h"
#include "tests/suite.h"
#include "workload.h"

#define EVENTS "GET /api/v1" NS "events"
#define ASKED  EVENTS "?limit=100&fieldSelector=involvedObject.uid%3Dpod-1"
#define OLD_KUBELET                                                                                          \
	"'phase':'Pending','containerStatuses':[{'name':'app','state':{'waiting':{'reason':'"                \
	"ImagePullBackOff','message':'Back-off pulling image x'}}}]"
#define SAID(text)                                                                                           \
	"'phase':'Pending','containerStatuses':[{'name':'app','state':{'waiting':{'reason':'"                \
	"ImagePullBackOff','message':'" text "'}}}]"
#define EVENT(uid, container, reason, at, text)                                                              \
	"{'involvedObject':{'kind':'Pod','uid':'" uid "','fieldPath':'" container "'},'reason':'" reason     \
	"','lastTimestamp':'" at "','message':'" text "'}"
#define APP     "spec.containers{app}"
#define UNKNOWN "rpc error: code = NotFound desc = manifest unknown"
#define DENIAL  "rpc error: pull access denied"
#define TIMEOUT "rpc error: i/o timeout"
#define EARLIER "2026-09-21T14:00:00Z"
#define LATER   "2026-09-21T14:05:00Z"

static void setup(void)
{
	setup_deployment();
	on_pod("41", "," BY_RS, "", OLD_KUBELET);
}

static void on_events(const char *items)
{
	on(EVENTS, 200, "{'kind':'EventList','metadata':{},'items':[%s]}", items);
}

static void expect_refused(enum reason reason)
{
	expect_result(OUTCOME_REFUSED, reason, __LINE__);
	for (size_t i = 0; i < fake.n_log; i++)
		ck_assert_ptr_null(strstr(fake.log[i], "PATCH"));
}

TEST(the_message_is_enough)
{
	on_pod("41", "," BY_RS, "", PULLING);
	go();
	RESULT(DONE, CANNOT_PULL_IMAGE);
	for (size_t i = 0; i < fake.n_log; i++)
		ck_assert_ptr_null(strstr(fake.log[i], "events"));
}

TEST(the_event_tells)
{
	on_events(EVENT("pod-1", APP, "Failed", LATER, UNKNOWN));
	go();
	REQUESTS(GET, ASKED, RS, DEPLOY, HPAS, KEDA, "GET " SCALE, RSES, PODS, PATCH_MARK "?");
	RESULT(DONE, CANNOT_PULL_IMAGE);
	ck_assert_msg(strstr(EN(fake.result.evidence), "container app: ImagePullBackOff, cause: image not "
						       "found (from its Event): " UNKNOWN) != NULL,
		      "%s", EN(fake.result.evidence));
}

/* A duty that acts on no cause at all reads it all the same: the refusal says which. */
TEST(no_cause_may_lead_to_an_act)
{
	str_list_done(&fake.policy.duty[DUTY_IMAGE_PULL].causes);
	fake.policy.duty[DUTY_IMAGE_PULL].causes = (struct str_list){ 0 };
	on_events(EVENT("pod-1", APP, "Failed", LATER, DENIAL));
	go();
	ck_assert_ptr_nonnull(strstr(fake.log[1], EVENTS));
	expect_refused(REASON_CAUSE_AUTH);
}

/* The newest that tells anything, of this pod, of this container, about pulling. */
TEST_LOOP(which_event, 0, 14)
{
	static const struct {
		const char *items;
		enum reason reason;
	} cases[] = {
		{ EVENT("pod-1", APP, "Failed", EARLIER, DENIAL) "," EVENT("pod-1", APP, "Failed", LATER,
									   UNKNOWN),
		  REASON_CANNOT_PULL_IMAGE },
		{ EVENT("pod-1", APP, "Failed", LATER, UNKNOWN) "," EVENT("pod-1", APP, "Failed", EARLIER,
									  DENIAL),
		  REASON_CANNOT_PULL_IMAGE },
		{ EVENT("pod-1", APP, "Failed", LATER, DENIAL) "," EVENT("pod-1", APP, "Failed", EARLIER,
									 UNKNOWN),
		  REASON_CAUSE_AUTH },
		{ EVENT("pod-1", APP, "Failed", LATER, TIMEOUT), REASON_CAUSE_TRANSIENT },
		{ EVENT("pod-1", APP, "Failed", LATER, "Error: ImagePullBackOff"), REASON_CAUSE_UNKNOWN },
		{ EVENT("pod-1", APP, "Failed", LATER,
			"Error: ImagePullBackOff") "," EVENT("pod-1", APP, "Failed", EARLIER, UNKNOWN),
		  REASON_CANNOT_PULL_IMAGE },
		{ EVENT("pod-2", APP, "Failed", LATER, UNKNOWN), REASON_CAUSE_UNKNOWN },
		{ EVENT("pod-1", "spec.containers{apps}", "Failed", LATER, UNKNOWN), REASON_CAUSE_UNKNOWN },
		{ EVENT("pod-1", "spec.containers{ap}", "Failed", LATER, UNKNOWN), REASON_CAUSE_UNKNOWN },
		{ EVENT("pod-1", "", "Failed", LATER, UNKNOWN), REASON_CANNOT_PULL_IMAGE },
		{ EVENT("pod-1", APP, "BackOff", LATER, UNKNOWN), REASON_CANNOT_PULL_IMAGE },
		{ EVENT("pod-1", APP, "Unhealthy", LATER, UNKNOWN), REASON_CAUSE_UNKNOWN },
		{ "", REASON_CAUSE_UNKNOWN },
		{ "7,null,{'involvedObject':[]}", REASON_CAUSE_UNKNOWN },
	};

	on_events(cases[_i].items);
	go();
	if (cases[_i].reason == REASON_CANNOT_PULL_IMAGE)
		RESULT(DONE, CANNOT_PULL_IMAGE);
	else
		expect_refused(cases[_i].reason);
}

TEST_LOOP(events_unreadable, 0, 2)
{
	on(EVENTS, _i == 0 ? 403 : 404, _i == 0 ? DENIED : NOTFOUND);
	go();
	expect_refused(REASON_CAUSE_UNKNOWN);
	ck_assert_ptr_nonnull(strstr(EN(fake.result.evidence),
				     _i == 0 ? "Events may not be read" : "no Event with the pull error"));
}

TEST(events_in_pages)
{
	on(EVENTS, 200, "{'items':[" EVENT("pod-1", APP, "Failed", LATER, UNKNOWN) "]}");
	on(EVENTS, 200, "{'metadata':{'continue':'t/1'},'items':[]}")->times = 1;
	go();
	REQUESTS(GET, ASKED, ASKED "&continue=t%2F1", RS, DEPLOY, HPAS, KEDA, "GET " SCALE, RSES, PODS PAGE1,
		 PATCH_MARK "?");
	RESULT(DONE, CANNOT_PULL_IMAGE);
}

TEST_LOOP(what_may_act, 0, 3)
{
	static const char *const words[] = { "auth", "transient", "unknown" };
	static const char *const texts[] = { DENIAL, TIMEOUT, "nobody knows" };
	char status[400];

	str_list_add(&fake.policy.duty[DUTY_IMAGE_PULL].causes, words[_i], strlen(words[_i]));
	(void)snprintf(status, sizeof(status), SAID("%s"), texts[_i]);
	on_pod("41", "," BY_RS, "", status);
	on_events("");
	go();
	RESULT(DONE, CANNOT_PULL_IMAGE);
}

/* A pod of a list that pulls with a secret. */
#define PULLS(name, uid, owner, secret, image, state)                                                        \
	"{'metadata':{'name':'" name "','namespace':'shop','uid':'" uid "','resourceVersion':'1',"           \
	"'creationTimestamp':'" LIVE "'," owner "},'spec':{'imagePullSecrets':[{'name':'" secret             \
	"'}]},'status':{'phase':'Pending','containerStatuses':[{'name':'app','image':'" image                \
	"','state':{" state "}}]}}"
#define WAITS(text) "'waiting':{'reason':'ImagePullBackOff','message':'" text "'}"
#define STARTED(at) "'running':{'startedAt':'" at "'}"
#define OTHER(...)  PULLS("b", "b-1", BY_STS, __VA_ARGS__)
#define IMAGE       "r.example.com/team/a:v1"

/* Refused for another image of that registry, too, with the same secrets, or let in only just: it is told,
 * and nothing is scaled. */
TEST_LOOP(a_credential_that_lets_nothing_in, 0, 11)
{
	static const struct {
		const char *other;
		bool acts;
	} cases[] = {
		{ OTHER("key", "r.example.com/team/b:v1", WAITS(DENIAL)), false },
		{ OTHER("key", "r.example.com/team/b:v1", WAITS("Back-off pulling image")), false },
		{ OTHER("key", "r.example.com/team/b:v1", WAITS("pull QPS exceeded")), false },
		{ OTHER("key", "r.example.com/team/b:v1", WAITS("rpc error: read-only file system")), false },
		{ OTHER("key", "r.example.com/team/b:v1", STARTED("2026-09-21T14:10:00Z")), false },
		{ OTHER("key", "r.example.com/team/b:v1", STARTED("2026-09-21T14:00:00Z")), true },
		{ OTHER("key", "r.example.com/team/b:v1", WAITS(UNKNOWN)), true },
		{ OTHER("key", "r.example.com/team/a:v2", WAITS(DENIAL)), true },
		{ OTHER("key", "s.example.com/team/b:v1", WAITS(DENIAL)), true },
		{ OTHER("keys", "r.example.com/team/b:v1", WAITS(DENIAL)), true },
		{ OTHER("ke", "r.example.com/team/b:v1", WAITS(DENIAL)), true },
	};
	char items[4096];

	str_list_add(&fake.policy.duty[DUTY_IMAGE_PULL].causes, "auth", 4);
	on_pod("41", "," BY_RS, "",
	       "'phase':'Pending','containerStatuses':[{'name':'app','image':'" IMAGE
	       "','state':{" WAITS(DENIAL) "}}]");
	(void)snprintf(items, sizeof(items), "%s,%s",
		       PULLS("web", "pod-1", BY_RS, "key", IMAGE, WAITS(DENIAL)), cases[_i].other);
	on_pods(items);
	go();
	if (cases[_i].acts) {
		RESULT(DONE, CANNOT_PULL_IMAGE);
		return;
	}
	expect_refused(REASON_CREDENTIAL_REFUSED);
	ck_assert_ptr_nonnull(strstr(EN(fake.result.detail), "r.example.com/team/b cannot be pulled either"));
}

/* Of a cause that is the node's: where do its pods fail? */
TEST_LOOP(a_cause_of_the_node, 0, 2)
{
	static const char sick[] = SAID("rpc error: read-only file system");
	char items[4096];

	str_list_add(&fake.policy.duty[DUTY_IMAGE_PULL].causes, "transient", 9);
	on_pod("41", "," BY_RS, "'nodeName':'n1'", sick);
	(void)snprintf(items, sizeof(items),
		       "{'metadata':{'name':'web','namespace':'shop','uid':'pod-1','resourceVersion':'1',"
		       "'creationTimestamp':'" LIVE "'," BY_RS "},'spec':{'nodeName':'n1'},'status':{%s}},"
		       "{'metadata':{'name':'web-b','namespace':'shop','uid':'pod-2','resourceVersion':'1',"
		       "'creationTimestamp':'" LIVE "'," BY_RS "},'spec':{'nodeName':'n%d'},'status':{%s}}",
		       sick, _i + 1, sick);
	on_pods(items);
	go();
	if (_i == 1)
		RESULT(DONE, CANNOT_PULL_IMAGE);
	else
		expect_refused(REASON_NODE_CANNOT_PULL);
}

TEST_MAIN("worker/cause")
{
	tcase_add_checked_fixture(t, setup, fake_teardown);
}
