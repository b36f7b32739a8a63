/* The action of errImagePull: which workload is meant, by ownerReference and uid, of which kinds. */
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "tests/facts_en.h"
#include "tests/suite.h"
#include "workload.h"

/* -- the chain -- */

TEST_LOOP(an_owner_is_gone, 0, 2)
{
	on(_i ? DEPLOY : RS, 404, NOTFOUND);
	go();
	RESULT(REFUSED, OWNER_GONE);
}

/* In the foreground: it stays until its pods are gone, which are deleted whatever its scale is. */
TEST(a_workload_that_is_being_deleted)
{
	on(DEPLOY, 200, "{'metadata':{'uid':'dep-1','deletionTimestamp':'" LIVE "'}}");
	go();
	RESULT(REFUSED, OWNER_BEING_DELETED);
}

TEST_LOOP(an_owner_was_replaced, 0, 2)
{
	on(_i ? DEPLOY : RS, 200, "{'metadata':{'name':'web','uid':'new-one'}}");
	go();
	RESULT(REFUSED, OWNER_UID_DIFFERS);
}

TEST(an_owner_is_forbidden)
{
	on(DEPLOY, 403, DENIED);
	go();
	RESULT(FORBIDDEN, FORBIDDEN);
	ck_assert_ptr_nonnull(strstr(EN(fake.result.detail), "get the owner: 403; Deployment/web"));
}

TEST(scale_is_of_another_uid)
{
	on_scale(SCALE, "dep-2", "'replicas':3");
	go();
	RESULT(REFUSED, OWNER_UID_DIFFERS);
}

TEST_LOOP(scale_is_garbage, 0, 3)
{
	static const char *const bodies[] = {
		"{}",
		"{'kind':'Scale','metadata':{'uid':'dep-1'}}",
		"{'kind':'Scale','metadata':{'uid':'dep-1','resourceVersion':'1'},'spec':{'replicas':'3'}}",
	};

	on("GET " SCALE, 200, "%s", bodies[_i]);
	go();
	RESULT(FAILED, BAD_ANSWER);
}

/* -- a scale without a selector: pods are told apart by their owners -- */

#define OTHER_RS "GET /apis/apps/v1" NS "replicasets/other"
#define BY_OTHER OWNED("apps/v1", "ReplicaSet", "other", "rs-9")

static void on_scale_without_selector(const char *items)
{
	on("GET " SCALE, 200,
	   "{'kind':'Scale','metadata':{'uid':'dep-1','resourceVersion':'1'},'spec':{'replicas':3}}");
	on("PATCH " SCALE, 200,
	   "{'kind':'Scale','metadata':{'name':'web','uid':'dep-1','resourceVersion':'78'},'spec':{}}");
	on_pods(items);
}

/* Pods of nobody, of others that fail as well, and of what has no namespace are not asked about. */
TEST(scale_without_selector)
{
	on_scale_without_selector(OURS(BY_RS) "," ITEM("n", "pod-7", "'labels':{}", READY) "," ITEM(
		"m", "pod-8", OWNED("v1", "Node", "n1", "node-1"),
		READY) "," ITEM("f", "pod-9", BY_OTHER, PULLING) "," ITEM("s", "pod-10", BY_OTHER, STARTING));
	go();
	REQUESTS(GET, RS, DEPLOY, HPAS, KEDA, "GET " SCALE, RSES "?limit=100", PODS "?limit=100",
		 PATCH_MARK "?");
	RESULT(DONE, CANNOT_PULL_IMAGE);
	ck_assert_ptr_nonnull(strstr(EN(fake.result.evidence), "no selector: pods by their owners"));
}

TEST(scale_without_selector_and_a_ready_pod)
{
	on_scale_without_selector(OURS(BY_RS) "," ITEM("r", "pod-9", BY_RS, READY));
	go();
	RESULT(REFUSED, WORKLOAD_HAS_READY_PODS);
}

TEST_LOOP(a_ready_pod_of_another_controller, 0, 5)
{
	static const struct {
		long status;
		const char *set;
		enum outcome outcome;
		enum reason reason;
	} rows[] = {
		{ 200, "{'metadata':{'name':'other','uid':'rs-9'," BY_DEPLOY "}}", OUTCOME_REFUSED,
		  REASON_WORKLOAD_HAS_READY_PODS },
		{ 200, "{'metadata':{'name':'other','uid':'rs-9'}}", OUTCOME_DONE, REASON_CANNOT_PULL_IMAGE },
		{ 200, "{'metadata':{'name':'other','uid':'rs-10'," BY_DEPLOY "}}", OUTCOME_DONE,
		  REASON_CANNOT_PULL_IMAGE },
		{ 404, NOTFOUND, OUTCOME_DONE, REASON_CANNOT_PULL_IMAGE },
		{ 403, DENIED, OUTCOME_REFUSED, REASON_TALLY_UNKNOWN },
	};

	on_scale_without_selector(OURS(BY_RS) "," ITEM("r", "pod-9", BY_OTHER, READY));
	on(OTHER_RS, rows[_i].status, "%s", rows[_i].set);
	go();
	expect_result(rows[_i].outcome, rows[_i].reason, _i);
}

/* rs-9 is below another Deployment, or below one that ours controls. */
TEST_LOOP(a_ready_pod_two_controllers_below, 0, 2)
{
	on_scale_without_selector(OURS(BY_RS) "," ITEM("r", "pod-9", BY_OTHER, READY));
	on(OTHER_RS, 200, "{'metadata':{'name':'other','uid':'rs-9',%s}}",
	   OWNED("apps/v1", "Deployment", "another", "dep-9"));
	on("GET /apis/apps/v1" NS "deployments/another", 200,
	   "{'metadata':{'name':'another','uid':'dep-9'%s}}", _i ? "," BY_DEPLOY : "");
	go();
	if (_i)
		RESULT(REFUSED, WORKLOAD_HAS_READY_PODS);
	else
		RESULT(DONE, CANNOT_PULL_IMAGE);
}

/* Of a kind that discovery tells of; or of which it does not know: then nothing of that kind exists. */
TEST_LOOP(a_ready_pod_of_a_custom_controller, 0, 2)
{
	on_scale_without_selector(
		OURS(BY_RS) "," ITEM("r", "pod-9", OWNED("example.com/v1", "Crew", "c", "crew-1"), READY));
	on("GET /apis/example.com/v1", 200,
	   "{'kind':'APIResourceList','resources':[{'name':'crews','kind':'%s','namespaced':true}]}",
	   _i ? "Crew" : "Other");
	on("GET /apis/example.com/v1" NS "crews/c", 200,
	   "{'metadata':{'name':'c','uid':'crew-1'," BY_DEPLOY "}}");
	go();
	if (_i)
		RESULT(REFUSED, WORKLOAD_HAS_READY_PODS);
	else
		RESULT(DONE, CANNOT_PULL_IMAGE);
}

TEST_LOOP(too_many_other_controllers, 0, 2)
{
	static char items[80000];
	size_t n = (size_t)snprintf(items, sizeof(items), "%s", OURS(BY_RS));

	for (int i = 0; i < 256 + _i; i++)
		n += (size_t)snprintf(
			items + n, sizeof(items) - n,
			",{'metadata':{'name':'p%d','namespace':'shop','uid':'p%d','ownerReferences'"
			":[{'apiVersion':'v1','kind':'Node','name':'n','uid':'n%d',"
			"'controller':true}]},'status':{" READY "}}",
			i, i, i);
	ck_assert_uint_lt(n, sizeof(items));
	on_scale_without_selector(items);
	go();
	if (_i)
		RESULT(REFUSED, TALLY_UNKNOWN);
	else
		RESULT(DONE, CANNOT_PULL_IMAGE);
}

TEST(a_pod_of_others_on_the_second_page)
{
	on_scale_without_selector(ITEM("r", "pod-9", BY_OTHER, READY));
	on(PODS, 200, "{'metadata':{'continue':'c1'},'items':[" OURS(BY_RS) "]}")->times = 1;
	on(OTHER_RS, 200, "{'metadata':{'name':'other','uid':'rs-9'," BY_DEPLOY "}}");
	go();
	REQUESTS(GET, RS, DEPLOY, HPAS, KEDA, "GET " SCALE, RSES, PODS "?limit=100",
		 PODS "?limit=100&continue=c1", OTHER_RS);
	RESULT(REFUSED, WORKLOAD_HAS_READY_PODS);
}

/* The labels are the template's; ReplicaSets that somebody else makes need not carry them. */
TEST(replica_sets_without_labels)
{
	on(RSES, 200,
	   "{'items':[" RSITEM("rs-1", "1", LIVE, "0", BY_DEPLOY) "," RSITEM("rs-2", "2", LIVE, "0",
									     BY_DEPLOY) "]}");
	on(RSES, 200, "{'items':[]}")->times = 1;
	go();
	REQUESTS(GET, RS, DEPLOY, HPAS, KEDA, "GET " SCALE, RSES PAGE1, RSES "?limit=100", PODS PAGE1,
		 PATCH_MARK "?");
	RESULT(DONE, CANNOT_PULL_IMAGE);
}

/* A LeaderWorkerSet restarts whole groups by itself; its leaders are a StatefulSet's that it owns, and the
 * workers of a group are another's, which their leader owns. Nothing below it is scaled. */
static const struct {
	const char *owner, *request;
	int status;
	const char *answer;
	enum reason reason;
} groups[] = {
#define LWS  OWNED("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "ring", "lws-1")
#define KIND "GET /apis/leaderworkerset.x-k8s.io/v1"
	{ LWS, KIND, 404, NOTFOUND, REASON_OWNER_UNREADABLE },
	{ LWS, KIND, 403, DENIED, REASON_OWNER_UNREADABLE },
	{ OWNED("v1", "Pod", "ring-0", "pod-0"), "GET /api/v1", 200,
	  "{'kind':'APIResourceList','resources':[{'name':'pods','kind':'Pod','namespaced':true}]}",
	  REASON_KIND_NOT_SCALABLE },
};

TEST_LOOP(a_group_of_leaders_and_workers_is_left_alone, 0, sizeof(groups) / sizeof(groups[0]))
{
	char body[400];

	(void)snprintf(body, sizeof(body), "{'metadata':{'name':'web','uid':'sts-1',%s}}", groups[_i].owner);
	on_pod("41", "," BY_STS, "", PULLING);
	on("GET /apis/apps/v1" NS "statefulsets/web", 200, "%s", body);
	on(groups[_i].request, groups[_i].status, "%s", groups[_i].answer);
	on("GET /api/v1" NS "pods/ring-0", 200, "{'metadata':{'name':'ring-0','uid':'pod-0'}}");
	go();
	expect_result(OUTCOME_REFUSED, groups[_i].reason, __LINE__);
}

TEST(a_circle_ends)
{
	on(DEPLOY, 200, "{'metadata':{'name':'web','uid':'dep-1'," BY_RS "}}");
	go();
	REQUESTS(GET, RS, DEPLOY);
	RESULT(REFUSED, OWNER_CHAIN_TOO_DEEP);
}

TEST(a_long_chain_ends)
{
	static char requests[9][80];
	char body[400];

	for (int i = 0; i < 9; i++) {
		(void)snprintf(requests[i], sizeof(requests[i]), "GET /apis/apps/v1" NS "replicasets/r%d", i);
		(void)snprintf(body, sizeof(body),
			       "{'metadata':{'uid':'u%d','ownerReferences':[{'apiVersion':'apps/v1','kind':"
			       "'ReplicaSet','name':'r%d','uid':'u%d','controller':true}]}}",
			       i, i + 1, i + 1);
		on(requests[i], 200, "%s", body);
	}
	on_pod("41", "," OWNED("apps/v1", "ReplicaSet", "r0", "u0"), "", PULLING);
	go();
	ck_assert_uint_eq(fake.n_log, 9);
	RESULT(REFUSED, OWNER_CHAIN_TOO_DEEP);
}

TEST_LOOP(kinds_that_are_only_reported, 0, 3)
{
	static const char *const owners[] = { OWNED("apps/v1", "DaemonSet", "d", "d"),
					      OWNED("batch/v1", "Job", "j", "j"), "'labels':{}" };
	char meta[400];

	(void)snprintf(meta, sizeof(meta), ",%s", owners[_i]);
	on_pod("41", meta, "", PULLING);
	go();
	REQUESTS(GET);
	if (_i == 2)
		RESULT(REFUSED, NO_CONTROLLER);
	else
		RESULT(REFUSED, KIND_NOT_SCALABLE);
}

/* -- whose fault it is -- */

#define CRASHING(device)                                                                                     \
	"'phase':'Running','containerStatuses':[{'name':'app','restartCount':7,'state':{'waiting':{'reason'" \
	":'CrashLoopBackOff'}},'allocatedResourcesStatus':[{'name':'example.com/gpu','resources':[{"         \
	"'resourceID':'GPU-1','health':'" device "'}]}]}]"

/* All of its pods crash, but one of them on a device of its node that is Unhealthy: that one tells nothing
 * of the workload. */
TEST_LOOP(a_crash_on_a_sick_device_counts_against_nobody, 0, 2)
{
	fake.grant.duty = DUTY_CRASH_LOOP;
	on_pod("41", "," BY_RS, "", CRASHING("Healthy"));
	on_pods(_i ? ITEM("web", "pod-1", BY_RS, CRASHING("Healthy")) "," ITEM("web-b", "pod-2", BY_RS,
									       CRASHING("Unhealthy"))
		   : ITEM("web", "pod-1", BY_RS, CRASHING("Healthy")) "," ITEM("web-b", "pod-2", BY_RS,
									       CRASHING("Unknown")));
	go();
	if (_i)
		RESULT(REFUSED, NOT_ALL_FAILING);
	else
		RESULT(DONE, CRASH_LOOPING);
}

/* -- other kinds -- */

#define STS        "/apis/apps/v1" NS "statefulsets/web"
#define STS_POD(m) "'labels':{'controller-revision-hash':'" m "'}," BY_STS

static void with_stateful_set(const char *spec, const char *status)
{
	on_pod("41", "," STS_POD("web-9"), "", PULLING);
	on("GET " STS, 200,
	   "{'metadata':{'uid':'sts-1','creationTimestamp':'" LIVE "'},'spec':{%s},'status':{%s}}", spec,
	   status);
	on_scale(STS "/scale", "sts-1", "'replicas':2");
	on_pods(OURS(STS_POD("web-9")) "," ITEM("web-1", "pod-2", STS_POD("web-8"), WORKS_NOT_READY));
	on_written("PATCH " STS, "sts-1");
}

TEST(stateful_set)
{
	with_stateful_set("", "'updateRevision':'web-9'");
	go();
	REQUESTS(GET, "GET " STS, HPAS, KEDA, "GET " STS "/scale", PODS PAGE1, "PATCH " STS "?");
	RESULT(DONE, CANNOT_PULL_IMAGE);
	ck_assert_str_eq(fake.result.target, "statefulsets.apps/shop/web");
	ck_assert_int_eq(fake.result.replicas, 2);
}

TEST(stateful_set_of_another_revision)
{
	with_stateful_set("'podManagementPolicy':'Parallel'", "'updateRevision':'web-10'");
	go();
	RESULT(REFUSED, NOT_NEWEST_REVISION);
}

/* Both of an older revision lose their probes for a moment: nothing of it is Ready, and it is no wreck. */
TEST(stateful_set_that_served_a_moment_ago)
{
	with_stateful_set("", "'updateRevision':'web-9'");
	on_pods(OURS(STS_POD("web-9")) "," ITEM("web-1", "pod-2", STS_POD("web-8"),
						WORKS_NOT_READY
						",'conditions':[{'type':'Ready','status':'False','"
						"lastTransitionTime':'2026-09-21T14:13:15Z'}]"));
	go();
	RESULT(REFUSED, WAITING_FOR_THRESHOLD);
}

TEST(stateful_set_without_revision_counts_every_pod)
{
	with_stateful_set("", "");
	go();
	RESULT(REFUSED, NOT_ALL_FAILING);
}

TEST_LOOP(stateful_set_that_would_lose_its_claims, 0, 2)
{
	with_stateful_set(_i == 0 ? "'persistentVolumeClaimRetentionPolicy':{'whenScaled':'Delete'}"
				  : "'persistentVolumeClaimRetentionPolicy':{'whenDeleted':'Delete','"
				    "whenScaled':'Retain'}",
			  "'updateRevision':'web-9'");
	go();
	if (_i == 0)
		RESULT(REFUSED, PVC_WOULD_BE_DELETED);
	else
		RESULT(DONE, CANNOT_PULL_IMAGE);
}

TEST_LOOP(replication_controller_and_bare_replica_set, 0, 2)
{
	static const char *const owners[] = { OWNED("v1", "ReplicationController", "web", "rc-1"), BY_RS };
	static const char *const paths[] = { "/api/v1" NS "replicationcontrollers/web",
					     "/apis/apps/v1" NS "replicasets/web-2" };
	static const char *const uids[] = { "rc-1", "rs-2" };
	char meta[400], get[200], scale[200], patch[200];

	(void)snprintf(meta, sizeof(meta), ",%s", owners[_i]);
	(void)snprintf(get, sizeof(get), "GET %s", paths[_i]);
	(void)snprintf(scale, sizeof(scale), "%s/scale", paths[_i]);
	(void)snprintf(patch, sizeof(patch), "PATCH %s", paths[_i]);
	on_pod("41", meta, "", PULLING);
	on(get, 200, "{'metadata':{'uid':'%s'}}", uids[_i]);
	on_scale(scale, uids[_i], "'replicas':1");
	on_pods(OURS("'labels':{}"));
	on_written(patch, uids[_i]);
	go();
	RESULT(DONE, CANNOT_PULL_IMAGE);
	ck_assert_str_eq(fake.result.target,
			 _i == 0 ? "replicationcontrollers/shop/web" : "replicasets.apps/shop/web-2");
}

#define ROLLOUT   "/apis/argoproj.io/v1alpha1" NS "rollouts/web"
#define RO_POD(h) "'labels':{'rollouts-pod-template-hash':'" h "'}," BY_RS
#define RO_RS(uid, revision, ready)                                                                          \
	"{'metadata':{'uid':'" uid "','annotations':{'rollout.argoproj.io/revision':'" revision              \
	"'}," BY_ROLLOUT "},'status':{'readyReplicas':" ready "}}"

#define RO_RS_OF(h, uid, revision, ready)                                                                    \
	"{'metadata':{'uid':'" uid "','labels':{'rollouts-pod-template-hash':'" h                            \
	"'},'annotations':{'rollout.argoproj.io/revision':'" revision "'}," BY_ROLLOUT                       \
	"},'status':{'readyReplicas':" ready "}}"

static void with_rollout(const char *stable, const char *sets, const char *pods)
{
	on_pod("41", "," RO_POD("new"), "", PULLING);
	on(RS, 200, "{'metadata':{'uid':'rs-2','creationTimestamp':'" LIVE "'," BY_ROLLOUT "}}");
	on("GET " ROLLOUT, 200,
	   "{'metadata':{'uid':'ro-1','generation':3},'status':{'stableRS':'%s','observedGeneration':'3'}}",
	   stable);
	on_scale(ROLLOUT "/scale", "ro-1", "'replicas':2");
	on(RSES, 200, "{'items':[%s]}", sets);
	on_pods(pods);
	on_written("PATCH " ROLLOUT, "ro-1");
}

TEST(rollout)
{
	with_rollout("new", RO_RS("rs-2", "1", "0"), OURS(RO_POD("new")));
	go();
	RESULT(DONE, CANNOT_PULL_IMAGE);
	ck_assert_str_eq(fake.result.target, "rollouts.argoproj.io/shop/web");
}

/* Only the canary fails: the stable revision is known to serve from its ReplicaSet or from its pods. */
TEST_LOOP(rollout_with_serving_stable, 0, 2)
{
	if (_i == 0)
		with_rollout("old", RO_RS_OF("old", "rs-1", "1", "2") "," RO_RS("rs-2", "2", "0"),
			     OURS(RO_POD("new")));
	else
		with_rollout("old", RO_RS("rs-1", "1", "0") "," RO_RS("rs-2", "2", "0"),
			     OURS(RO_POD("new")) "," ITEM("s", "pod-9", RO_POD("old"), READY));
	go();
	RESULT(REFUSED, ROLLOUT_STABLE_SERVING);
}

/* Another pod of the new revision serves, and no stable one: to abort is no remedy. */
TEST_LOOP(rollout_whose_canary_serves, 0, 2)
{
	with_rollout("old", _i == 0 ? RO_RS_OF("new", "rs-2", "2", "1") : RO_RS("rs-2", "2", "0"),
		     OURS(RO_POD("new")) "," ITEM("s", "pod-9", RO_POD("new"), READY));
	go();
	RESULT(REFUSED, WORKLOAD_HAS_READY_PODS);
}

/* -- kinds from discovery -- */

TEST(custom_kind_with_scale)
{
	with_fleet(FLEETS(WITH_SCALE));
	go();
	REQUESTS(GET, DISCO, "GET " FLEET, HPAS, KEDA, "GET " FLEET "/scale", PODS, "PATCH " FLEET "/scale",
		 "PATCH " FLEET "?");
	RESULT(DONE, CANNOT_PULL_IMAGE);
	ck_assert_str_eq(fake.result.target, "fleets.example.com/shop/web");
	ck_assert_int_eq(fake.result.replicas, 5);
}

/* A kind that makes claims, and nothing says that they stay: a CloneSet deletes them with the pods that it
 * takes away. */
TEST_LOOP(custom_kind_that_may_delete_claims, 0, 5)
{
	static const struct {
		const char *spec;
		bool may;
	} rows[] = {
		{ "'volumeClaimTemplates':[{'metadata':{'name':'data'}}]", true },
		{ "'volumeClaimTemplates':[{}],'persistentVolumeClaimRetentionPolicy':{'whenDeleted':'Retain'"
		  "}",
		  true },
		{ "'persistentVolumeClaimRetentionPolicy':{'whenScaled':'Delete'}", true },
		{ "'volumeClaimTemplates':[{}],'persistentVolumeClaimRetentionPolicy':{'whenScaled':'Retain'"
		  "}",
		  false },
		{ "'volumeClaimTemplates':[]", false },
	};

	with_fleet(FLEETS(WITH_SCALE));
	on("GET " FLEET, 200, "{'kind':'Fleet','metadata':{'name':'web','uid':'fleet-1'},'spec':{%s}}",
	   rows[_i].spec);
	go();
	if (rows[_i].may)
		RESULT(REFUSED, PVC_WOULD_BE_DELETED);
	else
		RESULT(DONE, CANNOT_PULL_IMAGE);
}

/* A StatefulSet of another group says it as that of Kubernetes does, and keeps them where it does not. */
TEST_LOOP(stateful_set_of_another_group, 0, 2)
{
	with_fleet("{'kind':'APIResourceList','groupVersion':'example.com/"
		   "v1','resources':[{'name':'fleets','kind':'"
		   "StatefulSet','namespaced':true,'verbs':['get']},{'name':'fleets/"
		   "scale','kind':'Scale','verbs':["
		   "'patch']}]}");
	on_pod("41", "," OWNED("example.com/v1", "StatefulSet", "web", "fleet-1"), "", PULLING);
	on_pods(ITEM("web", "pod-1", OWNED("example.com/v1", "StatefulSet", "web", "fleet-1"), PULLING));
	on("GET " FLEET, 200,
	   "{'metadata':{'name':'web','uid':'fleet-1'},'spec':{'volumeClaimTemplates':"
	   "[{}]%s}}",
	   _i ? ",'persistentVolumeClaimRetentionPolicy':{'whenScaled':'Delete'}" : "");
	go();
	if (_i)
		RESULT(REFUSED, PVC_WOULD_BE_DELETED);
	else
		RESULT(DONE, CANNOT_PULL_IMAGE);
}

TEST(custom_kind_without_scale)
{
	with_fleet(FLEETS(""));
	go();
	REQUESTS(GET, DISCO, "GET " FLEET);
	RESULT(REFUSED, KIND_NOT_SCALABLE);
}

/* An operator above the Deployment would put the replicas back: the topmost is meant, or nothing. */
TEST(custom_kind_above_a_deployment)
{
	with_fleet(FLEETS(""));
	on_pod("41", "," BY_RS, "", PULLING);
	on(DEPLOY, 200, "{'metadata':{'uid':'dep-1'," BY_FLEET "}}");
	go();
	RESULT(REFUSED, KIND_NOT_SCALABLE);
}

TEST_LOOP(custom_kind_unknown, 0, 4)
{
	with_fleet("{'kind':'APIResourceList','resources':[]}");
	if (_i == 1)
		on(DISCO, 404, NOTFOUND);
	else if (_i == 2)
		on(DISCO, 403, DENIED);
	else if (_i == 3)
		on("GET " FLEET, 403, DENIED);
	if (_i == 3)
		on(DISCO, 200, FLEETS(WITH_SCALE));
	go();
	RESULT(REFUSED, OWNER_UNREADABLE);
}

/* An apiVersion is data of the cluster: it cannot lead the request elsewhere. */
TEST(evil_api_version)
{
	on_pod("41", "," OWNED("../api/v1", "Secret", "web", "x"), "", PULLING);
	go();
	REQUESTS(GET);
	RESULT(REFUSED, OWNER_UNREADABLE);
}

TEST(discovery_is_remembered)
{
	with_fleet(FLEETS(""));
	go();
	for (size_t i = 0; i < fake.n_log; i++)
		ck_assert_ptr_nonnull(fake.log[i]);
	fake.done = 0;
	go();
	REQUESTS(GET, DISCO, "GET " FLEET, GET, "GET " FLEET);
}

TEST_MAIN("worker/owners")
{
	tcase_add_checked_fixture(t, setup_deployment, fake_teardown);
}
