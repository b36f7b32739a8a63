/* Who else sets the replicas: autoscalers, GitOps tools, whoever puts them back. */
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "tests/facts_en.h"
#include "tests/suite.h"
#include "workload.h"

#define TARGET(version, kind, name)                                                                          \
	"'scaleTargetRef':{'apiVersion':'" version "','kind':'" kind "','name':'" name "'}"
#define WEB                TARGET("apps/v1", "Deployment", "web")
#define SCALER(meta, spec) "{'metadata':{'name':'auto'" meta "},'spec':{" spec "}}"
#define ANNOTATED(text)    ",'annotations':{" text "}"

static void on_list(const char *request, const char *item)
{
	on(request, 200, "{'items':[%s]}", item);
}

static void on_deploy(const char *meta)
{
	on(DEPLOY, 200,
	   "{'metadata':{'name':'web','uid':'dep-1','creationTimestamp':'" LIVE "','generation':4%s},"
	   "'status':{'observedGeneration':4}}",
	   meta);
}

static void expect_evidence(const char *text)
{
	ck_assert_msg(strstr(EN(fake.result.evidence), text) != NULL, "%s is not in: %s", text,
		      EN(fake.result.evidence));
}

#define HPA(min, scaled_to_zero)                                                                             \
	"{'metadata':{'name':'auto'},'spec':{" WEB ",'minReplicas':" min "},'status':{'conditions':["        \
	"{'type':'ScalingActive','status':'True'}" scaled_to_zero "]}}"
#define SCALED_TO_ZERO(status) ",{'type':'ScaledToZero','status':'" status "'}"

/* Up to 1.35 an HPA with minReplicas 0 scales up from any 0; what is not known may be that. */
TEST_LOOP(an_hpa_that_may_scale_from_zero, 0, 8)
{
	static const char *const versions[] = {
		"'gitVersion':'v1.35.9'",   "'gitVersion':'v1.36.0+k3s1'",
		"'gitVersion':''",          "'gitVersion':'1.37.1'",
		"'major':'1','minor':'37'", "'gitVersion':'v0.99.0'",
		"'gitVersion':137",         NULL,
	};

	on_list(HPAS, HPA("0", ""));
	if (versions[_i])
		on("GET /version", 200, "{%s}", versions[_i]);
	else
		on("GET /version", 403, DENIED);
	go();
	REQUESTS(GET, RS, DEPLOY, HPAS "?limit=100", "GET /version");
	RESULT(REFUSED, HAS_HPA);
	ck_assert_str_eq(EN(fake.result.detail), "auto may scale Deployment/web up again");
}

/* From 1.37 on it leaves a 0 alone that it did not make. */
TEST_LOOP(an_hpa_that_knows_its_own_zero_by_version, 0, 2)
{
	on_list(HPAS, HPA("0", ""));
	on("GET /version", 200, "{'gitVersion':'v1.3%s'}", _i == 0 ? "7.2" : "8.0-gke.7");
	go();
	REQUESTS(GET, RS, DEPLOY, HPAS "?limit=100", "GET /version", KEDA, "GET " SCALE, RSES, PODS, "PATCH");
	RESULT(DONE, CANNOT_PULL_IMAGE);
	expect_evidence(_i == 0 ? "Kubernetes v1.37.2 leaves a 0 alone that it did not make"
				: "Kubernetes v1.38.0-gke.7 leaves a 0 alone that it did not make");
}

/* Its own word needs no version: False, it did not make the last 0; True, it goes up from a 0 again, whatever
 * minReplicas says by now. What is neither says nothing. */
TEST_LOOP(an_hpa_that_knows_its_own_zero_by_condition, 0, 5)
{
	static const char *const items[] = {
		HPA("0", SCALED_TO_ZERO("False")),   HPA("1", SCALED_TO_ZERO("False")),
		HPA("0", SCALED_TO_ZERO("True")),    HPA("1", SCALED_TO_ZERO("True")),
		HPA("0", SCALED_TO_ZERO("Unknown")),
	};

	on_list(HPAS, items[_i]);
	go();
	if (_i < 2) {
		REQUESTS(GET, RS, DEPLOY, HPAS "?limit=100", KEDA, "GET " SCALE, RSES, PODS, "PATCH");
		RESULT(DONE, CANNOT_PULL_IMAGE);
		expect_evidence("it leaves a 0 alone that it did not make: ScaledToZero is False");
	} else {
		RESULT(REFUSED, HAS_HPA);
		ck_assert_uint_eq(fake.n_log, _i < 4 ? 4 : 5);
	}
}

/* One that keeps its word does not speak for another. */
TEST_LOOP(one_of_two_hpas_may_scale_from_zero, 0, 2)
{
	on_list(HPAS, _i == 0 ? HPA("0", "") "," HPA("0", SCALED_TO_ZERO("False"))
			      : HPA("0", SCALED_TO_ZERO("False")) "," HPA("0", ""));
	go();
	RESULT(REFUSED, HAS_HPA);
}

/* Zero switches it off: the action stays, and the evidence says so. */
TEST_LOOP(an_hpa_that_is_switched_off_by_zero, 0, 3)
{
	static const char *const mins[] = { ",'minReplicas':1", ",'minReplicas':2", "" };
	static const char *const texts[] = { "has minReplicas 1", "has minReplicas 2", "has minReplicas 1" };
	char item[300];

	(void)snprintf(item, sizeof(item), SCALER("", WEB "%s"), mins[_i]);
	on_list(HPAS, item);
	go();
	RESULT(DONE, CANNOT_PULL_IMAGE);
	expect_evidence("HorizontalPodAutoscaler auto of Deployment/web");
	expect_evidence(texts[_i]);
}

TEST_LOOP(autoscalers_of_something_else, 0, 5)
{
	static const char *const items[] = {
		SCALER("", TARGET("apps/v1", "Deployment", "webs") ",'minReplicas':0"),
		SCALER("", TARGET("apps/v1", "StatefulSet", "web") ",'minReplicas':0"),
		SCALER("", TARGET("apps.kruise.io/v1", "Deployment", "web") ",'minReplicas':0"),
		SCALER("", TARGET("v1", "Deployment", "web") ",'minReplicas':0"),
		"7,null,{}",
	};

	on_list(HPAS, items[_i]);
	on_list(KEDA, items[_i]);
	go();
	RESULT(DONE, CANNOT_PULL_IMAGE);
	ck_assert_ptr_null(strstr(EN(fake.result.evidence), "auto"));
}

/* An HPA may also name the ReplicaSet below. */
TEST(an_autoscaler_of_an_owner_below)
{
	on_list(HPAS, SCALER("", TARGET("apps/v1", "ReplicaSet", "web-2") ",'minReplicas':0"));
	go();
	RESULT(REFUSED, HAS_HPA);
}

TEST_LOOP(an_autoscaler_on_the_second_page, 0, 2)
{
	on(_i == 0 ? HPAS : KEDA, 200, "{'items':[%s]}", SCALER("", WEB ",'minReplicas':0"));
	on(_i == 0 ? HPAS : KEDA, 200, "{'metadata':{'continue':'c1'},'items':[]}")->times = 1;
	go();
	if (_i == 0) {
		REQUESTS(GET, RS, DEPLOY, HPAS "?limit=100", HPAS "?limit=100&continue=c1", "GET /version");
		RESULT(REFUSED, HAS_HPA);
	} else {
		REQUESTS(GET, RS, DEPLOY, HPAS, KEDA "?limit=100", KEDA "?limit=100&continue=c1");
		RESULT(REFUSED, HAS_KEDA);
	}
}

/* However a list ends, the next begins with its own first page: a token is of one list only. */
TEST_LOOP(each_list_begins_at_its_beginning, 0, 7)
{
	static const char *const lists[] = { HPAS, KEDA, RSES, HPAS, KEDA, HPAS, KEDA };
	static const char *const sets =
		RSITEM("rs-1", "1", LIVE, "0", BY_DEPLOY) "," RSITEM("rs-2", "2", LIVE, "0", BY_DEPLOY);
	unsigned continued = 0;

	if (_i < 3)
		on(lists[_i], 200, "{'items':[]}");
	else if (_i < 5)
		on(lists[_i], 403, DENIED);
	else
		on(lists[_i], 200, "{}");
	on(lists[_i], 200, "{'metadata':{'continue':'c1'},'items':[%s]}", _i == 2 ? sets : "")->times = 1;
	go();
	for (size_t i = 0; i < fake.n_log; i++)
		continued += strstr(fake.log[i], "&continue=") != NULL;
	ck_assert_uint_eq(continued, 1);
	RESULT(DONE, CANNOT_PULL_IMAGE);
}

TEST_LOOP(keda, 0, 7)
{
	static const struct {
		const char *item;
		bool acts;
	} cases[] = {
		{ SCALER("", WEB), false },
		{ SCALER("", "'scaleTargetRef':{'name':'web'}"),
		  false }, /* apps/v1 Deployment is its default */
		{ SCALER(ANNOTATED("'autoscaling.keda.sh/paused':'true'"), WEB), true },
		{ SCALER(ANNOTATED("'autoscaling.keda.sh/paused':'false'"), WEB), false },
		{ SCALER(ANNOTATED("'autoscaling.keda.sh/paused-replicas':'0'"), WEB), true },
		{ SCALER(ANNOTATED("'autoscaling.keda.sh/paused-replicas':'3'"), WEB), false },
		{ SCALER(ANNOTATED("'autoscaling.keda.sh/paused':'true','autoscaling.keda.sh/"
				   "paused-replicas':'3'"),
			 WEB),
		  false },
	};

	on_list(KEDA, cases[_i].item);
	go();
	if (cases[_i].acts) {
		RESULT(DONE, CANNOT_PULL_IMAGE);
		expect_evidence("ScaledObject auto of Deployment/web is paused at 0");
	} else {
		REQUESTS(GET, RS, DEPLOY, HPAS, KEDA "?limit=100");
		RESULT(REFUSED, HAS_KEDA);
	}
}

/* Without the right to look it still acts, and says what it did not see. */
TEST_LOOP(may_not_be_read, 0, 2)
{
	on(_i == 0 ? HPAS : KEDA, 403, DENIED);
	go();
	RESULT(DONE, CANNOT_PULL_IMAGE);
	expect_evidence(_i == 0 ? "HorizontalPodAutoscalers could not be read"
				: "ScaledObjects could not be read");
}

/* Nor where the server knows no such version, or answers with no list. */
TEST_LOOP(is_not_listed, 0, 3)
{
	on(_i < 2 ? HPAS : KEDA, _i == 0 ? 404 : 200, _i == 0 ? NOTFOUND : "{'kind':'List'}");
	go();
	RESULT(DONE, CANNOT_PULL_IMAGE);
	expect_evidence(_i < 2 ? "HorizontalPodAutoscalers could not be read"
			       : "ScaledObjects could not be read");
}

TEST_LOOP(the_server_fails, 0, 2)
{
	on(_i == 0 ? HPAS : KEDA, 500, "%s", "");
	go();
	RESULT(FAILED, SERVER_ERROR);
}

/* That KEDA is not installed is remembered for a while. */
TEST(no_keda)
{
	on(PATCH_MARK, 409, "{'kind':'Status','status':'Failure','code':409}")->times = 1;
	go();
	REQUESTS(GET, RS, DEPLOY, HPAS, KEDA, "GET " SCALE, RSES, PODS, "PATCH", GET, RS, DEPLOY, HPAS,
		 "GET " SCALE, RSES, PODS, "PATCH");
}

TEST_LOOP(gitops, 0, 6)
{
	static const char *const metas[] = {
		",'annotations':{'argocd.argoproj.io/tracking-id':'web:apps/Deployment:shop/web'}",
		",'labels':{'argocd.argoproj.io/instance':'web'}",
		",'labels':{'kustomize.toolkit.fluxcd.io/name':'apps'}",
		",'labels':{'helm.toolkit.fluxcd.io/name':'web'}",
		",'annotations':{'meta.helm.sh/release-name':'web'}",
		",'labels':{'app.kubernetes.io/instance':'web'}",
	};

	on_deploy(metas[_i]);
	go();
	RESULT(DONE, CANNOT_PULL_IMAGE);
	expect_evidence("carries the mark ");
}

#define RAISED(manager, sub, at)                                                                             \
	",'managedFields':[{'manager':'" manager "','operation':'Update','subresource':'" sub                \
	"','time':'" at "','fieldsV1':{'f:spec':{'f:replicas':{}}}}]"

/* It came back a second time: for 20 minutes after that nothing is written, whoever asks. */
TEST_LOOP(a_reverted_scale_down_is_blocked, 0, 7)
{
	static const struct {
		unsigned reverts;
		const char *meta;
		bool blocked;
		uint64_t retry;
	} cases[] = {
		{ 2, RAISED("argocd", "", "2026-09-21T13:53:21Z"), true,
		  1000 }, /* 20 min less a second ago */
		{ 2, RAISED("argocd", "", "2026-09-21T13:53:20Z"), false, 0 },
		{ 1, RAISED("argocd", "", "2026-09-21T14:03:21Z"), true, 1000 },
		{ 1, RAISED("argocd", "", "2026-09-21T14:03:20Z"), false, 0 },
		{ 0, RAISED("argocd", "", "2026-09-21T14:13:20Z"), false, 0 },
		{ 9, RAISED("ops-pod-cleaner", "scale", "2026-09-21T14:13:20Z"), false, 0 },
		{ 9, "", false, 0 },
	};

	fake.grant.reverts = cases[_i].reverts;
	on_deploy(cases[_i].meta);
	go();
	if (cases[_i].blocked) {
		REQUESTS(GET, RS, DEPLOY);
		RESULT(REFUSED, REVERTED);
		ck_assert_ptr_nonnull(strstr(EN(fake.result.detail), "argocd (Update, 2026-09-21T"));
	} else {
		RESULT(DONE, CANNOT_PULL_IMAGE);
	}
	ck_assert_uint_eq(fake.result.retry_ms, cases[_i].retry);
	if (_i < 4)
		ck_assert_str_eq(fake.result.actor, "argocd");
}

TEST_MAIN("worker/autoscaler")
{
	tcase_add_checked_fixture(t, setup_deployment, fake_teardown);
}
