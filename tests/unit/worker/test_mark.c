/* The mark on a workload that was scaled to 0: who, when, why, from how many, how to undo it; and that no act
 * hangs on it. */
// SPDX-License-Identifier: Apache-2.0
#include <jansson.h>
#include <stdio.h>

#include "tests/facts_en.h"
#include "tests/suite.h"
#include "workload.h"

#define PATH     "/apis/apps/v1" NS "deployments/web"
#define PREFIX   "ops-pod-cleaner.io/scaled-down-"
#define CONFLICT "{'kind':'Status','status':'Failure','message':'modified','code':409}"

static void setup(void)
{
	setup_deployment();
	(void)snprintf(fake.grant.reason, sizeof(fake.grant.reason), "CannotPullImage");
}

static bool has(const char *text)
{
	return strstr(EN(fake.result.evidence), text) != NULL;
}

/* The workload as it is after the write. */
static void on_now(const char *path, const char *uid, const char *replicas, const char *annotations)
{
	on(path, 200,
	   "{'metadata':{'name':'web','uid':'%s','resourceVersion':'80','annotations':{%s}},'spec':{%"
	   "s}}",
	   uid, annotations, replicas);
}

/* The one before it, as its first read finds it. */
static void on_before(const char *path, const char *uid)
{
	on(path, 200, "{'metadata':{'name':'web','uid':'%s','creationTimestamp':'" LIVE "'},'status':{}}",
	   uid)
		->times = 1;
}

static json_t *sent(size_t i)
{
	const char *text = strchr(fake.log[i], '{');
	json_t *o = json_loads(text ? text : "", 0, NULL);

	ck_assert_msg(o != NULL, "%s", fake.log[i]);
	return o;
}

static json_t *annotation(json_t *o, const char *part)
{
	char key[100];

	(void)snprintf(key, sizeof(key), PREFIX "%s", part);
	return json_object_get(json_object_get(json_object_get(o, "metadata"), "annotations"), key);
}

static const char *text_of(json_t *o, const char *part)
{
	const char *text = json_string_value(annotation(o, part));

	ck_assert_msg(text != NULL, "no %s", part);
	return text;
}

TEST(says_all_that_is_asked_of_it)
{
	go();
	RESULT(DONE, CANNOT_PULL_IMAGE);
	json_t *o = sent(fake.n_log - 1), *meta = json_object_get(o, "metadata");

	ck_assert_str_eq(json_string_value(json_object_get(meta, "uid")), "dep-1");
	ck_assert_str_eq(json_string_value(json_object_get(meta, "resourceVersion")), "77");
	ck_assert_uint_eq(json_object_size(o), 2); /* and spec.replicas */
	ck_assert_uint_eq(json_object_size(json_object_get(meta, "annotations")), MARK__MAX + 1);
	ck_assert_str_eq(text_of(o, "by"), "ops-pod-cleaner");
	ck_assert_str_eq(text_of(o, "action"), "7");
	ck_assert_str_eq(text_of(o, "at"), "2026-09-21T14:13:20Z");
	ck_assert_str_eq(text_of(o, "from"), "3");
	ck_assert_str_eq(text_of(o, "undo"), "ops-pod-cleaner restore 7");
	/* An older wish to put it back is none for this time. */
	ck_assert(json_is_null(json_object_get(json_object_get(meta, "annotations"), ANNOTATION_RESTORE)));
	ck_assert_int_eq(strncmp(text_of(o, "why"), "errImagePull: CannotPullImage: ", 31), 0);
	ck_assert_ptr_nonnull(strstr(text_of(o, "why"), "2 of 2 pods of the revision fail"));
	json_decref(o);
	ck_assert(has("; marked"));
	ck_assert_str_eq(fake.result.target_rv, "77");
}

/* What a webhook takes out of the write is not there, whatever was asked for. */
TEST(left_out_by_the_server)
{
	on(PATCH_MARK, 200, "{'metadata':{'uid':'dep-1','resourceVersion':'78'},'spec':{'replicas':0}}");
	go();
	RESULT(DONE, CANNOT_PULL_IMAGE);
	ck_assert(has("its mark was not written: the server left it out"));
}

/* -- where the server refuses replicas and mark in one write -- */

#define BY_RIGHTS_JSON                                                                                       \
	"{\"kind\":\"Status\",\"status\":\"Failure\",\"code\":403,\"message\":\"deployments.apps "           \
	"\\\"web\\\" is "                                                                                    \
	"forbidden: User \\\"u\\\" cannot patch resource\"}"

/* Who may write the scale alone: by /scale, and not marked. */
TEST(refused_as_one)
{
	on(PATCH_MARK, 403, "%s", BY_RIGHTS_JSON);
	go();
	REQUESTS(GET, RS, DEPLOY, HPAS, KEDA, "GET " SCALE, RSES, PODS, PATCH_MARK "?",
		 "PATCH " SCALE "?fieldManager=ops-pod-cleaner {\"metadata\":{\"uid\":\"dep-1\","
		 "\"resourceVersion\":\"77\"},\"spec\":{\"replicas\":0}}");
	RESULT(DONE, CANNOT_PULL_IMAGE);
	ck_assert_int_eq(fake.result.replicas, 3);
	ck_assert_ptr_nonnull(strstr(fake.result.request, "/scale"));
	ck_assert(has("its mark was not written: ") && !has("; marked"));
	ck_assert_uint_eq(fake.unmarked, 1);
}

#define ON_OBJECT                                                                                            \
	PATCH_MARK "?fieldManager=ops-pod-cleaner {\"metadata\":{\"uid\":\"dep-1\",\"resourceVersion\":"     \
		   "\"77\"},\"spec\":{\"replicas\":0}}"
static const struct {
	long status;
	const char *body;
	enum outcome outcome;
	enum reason reason;
} objections[] = {
	{ 403, "{'kind':'Status','message':'admission webhook w denied the request: no'}", OUTCOME_FORBIDDEN,
	  REASON_FORBIDDEN },
	{ 400, "{'kind':'Status','message':'admission webhook w denied the request: no'}", OUTCOME_FAILED,
	  REASON_SERVER_REJECTED },
	{ 422, "{'kind':'Status','message':'metadata.annotations: Too long'}", OUTCOME_FAILED,
	  REASON_SERVER_REJECTED },
};

/* A webhook, or the object's size, has something against the mark: the replicas alone. */
TEST_LOOP(objected_to_as_one, 0, 3)
{
	on(PATCH_MARK, objections[_i].status, "%s", objections[_i].body)->times = 1;
	go();
	REQUESTS(GET, RS, DEPLOY, HPAS, KEDA, "GET " SCALE, RSES, PODS, PATCH_MARK "?", ON_OBJECT);
	RESULT(DONE, CANNOT_PULL_IMAGE);
	ck_assert_int_eq(fake.result.replicas, 3);
	ck_assert(has("its mark was not written: ") && !has("; marked") && !has("left it out"));
	ck_assert_uint_eq(fake.unmarked, 0);
}

/* It has something against no replicas: whoever guards an object may not guard its scale, and is not gone
 * round. */
TEST_LOOP(objected_to_for_good, 0, 6)
{
	const size_t i = (size_t)_i % 3;

	fake.grant.observe = _i >= 3;
	on(PATCH_MARK, objections[i].status, "%s", objections[i].body);
	go();
	REQUESTS(GET, RS, DEPLOY, HPAS, KEDA, "GET " SCALE, RSES, PODS, PATCH_MARK "?", PATCH_MARK "?");
	expect_result(objections[i].outcome, objections[i].reason, __LINE__);
	ck_assert_ptr_nonnull(strstr(EN(fake.result.detail), i == 2 ? "Too long" : "webhook w denied"));
}

/* What was objected to once is not asked for again after a conflict. */
TEST(objected_to_once)
{
	on(PATCH_MARK, 409, CONFLICT)->times = 1;
	on(PATCH_MARK, 403, "%s", objections[0].body)->times = 1;
	go();
	RESULT(DONE, CANNOT_PULL_IMAGE);
	ck_assert_uint_eq(fake.n_log, 10 + 8);
	ck_assert_int_eq(strncmp(fake.log[17], ON_OBJECT, strlen(ON_OBJECT)), 0);
}

/* A conflict begins all again, but what the server does not want is not asked for twice. */
TEST(refused_once)
{
	on(PATCH_MARK, 403, "%s", BY_RIGHTS_JSON);
	on("PATCH " SCALE, 409, CONFLICT)->times = 1;
	go();
	RESULT(DONE, CANNOT_PULL_IMAGE);
	ck_assert_uint_eq(fake.n_log, 10 + 8);
	ck_assert_uint_eq(fake.unmarked, 1);
}

/* Nobody knows whether these were carried out, or they say something else: no other way. */
TEST_LOOP(not_refused, 0, 5)
{
	static const struct {
		long status;
		enum outcome outcome;
	} rows[] = { { 401, OUTCOME_FORBIDDEN },
		     { 404, OUTCOME_GONE },
		     { 409, OUTCOME_CONFLICT },
		     { 429, OUTCOME_FAILED },
		     { 500, OUTCOME_FAILED } };

	on(PATCH_MARK, rows[_i].status, "%s",
	   rows[_i].status == 404 ? NOTFOUND : "{'kind':'Status','message':'no'}");
	go();
	ck_assert_uint_eq(fake.result.outcome, rows[_i].outcome);
	for (size_t i = 0; i < fake.n_log; i++)
		ck_assert(!strstr(fake.log[i], "PATCH " SCALE) && !strstr(fake.log[i], ON_OBJECT));
}

/* In mode observe nothing is marked that could be told as missing. */
TEST(refused_to_who_only_observes)
{
	fake.grant.observe = true;
	on(PATCH_MARK, 403, "%s", BY_RIGHTS_JSON);
	on("PATCH " SCALE, 403, "%s", BY_RIGHTS_JSON);
	go();
	RESULT(WOULD, CANNOT_PULL_IMAGE);
	ck_assert(!has("its mark"));
	ck_assert_uint_eq(fake.unmarked, 0);
}

/* The answer was lost: the mark, which is there or not with the replicas, is the proof. */
TEST_LOOP(lost_answer, 0, 2)
{
	on_failure(PATCH_MARK, HTTP_BROKEN, true);
	on_scale(SCALE, "dep-1", _i == 0 ? "" : "'replicas':3");
	on_scale(SCALE, "dep-1", "'replicas':3")->times = 1;
	on_now("GET " PATH, "dep-1", "'replicas':0", "'" PREFIX "action':'7','" PREFIX "from':'3'");
	on_before("GET " PATH, "dep-1");
	go();
	if (_i == 0)
		RESULT(DONE, CANNOT_PULL_IMAGE);
	else
		RESULT(FAILED, NETWORK_ERROR);
	if (_i == 0)
		ck_assert_int_eq(fake.result.replicas, 3);
}

/* Nothing was scaled: nothing is marked. */
TEST_LOOP(dry_runs_mark_nothing, 0, 3)
{
	fake.grant.observe = _i != 1;
	fake.dry_run = _i == 1;
	if (_i == 2)
		with_fleet(FLEETS(WITH_SCALE));
	go();
	for (size_t i = 0; i < fake.n_log; i++) {
		ck_assert(!strstr(fake.log[i], "PATCH") || strstr(fake.log[i], "&dryRun=All {"));
		ck_assert_ptr_null(strstr(fake.log[i], "PATCH " FLEET "?"));
	}
	ck_assert(!has("marked"));
}

/* -- a kind that is not in the table: its mark follows the scale -- */

#define FLEET_MARK "PATCH " FLEET

/* The scale as it is after the write. */
static void on_scaled(const char *spec)
{
	on_scale(FLEET "/scale", "fleet-1", spec);
	on_scale(FLEET "/scale", "fleet-1", "'replicas':5")->times = 1;
}

/* Its controller was faster: read again, and bound to what was read. */
TEST(after_a_conflict)
{
	with_fleet(FLEETS(WITH_SCALE));
	on(FLEET_MARK, 409, CONFLICT)->times = 1;
	on_now("GET " FLEET, "fleet-1", "'replicas':0", "");
	on_before("GET " FLEET, "fleet-1");
	on_scaled("'replicas':0");
	go();
	RESULT(DONE, CANNOT_PULL_IMAGE);
	ck_assert_int_eq(strncmp(fake.log[fake.n_log - 3], "GET " FLEET, strlen("GET " FLEET)), 0);
	json_t *o = sent(fake.n_log - 1);

	ck_assert_str_eq(
		json_string_value(json_object_get(json_object_get(o, "metadata"), "resourceVersion")), "80");
	json_decref(o);
	ck_assert(has("; marked"));
}

/* Somebody scaled it up meanwhile, or replaced it: a mark would lie. */
TEST_LOOP(not_what_was_scaled_any_more, 0, 3)
{
	with_fleet(FLEETS(WITH_SCALE));
	on_scaled("'replicas':0");
	on(FLEET_MARK, 409, CONFLICT);
	if (_i < 2)
		on_now("GET " FLEET, _i == 0 ? "fleet-1" : "fleet-2",
		       _i == 0 ? "'replicas':2" : "'replicas':0", "");
	else
		on("GET " FLEET, 404, NOTFOUND);
	on_before("GET " FLEET, "fleet-1");
	go();
	RESULT(DONE, CANNOT_PULL_IMAGE);
	ck_assert_int_eq(strncmp(fake.log[fake.n_log - 1], "GET", 3), 0);
	ck_assert(!has("; marked"));
}

/* Only the scale of such a kind says that its replicas are back: the object calls them as it likes. */
TEST(scaled_up_before_it_was_marked)
{
	with_fleet(FLEETS(WITH_SCALE));
	on(FLEET_MARK, 409, CONFLICT);
	on_now("GET " FLEET, "fleet-1", "'size':5", "");
	on_before("GET " FLEET, "fleet-1");
	go();
	RESULT(DONE, CANNOT_PULL_IMAGE);
	ck_assert_int_eq(
		strncmp(fake.log[fake.n_log - 1], "GET " FLEET "/scale", strlen("GET " FLEET "/scale")), 0);
	ck_assert(has("somebody else has set the replicas since"));
}

TEST(conflicts_end)
{
	with_fleet(FLEETS(WITH_SCALE));
	on_scaled("'replicas':0");
	on(FLEET_MARK, 409, CONFLICT);
	on_now("GET " FLEET, "fleet-1", "'replicas':0", "");
	on_before("GET " FLEET, "fleet-1");
	go();
	RESULT(DONE, CANNOT_PULL_IMAGE);
	ck_assert(has("its mark was not written: 409 modified"));
	ck_assert_uint_eq(fake.n_log, 8 + 1 + 3 * 4);
}

#define BY_WEBHOOK_JSON                                                                                      \
	"{\"kind\":\"Status\",\"message\":\"admission webhook \\\"w\\\" denied the request: no\"}"

/* The scale was done, whatever becomes of the mark. A role that is not bound is missed only where the server
 * says so, not where a webhook objects. */
TEST_LOOP(its_failure_is_not_that_of_the_act, 0, 6)
{
	static const long status[] = { 403, 403, 500, 404, 200, 0 };
	static const char *const body[] = { BY_RIGHTS_JSON, BY_WEBHOOK_JSON, "[]", "[]", "[]" };

	with_fleet(FLEETS(WITH_SCALE));
	if (status[_i] == 0)
		on_failure(FLEET_MARK, HTTP_BROKEN, true);
	else
		on(FLEET_MARK, status[_i], "%s", body[_i]);
	go();
	RESULT(DONE, CANNOT_PULL_IMAGE);
	ck_assert_int_eq(fake.result.replicas, 5);
	ck_assert_uint_eq(fake.result.http, 200);
	ck_assert(has("its mark was not written: "));
	ck_assert(fake.reported);
	ck_assert_uint_eq(fake.unmarked, _i == 0);
}

/* The grant ended with the scale: nothing is begun after it. */
TEST(not_after_the_grant)
{
	with_fleet(FLEETS(WITH_SCALE));
	fake.slowness_ms = 100;
	fake.grant.valid_until = BOOT + 750;
	go();
	RESULT(DONE, CANNOT_PULL_IMAGE);
	ck_assert_ptr_null(strstr(fake.log[fake.n_log - 1], FLEET_MARK "?"));
}

/* -- after the death of an earlier holder -- */

static void setup_verify(const char *replicas, const char *annotations)
{
	fake.grant.verify_first = true;
	SET_SAID(fake.grant.evidence, "it cannot pull");
	on_scale(SCALE, "dep-1", "");
	on_now("GET " PATH, "dep-1", replicas, annotations);
	on_before("GET " PATH, "dep-1");
}

/* It came as far as the mark: it is known what was done, and nothing is written again. */
TEST(its_own_mark_proves_it)
{
	setup_verify("'replicas':0", "'" PREFIX "action':'7','" PREFIX "from':'3'");
	go();
	RESULT(DONE, CANNOT_PULL_IMAGE);
	ck_assert_int_eq(fake.result.replicas, 3);
	ck_assert_str_eq(fake.result.target, "deployments.apps/shop/web");
	ck_assert_str_eq(fake.result.target_uid, "dep-1");
	ck_assert_int_eq(strncmp(fake.log[fake.n_log - 1], "GET", 3), 0);
	ck_assert_str_eq(fake.event.reason, "ScaledToZero");
}

/* At once, whatever the workload would be refused for by now: here its controller has not looked at it yet.
 */
TEST_LOOP(its_own_mark_proves_it_before_all_else, 0, 3)
{
	fake.grant.verify_first = _i < 2;
	on("GET " PATH, 200,
	   "{'metadata':{'name':'web','uid':'dep-1','resourceVersion':'80','generation':5,'annotations':{"
	   "'" PREFIX "action':'%s','" PREFIX
	   "from':'3'}},'spec':{'replicas':0},'status':{'observedGeneration':4}}",
	   _i == 1 ? "6" : "7");
	go();
	REQUESTS(GET, RS, "GET " PATH);
	if (_i > 0) {
		RESULT(REFUSED, NOT_OBSERVED);
		return;
	}
	RESULT(DONE, CANNOT_PULL_IMAGE);
	ck_assert_int_eq(fake.result.replicas, 3);
	ck_assert_str_eq(fake.result.target, "deployments.apps/shop/web");
}

/* Another history gives the same number to another action: its mark proves nothing, and what is not done is
 * done. */
TEST_LOOP(a_mark_of_another_history_proves_nothing, 0, 4)
{
	static const char *const marks[] = { "'" PREFIX "history':'bbbb',", "", "'" PREFIX "history':'aaaa',",
					     "'" PREFIX "history':'aaaab'," };

	setup_verify("'replicas':3", "");
	on_scale(SCALE, "dep-1", "'replicas':3");
	strcpy(fake.grant.history, "aaaa");
	on("GET " PATH, 200,
	   "{'metadata':{'name':'web','uid':'dep-1','resourceVersion':'77','generation':4,'annotations':{%s"
	   "'" PREFIX "action':'7','" PREFIX
	   "from':'3'}},'spec':{'replicas':3},'status':{'observedGeneration':4}}",
	   marks[_i]);
	go();
	RESULT(DONE, CANNOT_PULL_IMAGE);
	const char *last = fake.log[fake.n_log - 1];

	if (_i == 2) { /* its own */
		ck_assert_ptr_null(strstr(last, "PATCH "));
		return;
	}
	ck_assert_ptr_nonnull(strstr(last, PATCH_MARK "?"));
	ck_assert_ptr_nonnull(strstr(last, PREFIX "history\":\"aaaa\""));
}

/* Without it, or with that of an older action: it is written, without what nobody knows. */
TEST_LOOP(it_is_written_by_the_next, 0, 2)
{
	setup_verify("'replicas':0", _i == 0 ? "" : "'" PREFIX "action':'6','" PREFIX "from':'3'");
	go();
	RESULT(UNCONFIRMED, PROBABLY_DONE);
	json_t *o = sent(fake.n_log - 1);

	ck_assert_ptr_nonnull(strstr(fake.log[fake.n_log - 1], PATCH_MARK "?"));
	ck_assert_str_eq(text_of(o, "action"), "7");
	ck_assert(json_is_null(annotation(o, "from")));
	ck_assert_ptr_nonnull(strstr(text_of(o, "why"), "CannotPullImage (most likely: "));
	ck_assert_str_eq(text_of(o, "undo"), "kubectl -n shop scale deployments.apps web --replicas=...");
	json_decref(o);
}

/* Somebody has put the replicas back before that: a mark would lie. */
TEST(it_is_not_written_when_it_runs_again)
{
	setup_verify("'replicas':2", "");
	go();
	RESULT(UNCONFIRMED, PROBABLY_DONE);
	ck_assert_int_eq(strncmp(fake.log[fake.n_log - 1], "GET " PATH, strlen("GET " PATH)), 0);
}

/* Its pods are on their way out already: their owners still lead to it. Where nothing is found nothing is
 * said. */
TEST_LOOP(its_pod_goes_already, 0, 5)
{
	setup_verify("'replicas':0", _i == 1 ? "" : "'" PREFIX "action':'7','" PREFIX "from':'3'");
	on_pod("41", ",'deletionTimestamp':'2026-09-21T14:13:20Z','deletionGracePeriodSeconds':30," BY_RS, "",
	       PULLING);
	if (_i == 2)
		on_scale(SCALE, "dep-1", "'replicas':3");
	if (_i == 3)
		on(RS, 404, NOTFOUND);
	if (_i == 4)
		fake.grant.action = ACTION_FRESH_ATTEMPT;
	go();
	if (_i == 0) {
		REQUESTS(GET, RS, "GET " PATH, "GET " SCALE, "GET " PATH);
		RESULT(DONE, CANNOT_PULL_IMAGE);
		ck_assert_int_eq(fake.result.replicas, 3);
		return;
	}
	RESULT(UNCONFIRMED, PROBABLY_DONE);
	ck_assert((_i == 1) == (strncmp(fake.log[fake.n_log - 1], PATCH_MARK, strlen(PATCH_MARK)) == 0));
	for (size_t i = 0; i < fake.n_log; i++)
		ck_assert(!strstr(fake.log[i], "PATCH " SCALE) && !strstr(fake.log[i], HPAS));
}

/* -- a restore -- */

static void setup_restore(const char *annotations)
{
	fake.grant.action = ACTION_RESTORE;
	on_pods("");
	fake.grant.by_operator = true;
	fake.grant.origin = 7;
	fake.grant.want_replicas = 3;
	(void)snprintf(fake.grant.want_target, sizeof(fake.grant.want_target), "deployments.apps/shop/web");
	(void)snprintf(fake.grant.want_uid, sizeof(fake.grant.want_uid), "dep-1");
	on("GET " PATH, 200,
	   "{'metadata':{'name':'web','uid':'dep-1','resourceVersion':'77','annotations':{%s},'managedFields'"
	   ":[{"
	   "'manager':'ops-pod-cleaner','operation':'Update','subresource':'scale','time':'" LIVE
	   "','fieldsV1':{'f:spec':{'f:replicas':{}}}}]}}",
	   annotations);
	on_scale(SCALE, "dep-1", "");
	on(PATCH_MARK, 200,
	   "{'metadata':{'name':'web','uid':'dep-1','resourceVersion':'78'},'spec':{'replicas':3}}");
	on("PATCH " SCALE, 200,
	   "{'kind':'Scale','metadata':{'name':'web','uid':'dep-1','resourceVersion':'78'},'spec':{'replicas'"
	   ":3}}");
}

#define MARK_OF_7 "'" PREFIX "by':'ops-pod-cleaner','" PREFIX "action':'7','" PREFIX "from':'3'"

TEST(a_restore_takes_it_away)
{
	setup_restore(MARK_OF_7);
	go();
	RESULT(DONE, RESTORED);
	REQUESTS("GET " PATH, "GET " SCALE, PODS PAGE1, PATCH_MARK "?");
	json_t *o = sent(fake.n_log - 1), *value;
	const char *key;

	ck_assert_uint_eq(json_object_size(json_object_get(json_object_get(o, "metadata"), "annotations")),
			  MARK__MAX + 1);
	json_object_foreach (json_object_get(json_object_get(o, "metadata"), "annotations"), key, value)
		ck_assert(json_is_null(value));
	json_decref(o);
	ck_assert(has("its mark was taken away"));
}

/* Where that is refused the replicas come back by /scale, and the mark stays. */
TEST(a_restore_refused_as_one)
{
	setup_restore(MARK_OF_7);
	on(PATCH_MARK, 403, "%s", BY_RIGHTS_JSON);
	go();
	RESULT(DONE, RESTORED);
	REQUESTS("GET " PATH, "GET " SCALE, PODS PAGE1, PATCH_MARK "?", "PATCH " SCALE);
	ck_assert(has("its mark was not written: 403"));
}

TEST_MAIN("worker/mark")
{
	tcase_add_checked_fixture(t, setup, fake_teardown);
}
