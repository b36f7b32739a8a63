/* The action of errImagePull: from the pod to its workload's scale, all its pods, and the write. */
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "base/cleanup.h"
#include "tests/facts_en.h"
#include "tests/suite.h"
#include "text/short_line.h"
#include "workload.h"

/* Replicas and mark at once. */
#define WRITE                                                                                                \
	PATCH_MARK                                                                                           \
	"?fieldManager=ops-pod-cleaner {\"spec\":{\"replicas\":0},\"metadata\":{\"uid\":\"dep-1\","          \
	"\"resourceVersion\":\"77\",\"annotations\":{\"ops-pod-cleaner.io/scaled-down-by\":"

TEST(deployment_is_scaled_to_zero)
{
	go();
	REQUESTS(GET, RS, DEPLOY, HPAS, KEDA, "GET " SCALE, RSES PAGE1, PODS PAGE1, WRITE);
	RESULT(DONE, CANNOT_PULL_IMAGE);
	ck_assert_str_eq(fake.result.target, "deployments.apps/shop/web");
	ck_assert_str_eq(fake.result.target_uid, "dep-1");
	ck_assert_str_eq(fake.result.target_rv, "77");
	ck_assert_int_eq(fake.result.replicas, 3);
	ck_assert_uint_eq(fake.result.http, 200);
	ck_assert_ptr_nonnull(strstr(EN(fake.result.detail), "2 of 2 pods of the revision fail, 0 Ready"));
	ck_assert_int_eq(strncmp(fake.result.request, WRITE, strlen(WRITE)), 0);
	ck_assert_str_eq(EN(fake.result.evidence),
			 "pod web at resourceVersion 41: phase Pending; controlled by ReplicaSet/web-2; "
			 "container app: ImagePullBackOff, cause: image not found (from its message): "
			 "Back-off pulling image: ErrImagePull: manifest unknown; "
			 "owner ReplicaSet/web-2/rs-2, owner Deployment/web/dep-1; "
			 "scale at resourceVersion 77: 3 replicas; "
			 "pods of the newest revision: 2, failing: 2, Ready in the workload: 0; marked");
}

TEST(image_and_answer_are_kept)
{
	on_pod("41", "," BY_RS, "",
	       "'phase':'Pending','containerStatuses':[{'name':'app','image':'registry.example.com/shop/"
	       "web:1.2.3',"
	       "'state':{'waiting':{'reason':'ImagePullBackOff',"
	       "'message':'Back-off pulling image: ErrImagePull: manifest unknown'}}}]");
	go();
	RESULT(DONE, CANNOT_PULL_IMAGE);
	_cleanup_free_ char *line = short_line(&fake.result.detail, &fake.result.evidence, LANGUAGE_EN);

	ck_assert_str_eq(line, "registry.example.com/shop/web:1.2.3: manifest unknown");
	const char *why = strstr(fake.log[fake.n_log - 1], "scaled-down-why\":");

	ck_assert_ptr_nonnull(why);
	ck_assert_ptr_nonnull(strstr(why, ": registry.example.com/shop/web:1.2.3: manifest unknown\",\""));
}

TEST(observe)
{
	fake.grant.observe = true;
	go();
	ck_assert_ptr_nonnull(strstr(fake.log[fake.n_log - 1], "?fieldManager=ops-pod-cleaner&dryRun=All "));
	RESULT(WOULD, CANNOT_PULL_IMAGE);
}

TEST(a_dry_run_writes_nothing)
{
	fake.dry_run = true;
	go();
	ck_assert_ptr_null(strstr(fake.log[fake.n_log - 1], "PATCH"));
	RESULT(WOULD, CANNOT_PULL_IMAGE);
	ck_assert_int_eq(fake.result.replicas, 3);
	ck_assert_str_eq(fake.result.target_rv, "77");
	ck_assert_ptr_nonnull(strstr(fake.result.request, WRITE));
}

TEST_LOOP(not_due, 0, 2)
{
	fake.grant.since = _i == 0 ? NOW - HOUR : 0;
	go();
	REQUESTS(GET);
	if (_i == 0)
		RESULT(REFUSED, WAITING_FOR_THRESHOLD);
	else
		RESULT(REFUSED, NO_FIRST_SEEN);
	ck_assert_uint_eq(fake.result.retry_ms, _i == 0 ? 1 : 0);
}

/* A memory of an earlier object with the same names does not count: a revision cannot fail longer than it
 * lives. */
TEST(since_is_not_before_the_revision)
{
	on(RS, 200,
	   "{'metadata':{'name':'web-2','uid':'rs-2','creationTimestamp':'2026-09-21T13:13:20Z'," BY_DEPLOY
	   "}}");
	go();
	RESULT(REFUSED, WAITING_FOR_THRESHOLD);
	ck_assert_uint_eq(fake.result.retry_ms, 1);
}

#define UNAVAILABLE(since) "{'type':'Available','status':'False','lastTransitionTime':'" since "'}"
#define TWO_SECONDS_AGO    "2026-09-21T14:13:18Z"
#define LONG_AGO           "2026-09-21T13:13:19Z" /* by one second more than the threshold */

static void on_deployment(const char *conditions)
{
	on(DEPLOY, 200,
	   "{'metadata':{'name':'web','uid':'dep-1','creationTimestamp':'" LIVE "','generation':4},"
	   "'status':{'observedGeneration':4,'conditions':[%s]}}",
	   conditions);
}

/* The attack: a nomination says that it has failed for a day. The workload served until two seconds ago, and
 * says so itself. */
TEST_LOOP(a_forged_since_is_not_believed, 0, 5)
{
	static const struct {
		const char *conditions;
		bool acts;
	} rows[] = {
		{ UNAVAILABLE(TWO_SECONDS_AGO), false },
		{ "{'type':'Progressing','status':'True'}," UNAVAILABLE(TWO_SECONDS_AGO), false },
		{ UNAVAILABLE(LONG_AGO), true },
		{ "{'type':'Available','status':'True','lastTransitionTime':'" TWO_SECONDS_AGO "'}", true },
		{ "", true },
	};

	fake.grant.since = NOW - 25 * HOUR;
	on_deployment(rows[_i].conditions);
	go();
	if (rows[_i].acts) {
		RESULT(DONE, CANNOT_PULL_IMAGE);
		return;
	}
	RESULT(REFUSED, WAITING_FOR_THRESHOLD);
	ck_assert_uint_eq(fake.result.retry_ms, HOUR - 2 * SEC + 1);
	ck_assert_ptr_nonnull(strstr(EN(fake.result.evidence),
				     "fails since " TWO_SECONDS_AGO " at most: it was Available until then"));
}

/* The same attack where nothing that can be read tells: all is a day old, and its image is broken since just
 * now. What the supervisor knows of this revision of this owner does. */
TEST_LOOP(a_forged_since_is_not_older_than_what_is_known, 0, 7)
{
	static const struct {
		int64_t known;
		const char *key, *revision;
		bool dry, acts;
	} rows[] = {
		{ NOW - 2 * SEC, "sts-1", "web-7", false, false }, /* named two seconds ago */
		{ NOW - HOUR, "sts-1", "web-7", false, false },    /* to the millisecond */
		{ NOW - HOUR - 1, "sts-1", "web-7", false, true },
		{ NOW - 25 * HOUR, "sts-2", "web-7", false, false }, /* another workload was */
		{ NOW - 25 * HOUR, "sts-1", "web-6", false, false }, /* another revision was */
		{ 0, "sts-1", "web-7", false, false },
		{ 0, "", "", true, true }, /* who asks is told what the rules say */
	};

	on_pod("41", "," BY_STS ",'labels':{'controller-revision-hash':'web-7'}", "", PULLING);
	on("GET /apis/apps/v1" NS "statefulsets/web", 200,
	   "{'metadata':{'name':'web','uid':'sts-1','creationTimestamp':'" LIVE
	   "'},'status':{'updateRevision':'web-7'}}");
	on_scale("/apis/apps/v1" NS "statefulsets/web/scale", "sts-1", "'replicas':1");
	on_pods(OURS(BY_STS ",'labels':{'controller-revision-hash':'web-7'}"));
	on_written("PATCH /apis/apps/v1" NS "statefulsets/web", "sts-1");
	fake.grant.since = NOW - 25 * HOUR;
	fake.grant.known_since = rows[_i].known;
	strcpy(fake.grant.action_key, rows[_i].key);
	strcpy(fake.grant.revision, rows[_i].revision);
	fake.grants_as_it_is = true;
	fake.dry_run = rows[_i].dry;
	go();
	if (rows[_i].dry)
		RESULT(WOULD, CANNOT_PULL_IMAGE);
	else if (rows[_i].acts)
		RESULT(DONE, CANNOT_PULL_IMAGE);
	else
		RESULT(REFUSED, WAITING_FOR_THRESHOLD);
	if (_i == 0) {
		ck_assert_uint_eq(fake.result.retry_ms, HOUR - 2 * SEC + 1);
		ck_assert_ptr_nonnull(strstr(EN(fake.result.evidence),
					     "fails since " TWO_SECONDS_AGO
					     " at most: the supervisor has known it "
					     "since then"));
	}
}

/* Nobody watched the cluster for longer than an hour: what failed before and fails now may have worked in
 * between. Its pod tells, where it is not a new one. */
TEST_LOOP(after_a_break_the_pod_must_tell, 0, 6)
{
#define NOT_READY_SINCE(at)                                                                                  \
	PULLING ",'conditions':[{'type':'Ready','status':'False','lastTransitionTime':'" at "'}]"
	static const struct {
		int64_t watched;
		const char *status;
		bool acts;
	} rows[] = {
		{ NOW - 2 * SEC, NOT_READY_SINCE(TWO_SECONDS_AGO), false }, /* it was replaced, or served */
		{ NOW - 2 * SEC, PULLING, false },
		{ NOW - 2 * SEC, NOT_READY_SINCE(LIVE), true }, /* the same pod for a day */
		{ NOW - HOUR, NOT_READY_SINCE(TWO_SECONDS_AGO), false },
		{ NOW - HOUR - 1, NOT_READY_SINCE(TWO_SECONDS_AGO), true }, /* watched long enough since */
		{ 0, NOT_READY_SINCE(TWO_SECONDS_AGO), true }, /* pods are replaced, and somebody watched */
	};

	on_pod("41", "," BY_STS ",'labels':{'controller-revision-hash':'web-7'}", "", rows[_i].status);
	on("GET /apis/apps/v1" NS "statefulsets/web", 200,
	   "{'metadata':{'name':'web','uid':'sts-1','creationTimestamp':'" LIVE
	   "'},'status':{'updateRevision':'web-7'}}");
	on_scale("/apis/apps/v1" NS "statefulsets/web/scale", "sts-1", "'replicas':1");
	on_pods(OURS(BY_STS ",'labels':{'controller-revision-hash':'web-7'}"));
	on_written("PATCH /apis/apps/v1" NS "statefulsets/web", "sts-1");
	fake.grant.since = NOW - 25 * HOUR;
	fake.grant.watched_since = rows[_i].watched;
	go();
	if (rows[_i].acts)
		RESULT(DONE, CANNOT_PULL_IMAGE);
	else
		RESULT(REFUSED, WAITING_FOR_THRESHOLD);
	if (_i == 0) {
		ck_assert_uint_eq(fake.result.retry_ms, HOUR - 2 * SEC + 1);
		ck_assert_ptr_nonnull(strstr(EN(fake.result.evidence),
					     "fails since " TWO_SECONDS_AGO
					     " at most: before then nobody watched"));
	}
}

/* The same attack, where its own pods tell: one had the images of the revision and ran. */
TEST_LOOP(a_pod_that_ran_tells_since_when, 0, 5)
{
	static const struct {
		const char *others;
		bool acts;
	} rows[] = {
		{ ITEM("b", "pod-2", BY_RS,
		       "'phase':'Failed','reason':'Evicted','containerStatuses':[{'name':'app','state':{'"
		       "terminated':"
		       "{'finishedAt':'" TWO_SECONDS_AGO "'}}}]"),
		  false },
		{ ITEM("b", "pod-2", BY_RS,
		       "'phase':'Pending','containerStatuses':[{'name':'app','state':{'waiting':{'reason':"
		       "'ErrImagePull'}},'lastState':{'terminated':{'finishedAt':'" TWO_SECONDS_AGO "'}}}]"),
		  false },
		/* of another revision */
		{ ITEM("b", "pod-2", OWNED("apps/v1", "ReplicaSet", "web-1", "rs-1"),
		       "'phase':'Failed','containerStatuses':[{'name':'app','state':{'terminated':{'"
		       "finishedAt':'" TWO_SECONDS_AGO "'}}}]"),
		  true },
		/* one of its two images was never there */
		{ ITEM("b", "pod-2", BY_RS,
		       "'phase':'Pending','containerStatuses':[{'name':'app','state':{'waiting':{'reason':"
		       "'ErrImagePull'}}},{'name':'side','restartCount':3,'state':{'terminated':{'finishedAt'"
		       ":'" TWO_SECONDS_AGO "'}}}]"),
		  true },
		{ ITEM("b", "pod-2", BY_RS,
		       "'phase':'Failed','containerStatuses':[{'name':'app','state':{'terminated':{'"
		       "finishedAt':'" LONG_AGO "'}}}]"),
		  true },
	};
	char items[2000];

	fake.grant.since = NOW - 25 * HOUR;
	(void)snprintf(items, sizeof(items), "%s,%s", OURS(BY_RS), rows[_i].others);
	on_pods(items);
	go();
	if (rows[_i].acts)
		RESULT(DONE, CANNOT_PULL_IMAGE);
	else
		RESULT(REFUSED, WAITING_FOR_THRESHOLD);
}

/* The pod that is nominated tells it before anything else is read. */
TEST(the_pod_itself_ran_lately)
{
	fake.grant.since = NOW - 25 * HOUR;
	on_pod("41", "," BY_RS, "",
	       "'phase':'Pending','containerStatuses':[{'name':'app','restartCount':1,'state':{'waiting':{'"
	       "reason':"
	       "'ErrImagePull','message':'manifest "
	       "unknown'}},'lastState':{'terminated':{'finishedAt':'" TWO_SECONDS_AGO "'}}}]");
	go();
	REQUESTS(GET);
	RESULT(REFUSED, WAITING_FOR_THRESHOLD);
	ck_assert_ptr_nonnull(strstr(EN(fake.result.evidence), "worked until then"));
}

TEST(pod_got_better)
{
	on_pod("42", "," BY_RS, "", READY);
	go();
	REQUESTS(GET);
	RESULT(REFUSED, NOT_FAILING);
}

TEST_LOOP(already_zero, 0, 3)
{
	on_scale(SCALE, "dep-1", _i == 2 ? "'replicas':0" : "");
	fake.grant.verify_first = _i == 1;
	go();
	if (_i == 1) /* perhaps by us: its mark may tell */
		REQUESTS(GET, RS, DEPLOY, HPAS, KEDA, "GET " SCALE, DEPLOY);
	else
		REQUESTS(GET, RS, DEPLOY, HPAS, KEDA, "GET " SCALE);
	RESULT_GONE(ALREADY_ZERO);
}

/* -- the workload as a whole -- */

TEST_LOOP(a_ready_pod_anywhere, 0, 3)
{
	static const char *const others[] = {
		ITEM("r", "pod-9", OWNED("apps/v1", "ReplicaSet", "web-1", "rs-1"), READY),
		ITEM("r", "pod-9", BY_RS, READY), ITEM("r", "pod-9", "'labels':{}", READY)
	};
	char items[2000];

	(void)snprintf(items, sizeof(items), "%s,%s", OURS(BY_RS), others[_i]);
	on_pods(items);
	go();
	RESULT(REFUSED, WORKLOAD_HAS_READY_PODS);
}

/* It was evicted, and nobody took its condition back. */
TEST(a_stale_ready_condition_serves_nobody)
{
	on_pods(OURS(BY_RS) "," ITEM("r", "pod-9", BY_RS,
				     "'phase':'Failed','conditions':[{'type':'Ready','status':'True'}]"));
	go();
	RESULT(DONE, CANNOT_PULL_IMAGE);
}

TEST(a_ready_pod_on_the_second_page)
{
	on_pods(ITEM("r", "pod-9", BY_RS, READY));
	on(PODS, 200, "{'metadata':{'continue':'c1'},'items':[" OURS(BY_RS) "]}")->times = 1;
	go();
	REQUESTS(GET, RS, DEPLOY, HPAS, KEDA, "GET " SCALE, RSES, PODS PAGE1, PODS PAGE1 "&continue=c1");
	RESULT(REFUSED, WORKLOAD_HAS_READY_PODS);
}

TEST(an_older_revision_serves)
{
	on(RSES, 200,
	   "{'items':[" RSITEM("rs-1", "1", LIVE, "1", BY_DEPLOY) "," RSITEM("rs-2", "2", LIVE, "0",
									     BY_DEPLOY) "]}");
	go();
	RESULT(REFUSED, WORKLOAD_HAS_READY_PODS);
}

/* Newest is the highest revision number, then the newest; ReplicaSets of others do not count. */
TEST_LOOP(which_revision_is_newest, 0, 6)
{
	static const struct {
		const char *sets;
		bool ours;
	} rows[] = {
		{ RSITEM("rs-3", "3", LIVE, "0", BY_DEPLOY) "," RSITEM("rs-2", "2", LIVE, "0", BY_DEPLOY),
		  false },
		{ RSITEM("rs-2", "2", LIVE, "0", BY_DEPLOY) "," RSITEM("rs-3", "10", LIVE, "0", BY_DEPLOY),
		  false },
		{ RSITEM("rs-2", "10", LIVE, "0", BY_DEPLOY) "," RSITEM("rs-3", "9", LIVE, "0", BY_DEPLOY),
		  true },
		{ RSITEM("rs-2", "x", LIVE, "0", BY_DEPLOY) "," RSITEM("rs-3", "", "2026-09-21T00:00:00Z",
								       "0", BY_DEPLOY),
		  false },
		{ RSITEM("rs-2", "2", LIVE, "0", BY_DEPLOY) "," RSITEM("rs-3", "3", LIVE, "7", BY_STS),
		  true },
		{ RSITEM("rs-3", "3", LIVE, "0", BY_STS), false },
	};

	on(RSES, 200, "{'items':[%s]}", rows[_i].sets);
	go();
	if (rows[_i].ours)
		RESULT(DONE, CANNOT_PULL_IMAGE);
	else
		RESULT(REFUSED, NOT_NEWEST_REVISION);
}

TEST(a_rollout_is_about_to_begin)
{
	on(DEPLOY, 200, "{'metadata':{'uid':'dep-1','generation':5},'status':{'observedGeneration':4}}");
	go();
	REQUESTS(GET, RS, DEPLOY);
	RESULT(REFUSED, NOT_OBSERVED);
	ck_assert_uint_gt(fake.result.retry_ms, 0);
	ck_assert_uint_le(fake.result.retry_ms, 10000); /* seconds: it is no older revision */
}

#define DEPLOYMENT(rv, annotations)                                                                          \
	"{'metadata':{'name':'web','uid':'dep-1','resourceVersion':'" rv "','annotations':{" annotations     \
	"},'creationTimestamp':'" LIVE "'}}"
/* Marked after it was read and before its scale was: the write would be bound to a version that has the mark.
 */
TEST(a_mark_before_the_scale_is_read)
{
	on(DEPLOY, 200, DEPLOYMENT("77", "'ops-pod-cleaner.io/ignore':'true'"));
	on(DEPLOY, 200, DEPLOYMENT("76", ""))->times = 1;
	go();
	REQUESTS(GET, RS, DEPLOY, HPAS, KEDA, "GET " SCALE, GET, RS, DEPLOY, HPAS, "GET " SCALE, RSES, PODS);
	RESULT(REFUSED, IGNORE_ANNOTATION);
}

TEST(changes_before_the_scale_is_read)
{
	on(DEPLOY, 200, DEPLOYMENT("76", ""));
	go();
	RESULT(CONFLICT, PRECONDITION_FAILED);
	for (size_t i = 0; i < fake.n_log; i++)
		ck_assert_ptr_null(strstr(fake.log[i], "PATCH"));
}

/* Somebody has paused it and corrects it: it makes no ReplicaSet of the new template before it goes on. */
TEST_LOOP(a_rollout_is_paused, 0, 5)
{
#define TEMPLATE(labels, image)                                                                              \
	"'template':{'metadata':{'labels':{" labels "}},'spec':{'containers':[{'name':'app','image':'" image \
	"'}]}}"
	static const struct {
		const char *spec;
		bool acts;
	} rows[] = {
		{ "'paused':true," TEMPLATE("'app':'web'", "good"), false },
		{ "'paused':true," TEMPLATE("'app':'web','tier':'b'", "bad"), false },
		{ "'paused':true", false },
		{ "'paused':true," TEMPLATE("'app':'web'", "bad"), true },
		{ TEMPLATE("'app':'web'", "good"), true }, /* NotObserved holds until its set is there */
	};

	on(RS, 200,
	   "{'metadata':{'name':'web-2','uid':'rs-2','creationTimestamp':'" LIVE "'," BY_DEPLOY
	   "},'spec':{" TEMPLATE("'app':'web','pod-template-hash':'2'", "bad") "}}");
	on(DEPLOY, 200,
	   "{'metadata':{'name':'web','uid':'dep-1','creationTimestamp':'" LIVE
	   "','generation':4},'spec':{%s},"
	   "'status':{'observedGeneration':4}}",
	   rows[_i].spec);
	go();
	if (rows[_i].acts)
		RESULT(DONE, CANNOT_PULL_IMAGE);
	else
		RESULT(REFUSED, NOT_NEWEST_REVISION);
}

TEST(one_pod_of_the_revision_does_not_fail)
{
	on_pods(OURS(BY_RS) "," ITEM("web-b", "pod-2", BY_RS, WORKS_NOT_READY));
	go();
	RESULT(REFUSED, NOT_ALL_FAILING);
}

/* Never scheduled, or waiting for a volume, it has pulled nothing. */
TEST_LOOP(a_pod_that_proves_nothing_does_not_count, 0, 2)
{
	on_pods(_i ? OURS(BY_RS) "," ITEM("web-b", "pod-2", BY_RS, STARTING)
		   : OURS(BY_RS) "," ITEM("web-b", "pod-2", BY_RS, "'phase':'Pending'"));
	go();
	RESULT(DONE, CANNOT_PULL_IMAGE);
}

#define LOOPING                                                                                              \
	"'phase':'Running','containerStatuses':[{'name':'app','restartCount':7,'state':{'waiting':{'reason'" \
	":'"                                                                                                 \
	"CrashLoopBackOff'}}}]"

/* It has pulled the image, and is no work of this duty: refused as what it is. */
TEST(a_pod_that_crashes_has_pulled)
{
	on_pods(OURS(BY_RS) "," ITEM("web-b", "pod-2", BY_RS, LOOPING));
	go();
	RESULT(REFUSED, FAILS_IN_TWO_WAYS);
}

#define OLDER(meta, status)                                                                                  \
	OURS(BY_RS) "," ITEM("d", "pod-4", meta OWNED("apps/v1", "ReplicaSet", "web-1", "rs-1"), status)
#define UNREADY(at) "'conditions':[{'type':'Ready','status':'False','lastTransitionTime':'" at "'}],"

/* A pod of an older revision that is not Ready at this moment served until then, or is being made again: it
 * has as long to come back as the newest has to fail. One that does not come back holds up nothing. */
TEST_LOOP(what_served_until_a_moment_ago, 0, 6)
{
	static const char *const pods[] = {
		OLDER("", UNREADY("2026-09-21T14:13:15Z") WORKS_NOT_READY),
		OLDER("'deletionTimestamp':'2026-09-21T14:13:45Z',",
		      UNREADY("2026-09-21T14:13:15Z") WORKS_NOT_READY),
		OLDER("'creationTimestamp':'2026-09-21T14:13:15Z',", STARTING),
		OLDER("", UNREADY(LIVE) WORKS_NOT_READY),
		OLDER("", STARTING),
		OLDER("", UNREADY("2026-09-21T14:13:15Z") LOOPING),
	};

	on_pods(pods[_i]);
	go();
	if (_i < 3)
		RESULT(REFUSED, WAITING_FOR_THRESHOLD);
	else
		RESULT(DONE, CANNOT_PULL_IMAGE);
	if (_i < 3)
		ck_assert_uint_eq(fake.result.retry_ms, HOUR - 5 * SEC + 1);
}

/* "No duty touches it": a workload that is scaled to 0 takes all of its pods with it. */
TEST_LOOP(another_pod_of_it_is_marked, 0, 6)
{
	static const char *const marks[] = {
		"'annotations':{'ops-pod-cleaner.io/ignore':'true'},",
		"'labels':{'ops-pod-cleaner.io/ignore':'true'},",
		"'annotations':{'ops-pod-cleaner.io/skip':'errImagePull'},",
		"'annotations':{'ops-pod-cleaner.io/skip':'deleteEvictedPod'},",
		("'deletionTimestamp':'2026-09-21T14:00:00Z',"
		 "'annotations':{'ops-pod-cleaner.io/ignore':'true'},"),
		"'labels':{'ops-pod-cleaner.io/ignore':'true'},", /* only ours is deleted */
	};
	char items[2000];

	(void)snprintf(items, sizeof(items),
		       "%s,{'metadata':{'name':'web-b','namespace':'shop','uid':'pod-2',%s%s},'spec':{},'"
		       "status':{%s}}",
		       OURS(BY_RS), marks[_i], BY_RS, PULLING);
	on_pods(items);
	if (_i == 5) {
		fake.grant.action = ACTION_FRESH_ATTEMPT;
		on("DELETE " POD_PATH, 200, "{'kind':'Pod','metadata':{'uid':'pod-1'}}");
	}
	go();
	if (_i == 5)
		RESULT(DONE, FRESH_ATTEMPT);
	else if (_i >= 3)
		RESULT(DONE, CANNOT_PULL_IMAGE);
	else
		expect_result(OUTCOME_REFUSED, _i == 2 ? REASON_SKIP_ANNOTATION : REASON_IGNORE_ANNOTATION,
			      __LINE__);
	if (_i < 3)
		ck_assert_ptr_nonnull(strstr(EN(fake.result.detail), "Pod/web-b"));
}

/* Pods that end or have ended, and pods of older revisions, prove nothing either way. */
TEST(pods_that_do_not_count)
{
	on_pods(OURS(BY_RS) "," ITEM(
		"b", "pod-2", "'deletionTimestamp':'2026-09-21T14:00:00Z'," BY_RS,
		STARTING) "," ITEM("c", "pod-3", BY_RS,
				   "'phase':'Failed','reason':'Evicted'") "," ITEM("d", "pod-4",
										   OWNED("apps/v1",
											 "ReplicaSet",
											 "web-1", "rs-1"),
										   STARTING));
	go();
	RESULT(DONE, CANNOT_PULL_IMAGE);
	ck_assert_ptr_nonnull(strstr(EN(fake.result.detail), "1 of 1 pods"));
}

/* Our pod is not among those counted: something changed meanwhile, and the whole is read again. */
TEST_LOOP(the_pod_vanished_from_the_list, 0, 2)
{
	on_pods(_i == 0 ? "" : ITEM("web", "pod-1", BY_RS, STARTING));
	go();
	ck_assert_uint_eq(fake.n_log, 22);
	RESULT(REFUSED, TALLY_UNKNOWN);
}

TEST_LOOP(lists_that_cannot_be_read, 0, 8)
{
	static const struct {
		const char *request, *body;
		long status;
		enum outcome outcome;
		enum reason reason;
	} rows[] = {
		{ PODS, DENIED, 403, OUTCOME_FORBIDDEN, REASON_FORBIDDEN },
		{ RSES, DENIED, 403, OUTCOME_FORBIDDEN, REASON_FORBIDDEN },
		{ PODS, "{}", 200, OUTCOME_REFUSED, REASON_TALLY_UNKNOWN },
		{ RSES, "{}", 200, OUTCOME_REFUSED, REASON_TALLY_UNKNOWN },
		{ PODS, "{'items':[7]}", 200, OUTCOME_REFUSED, REASON_TALLY_UNKNOWN },
		{ PODS, "{}", 500, OUTCOME_FAILED, REASON_SERVER_ERROR },
		{ PODS, NOTFOUND, 404, OUTCOME_FAILED, REASON_SERVER_REJECTED },
		{ RSES, NOTFOUND, 404, OUTCOME_FAILED, REASON_SERVER_REJECTED },
	};

	on(rows[_i].request, rows[_i].status, "%s", rows[_i].body);
	go();
	expect_result(rows[_i].outcome, rows[_i].reason, _i);
}

/* -- the write -- */

TEST(conflict)
{
	on(PATCH_MARK, 409, "{'kind':'Status','status':'Failure','code':409}")->times = 1;
	go();
	ck_assert_uint_eq(fake.n_log, 17);
	RESULT(DONE, CANNOT_PULL_IMAGE);
}

TEST_LOOP(workload_gone_at_the_write, 0, 2)
{
	fake.grant.verify_first = _i == 1;
	on(PATCH_MARK, 404, NOTFOUND);
	go();
	RESULT_GONE(WORKLOAD_GONE);
}

TEST_LOOP(accepted_but_not_done, 0, 2)
{
	on(PATCH_MARK, 200, "{'metadata':{'uid':'dep-1','resourceVersion':'78'},'spec':{%s}}",
	   _i == 0 ? "'replicas':1" : "");
	go();
	RESULT(FAILED, SERVER_REJECTED);
}

TEST_LOOP(lost_answer, 0, 3)
{
	on_failure(PATCH_MARK, HTTP_BROKEN, true);
	if (_i == 0)
		on_scale(SCALE, "dep-1", "");
	else if (_i == 1)
		on("GET " SCALE, 404, NOTFOUND);
	if (_i <= 1) /* the state before, once */
		on_scale(SCALE, "dep-1", "'replicas':3")->times = 1;
	go();
	if (_i == 0)
		REQUESTS(GET, RS, DEPLOY, HPAS, KEDA, "GET " SCALE, RSES, PODS, PATCH_MARK, "GET " SCALE,
			 DEPLOY);
	else
		REQUESTS(GET, RS, DEPLOY, HPAS, KEDA, "GET " SCALE, RSES, PODS, PATCH_MARK, "GET " SCALE);
	if (_i <= 1)
		RESULT(UNCONFIRMED, PROBABLY_DONE);
	else
		RESULT(FAILED, NETWORK_ERROR);
}

/* Scale and tally must be fresh, however long the chain above took. */
TEST_LOOP(freshness_begins_at_the_scale, 0, 2)
{
	fake.slowness_ms = _i == 0 ? 600 : 700;
	fake.grant.valid_until = BOOT + 100000;
	go();
	if (_i == 0)
		RESULT(DONE, CANNOT_PULL_IMAGE);
	else
		RESULT(FAILED, GRANT_EXPIRED);
}

TEST_MAIN("worker/image_pull")
{
	tcase_add_checked_fixture(t, setup_deployment, fake_teardown);
}
