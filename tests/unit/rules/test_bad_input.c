/* Objects that should not exist, as the API server might answer them: a verdict with a reason, never a crash,
 * never an act. Everything around the pod is as favourable as it can be. */
// SPDX-License-Identifier: Apache-2.0
#include "fixture.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "kube/decode_json.h"
#include "rules/status.h"
#include "tests/suite.h"

#define META(more)                                                                                           \
	"'namespace':'shop','name':'web-1','uid':'0b8f0f3e-0000-4000-8000-000000000001',"                    \
	"'resourceVersion':'7','creationTimestamp':'2026-09-20T00:00:00Z'" more
#define OWNER                                                                                                \
	",'ownerReferences':[{'apiVersion':'apps/v1','kind':'ReplicaSet','name':'web','uid':'o-1',"          \
	"'controller':true}]"
#define EVICTED "'phase':'Failed','reason':'Evicted'"
#define PULLING                                                                                              \
	"'phase':'Pending','containerStatuses':[{'name':'app','restartCount':0,'state':{'waiting':{'reason'" \
	":"                                                                                                  \
	"'ErrImagePull','message':'manifest unknown'}}}]"
#define DELETED                 ",'deletionTimestamp':'2026-09-20T01:00:00Z','deletionGracePeriodSeconds':30"
#define POD(meta, spec, status) "{'metadata':{" meta "},'spec':{" spec "},'status':{" status "}}"

static json_t *load(const char *text)
{
	char *copy = strdup(text);
	json_error_t error;
	json_t *tree;

	for (char *c = copy; *c; c++)
		if (*c == '\'')
			*c = '"';
	tree = json_loads(copy, JSON_ALLOW_NUL, &error);
	ck_assert_msg(tree != NULL, "%s: %s", error.text, copy);
	free(copy);
	return tree;
}

static const struct pod_context favourable = { .stage = STAGE_LIVE,
					       .failing_since = NOW - HOURS - 1,
					       .tally_known = TRI_YES,
					       .pods = 1,
					       .failing = 1,
					       .node_exists = TRI_NO };

/* The verdict of every duty on the pod; -1 when it can not even be decoded. Returns how many act. */
static int acts(json_t *tree, struct verdict *ret)
{
	static struct pod_facts p;
	char status[STATUS_MAX];
	int n = 0;

	if (decode_pod_json(tree, &p) < 0)
		return -1;
	(void)status_of(&p, status);
	for (enum duty d = 0; d < DUTY__MAX; d++) {
		judge_duty(d, &p, &policy, &favourable, NOW, &ret[d]);
		ck_assert_str_ne(reason_code(ret[d].reason), "?");
		ck_assert_str_ne(ret[d].rule, "");
		n += duty_acts(d) && ret[d].kind == VERDICT_ACT;
	}
	return n;
}

static void never_acts_as(const char *text, enum duty d, enum verdict_kind kind, enum reason reason)
{
	struct verdict v[DUTY__MAX];
	json_t *tree = load(text);
	const int n = acts(tree, v);

	ck_assert_msg(n == 0, "%d duties act on %s", n, text);
	expect(v[d], kind, reason, __LINE__);
	json_decref(tree);
}

static void never_acts(const char *text, enum duty d, enum reason reason)
{
	never_acts_as(text, d, VERDICT_REFUSE, reason);
}

/* The same bytes without what is bad about them do act: else these tests could not fail. */
TEST(what_is_not_bad_acts)
{
	struct verdict v[DUTY__MAX];
	json_t *tree = load(POD(META(OWNER), "'nodeName':'n'", EVICTED));

	ck_assert_int_eq(acts(tree, v), 1);
	json_decref(tree);
	tree = load(POD(META(OWNER), "'nodeName':'n'", PULLING));
	ck_assert_int_eq(acts(tree, v), 1);
	json_decref(tree);
	tree = load(POD(META(OWNER DELETED), "'nodeName':'n'", "'phase':'Running'"));
	ck_assert_int_eq(acts(tree, v), 1);
	json_decref(tree);
}

TEST(without_owner_references)
{
	never_acts(POD(META(""), "", PULLING), DUTY_IMAGE_PULL, REASON_NO_CONTROLLER);
	never_acts(POD(META(",'ownerReferences':[]"), "", PULLING), DUTY_IMAGE_PULL, REASON_NO_CONTROLLER);
	never_acts(POD(META(",'ownerReferences':null"), "", PULLING), DUTY_IMAGE_PULL, REASON_NO_CONTROLLER);
	never_acts(POD(META(",'ownerReferences':[{}]"), "", PULLING), DUTY_IMAGE_PULL, REASON_NO_CONTROLLER);
}

TEST(ten_owners)
{
	char text[4096], list[2048] = "";
	struct pod_facts p;
	json_t *tree;

	for (int i = 0; i < 10; i++)
		(void)snprintf(list + strlen(list), sizeof(list) - strlen(list),
			       "%s{'apiVersion':'apps/v1','kind':'ReplicaSet','name':'o%d','uid':'u%d'%s}",
			       i ? "," : "", i, i, i == 7 ? ",'controller':true" : "");
	(void)snprintf(text, sizeof(text), POD(META(",'ownerReferences':[%s]"), "", PULLING), list);
	tree = load(text);
	ck_assert_int_eq(decode_pod_json(tree, &p), 0);
	ck_assert(str_is(p.owner.name, "o7"));
	json_decref(tree);
	/* ten owners and none of them in control */
	*strstr(text, "true") = 'f';
	memcpy(strstr(text, "frue"), "null", 4);
	never_acts(text, DUTY_IMAGE_PULL, REASON_NO_CONTROLLER);
}

TEST(an_owner_of_itself)
{
	never_acts(POD(META(",'ownerReferences':[{'apiVersion':'v1','kind':'Node','name':'n','uid':'u',"
			    "'controller':true}]"),
		       "", EVICTED),
		   DUTY_EVICTED, REASON_MIRROR_POD);
}

TEST(a_megabyte_of_annotations)
{
	const size_t n = 1 << 20;
	char *big = malloc(n + 1);
	json_t *tree = load(POD(META(OWNER ",'annotations':{}"), "", EVICTED));
	json_t *annotations = json_object_get(json_object_get(tree, "metadata"), "annotations");
	struct verdict v[DUTY__MAX];

	memset(big, ',', n);
	big[n] = '\0';
	json_object_set_new(annotations, "example.com/notes", json_string(big));
	ck_assert_int_eq(acts(tree, v), 1); /* somebody else's notes change nothing */
	/* Our own key with a megabyte that is no list of duties is the wish to be left alone. */
	json_object_set_new(annotations, ANNOTATION_SKIP, json_string(big));
	ck_assert_int_eq(acts(tree, v), 0);
	expect(v[DUTY_EVICTED], VERDICT_REFUSE, REASON_SKIP_ANNOTATION, __LINE__);
	json_object_del(annotations, ANNOTATION_SKIP);
	json_object_set_new(annotations, ANNOTATION_EXTEND, json_string(big));
	ck_assert_int_eq(acts(tree, v), 0);
	json_object_del(annotations, ANNOTATION_EXTEND);
	json_object_set_new(annotations, ANNOTATION_ANNOUNCED, json_string(big));
	ck_assert_int_eq(acts(tree, v), 1);
	json_decref(tree);
	free(big);
}

TEST(unknown_reasons_and_phases)
{
	struct verdict v[DUTY__MAX];
	json_t *tree = load(POD(META(OWNER), "", "'phase':'Failed','reason':'Evicted '"));

	ck_assert_int_eq(acts(tree, v), 0);
	expect(v[DUTY_EVICTED], VERDICT_NONE, REASON_NOT_EVICTED, __LINE__);
	json_decref(tree);
	tree = load(POD(META(OWNER), "",
			"'phase':'Pending','containerStatuses':[{'name':'a','state':{'waiting':{'reason':"
			"'ErrImagePullX'}}}]"));
	ck_assert_int_eq(acts(tree, v), 0);
	expect(v[DUTY_IMAGE_PULL], VERDICT_NONE, REASON_NOT_FAILING, __LINE__);
	json_decref(tree);
	never_acts(POD(META(OWNER), "",
		       "'phase':'Sleeping','containerStatuses':[{'name':'a','state':{'waiting':{'reason':"
		       "'ErrImagePull','message':'manifest unknown'}}}]"),
		   DUTY_IMAGE_PULL, REASON_INCOMPLETE_FACTS);
}

static const char *const odd_times[] = { "2999-01-01T00:00:00Z",
					 "0001-01-01T00:00:00Z",
					 "0001-01-01T00:00:01Z",
					 "9999-12-31T23:59:59Z",
					 "yesterday",
					 "",
					 "1969-12-31T23:59:59Z" };

TEST(creation_in_the_future_or_in_year_one)
{
	char text[1024];

	for (size_t i = 0; i < sizeof(odd_times) / sizeof(odd_times[0]); i++) {
		(void)snprintf(text, sizeof(text),
			       "{'metadata':{'namespace':'shop','name':'w','uid':'u','resourceVersion':'7',"
			       "'creationTimestamp':'%s'},'status':{" EVICTED "}}",
			       odd_times[i]);
		if (odd_times[i][0] == '2' || odd_times[i][0] == '9')
			never_acts_as(text, DUTY_EVICTED, VERDICT_WAIT, REASON_TIME_IN_FUTURE);
		else
			never_acts(text, DUTY_EVICTED, REASON_BAD_TIMESTAMP);
	}
}

TEST(deletion_in_the_future_or_in_year_one)
{
	for (size_t i = 0; i < sizeof(odd_times) / sizeof(odd_times[0]); i++) {
		char text[1024];
		struct verdict v[DUTY__MAX];
		json_t *tree;

		(void)snprintf(
			text, sizeof(text),
			POD(META(OWNER ",'deletionTimestamp':'%s'"), "'nodeName':'n'", "'phase':'Running'"),
			odd_times[i]);
		tree = load(text);
		ck_assert_int_eq(acts(tree, v), 0);
		json_decref(tree);
	}
}

TEST(first_seen_in_the_future)
{
	static const int64_t since[] = { NOW + JUDGE_SKEW_MS + 1, INT64_MAX, -1, INT64_MIN };
	struct pod_facts p = pod_pull_failing();

	for (size_t i = 0; i < sizeof(since) / sizeof(since[0]); i++) {
		struct pod_context s = live_pull();

		s.failing_since = since[i];
		if (since[i] > 0)
			EXPECT(judge_one(DUTY_IMAGE_PULL, &p, s, NOW), WAIT, TIME_IN_FUTURE);
		else
			EXPECT(judge_one(DUTY_IMAGE_PULL, &p, s, NOW), REFUSE, BAD_TIMESTAMP);
	}
}

TEST(negative_counts)
{
	struct verdict v[DUTY__MAX];
	json_t *tree =
		load(POD(META(OWNER), "",
			 "'phase':'Running','containerStatuses':[{'name':'a','restartCount':-9,'state':"
			 "{'waiting':{'reason':'CrashLoopBackOff'}}}]"));

	ck_assert_int_eq(acts(tree, v), 0);
	ck_assert_int_ne(v[DUTY_RESTARTS].kind, VERDICT_ACT);
	json_decref(tree);
	never_acts(POD(META(OWNER ",'deletionTimestamp':'2026-09-20T01:00:00Z',"
				  "'deletionGracePeriodSeconds':-30"),
		       "'nodeName':'n'", "'phase':'Running'"),
		   DUTY_TERMINATING, REASON_INCOMPLETE_FACTS);
	policy.duty[DUTY_EVICTED].hours_ms = -1;
	never_acts(POD(META(OWNER), "", EVICTED), DUTY_EVICTED, REASON_BAD_POLICY);
}

TEST(empty_names)
{
	static const char *const texts[] = {
		"{}",
		"{'metadata':{}}",
		"{'metadata':{'name':'','uid':'u'},'status':{" EVICTED "}}",
		"{'metadata':{'name':'w','uid':''},'status':{" EVICTED "}}",
	};
	struct verdict v[DUTY__MAX];

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		json_t *tree = load(texts[i]);

		ck_assert_int_eq(acts(tree, v), -1);
		json_decref(tree);
	}
	/* Without a namespace no duty selects it; without a resourceVersion nothing can be bound to it. */
	json_t *tree = load("{'metadata':{'name':'w','uid':'u','resourceVersion':'1','creationTimestamp':"
			    "'2026-09-20T00:00:00Z'},'status':{" EVICTED "}}");

	ck_assert_int_eq(acts(tree, v), 0);
	expect(v[DUTY_EVICTED], VERDICT_REFUSE, REASON_INCOMPLETE_FACTS, __LINE__);
	json_decref(tree);
	never_acts("{'metadata':{'namespace':'shop','name':'w','uid':'u','creationTimestamp':"
		   "'2026-09-20T00:00:00Z'},'status':{" EVICTED "}}",
		   DUTY_EVICTED, REASON_INCOMPLETE_FACTS);
}

TEST(members_of_wrong_types)
{
	static const char *const texts[] = {
		"[]",
		"{'metadata':[],'status':'Failed'}",
		"{'metadata':{'name':7,'uid':true}}",
		POD(META(OWNER), "", "'phase':['Failed'],'reason':{'a':'Evicted'}"),
		POD(META(OWNER), "", "'phase':'Failed','reason':7"),
		POD(META(OWNER), "", "'phase':'Pending','containerStatuses':{'state':'waiting'}"),
		POD(META(OWNER), "", "'phase':'Pending','containerStatuses':[null,7,[],{'state':[]}]"),
	};
	struct verdict v[DUTY__MAX];

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		json_t *tree = load(texts[i]);

		ck_assert_int_le(acts(tree, v), 0);
		json_decref(tree);
	}
}

TEST(more_containers_than_are_judged)
{
	json_t *tree = load(POD(META(OWNER), "", PULLING));
	json_t *list = json_object_get(json_object_get(tree, "status"), "containerStatuses");
	struct verdict v[DUTY__MAX];

	for (int i = 0; i < 200; i++)
		json_array_append_new(list, json_deep_copy(json_array_get(list, 0)));
	ck_assert_int_eq(acts(tree, v), 0);
	expect(v[DUTY_IMAGE_PULL], VERDICT_REFUSE, REASON_TOO_MANY_CONTAINERS, __LINE__);
	json_decref(tree);
}

POLICY_SUITE("rules/bad_input");
