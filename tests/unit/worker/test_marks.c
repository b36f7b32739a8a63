/* test_marks.c - which workloads bear the mark of a scale-down: what is asked, and what is believed. */
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit.h"
#include "tests/facts_en.h"
#include "tests/suite.h"
#include "worker/marks.h"

#define M "\"ops-pod-cleaner.io/scaled-down-"

static struct {
	struct marks *marks;
	struct http_call call;
	char path[16][300];
	unsigned asked, cancelled, rows, ends;
	struct msg row, end;
} world;

struct http_request *http_client_start(struct http_client *c, const struct http_call *call)
{
	(void)c;
	world.call = *call;
	(void)snprintf(world.path[world.asked++ % 16], sizeof(world.path[0]), "%s", call->path);
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
	if (m->type == MSG_CTL_END) {
		world.ends++;
		world.end = *m;
	} else {
		ck_assert_uint_eq(m->type, MSG_CTL_MARKED_ROW);
		world.rows++;
		world.row = *m;
	}
}

static void setup(void)
{
	memset(&world, 0, sizeof(world));
	world.marks = marks_new(NULL, on_answer, NULL);
}

static void teardown(void)
{
	marks_free(&world.marks);
}

static void ask(const char *ns, const char *name)
{
	struct msg m = { .type = MSG_CTL_MARKED, .u.ctl_marked.conn = 7 };

	msg_set(&m, ctl_marked.ns, ns, strlen(ns));
	msg_set(&m, ctl_marked.name, name, strlen(name));
	marks_ask(world.marks, &m.u.ctl_marked);
}

static void end(enum http_failure failure, long status, const char *body)
{
	struct http_result r = {
		.failure = failure, .status = status, .body = body, .body_len = strlen(body)
	};

	world.call.on_done(world.call.ctx, &r);
}

#define MARKED(by, from, number, replicas)                                                                   \
	"{\"metadata\":{\"name\":\"web\",\"namespace\":\"shop\",\"uid\":\"d-1\",\"annotations\":{" M         \
	"by\":\"" by "\"," M "from\":\"" from "\"," M "action\":\"" number "\"," M                           \
	"at\":\"2026-11-22T10:00:00Z\"," M                                                                   \
	"why\":\"crashLoop: CrashLooping: it crashes\"}},\"spec\":{\"replicas\":" replicas "}}"
#define OURS MARKED("ops-pod-cleaner", "3", "17", "0")

TEST(each_kind_is_listed_page_by_page)
{
	ask("", "");
	ck_assert_str_eq(world.path[0], "/apis/apps/v1/deployments?limit=100");
	end(HTTP_OK, 200, "{\"metadata\":{\"continue\":\"a b\"},\"items\":[" OURS "," OURS "]}");
	ck_assert_uint_eq(world.rows, 2);
	ck_assert_str_eq(world.path[1], "/apis/apps/v1/deployments?limit=100&continue=a%20b");
	end(HTTP_OK, 200, "{\"metadata\":{},\"items\":[]}");
	while (world.ends == 0 && world.asked < 16)
		end(HTTP_OK, 200, "{\"items\":[]}");
	ck_assert_str_eq(world.path[2], "/apis/apps/v1/statefulsets?limit=100");
	ck_assert_str_eq(world.path[world.asked - 1], "/apis/argoproj.io/v1alpha1/rollouts?limit=100");
	ck_assert_uint_eq(world.end.u.ctl_end.code, EXIT_CODE_OK);
	ck_assert_uint_eq(world.end.u.ctl_end.conn, 7);
	const struct msg_ctl_marked_row *r = &world.row.u.ctl_marked_row;

	ck_assert_uint_eq(r->conn, 7);
	ck_assert_str_eq(r->target, "deployments.apps/shop/web");
	ck_assert_str_eq(r->target_uid, "d-1");
	ck_assert_int_eq(r->replicas, 3);
	ck_assert_uint_eq(r->number, 17);
	ck_assert_uint_eq(r->duty, DUTY_CRASH_LOOP);
	ck_assert_int_eq(r->at, INT64_C(1795341600000));
	ck_assert_str_eq(r->said, "crashLoop: CrashLooping: it crashes");
}

TEST(one_is_asked_for_by_its_name)
{
	ask("shop", "web");
	ck_assert_str_eq(world.path[0], "/apis/apps/v1/namespaces/shop/deployments/web");
	end(HTTP_OK, 404,
	    "{\"kind\":\"Status\",\"reason\":\"NotFound\",\"details\":{\"name\":\"web\"},\"code\":404}");
	ck_assert_str_eq(world.path[1], "/apis/apps/v1/namespaces/shop/statefulsets/web");
	end(HTTP_OK, 200, OURS);
	ck_assert_uint_eq(world.rows, 1);
	ck_assert_str_eq(world.row.u.ctl_marked_row.target, "statefulsets.apps/shop/web");
}

/* Whose mark, from how many, by which action; and it is at 0 still. */
TEST_LOOP(what_is_no_mark_of_ours, 0, 8)
{
	static const char *const bodies[] = {
		MARKED("kubectl", "3", "17", "0"),
		MARKED("ops-pod-cleaner", "0", "17", "0"),
		MARKED("ops-pod-cleaner", "x", "17", "0"),
		MARKED("ops-pod-cleaner", "3", "0", "0"),
		MARKED("ops-pod-cleaner", "3", "17", "2"),
		MARKED("ops-pod-cleaner", "99999999999", "17", "0"),
		"{\"metadata\":{\"name\":\"web\"},\"spec\":{}}",
		"{\"metadata\":{\"name\":\"web-1\",\"namespace\":\"shop\",\"uid\":\"r-1\","
		"\"ownerReferences\":[{"
		"\"kind\":\"Deployment\",\"controller\":true}],\"annotations\":{" M
		"by\":\"ops-pod-cleaner\"," M "from\":\"3\"," M
		"action\":\"17\"}},\"spec\":{\"replicas\":0}}",
	};

	ask("shop", "web");
	end(HTTP_OK, 200, bodies[_i]);
	ck_assert_uint_eq(world.rows, 0);
	ck_assert_uint_eq(world.asked, 2);
}

/* Whoever may annotate a workload writes there what they like: that ends no worker. */
TEST_LOOP(a_time_that_cannot_be_is_none, 0, 3)
{
	static const char *const times[] = { "1969-01-01T00:00:00Z", "yesterday", "" };
	char body[400];

	(void)snprintf(
		body, sizeof(body),
		"{\"metadata\":{\"name\":\"web\",\"namespace\":\"shop\",\"uid\":\"d-1\",\"annotations\":{" M
		"by\":\"ops-pod-cleaner\"," M "from\":\"3\"," M "action\":\"17\"," M
		"at\":\"%s\"}},\"spec\":{\"replicas\":0}}",
		times[_i]);
	ask("shop", "web");
	end(HTTP_OK, 200, body);
	ck_assert_uint_eq(world.rows, 1);
	ck_assert_int_eq(world.row.u.ctl_marked_row.at, 0);
	uint8_t bytes[IPC_FRAME_MAX];

	ck_assert_uint_gt(msg_encode(&world.row, bytes), 0);
}

TEST(what_may_not_be_read_is_named)
{
	ask("", "");
	for (int i = 0; i < 10 && world.ends == 0; i++)
		end(HTTP_OK, i == 0 ? 403 : 200, "{\"items\":[]}");
	ck_assert_uint_eq(world.end.u.ctl_end.code, EXIT_CODE_CREDENTIAL);
	ck_assert_ptr_nonnull(strstr(EN(world.end.u.ctl_end.why), "may not read deployments.apps: apply"));
}

/* Nor with one that says nothing of the rest: an old continue token, half a page. */
TEST_LOOP(without_an_answer_it_ends, 0, 6)
{
	static const struct {
		enum http_failure failure;
		int status;
		const char *body;
	} answers[] = { { HTTP_BROKEN, 0, "" },
			{ HTTP_OK, 503, "{}" },
			{ HTTP_OK, 401, "{}" },
			{ HTTP_OK, 410, "{}" },
			{ HTTP_OK, 404, "<html>no backend</html>" },
			{ HTTP_OK, 200, "{\"items\":[" } };

	ask("", "");
	end(answers[_i].failure, answers[_i].status, answers[_i].body);
	ck_assert_uint_eq(world.ends, 1);
	ck_assert_uint_eq(world.end.u.ctl_end.code, EXIT_CODE_UNAVAILABLE);
	ck_assert_uint_eq(world.asked, 1);
}

/* Rollouts are of an addition that a server may not have. */
TEST(what_is_not_served_bears_no_mark)
{
	ask("", "");
	while (world.ends == 0 && world.asked < 16)
		if (strstr(world.path[world.asked - 1], "argoproj.io"))
			end(HTTP_OK, 404, "404 page not found\n");
		else
			end(HTTP_OK, 200, "{\"items\":[]}");
	ck_assert_uint_eq(world.end.u.ctl_end.code, EXIT_CODE_OK);
}

TEST(one_question_at_a_time)
{
	ask("", "");
	ask("", "");
	ck_assert_uint_eq(world.ends, 1);
	ck_assert_uint_eq(world.end.u.ctl_end.code, EXIT_CODE_TEMPORARY);
	ck_assert_uint_eq(world.asked, 1);
	marks_free(&world.marks);
	ck_assert_uint_eq(world.cancelled, 1);
}

TEST(a_name_that_is_no_part_of_a_path)
{
	ask("shop", "../web");
	ck_assert_uint_eq(world.asked, 0);
	ck_assert_uint_eq(world.end.u.ctl_end.code, EXIT_CODE_USAGE);
}

TEST_MAIN("worker/marks")
{
	tcase_add_checked_fixture(t, setup, teardown);
}
