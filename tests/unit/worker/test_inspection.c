/* test_inspection.c - what a look at a container finds, and what it leaves out when it may not read on. */
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "tests/suite.h"
#include "worker/inspection.h"
#include "worker/read.h"

#define POD                                                                                                  \
	"{\"metadata\":{\"uid\":\"u-1\",\"annotations\":{\"team\":\" payments \"},\"ownerReferences\":["     \
	"{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\",\"name\":\"web-76f9\",\"uid\":\"u-2\","         \
	"\"controller\":true}]},\"spec\":{\"containers\":[{\"name\":\"side\"},{\"name\":\"app\","            \
	"\"image\":\"registry.example/web:1.2\",\"resources\":{\"limits\":{\"memory\":\"256Mi\"}}}]},"       \
	"\"status\":{\"containerStatuses\":[{\"name\":\"app\",\"state\":{\"running\":{}},\"lastState\":{"    \
	"\"terminated\":{\"exitCode\":137,\"reason\":\"OOMKilled\",\"message\":\"begin\\nthe last one \\n\"" \
	"}}}]}}"
#define REPLICASET                                                                                           \
	"{\"metadata\":{\"uid\":\"u-2\",\"creationTimestamp\":\"2026-11-22T10:00:00Z\",\"ownerReferences\""  \
	":[{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"name\":\"web\",\"uid\":\"u-3\","            \
	"\"controller\":true}]}}"
#define DEPLOYMENT "{\"metadata\":{\"uid\":\"u-3\",\"annotations\":{\"a8r.io/owner\":\"ou_1\"}}}"

static struct {
	struct inspections *inspections;
	struct policy policy;
	struct http_call call[512];
	char path[512][256], accept[512][128];
	unsigned started, cancelled, answered;
	struct msg_inspected answer;
} world;

struct http_request *http_client_start(struct http_client *c, const struct http_call *call)
{
	(void)c;
	world.call[world.started] = *call;
	(void)snprintf(world.path[world.started], sizeof(world.path[0]), "%s %s", call->method, call->path);
	(void)snprintf(world.accept[world.started], sizeof(world.accept[0]), "%s",
		       call->accept ? call->accept : "");
	world.started++;
	return (struct http_request *)&world;
}

void http_request_cancel(struct http_request **r)
{
	world.cancelled += *r != NULL;
	*r = NULL;
}

static void on_answer(void *ctx, const struct msg *m)
{
	(void)ctx;
	ck_assert_int_eq(m->type, MSG_INSPECTED);
	world.answered++;
	world.answer = m->u.inspected;
}

static void setup(void)
{
	memset(&world, 0, sizeof(world));
	world.inspections = inspections_new(NULL, on_answer, NULL);
	world.policy.duty[DUTY_RESTARTS].enable = true;
	str_list_add(&world.policy.duty[DUTY_RESTARTS].namespaces, "*", 1);
	clock_fake_set(INT64_C(1790000000000), 1000000);
}

static void teardown(void)
{
	inspections_free(&world.inspections);
	str_list_done(&world.policy.duty[DUTY_RESTARTS].namespaces);
	str_list_done(&world.policy.exclude_namespaces);
	str_list_done(&world.policy.default_exclude_namespaces);
}

static void ask_about(const char *ns, const char *pod, uint64_t number)
{
	struct msg m = { .type = MSG_INSPECT, .u.inspect = { .cluster = 3, .inspection = number } };

	msg_set(&m, inspect.ns, ns, strlen(ns));
	msg_set(&m, inspect.pod, pod, strlen(pod));
	msg_set(&m, inspect.uid, "u-1", 3);
	msg_set(&m, inspect.container, "app", 3);
	inspections_ask(world.inspections, &m.u.inspect, &world.policy, "a8r.io/owner, team");
}

static void ask_in(const char *ns, uint64_t number)
{
	ask_about(ns, "web-76f9-x", number);
}

static void ask(uint64_t number)
{
	ask_in("shop", number);
}

static void answer(unsigned i, long status, const char *body)
{
	const struct http_result r = {
		.failure = HTTP_OK, .status = status, .body = body, .body_len = strlen(body)
	};

	world.call[i].on_done(world.call[i].ctx, &r);
}

TEST(a_look_goes_up_to_the_deployment)
{
	ask(7);
	ck_assert_str_eq(world.path[0], "GET /api/v1/namespaces/shop/pods/web-76f9-x");
	answer(0, 200, POD);
	ck_assert_str_eq(world.path[1], "GET /apis/apps/v1/namespaces/shop/replicasets/web-76f9");
	answer(1, 200, REPLICASET);
	ck_assert_str_eq(world.path[2], "GET /apis/apps/v1/namespaces/shop/deployments/web");
	ck_assert_uint_eq(world.answered, 0);
	answer(2, 200, DEPLOYMENT);
	ck_assert_uint_eq(world.answered, 1);
	ck_assert(world.answer.found);
	ck_assert_uint_eq(world.answer.inspection, 7);
	ck_assert_uint_eq(world.answer.cluster, 3);
	ck_assert_str_eq(world.answer.kind, "Deployment");
	ck_assert_str_eq(world.answer.workload, "web");
	ck_assert_str_eq(world.answer.reason, "OOMKilled");
	ck_assert_str_eq(world.answer.memory, "256Mi");
	ck_assert_str_eq(world.answer.message, "the last one");
	ck_assert_str_eq(world.answer.image, "registry.example/web:1.2");
	ck_assert_int_eq(world.answer.exit_code, 137);
	ck_assert_uint_eq(world.answer.signal, 9);
	ck_assert_int_eq(world.answer.rolled_at, INT64_C(1795341600000));
	ck_assert_str_eq(world.answer.contact, "ou_1");
}

/* Each as the real controllers write it: the label holds the name of the revision, or its hash. */
static const struct revision_case {
	const char *kind, *owner, *label, *path, *owner_path;
} revisions[] = {
	{ "StatefulSet", "db", "db-6d4cf56db6", "db-6d4cf56db6", "statefulsets/db" },
	{ "DaemonSet", "agent", "5f7c9d8b64", "agent-5f7c9d8b64", "daemonsets/agent" },
};

#define APPS "GET /apis/apps/v1/namespaces/shop/"

static void answer_pod_of(unsigned i, const struct revision_case *c)
{
	char body[1024];

	(void)snprintf(body, sizeof(body),
		       "{\"metadata\":{\"uid\":\"u-1\",\"labels\":{\"controller-revision-hash\":\"%s\"},"
		       "\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"%s\",\"name\":\"%s\","
		       "\"uid\":\"u-2\",\"controller\":true}]}}",
		       c->label, c->kind, c->owner);
	answer(i, 200, body);
}

/* As PartialObjectMetadata, of a server 1.32. */
#define REVISION_OF(uid)                                                                                     \
	"{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1\",\"metadata\":{\"name\":"      \
	"\"db-6d4cf56db6\",\"namespace\":\"shop\",\"uid\":\"u-5\",\"resourceVersion\":\"711\","              \
	"\"creationTimestamp\":\"2026-11-22T10:00:00Z\",\"labels\":{\"app\":\"db\","                         \
	"\"controller.kubernetes.io/hash\":\"6d4cf56db6\"},\"ownerReferences\":[{\"apiVersion\":\"apps/"     \
	"v1\","                                                                                              \
	"\"kind\":\"StatefulSet\",\"name\":\"db\",\"uid\":\"" uid "\",\"controller\":true,"                  \
	"\"blockOwnerDeletion\":true}]}}"

TEST_LOOP(the_revision_of_a_pod_says_since_when, 0, 2)
{
	const struct revision_case *c = &revisions[_i];
	char path[128];

	ask(7);
	answer_pod_of(0, c);
	(void)snprintf(path, sizeof(path), APPS "controllerrevisions/%s", c->path);
	ck_assert_str_eq(world.path[1], path);
	ck_assert_str_eq(world.accept[1], READ_METADATA);
	answer(1, 200, REVISION_OF("u-2"));
	(void)snprintf(path, sizeof(path), APPS "%s", c->owner_path);
	ck_assert_str_eq(world.path[2], path);
	ck_assert_str_eq(world.accept[2], "");
	answer(2, 200, "{\"metadata\":{\"uid\":\"u-2\",\"annotations\":{\"team\":\"data\"}}}");
	ck_assert_uint_eq(world.answered, 1);
	ck_assert_uint_eq(world.started, 3);
	ck_assert_int_eq(world.answer.rolled_at, INT64_C(1795341600000));
	ck_assert_str_eq(world.answer.kind, c->kind);
	ck_assert_str_eq(world.answer.workload, c->owner);
	ck_assert_str_eq(world.answer.contact, "data");
}

/* Without the right, gone, another's, or garbage: the row goes on without it. */
TEST_LOOP(a_revision_that_is_not_known_is_left_out, 0, 4)
{
	static const struct {
		long status;
		const char *body;
	} cases[] = {
		{ 403, "{\"kind\":\"Status\",\"code\":403}" },
		{ 404, "{}" },
		{ 200, REVISION_OF("u-9") },
		{ 200, "[" },
	};

	ask(1);
	answer_pod_of(0, &revisions[0]);
	answer(1, cases[_i].status, cases[_i].body);
	ck_assert_str_eq(world.path[2], APPS "statefulsets/db");
	answer(2, 200, "{\"metadata\":{\"uid\":\"u-2\",\"annotations\":{\"team\":\"data\"}}}");
	ck_assert_uint_eq(world.answered, 1);
	ck_assert(world.answer.found);
	ck_assert_int_eq(world.answer.rolled_at, 0);
	ck_assert_str_eq(world.answer.workload, "db");
	ck_assert_str_eq(world.answer.contact, "data");
}

/* A kind of that name in another group, and one that keeps its revisions otherwise. */
TEST_LOOP(nobody_elses_revision_is_asked_for, 0, 2)
{
	static const char *const owners[] = {
		"\"apiVersion\":\"apps.kruise.io/v1beta1\",\"kind\":\"StatefulSet\"",
		"\"apiVersion\":\"batch/v1\",\"kind\":\"Job\"",
	};
	char body[1024];

	ask(1);
	(void)snprintf(body, sizeof(body),
		       "{\"metadata\":{\"uid\":\"u-1\",\"labels\":{\"controller-revision-hash\":\"x-1\"},"
		       "\"ownerReferences\":[{%s,\"name\":\"x\",\"uid\":\"u-2\",\"controller\":true}]}}",
		       owners[_i]);
	answer(0, 200, body);
	for (unsigned i = 1; i < world.started; i++)
		ck_assert_ptr_null(strstr(world.path[i], "controllerrevisions"));
}

TEST(an_end_in_the_middle_of_a_revision)
{
	ask(1);
	answer_pod_of(0, &revisions[1]);
	inspections_free(&world.inspections);
	ck_assert_uint_eq(world.cancelled, 1);
	ck_assert_uint_eq(world.answered, 0);
}

TEST(what_may_not_be_read_is_left_out)
{
	ask(1);
	answer(0, 200, POD);
	answer(1, 403, "{}");
	ck_assert_uint_eq(world.answered, 1);
	ck_assert_str_eq(world.answer.kind, "ReplicaSet");
	ck_assert_str_eq(world.answer.contact, "payments");
	ask(2);
	answer(2, 404, "{}");
	ck_assert_uint_eq(world.answered, 2);
	ck_assert(!world.answer.found);
}

TEST(another_pod_of_that_name_is_not_it)
{
	ask(1);
	answer(0, 200, "{\"metadata\":{\"uid\":\"u-9\"}}");
	ck_assert_uint_eq(world.answered, 1);
	ck_assert(!world.answer.found);
}

/* It takes the owner for what it is: one of another uid is another object. */
TEST(another_owner_of_that_name_is_not_it)
{
	ask(1);
	answer(0, 200, POD);
	answer(1, 200, DEPLOYMENT);
	ck_assert_uint_eq(world.answered, 1);
	ck_assert_str_eq(world.answer.kind, "ReplicaSet");
	ck_assert_int_eq(world.answer.rolled_at, 0);
	ck_assert_str_eq(world.answer.contact, "payments");
}

/* What no kubelet writes would be out of range in a message, and end the worker that sends it. */
TEST_LOOP(an_end_out_of_range_is_not_told, 0, 2)
{
	static const char *const ends[] = {
		"\"exitCode\":1099511627776,\"signal\":256",
		"\"exitCode\":-1099511627776,\"signal\":-1",
	};
	char body[512];

	ask(1);
	(void)snprintf(body, sizeof(body),
		       "{\"metadata\":{\"uid\":\"u-1\"},\"status\":{\"containerStatuses\":[{\"name\":\"app\","
		       "\"state\":{\"terminated\":{%s}}}]}}",
		       ends[_i]);
	answer(0, 200, body);
	ck_assert(world.answer.found);
	ck_assert_int_eq(world.answer.exit_code, 0);
	ck_assert_uint_eq(world.answer.signal, 0);
}

TEST(a_few_at_a_time)
{
	for (unsigned i = 0; i < INSPECTIONS_MAX; i++)
		ask(i + 1);
	ck_assert_uint_eq(world.started, INSPECTIONS_MAX);
	ask(99);
	ck_assert_uint_eq(world.answered, 1);
	ck_assert(!world.answer.found);
	ck_assert_uint_eq(world.answer.inspection, 99);
	answer(0, 500, "");
	ask(100);
	ck_assert_uint_eq(world.started, INSPECTIONS_MAX + 1);
	inspections_free(&world.inspections);
	ck_assert_uint_eq(world.cancelled, INSPECTIONS_MAX);
	ck_assert_uint_eq(world.answered, 2);
}

/* A reporter that was taken over may ask for any pod. */
TEST(a_look_stays_where_the_report_looks)
{
	struct policy *p = &world.policy;

	str_list_add(&p->exclude_namespaces, "bank", 4);
	str_list_add(&p->exclude_namespaces, "label:secret=yes", 16);
	str_list_add(&p->default_exclude_namespaces, "kube-*", 6);
	ask_in("bank", 1);
	ask_in("kube-system", 2);
	ck_assert_uint_eq(world.started, 0);
	ck_assert_uint_eq(world.answered, 2);
	ck_assert(!world.answer.found);
	ask_in("shop", 3); /* its labels would decide, and are not known here */
	ck_assert_uint_eq(world.started, 1);
	p->duty[DUTY_RESTARTS].enable = false;
	ask_in("shop", 4);
	ck_assert_uint_eq(world.started, 1);
	ck_assert_uint_eq(world.answer.inspection, 4);
}

TEST(a_look_stays_in_the_namespaces_of_the_duty)
{
	struct str_list *l = &world.policy.duty[DUTY_RESTARTS].namespaces;

	str_list_done(l);
	str_list_add(l, "shop", 4);
	ask_in("bank", 1);
	ck_assert_uint_eq(world.started, 0);
	ck_assert_uint_eq(world.answered, 1);
	ask_in("shop", 2);
	ck_assert_uint_eq(world.started, 1);
}

/* Where this program itself lives, and what is left out by default, is read only where it is named. */
TEST(a_look_needs_the_name_of_what_is_protected)
{
	struct policy *p = &world.policy;

	p->own_namespace = (char[]){ "janitors" };
	str_list_add(&p->default_exclude_namespaces, "kube-*", 6);
	ask_in("janitors", 1);
	ask_in("kube-system", 2);
	ck_assert_uint_eq(world.started, 0);
	ck_assert_uint_eq(world.answered, 2);
	str_list_add(&p->duty[DUTY_RESTARTS].namespaces, "kube-system", 11);
	ask_in("janitors", 3);
	ck_assert_uint_eq(world.started, 0);
	ask_in("kube-system", 4);
	str_list_add(&p->duty[DUTY_RESTARTS].namespaces, "janitors", 8);
	ask_in("janitors", 5);
	ck_assert_uint_eq(world.started, 2);
}

static void answer_owned_by(unsigned i, const char *uid, const char *owner_uid)
{
	char body[512];

	(void)snprintf(
		body, sizeof(body),
		"{\"metadata\":{\"uid\":\"%s\",\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":"
		"\"ReplicaSet\",\"name\":\"o\",\"uid\":\"%s\",\"controller\":true}]}}",
		uid, owner_uid);
	answer(i, 200, body);
}

/* A server, or who writes owner references, may name one above the other without end. */
TEST(owners_have_an_end)
{
	ask(1);
	answer_owned_by(0, "u-1", "u-2");
	for (unsigned i = 1; world.answered == 0; i++) {
		ck_assert_uint_lt(i, 10);
		answer_owned_by(i, "u-2", "u-2");
	}
	ck_assert_uint_eq(world.started, 5); /* the pod, and four */
	ck_assert(world.answer.found);
}

TEST(a_uid_has_a_limit)
{
	char uid[65] = "";

	memset(uid, 'x', 63);
	ask(1);
	answer_owned_by(0, "u-1", uid);
	ck_assert_uint_eq(world.started, 2);
	answer_owned_by(1, uid, "u-3");
	ck_assert_uint_eq(world.started, 3);
	answer(2, 404, "{}");
	uid[63] = 'x';
	ask(2);
	answer_owned_by(3, "u-1", uid);
	ck_assert_uint_eq(world.started, 4);
	ck_assert_uint_eq(world.answered, 2);
}

/* Whatever the server sends, and however slowly: the worker has leases to keep. */
TEST(an_answer_has_a_size_and_a_time)
{
	ask(1);
	answer(0, 200, POD);
	answer(1, 200, REPLICASET);
	ck_assert_uint_eq(world.started, 3);
	for (unsigned i = 0; i < world.started; i++) {
		ck_assert(world.call[i].max_body > 0 && world.call[i].max_body <= 2 << 20);
		ck_assert(world.call[i].total_timeout_ms > 0 && world.call[i].total_timeout_ms <= 4000);
	}
}

TEST(a_look_is_at_a_pod)
{
	static const char *const names[] = { "..", ".", "../secrets/token", "web-1/log",
					     "web-1/../../secrets/t" };

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		ask_about("shop", names[i], i + 1);
		ck_assert_uint_eq(world.started, 0);
		ck_assert_uint_eq(world.answered, i + 1);
		ck_assert(!world.answer.found);
	}
	ask_about("..", "web-1", 9);
	ck_assert_uint_eq(world.started, 0);
}

/* Nor may it ask without end: what it asks is sent with the credential that writes. */
TEST(looks_have_a_limit)
{
	unsigned n = 0;

	for (; n < INSPECTIONS_PER_MINUTE; n++) {
		ask(n + 1);
		ck_assert_uint_eq(world.started, n + 1);
		answer(n, 404, "{}");
	}
	ask(n + 1);
	ck_assert_uint_eq(world.started, n);
	ck_assert_uint_eq(world.answered, n + 1);
	clock_fake_advance(60000);
	ask(n + 2);
	ck_assert_uint_eq(world.started, n + 1);
}

TEST(garbage_is_no_answer)
{
	static const char *const bodies[] = { "",     "[]",
					      "{",    "{\"metadata\":[]}",
					      "null", "{\"metadata\":{\"uid\":7}}" };

	for (unsigned i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
		ask(i + 1);
		answer(i, 200, bodies[i]);
		ck_assert_uint_eq(world.answered, i + 1);
		ck_assert(!world.answer.found);
	}
}

TEST_MAIN("worker/inspection")
{
	tcase_add_checked_fixture(t, setup, teardown);
}
