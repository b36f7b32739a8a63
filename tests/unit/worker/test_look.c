/* test_look.c - what a look at a container finds, and what it leaves out when it may not read on. */
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "tests/suite.h"
#include "worker/look.h"

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
	struct looks *looks;
	struct http_call call[16];
	char path[16][256];
	unsigned started, cancelled, answered;
	struct msg_looked answer;
} world;

static struct http_request *on_start(void *ctx, const struct http_call *call)
{
	(void)ctx;
	world.call[world.started] = *call;
	(void)snprintf(world.path[world.started], sizeof(world.path[0]), "%s %s", call->method, call->path);
	world.started++;
	return (struct http_request *)&world;
}

static void on_cancel(void *ctx, struct http_request *r)
{
	(void)ctx;
	(void)r;
	world.cancelled++;
}

static void on_answer(void *ctx, const struct msg *m)
{
	(void)ctx;
	ck_assert_int_eq(m->type, MSG_LOOKED);
	world.answered++;
	world.answer = m->u.looked;
}

static void setup(void)
{
	const struct looks_env env = { .start = on_start, .cancel = on_cancel, .answer = on_answer };

	memset(&world, 0, sizeof(world));
	world.looks = looks_new(&env);
}

static void teardown(void)
{
	looks_free(&world.looks);
}

static void ask(uint64_t number)
{
	struct msg m = { .type = MSG_LOOK, .u.look = { .cluster = 3, .look = number } };

	msg_set(&m, look.ns, "shop", 4);
	msg_set(&m, look.pod, "web-76f9-x", 10);
	msg_set(&m, look.uid, "u-1", 3);
	msg_set(&m, look.container, "app", 3);
	looks_ask(world.looks, &m.u.look, "a8r.io/owner, team");
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
	ck_assert_uint_eq(world.answer.look, 7);
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

TEST(a_few_at_a_time)
{
	for (unsigned i = 0; i < LOOKS_MAX; i++)
		ask(i + 1);
	ck_assert_uint_eq(world.started, LOOKS_MAX);
	ask(99);
	ck_assert_uint_eq(world.answered, 1);
	ck_assert(!world.answer.found);
	ck_assert_uint_eq(world.answer.look, 99);
	answer(0, 500, "");
	ask(100);
	ck_assert_uint_eq(world.started, LOOKS_MAX + 1);
	looks_free(&world.looks);
	ck_assert_uint_eq(world.cancelled, LOOKS_MAX);
	ck_assert_uint_eq(world.answered, 2);
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

TEST_MAIN("worker/look")
{
	tcase_add_checked_fixture(t, setup, teardown);
}
