/* The action of deleteFinishedPod: judged live and deleted as an evicted pod is, with the same preconditions.
 */
// SPDX-License-Identifier: Apache-2.0
#include "fake.h"
#include "tests/facts_en.h"
#include "tests/suite.h"

#define GET "GET " POD_PATH
#define SET "GET /apis/apps/v1/namespaces/shop/replicasets/r"
#define OWNED                                                                                                \
	",'ownerReferences':[{'apiVersion':'apps/"                                                           \
	"v1','kind':'ReplicaSet','name':'r','uid':'r','controller':true}]"
#define BODY                                                                                                 \
	"DELETE " POD_PATH " {\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\",\"preconditions\":"           \
	"{\"uid\":\"pod-1\",\"resourceVersion\":\"41\"}}"
#define ENDED(at)                                                                                            \
	"'phase':'Failed','reason':'NodeShutdown','containerStatuses':[{'name':'a','state':{'terminated':"   \
	"{'exitCode':137,'reason':'Error','finishedAt':'" at "'}}}]"
#define LONG_AGO "2026-09-21T13:13:19Z"

static void setup(void)
{
	fake_setup();
	fake.grant.duty = DUTY_FINISHED;
	fake.grant.action = ACTION_DELETE;
	str_list_add(&fake.policy.duty[DUTY_FINISHED].status, "NodeShutdown", 12);
	str_list_add(&fake.policy.duty[DUTY_FINISHED].phases, "Failed", 6);
	on(SET, 200, "{'metadata':{'name':'r','uid':'r'}}");
	on("DELETE " POD_PATH, 200, "{'kind':'Status','apiVersion':'v1','status':'Success'}");
}

static void teardown(void)
{
	str_list_done(&fake.policy.duty[DUTY_FINISHED].phases);
	fake_teardown();
}

TEST(deletes_with_preconditions)
{
	on_pod("41", OWNED, "", ENDED(LONG_AGO));
	go();
	REQUESTS(GET, SET, BODY);
	RESULT(DONE, FINISHED);
	ck_assert_str_eq(fake.result.target, "pods/shop/web");
	ck_assert_ptr_nonnull(strstr(EN(fake.result.evidence), "phase Failed, reason NodeShutdown"));
	ck_assert(fake.reported && !fake.event.warning);
	ck_assert_ptr_nonnull(strstr(fake.event.message, "deleted: "));
}

TEST_LOOP(is_not_deleted, 0, 5)
{
	static const struct {
		const char *meta, *status;
		enum reason reason;
	} cases[] = {
		{ OWNED, ENDED("2026-09-21T13:13:20Z"), REASON_WAITING_FOR_THRESHOLD },
		{ OWNED, "'phase':'Running'", REASON_NOT_FINISHED },
		{ OWNED, "'phase':'Failed','reason':'Evicted'", REASON_NOT_FINISHED },
		{ "", ENDED(LONG_AGO), REASON_BARE_POD_KEPT },
		{ ",'annotations':{'ops-pod-cleaner.io/skip':'deleteFinishedPod'}" OWNED, ENDED(LONG_AGO),
		  REASON_SKIP_ANNOTATION },
	};

	on_pod("41", cases[_i].meta, "", cases[_i].status);
	go();
	REQUESTS(GET);
	expect_result(OUTCOME_REFUSED, cases[_i].reason, _i);
}

TEST_LOOP(gone_at_the_write, 0, 2)
{
	fake.grant.verify_first = _i == 1;
	on_pod("41", OWNED, "", ENDED(LONG_AGO));
	on("DELETE " POD_PATH, 404,
	   "{'kind':'Status','status':'Failure','reason':'NotFound','details':{'name':'web'},'code':404}");
	go();
	REQUESTS(GET, SET, BODY);
	RESULT_GONE(POD_GONE);
}

/* No other duty's rules may lead to it. */
TEST(does_not_scale)
{
	fake.grant.action = ACTION_SCALE_DOWN;
	go();
	ck_assert_uint_eq(fake.n_log, 0);
	RESULT(REFUSED, INCOMPLETE_FACTS);
}

TEST_MAIN("worker/finished")
{
	tcase_add_checked_fixture(t, setup, teardown);
}
