/* A pod that is stuck is not deleted by force while somebody is at work on its eviction. */
// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "fake.h"
#include "tests/facts_en.h"
#include "tests/suite.h"

#define GET       "GET " POD_PATH
#define NODE      "GET /api/v1/nodes/n1"
#define GROUP     "GET /apis/lifecycle.k8s.io"
#define EVICTIONS GROUP "/v1alpha1/namespaces/shop/evictions"
#define DELETE    "DELETE " POD_PATH
#define STUCK     ",'deletionTimestamp':'2026-09-21T13:13:19Z','deletionGracePeriodSeconds':30"
#define DENIED    "{'kind':'Status','status':'Failure','message':'no','code':403}"
#define NOTFOUND                                                                                             \
	"{'kind':'Status','status':'Failure','reason':'NotFound','message':'gone','details':{'name':'web'}," \
	"'code':404}"

#define RESPONDER(name, state) "{'name':'" name "','priority':9,'state':'" state "'}"
#define LAST(state)            RESPONDER("imperative-eviction.k8s.io/evictor", state)
#define EVICTION(uid, status)                                                                                \
	"{'metadata':{'name':'pod-1-web'},'spec':{'target':{'pod':{'name':'web'," uid                        \
	"}}},'status':{" status "}}"
#define OURS(status)  EVICTION("'uid':'pod-1'", status)
#define BY(responder) "'targetResponders':[" responder "]"
#define OVER(type)    "'conditions':[{'type':'" type "','status':'True'}],"

static void setup(void)
{
	fake_setup();
	fake.grant.duty = DUTY_TERMINATING;
	fake.grant.action = ACTION_FORCE_DELETE;
	on_pod("41", STUCK, "'nodeName':'n1'", "'phase':'Running'");
	on(NODE, 404, NOTFOUND);
	on(DELETE, 200, "{'kind':'Status','status':'Success'}");
	on(GROUP, 200, "{'kind':'APIGroup','preferredVersion':{'version':'v1alpha1'}}");
}

static void on_evictions(const char *items)
{
	on(EVICTIONS, 200, "{'items':[%s]}", items);
}

TEST_LOOP(somebody_is_at_work, 0, 8)
{
	static const char *const items[] = {
		OURS(BY(RESPONDER("a.io/mover", "Active") "," LAST("Inactive"))),
		OURS(BY(RESPONDER("a.io/mover", "Completed") "," RESPONDER("b.io/saver", "Active"))),
		OURS(BY(RESPONDER("b.io/saver", "Inactive") "," LAST("Inactive"))),
		OURS(BY(RESPONDER("b.io/saver", "Resting"))),
		OURS(BY("{}")),
		OURS(""),
		EVICTION("'x':1", BY(RESPONDER("a.io/mover", "Active"))),
		OURS("'conditions':[{'type':'Failed','status':'False'}]," BY(
			RESPONDER("a.io/mover", "Active"))),
	};

	on_evictions(items[_i]);
	go();
	REQUESTS(GET, GROUP, EVICTIONS "?limit=100");
	RESULT(REFUSED, EVICTION_AT_WORK);
	if (_i == 0)
		ck_assert_str_eq(EN(fake.result.detail),
				 "Eviction pod-1-web: responder a.io/mover is Active");
	if (_i == 5)
		ck_assert_str_eq(EN(fake.result.detail), "Eviction pod-1-web has just begun");
}

/* The last responder asks for a deletion that was asked for: it is Active for as long as the pod is stuck. */
TEST_LOOP(nobody_is_at_work, 0, 7)
{
	static const char *const items[] = {
		OURS(BY(RESPONDER("a.io/mover", "Completed") "," LAST("Active"))),
		OURS(BY(RESPONDER("a.io/mover", "Interrupted") "," RESPONDER("b.io/saver", "Canceled"))),
		OURS(OVER("Failed") BY(RESPONDER("a.io/mover", "Active"))),
		OURS(OVER("TargetEvicted") BY(RESPONDER("a.io/mover", "Active"))),
		EVICTION("'uid':'pod-0'", BY(RESPONDER("a.io/mover", "Active"))),
		"",
		"7,null,{}",
	};

	on_evictions(items[_i]);
	go();
	REQUESTS(GET, GROUP, EVICTIONS "?limit=100", NODE, DELETE);
	RESULT(DONE, STUCK_TERMINATING);
}

TEST(on_the_second_page)
{
	on_evictions(OURS(BY(RESPONDER("a.io/mover", "Active"))));
	on(EVICTIONS, 200, "{'metadata':{'continue':'c1'},'items':[]}")->times = 1;
	go();
	REQUESTS(GET, GROUP, EVICTIONS "?limit=100", EVICTIONS "?limit=100&continue=c1");
	RESULT(REFUSED, EVICTION_AT_WORK);
}

/* Where there are Evictions, and they may not be read, it is not known that there is none of this pod. */
TEST_LOOP(not_known, 0, 5)
{
	if (_i == 0)
		on(GROUP, 403, DENIED);
	if (_i == 1)
		on(GROUP, 200, "{}");
	if (_i == 2)
		on(EVICTIONS, 403, DENIED);
	if (_i == 3)
		on(EVICTIONS, 200, "{}");
	if (_i == 4) {
		on(EVICTIONS, 403, DENIED);
		on(EVICTIONS, 200, "{'metadata':{'continue':'c1'},'items':[]}")->times = 1;
	}
	go();
	RESULT(REFUSED, EVICTIONS_UNKNOWN);
	ck_assert_ptr_null(strstr(fake.log[fake.n_log - 1], "DELETE"));
}

/* A server without them is asked once in ten minutes, one without the group as well as one without the kind.
 */
TEST_LOOP(a_server_without_evictions, 0, 2)
{
	if (_i == 0)
		on(GROUP, 404, "404 page not found\n");
	else
		on(EVICTIONS, 404, NOTFOUND);
	on(DELETE, 409, "{'kind':'Status','status':'Failure','code':409}")->times = 1;
	go();
	if (_i == 0)
		REQUESTS(GET, GROUP, NODE, DELETE, GET, NODE, DELETE);
	else
		REQUESTS(GET, GROUP, EVICTIONS, NODE, DELETE, GET, NODE, DELETE);
	RESULT(DONE, STUCK_TERMINATING);
}

/* That says the API server, and nobody before it. */
TEST_LOOP(something_else_without_evictions, 0, 3)
{
	on(_i == 2 ? EVICTIONS : GROUP, 404, "%s", _i == 0 ? "" : "<html>404 page not found</html>");
	go();
	RESULT(FAILED, BAD_ANSWER);
	ck_assert_ptr_null(strstr(fake.log[fake.n_log - 1], "DELETE"));
}

TEST(a_version_that_is_no_name)
{
	on(GROUP, 200, "{'preferredVersion':{'version':'../../api/v1'}}");
	go();
	ck_assert_uint_eq(fake.n_log, 2);
	ck_assert_uint_eq(fake.result.outcome, OUTCOME_REFUSED);
}

TEST_MAIN("worker/eviction")
{
	tcase_add_checked_fixture(t, setup, fake_teardown);
}
