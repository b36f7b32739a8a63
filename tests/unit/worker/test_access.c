/* test_access.c - the question what a credential may do, and what each answer of a server is taken for. */
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/facts_en.h"
#include "tests/suite.h"
#include "worker/access.h"

static struct {
	struct access *access;
	struct http_call call;
	char body[1024];
	unsigned started, cancelled, answered;
	struct msg answer;
} world;

struct http_request *http_client_start(struct http_client *c, const struct http_call *call)
{
	(void)c;
	world.started++;
	world.call = *call;
	(void)snprintf(world.body, sizeof(world.body), "%.*s", (int)call->body_len, (const char *)call->body);
	return (struct http_request *)&world;
}

void http_request_cancel(struct http_request **r)
{
	ck_assert(!*r || *r == (struct http_request *)&world);
	world.cancelled += *r != NULL;
	*r = NULL;
}

static void on_answer(void *ctx, const struct msg *m)
{
	(void)ctx;
	world.answered++;
	world.answer = *m;
}

static void setup(void)
{
	memset(&world, 0, sizeof(world));
	world.access = access_new(NULL, on_answer, NULL);
}

static void teardown(void)
{
	access_free(&world.access);
}

static void ask(uint64_t conn)
{
	struct msg m = { .type = MSG_CTL_ACCESS, .u.ctl_access.conn = conn };

	msg_set(&m, ctl_access.verb, "patch", sizeof("patch") - 1);
	msg_set(&m, ctl_access.group, "apps", sizeof("apps") - 1);
	msg_set(&m, ctl_access.resource, "deployments", sizeof("deployments") - 1);
	msg_set(&m, ctl_access.subresource, "scale", sizeof("scale") - 1);
	msg_set(&m, ctl_access.ns, "shop", sizeof("shop") - 1);
	access_ask(world.access, &m.u.ctl_access);
}

static void end(enum http_failure failure, long status, const char *body)
{
	struct http_result r = {
		.failure = failure, .status = status, .body = body, .body_len = strlen(body)
	};

	if (failure != HTTP_OK)
		transport_said(&r.why, "Timeout was reached");
	world.call.on_done(world.call.ctx, &r);
}

static void expect(bool known, bool allowed, const char *text)
{
	const struct msg_ctl_access_row *r = &world.answer.u.ctl_access_row;

	ck_assert_uint_eq(world.answered, 1);
	ck_assert_uint_eq(world.answer.type, MSG_CTL_ACCESS_ROW);
	ck_assert_uint_eq(r->conn, 7);
	ck_assert_int_eq(r->known, known);
	ck_assert_int_eq(r->allowed, allowed);
	ck_assert_str_eq(EN(r->why), text);
}

TEST(it_asks_for_itself_what_was_asked)
{
	ask(7);
	ck_assert_uint_eq(world.started, 1);
	ck_assert_str_eq(world.call.method, "POST");
	ck_assert_str_eq(world.call.path, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews");
	static const char *const holds[] = {
		"\"kind\":\"SelfSubjectAccessReview\"", "\"verb\":\"patch\"",        "\"group\":\"apps\"",
		"\"resource\":\"deployments\"",         "\"subresource\":\"scale\"", "\"namespace\":\"shop\""
	};

	for (size_t i = 0; i < sizeof(holds) / sizeof(*holds); i++)
		ck_assert_msg(strstr(world.body, holds[i]) != NULL, "%s in %s", holds[i], world.body);
}

static const struct {
	enum http_failure failure;
	long status;
	const char *body;
	bool known, allowed;
	const char *text;
} answers[] = {
	{ HTTP_OK, 201, "{\"status\":{\"allowed\":true,\"reason\":\"RBAC\"}}", true, true, "RBAC" },
	{ HTTP_OK, 201, "{\"status\":{\"allowed\":false}}", true, false, "" },
	{ HTTP_OK, 201, "{\"status\":{\"allowed\":\"true\"}}", false, false,
	  "the API server does not say: its answer is no review" },
	{ HTTP_OK, 201, "[]", false, false, "the API server does not say: its answer is no review" },
	{ HTTP_OK, 403, "{\"status\":{\"allowed\":true}}", false, false,
	  "the API server does not say: HTTP status 403" },
	{ HTTP_TIMEOUT, 0, "", false, false, "the API server does not say: Timeout was reached" },
};

TEST_LOOP(each_answer_counts_for_what_it_is, 0, sizeof(answers) / sizeof(*answers))
{
	ask(7);
	end(answers[_i].failure, answers[_i].status, answers[_i].body);
	expect(answers[_i].known, answers[_i].allowed, answers[_i].text);
}

TEST(one_question_at_a_time)
{
	ask(6);
	ask(7);
	ck_assert_uint_eq(world.started, 1);
	expect(false, false, "the worker answers another question");
	end(HTTP_OK, 201, "{\"status\":{\"allowed\":true}}");
	ck_assert_uint_eq(world.answer.u.ctl_access_row.conn, 6);
	ask(7);
	ck_assert_uint_eq(world.started, 2);
}

TEST(what_is_open_is_cancelled)
{
	ask(7);
	access_free(&world.access);
	ck_assert_uint_eq(world.cancelled, 1);
}

TEST_MAIN("worker/access")
{
	tcase_add_checked_fixture(t, setup, teardown);
}
