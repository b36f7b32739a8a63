/* The action of a restore: only the same object, still at zero, and by nobody but us. */
// SPDX-License-Identifier: Apache-2.0
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/xalloc.h"
#include "config/window.h"
#include "tests/facts_en.h"
#include "tests/suite.h"
#include "worker/read.h"
#include "workload.h"

#define PATH "/apis/apps/v1" NS "deployments/web"
#define ENTRY(manager, sub, at)                                                                              \
	"{'manager':'" manager "','operation':'Update','subresource':'" sub "','time':'" at                  \
	"','fieldsV1':{'f:spec':{'f:replicas':{}}}}"
#define OURS_0 ENTRY("ops-pod-cleaner", "scale", LIVE)
#define LEFT   PODS PAGE1
#define WRITE                                                                                                \
	"PATCH " PATH                                                                                        \
	"?fieldManager=ops-pod-cleaner {\"spec\":{\"replicas\":3},\"metadata\":{\"uid\":\"dep-1\","          \
	"\"resourceVersion\":\"77\",\"annotations\":{\"ops-pod-cleaner.io/scaled-down-by\":null,"

#define MARK "ops-pod-cleaner.io/scaled-down-"

/* With the mark of action 17. */
static void on_workload(const char *uid, const char *rv, const char *managed)
{
	on("GET " PATH, 200,
	   "{'metadata':{'name':'web','uid':'%s','resourceVersion':'%s','annotations':{'" MARK
	   "action':'17','" MARK "from':'3'},'managedFields':[%s]}}",
	   uid, rv, managed);
}

static void on_write(const char *replicas)
{
	on("PATCH " PATH, 200, "{'metadata':{'name':'web','uid':'dep-1','resourceVersion':'78'},'spec':{%s}}",
	   replicas);
}

static void setup(void)
{
	fake_setup();
	fake.grant.duty = DUTY_IMAGE_PULL;
	fake.grant.action = ACTION_RESTORE;
	fake.grant.by_operator = true;
	fake.grant.vouched = true;
	fake.grant.origin = 17;
	fake.grant.want_replicas = 3;
	(void)snprintf(fake.grant.want_target, sizeof(fake.grant.want_target), "deployments.apps/shop/web");
	(void)snprintf(fake.grant.want_uid, sizeof(fake.grant.want_uid), "dep-1");
	on_workload("dep-1", "77", OURS_0);
	on_scale(SCALE, "dep-1", "");
	on_pods("");
	on_write("'replicas':3");
}

TEST(puts_the_replicas_back)
{
	go();
	REQUESTS("GET " PATH, "GET " SCALE, LEFT, WRITE);
	RESULT(DONE, RESTORED);
	ck_assert_str_eq(fake.result.target, "deployments.apps/shop/web");
	ck_assert_str_eq(fake.result.target_uid, "dep-1");
	ck_assert_str_eq(fake.result.target_rv, "77");
	ck_assert_int_eq(fake.result.replicas, 0);
	ck_assert_str_eq(EN(fake.result.detail), "from 0 to 3 replicas, as before action 17");
	ck_assert_str_eq(fake.result.actor, "ops-pod-cleaner");
	ck_assert_str_eq(EN(fake.result.evidence),
			 "deployments.apps/shop/web (uid dep-1) at resourceVersion 77: 0 replicas; "
			 "replicas last set by: ops-pod-cleaner (Update scale, " LIVE
			 "); its mark was taken away");
}

TEST_LOOP(dry, 0, 2)
{
	fake.dry_run = _i == 0;
	fake.grant.observe = _i == 1;
	go();
	if (_i == 0) {
		REQUESTS("GET " PATH, "GET " SCALE, LEFT);
		RESULT(WOULD, RESTORED);
		ck_assert_int_eq(strncmp(fake.result.request, WRITE, strlen(WRITE)), 0);
	} else {
		REQUESTS("GET " PATH, "GET " SCALE, LEFT,
			 "PATCH " PATH "?fieldManager=ops-pod-cleaner&dryRun=All ");
		RESULT(WOULD, RESTORED);
	}
}

/* What is excluded by a label of its namespace is asked for live; not known, nothing is scaled there. */
TEST_LOOP(excluded_by_a_label_of_the_namespace, 0, 3)
{
	static const char *const labels[] = { "'env':'prod'", "'env':'dev'", NULL };

	str_list_add(&fake.policy.exclude_namespaces, "label:env=prod", 14);
	if (labels[_i])
		on("GET "
		   "/api/v1/namespaces/shop",
		   200, "{'kind':'Namespace','metadata':{'name':'shop','labels':{%s}}}", labels[_i]);
	else
		on("GET "
		   "/api/v1/namespaces/shop",
		   403, "{'kind':'Status','code':403}");
	go();
	if (_i == 1)
		RESULT(DONE, RESTORED);
	else if (_i == 0)
		RESULT(REFUSED, NAMESPACE_EXCLUDED);
	else
		RESULT(REFUSED, NAMESPACE_UNKNOWN);
	str_list_done(&fake.policy.exclude_namespaces);
}

/* It is an operator's command, and even that does not reach everywhere. */
TEST_LOOP(not_by_anybody_nor_everywhere, 0, 4)
{
	static const enum reason why[] = { REASON_RESTORE_OFF, REASON_NAMESPACE_EXCLUDED,
					   REASON_NAMESPACE_EXCLUDED, REASON_NAMESPACE_PROTECTED };
	struct str_list *list =
		_i < 3 ? &fake.policy.exclude_namespaces : &fake.policy.default_exclude_namespaces;

	fake.grant.by_operator = _i > 0;
	if (_i > 0)
		str_list_add(list, _i == 2 ? "*" : "shop", _i == 2 ? 1 : 4);
	go();
	expect_result(OUTCOME_REFUSED, why[_i], __LINE__);
	ck_assert_uint_eq(fake.n_log, _i == 0 ? 2 : 0); /* the settings alone are read */
	str_list_done(list);
}

TEST_LOOP(not_zero_any_more, 0, 2)
{
	on_scale(SCALE, "dep-1", _i == 0 ? "'replicas':1" : "'replicas':3");
	go();
	REQUESTS("GET " PATH, "GET " SCALE);
	RESULT(REFUSED, NOT_ZERO_ANYMORE);
}

TEST_LOOP(another_object_of_that_name, 0, 2)
{
	if (_i == 0)
		on_workload("dep-2", "77", OURS_0);
	else
		on_scale(SCALE, "dep-2", "");
	go();
	RESULT(REFUSED, OWNER_UID_DIFFERS);
	ck_assert_ptr_null(strstr(fake.log[fake.n_log - 1], "PATCH"));
}

/* Somebody else's zero: set after ours, beside ours at the same second, through the object, or by nobody who
 * is named. */
TEST_LOOP(not_our_zero, 0, 6)
{
	static const char *const managed[] = {
		ENTRY("kubectl", "scale", LIVE),
		OURS_0 "," ENTRY("kubectl", "scale", "2026-09-20T14:13:21Z"),
		OURS_0 "," ENTRY("argocd", "", LIVE),
		ENTRY("argocd", "", LIVE) "," OURS_0,
		"{'manager':'ops-pod-cleaner','operation':'Apply','fieldsV1':{'f:spec':{'f:replicas':{}}}}",
		"",
	};

	on_workload("dep-1", "77", managed[_i]);
	go();
	REQUESTS("GET " PATH, "GET " SCALE);
	RESULT(REFUSED, NOT_OUR_ZERO);
}

/* What a real server keeps: a 0 through /scale has no owner, whoever else owns other fields. */
TEST(zero_without_an_owner)
{
	on_workload("dep-1", "77",
		    "{'manager':'kubectl-create','operation':'Update','time':'" LIVE
		    "','fieldsV1':{'f:spec':{'f:template':{}}}}");
	go();
	REQUESTS("GET " PATH, "GET " SCALE, LEFT, WRITE);
	RESULT(DONE, RESTORED);
	ck_assert_ptr_nonnull(strstr(EN(fake.result.evidence), "leaves no owner, as action 17 wrote"));
}

TEST_LOOP(workload_gone, 0, 6)
{
	const int at = _i % 3;

	fake.grant.verify_first = _i >= 3;
	on(at == 0 ? "GET " PATH : at == 1 ? "GET " SCALE : "PATCH " PATH, 404, NOTFOUND);
	go();
	RESULT_GONE(WORKLOAD_GONE);
}

/* Who wrote the zero is known for one version only. */
TEST(changed_between_the_reads)
{
	on_workload("dep-1", "76", OURS_0);
	fake.replies[fake.n_replies - 1].times = 1;
	go();
	REQUESTS("GET " PATH, "GET " SCALE, "GET " PATH, "GET " SCALE, LEFT, WRITE);
	RESULT(DONE, RESTORED);
}

/* As the status of a workload does while its last pods leave. */
TEST(changes_for_a_while)
{
	on_workload("dep-1", "76", OURS_0);
	fake.replies[fake.n_replies - 1].times = 6;
	on("PATCH " PATH, 409, "{'kind':'Status','status':'Failure','code':409}")->times = 1;
	go();
	RESULT(DONE, RESTORED);
	ck_assert_uint_eq(fake.n_pauses, 7);
	ck_assert_uint_eq(fake.n_log, 6 * 2 + 2 * 4);
}

/* It ends while the grant holds, with pauses that grow. */
TEST(changes_all_the_time)
{
	uint64_t sum = 0;

	on_workload("dep-1", "76", OURS_0);
	go();
	RESULT(CONFLICT, PRECONDITION_FAILED);
	ck_assert_uint_eq(fake.n_log, 16);
	ck_assert_uint_eq(fake.n_pauses, 7);
	for (size_t i = 0; i < fake.n_pauses; i++) {
		sum += fake.pauses[i];
		ck_assert_uint_ge(fake.pauses[i], i < 4 ? UINT64_C(100) << i : 1600);
	}
	ck_assert_uint_ge(sum, 6000);
	ck_assert_uint_le(sum, 8000);
}

/* Somebody else's 0 is found out as soon as both reads are of one version. */
TEST(changes_for_a_while_and_is_not_ours)
{
	on_workload("dep-1", "77", ENTRY("kubectl", "", LIVE));
	on_workload("dep-1", "76", OURS_0);
	fake.replies[fake.n_replies - 1].times = 4;
	go();
	RESULT(REFUSED, NOT_OUR_ZERO);
	ck_assert_uint_eq(fake.n_pauses, 4);
}

TEST(conflict)
{
	on("PATCH " PATH, 409, "{'kind':'Status','status':'Failure','code':409}")->times = 1;
	go();
	REQUESTS("GET " PATH, "GET " SCALE, LEFT, "PATCH", "GET " PATH, "GET " SCALE, LEFT, WRITE);
	RESULT(DONE, RESTORED);
}

TEST_LOOP(lost_answer, 0, 2)
{
	on_failure("PATCH " PATH, HTTP_BROKEN, true);
	if (_i == 0)
		on_scale(SCALE, "dep-1", "'replicas':3"), on_scale(SCALE, "dep-1", "");
	if (_i == 0)
		fake.replies[fake.n_replies - 1].times = 1;
	go();
	if (_i == 0) /* done: its mark goes, too */
		REQUESTS("GET " PATH, "GET " SCALE, LEFT, WRITE, "GET " SCALE, "GET " PATH, "PATCH " PATH);
	else
		REQUESTS("GET " PATH, "GET " SCALE, LEFT, WRITE, "GET " SCALE);
	if (_i == 0)
		RESULT(UNCONFIRMED, PROBABLY_DONE);
	else
		RESULT(FAILED, NETWORK_ERROR);
}

TEST_LOOP(verify_first, 0, 3)
{
	fake.grant.verify_first = true;
	on_scale(SCALE, "dep-1", _i == 0 ? "'replicas':3" : _i == 1 ? "'replicas':5" : "");
	go();
	if (_i == 0)
		RESULT(UNCONFIRMED, PROBABLY_DONE);
	else if (_i == 1)
		RESULT(REFUSED, NOT_ZERO_ANYMORE);
	else
		RESULT(DONE, RESTORED);
}

TEST(accepted_but_not_done)
{
	on_write("'replicas':1");
	go();
	RESULT(FAILED, SERVER_REJECTED);
}

/* -- the pods of before -- */

#define TERMINATING       "'deletionTimestamp':'2026-09-21T14:13:00Z','deletionGracePeriodSeconds':30"
#define OLD(name, status) ITEM(name, name, TERMINATING, status)

/* One that is terminating runs beside the new one; one that is over, or is not asked to go, does not forbid
 * it. */
TEST_LOOP(pods_of_before_are_terminating, 0, 6)
{
	static const struct {
		const char *items, *detail;
	} rows[] = {
		{ OLD("web-a", "'phase':'Running'"),
		  "deployments.apps/shop/web; 1 pod still terminates: web-a" },
		{ OLD("web-a", "'phase':'Pending'") "," OLD("web-b", "'phase':'Unknown'"),
		  "deployments.apps/shop/web; 2 pods still terminate: web-a" },
		{ OLD("web-a", "'phase':'Failed'") "," OLD("web-b", "'phase':'Succeeded'"), NULL },
		{ ITEM("web-a", "a", "'labels':{}", "'phase':'Running'"), NULL },
		{ OLD("web-a", "'phase':'Succeeded'") "," OLD("web-b", "'phase':'Running'"),
		  "deployments.apps/shop/web; 1 pod still terminates: web-b" },
		{ "", NULL },
	};

	on_pods(rows[_i].items);
	go();
	if (!rows[_i].detail) {
		RESULT(DONE, RESTORED);
		return;
	}
	REQUESTS("GET " PATH, "GET " SCALE, LEFT);
	RESULT(REFUSED, OLD_PODS_TERMINATING);
	ck_assert_str_eq(EN(fake.result.detail), rows[_i].detail);
}

TEST(a_pod_of_before_on_the_second_page)
{
	on_pods(OLD("web-a", "'phase':'Running'"));
	on(PODS, 200, "{'metadata':{'continue':'c1'},'items':[]}")->times = 1;
	go();
	REQUESTS("GET " PATH, "GET " SCALE, LEFT, LEFT "&continue=c1");
	RESULT(REFUSED, OLD_PODS_TERMINATING);
}

/* Not known is no. */
TEST_LOOP(pods_of_before_are_not_known, 0, 4)
{
	static const char *const bodies[] = { "{}", "{'items':[7]}", DENIED, DENIED };

	on(PODS, _i < 2 ? 200 : _i == 2 ? 403 : 500, "%s", bodies[_i]);
	go();
	ck_assert_ptr_null(strstr(fake.log[fake.n_log - 1], "PATCH"));
	if (_i < 2)
		RESULT(REFUSED, TALLY_UNKNOWN);
	else if (_i == 2)
		RESULT(FORBIDDEN, FORBIDDEN);
	else
		RESULT(FAILED, SERVER_ERROR);
}

static void on_fleet(const char *mark)
{
	(void)snprintf(fake.grant.want_target, sizeof(fake.grant.want_target), "fleets.example.com/shop/web");
	on("GET /apis/example.com", 200, "{'preferredVersion':{'version':'v2'}}");
	on("GET /apis/example.com/v2" NS "fleets/web", 200,
	   "{'metadata':{'uid':'dep-1','resourceVersion':'77','annotations':{%s},'managedFields':[{"
	   "'manager':'ops-pod-cleaner','subresource':'scale','fieldsV1':{'f:spec':{'f:size':{}}}}]}}",
	   mark);
	on_scale("/apis/example.com/v2" NS "fleets/web/scale", "dep-1", "");
	on("PATCH /apis/example.com/v2" NS "fleets/web/scale", 200,
	   "{'kind':'Scale','metadata':{'uid':'dep-1','resourceVersion':'78'},'spec':{'replicas':3}}");
	on("PATCH /apis/example.com/v2" NS "fleets/web", 200, "{'metadata':{'uid':'dep-1'}}");
}

/* The version of a kind that is not in the table is the one the server prefers. */
TEST_LOOP(a_custom_kind, 0, 2)
{
	on_fleet("'" MARK "by':'ops-pod-cleaner'");
	if (_i == 1)
		on("GET /apis/example.com", 404, NOTFOUND);
	go();
	if (_i == 1) {
		RESULT(REFUSED, OWNER_UNREADABLE);
		return;
	}
	RESULT(DONE, RESTORED);
	/* Its mark goes in a write of its own. */
	ck_assert_ptr_nonnull(strstr(fake.log[fake.n_log - 2], "fleets/web/scale?"));
	ck_assert_ptr_nonnull(strstr(fake.log[fake.n_log - 1], "fleets/web?"));
	ck_assert_ptr_nonnull(strstr(fake.log[fake.n_log - 1], "\"ops-pod-cleaner.io/scaled-down-by\":null"));
}

TEST_LOOP(not_restorable, 0, 7)
{
	static const char *const targets[] = { "pods/shop/web",
					       "daemonsets.apps/shop/web",
					       "deployments.apps/web",
					       "",
					       "deployments.apps/b2b/web",
					       "../shop/web",
					       "a/b.example.com/shop/web" };

	(void)snprintf(fake.grant.want_target, sizeof(fake.grant.want_target), "%s", targets[_i]);
	go();
	ck_assert_uint_eq(fake.n_log, 0);
	ck_assert_uint_eq(fake.result.outcome, OUTCOME_REFUSED);
}

TEST_LOOP(nothing_to_put_back, 0, 2)
{
	fake.grant.want_replicas = _i == 0 ? 0 : 3;
	if (_i == 1)
		fake.grant.want_uid[0] = '\0';
	go();
	ck_assert_uint_eq(fake.n_log, 0);
	RESULT(REFUSED, INCOMPLETE_FACTS);
}

/* -- without an operator -- */

/* Its hash when the image was that. */
static const char *template_of(const char *image)
{
	static char text[TEMPLATE_HASH_MAX];
	json_t *o = json_pack("{s:{s:{s:{s:{s:s}}, s:{s:[{s:s, s:s}]}}}}", "spec", "template", "metadata",
			      "labels", "tier", "gold", "spec", "containers", "name", "app", "image", image);

	template_hash(o, text);
	json_decref(o);
	return text;
}

/* The workload with the mark of action 17, and what else stands among its annotations. */
static void on_marked(const char *from, const char *more, const char *image)
{
	on("GET " PATH, 200,
	   "{'metadata':{'name':'web','uid':'dep-1','resourceVersion':'77','annotations':{'" MARK
	   "by':'ops-pod-cleaner','" MARK "action':'17','" MARK "from':'%s','" MARK
	   "template':'%s'%s},'managedFields':[" OURS_0 "]},'spec':{'template':{'metadata':{'labels':{"
	   "'tier':'gold'}},'spec':{'containers':[{'name':'app','image':'%s'}]}}}}",
	   from, template_of("broken"), more, image);
}

static void setup_corrected(void)
{
	fake.grant.by_operator = false;
	fake.policy.duty[DUTY_IMAGE_PULL].restore = RESTORE_WHEN_TEMPLATE_CHANGES;
	on_marked("3", "", "corrected");
}

TEST(corrected)
{
	setup_corrected();
	go();
	REQUESTS("GET " PATH, "GET " SCALE, LEFT, WRITE);
	RESULT(DONE, CORRECTED);
	ck_assert_str_eq(EN(fake.result.detail), "from 0 to 3 replicas, as before action 17");
	ck_assert_ptr_nonnull(strstr(EN(fake.result.evidence), "its pod template was changed since"));
	ck_assert_ptr_nonnull(strstr(fake.log[3], "\"ops-pod-cleaner.io/restore\":null"));
	ck_assert(fake.reported);
	ck_assert_str_eq(fake.event.reason, "Restored");
	ck_assert_msg(!fake.event.warning && strncmp(fake.event.message, "scaled back to 3: ", 18) == 0, "%s",
		      fake.event.message);
}

TEST(asked_for_on_the_object)
{
	setup_corrected();
	on_marked("3", ",'ops-pod-cleaner.io/restore':'now'", "broken");
	go();
	RESULT(DONE, CORRECTED);
}

/* What was nominated says nothing: the mark, the settings and who wrote the zero do. */
TEST_LOOP(not_corrected, 0, 9)
{
	static const enum reason why[] = {
		REASON_TEMPLATE_UNCHANGED, REASON_NOT_MARKED,
		REASON_NOT_MARKED,         REASON_NOT_MARKED,
		REASON_RESTORE_OFF,        REASON_RESTORE_OFF,
		REASON_NOT_OUR_ZERO,       REASON_NAMESPACE_NOT_SELECTED,
		REASON_NOT_ZERO_ANYMORE,
	};

	setup_corrected();
	if (_i == 0)
		on_marked("3", "", "broken");
	if (_i == 1)
		on_marked("1000", "", "corrected");
	if (_i == 2)
		fake.grant.want_replicas = 1000;
	if (_i == 3)
		fake.grant.origin = 16;
	if (_i == 4)
		fake.policy.duty[DUTY_IMAGE_PULL].restore = RESTORE_NEVER;
	if (_i == 5)
		fake.policy.mode = MODE_OBSERVE;
	if (_i == 6)
		on_workload("dep-1", "77", OURS_0 "," ENTRY("kubectl", "scale", "2026-09-20T14:13:21Z"));
	if (_i == 7)
		str_list_done(&fake.policy.duty[DUTY_IMAGE_PULL].namespaces);
	if (_i == 8)
		on_scale(SCALE, "dep-1", "'replicas':1");
	go();
	expect_result(OUTCOME_REFUSED, why[_i], __LINE__);
	for (size_t i = 0; i < fake.n_log; i++)
		ck_assert_ptr_null(strstr(fake.log[i], "PATCH"));
}

/* The number comes from the history: the mark of that action has to say the same, and then it needs no
 * signature. */
TEST_LOOP(an_operator_and_the_mark, 0, 10)
{
	static const struct {
		const char *from;
		uint64_t origin;
		enum reason signed_too, unsigned_alone;
	} cases[] = {
		{ "3", 17, REASON_RESTORED, REASON_RESTORED },
		{ "1", 17, REASON_NOT_MARKED, REASON_ORIGIN_NOT_SIGNED },
		{ "", 17, REASON_NOT_MARKED, REASON_ORIGIN_NOT_SIGNED },
		{ "3", 16, REASON_NOT_MARKED, REASON_ORIGIN_NOT_SIGNED },  /* that of another action */
		{ NULL, 17, REASON_NOT_MARKED, REASON_ORIGIN_NOT_SIGNED }, /* none at all */
	};
	const bool vouched = _i < 5;
	const enum reason why = vouched ? cases[_i % 5].signed_too : cases[_i % 5].unsigned_alone;

	setup_corrected();
	fake.grant.by_operator = true;
	fake.grant.vouched = vouched;
	fake.grant.origin = cases[_i % 5].origin;
	if (cases[_i % 5].from)
		on_marked(cases[_i % 5].from, "", "broken");
	else
		on("GET " PATH, 200,
		   "{'metadata':{'name':'web','uid':'dep-1','resourceVersion':'77','managedFields':[" OURS_0
		   "]}}");
	go();
	expect_result(why == REASON_RESTORED ? OUTCOME_DONE : OUTCOME_REFUSED, why, __LINE__);
}

/* No history knows of it: what the mark says, where it is ours, and where nobody has set the replicas since.
 */
TEST_LOOP(by_the_mark_alone, 0, 5)
{
	static const struct {
		const char *marks, *managed;
		enum reason reason;
	} cases[] = {
		{ "'" MARK "by':'ops-pod-cleaner','" MARK "action':'99','" MARK "from':'3'", OURS_0,
		  REASON_RESTORED },
		{ "'" MARK "by':'ops-pod-cleaner','" MARK "from':'500'", OURS_0, REASON_NOT_MARKED },
		{ "'" MARK "by':'kubectl','" MARK "from':'3'", OURS_0, REASON_NOT_MARKED },
		{ "'" MARK "by':'ops-pod-cleaner'", OURS_0, REASON_NOT_MARKED },
		{ "'" MARK "by':'ops-pod-cleaner','" MARK "from':'3'", ENTRY("kubectl", "", LIVE),
		  REASON_NOT_OUR_ZERO },
	};

	fake.grant.origin = 0;
	fake.grant.vouched = false;
	on("GET " PATH, 200,
	   "{'metadata':{'name':'web','uid':'dep-1','resourceVersion':'77','annotations':{%s},"
	   "'managedFields':[%s]}}",
	   cases[_i].marks, cases[_i].managed);
	go();
	expect_result(cases[_i].reason == REASON_RESTORED ? OUTCOME_DONE : OUTCOME_REFUSED, cases[_i].reason,
		      __LINE__);
	if (_i == 0)
		ck_assert_str_eq(EN(fake.result.detail),
				 "from 0 to 3 replicas, as its mark says: the history "
				 "does not know of it");
}

/* Nobody has asked: the number of no action is that of none. */
TEST(no_origin_is_no_mark_without_an_operator)
{
	setup_corrected();
	fake.grant.origin = 0;
	fake.grant.by_operator = false;
	on_marked("3", "", "corrected");
	go();
	RESULT(REFUSED, NOT_MARKED);
}

/* Behind a lost history: the number is that of another action, whoever asks. */
TEST_LOOP(a_mark_of_another_history, 0, 4)
{
	const bool same = _i % 2;

	setup_corrected();
	fake.grant.by_operator = _i < 2;
	fake.grant.vouched = true;
	strcpy(fake.grant.history, "aaaa");
	on_marked("3", same ? ",'" MARK "history':'aaaa'" : ",'" MARK "history':'bbbb'", "corrected");
	go();
	if (!same)
		RESULT(REFUSED, NOT_MARKED);
	else
		expect_result(OUTCOME_DONE, _i < 2 ? REASON_RESTORED : REASON_CORRECTED, __LINE__);
}

/* Of a kind whose scale alone is known the mark is a second write, which may be missing: then the signature
 * has to be there. What the mark does say counts. */
TEST_LOOP(a_kind_whose_scale_alone_is_known, 0, 8)
{
	static const struct {
		const char *mark;
		enum reason signed_too, unsigned_alone;
	} cases[] = {
		{ "", REASON_RESTORED, REASON_ORIGIN_NOT_SIGNED },
		{ "'" MARK "action':'17'", REASON_RESTORED, REASON_ORIGIN_NOT_SIGNED },
		{ "'" MARK "action':'17','" MARK "from':'500'", REASON_NOT_MARKED, REASON_ORIGIN_NOT_SIGNED },
		{ "'" MARK "action':'18'", REASON_NOT_MARKED, REASON_ORIGIN_NOT_SIGNED },
	};
	const bool vouched = _i < 4;
	const enum reason why = vouched ? cases[_i % 4].signed_too : cases[_i % 4].unsigned_alone;

	fake.grant.vouched = vouched;
	on_fleet(cases[_i % 4].mark);
	go();
	expect_result(why == REASON_RESTORED ? OUTCOME_DONE : OUTCOME_REFUSED, why, __LINE__);
}

/* The override that is for what the template makes. */
TEST(settings_of_the_workload_itself)
{
	struct policy_override gold = { .name = xstrdup("gold") };

	setup_corrected();
	for (enum duty d = 0; d < DUTY__MAX; d++)
		gold.duty[d] = fake.policy.duty[d];
	gold.duty[DUTY_IMAGE_PULL].restore = RESTORE_NEVER;
	str_list_add(&gold.labels, "tier=gold", 9);
	fake.policy.overrides = &gold;
	fake.policy.n_overrides = 1;
	go();
	RESULT(REFUSED, RESTORE_OFF);
	str_list_done(&gold.labels);
	free(gold.name);
	fake.policy.n_overrides = 0;
}

/* A look is bound by the windows of the duty, an operator is not. */
TEST_LOOP(windows, 0, 3)
{
	setup_corrected();
	fake.windows = windows_new();
	str_list_add(&fake.policy.duty[DUTY_IMAGE_PULL].windows, "0 0 1 1 * for 1m", 16);
	fake.grant.by_operator = _i == 2;
	fake.dry_run = _i == 1;
	go();
	if (_i == 2)
		RESULT(DONE, RESTORED);
	else
		RESULT(REFUSED, OUTSIDE_WINDOW);
	windows_free(&fake.windows);
	str_list_done(&fake.policy.duty[DUTY_IMAGE_PULL].windows);
}

TEST_MAIN("worker/restore")
{
	tcase_add_checked_fixture(t, setup, fake_teardown);
}
