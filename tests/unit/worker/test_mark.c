/* The mark on a workload that was scaled to 0: who, when, why, from how many, how to undo it; and that no act
 * hangs on it. */
// SPDX-License-Identifier: Apache-2.0
#include <jansson.h>
#include <stdio.h>

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
	return strstr(fake.result.evidence, text) != NULL;
}

/* The workload as it is after the write. */
static struct fake_reply *on_now(const char *uid, const char *replicas, const char *annotations)
{
	return on("GET " PATH, 200,
		  "{'metadata':{'name':'web','uid':'%s','resourceVersion':'80','annotations':{%s}},'spec':{%"
		  "s}}",
		  uid, annotations, replicas);
}

/* The one after the first read, which is that of the owner. */
static void on_owner_first(void)
{
	on("GET " PATH, 200,
	   "{'metadata':{'name':'web','uid':'dep-1','creationTimestamp':'" LIVE "'},'status':{}}")
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
	ck_assert_str_eq(json_string_value(json_object_get(meta, "resourceVersion")), "78");
	ck_assert_uint_eq(json_object_size(o), 1);
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
	/* What the result says is said of the scale. */
	ck_assert_ptr_nonnull(strstr(fake.result.request, "/scale"));
	ck_assert_str_eq(fake.result.target_rv, "77");
}

/* Nothing was scaled: nothing is marked. */
TEST_LOOP(dry_runs_mark_nothing, 0, 2)
{
	fake.grant.observe = _i == 0;
	fake.dry_run = _i == 1;
	go();
	for (size_t i = 0; i < fake.n_log; i++)
		ck_assert_ptr_null(strstr(fake.log[i], PATCH_MARK "?"));
}

/* Its controller was faster: read again, and bound to what was read. */
TEST(after_a_conflict)
{
	on(PATCH_MARK, 409, CONFLICT)->times = 1;
	on_now("dep-1", "'replicas':0", "");
	on_owner_first();
	go();
	RESULT(DONE, CANNOT_PULL_IMAGE);
	ck_assert_int_eq(strncmp(fake.log[fake.n_log - 2], "GET " PATH, strlen("GET " PATH)), 0);
	json_t *o = sent(fake.n_log - 1);

	ck_assert_str_eq(
		json_string_value(json_object_get(json_object_get(o, "metadata"), "resourceVersion")), "80");
	json_decref(o);
	ck_assert(has("; marked"));
}

/* Somebody scaled it up meanwhile, or replaced it: a mark would lie. */
TEST_LOOP(not_what_was_scaled_any_more, 0, 3)
{
	on(PATCH_MARK, 409, CONFLICT);
	if (_i < 2)
		on_now(_i == 0 ? "dep-1" : "dep-2", _i == 0 ? "'replicas':2" : "'replicas':0", "");
	else
		on("GET " PATH, 404, NOTFOUND);
	on_owner_first();
	go();
	RESULT(DONE, CANNOT_PULL_IMAGE);
	ck_assert_int_eq(strncmp(fake.log[fake.n_log - 1], "GET", 3), 0);
	ck_assert(!has("; marked"));
}

TEST(conflicts_end)
{
	on(PATCH_MARK, 409, CONFLICT);
	on_now("dep-1", "'replicas':0", "");
	on_owner_first();
	go();
	RESULT(DONE, CANNOT_PULL_IMAGE);
	ck_assert(has("its mark was not written: 409 modified"));
	ck_assert_uint_eq(fake.n_log, 9 + 1 + 2 * 4);
}

/* The scale was done, whatever becomes of the mark. */
TEST_LOOP(its_failure_is_not_that_of_the_act, 0, 5)
{
	static const long status[] = { 403, 500, 404, 200, 0 };

	if (status[_i] == 0)
		on_failure(PATCH_MARK, HTTP_BROKEN, true);
	else
		on(PATCH_MARK, status[_i], "%s",
		   status[_i] == 403 ? "{\"kind\":\"Status\",\"message\":\"no\"}" : "[]");
	go();
	RESULT(DONE, CANNOT_PULL_IMAGE);
	ck_assert_int_eq(fake.result.replicas, 3);
	ck_assert_uint_eq(fake.result.http, 200);
	ck_assert(has("its mark was not written: "));
	ck_assert(fake.reported);
	ck_assert_uint_eq(fake.unmarked, status[_i] == 403);
}

/* The grant ended with the scale: nothing is begun after it. */
TEST(not_after_the_grant)
{
	fake.slowness_ms = 100;
	fake.grant.valid_until = BOOT + 850;
	go();
	RESULT(DONE, CANNOT_PULL_IMAGE);
	ck_assert_ptr_null(strstr(fake.log[fake.n_log - 1], PATCH_MARK "?"));
}

/* -- after the death of an earlier holder -- */

static void setup_verify(const char *replicas, const char *annotations)
{
	fake.grant.verify_first = true;
	(void)snprintf(fake.grant.evidence, sizeof(fake.grant.evidence), "it cannot pull");
	on_scale(SCALE, "dep-1", "");
	on_now("dep-1", replicas, annotations);
	on_owner_first();
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
	on("PATCH " SCALE, 200,
	   "{'kind':'Scale','metadata':{'name':'web','uid':'dep-1','resourceVersion':'78'},'spec':{'replicas'"
	   ":3}}");
}

TEST_LOOP(a_restore_takes_it_away, 0, 2)
{
	setup_restore(_i == 0 ? "'" PREFIX "by':'ops-pod-cleaner'" : "");
	go();
	RESULT(DONE, RESTORED);
	if (_i == 1) {
		REQUESTS("GET " PATH, "GET " SCALE, "PATCH " SCALE);
		return;
	}
	REQUESTS("GET " PATH, "GET " SCALE, "PATCH " SCALE, PATCH_MARK "?");
	json_t *o = sent(fake.n_log - 1), *value;
	const char *key;

	ck_assert_uint_eq(json_object_size(json_object_get(json_object_get(o, "metadata"), "annotations")),
			  MARK__MAX + 1);
	json_object_foreach (json_object_get(json_object_get(o, "metadata"), "annotations"), key, value)
		ck_assert(json_is_null(value));
	json_decref(o);
	ck_assert(has("its mark was taken away"));
}

TEST_MAIN("worker/mark")
{
	tcase_add_checked_fixture(t, setup, fake_teardown);
}
