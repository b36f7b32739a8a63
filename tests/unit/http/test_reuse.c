/* test_reuse.c - libcurl's handle of a request serves the next one of its endpoint: nothing of a request, its
 * answer or its failure may be left in it. */
// SPDX-License-Identifier: Apache-2.0
#include "http/global.h"
#include "tests/facts_en.h"
#include "tests/suite.h"
#include "tests/unit/http/play.h"

/* Asks for a password in a way that nobody can answer, and sets what a browser would keep. */
static int serve_all(struct server_conn *c, const char *request)
{
	const bool refused = strstr(request, "/refused") != NULL, last = strstr(request, "/last") != NULL;

	char answer[512];

	snprintf(answer, sizeof(answer),
		 "%sSet-Cookie: a=b\r\nETag: \"c\"\r\nAlt-Svc: h2=\":1\"\r\nContent-Type: text/odd\r\n"
		 "Location: /elsewhere\r\nStrict-Transport-Security: max-age=9\r\n%s%s\r\n%s",
		 refused ? "HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n" : OK_HEAD,
		 refused ? "WWW-Authenticate: Negotiate\r\nRetry-After: 9\r\n" : "",
		 last ? "Connection: close\r\n" : "", strncmp(request, "HEAD ", 5) == 0 ? "" : "hi");
	server_sends(c, answer);
	return !last;
}

static const struct http_call calls[] = {
	{ .method = "GET", .path = "/a?b=c" },
	{ .method = "GET",
	  .path = "/stream",
	  .on_data = on_data,
	  .on_headers = on_headers,
	  .idle_timeout_ms = 5000 },
	{ .method = "GET", .path = "/refused", .accept = "application/a" },
	{ .method = "GET", .path = "/last" },
	{ .method = "HEAD", .path = "/head" },
	{ .method = "DELETE", .path = "/bare" },
	{ .method = "DELETE",
	  .path = "/b",
	  .body = "{\"delete\":1}",
	  .body_len = 12,
	  .total_timeout_ms = 4000 },
	{ .method = "PATCH",
	  .path = "/p",
	  .body = "{}",
	  .body_len = 2,
	  .content_type = "a/merge",
	  .accept = "a/b" },
	{ .method = "POST", .path = "/empty" },
	{ .method = "POST", .path = "/p", .body = "", .body_len = 0 },
	{ .method = "POST", .path = "/q", .body = "a\0b", .body_len = 3, .max_body = 1 }, /* too large */
	{ .method = "PUT", .path = "/r", .body = "put", .body_len = 3 },
};
#define N_CALLS (int)(sizeof(calls) / sizeof(*calls))

struct seen {
	char request[8192];
	enum http_failure failure;
	long status;
	int64_t retry_after_ms;
	char type[128], body[256], error[256];
	unsigned calls, headers;
};

static void play(struct run *t, const struct server *s, int i, struct seen *ret)
{
	struct http_call call = calls[i];

	call.on_done = on_done;
	call.ctx = t;
	t->calls = t->headers = 0;
	go(t, &call);
	memset(ret, 0, sizeof(*ret));
	memcpy(ret->request, s->log->last, sizeof(ret->request));
	ret->failure = t->r.failure;
	ret->status = t->r.status;
	ret->retry_after_ms = t->r.retry_after_ms;
	snprintf(ret->type, sizeof(ret->type), "%s", t->type);
	snprintf(ret->body, sizeof(ret->body), "%s", t->body);
	snprintf(ret->error, sizeof(ret->error), "%s", EN(t->r.why));
	ret->calls = t->calls;
	ret->headers = t->headers;
}

/* Each request after each other one is what it is as the first, and so is what comes of it. */
TEST_LOOP(every_request_after_every_other, 0, 3)
{
	static struct seen alone[N_CALLS], after;
	struct server s;

	server_start(&s, serve_all, false);
	const struct http_endpoint e = { .base_url = s.url,
					 .username = _i == 0 ? "me" : NULL,
					 .password = _i == 0 ? "secret" : NULL,
					 .bearer_token = _i == 1 ? "token" : NULL };

	for (int i = 0; i < N_CALLS; i++) {
		struct run t = { 0 };

		open_run(&t, &e);
		play(&t, &s, i, &alone[i]);
		close_run(&t);
		if (_i < 2)
			ck_assert_ptr_nonnull(strstr(alone[i].request, "Authorization: B"));
	}
	for (int i = 0; i < N_CALLS * N_CALLS; i++) {
		struct run t = { 0 };

		open_run(&t, &e);
		play(&t, &s, i / N_CALLS, &after);
		play(&t, &s, i % N_CALLS, &after);
		ck_assert_msg(memcmp(&after, &alone[i % N_CALLS], sizeof(after)) == 0, "%s after %s:\n%s",
			      calls[i % N_CALLS].path, calls[i / N_CALLS].path, after.request);
		close_run(&t);
	}
	server_stop(&s);
}

/* Every second request meets a connection that the server has closed, and is sent again: libcurl counts these
 * over the life of a handle and gives up at the sixth. */
static int serve_then_drop(struct server_conn *c, const char *request)
{
	return c->log->requests % 2 == 0 ? 0 : serve_ok(c, request);
}

TEST(many_broken_connections)
{
	struct server s;
	struct run t = { 0 };

	server_start(&s, serve_then_drop, false);
	open_plain(&t, &s);
	const struct http_call get = call_of(&t, "GET", "/");

	for (unsigned i = 0; i < 16; i++) {
		go(&t, &get);
		ck_assert_msg(t.r.failure == HTTP_OK, "%u: %s", i, EN(t.r.why));
	}
	ck_assert_uint_eq(s.log->requests, 31); /* all but the first were sent twice */
	close_run(&t);
	server_stop(&s);
}

/* A handle is of one endpoint: nothing of the old one goes to the new one. */
TEST(another_endpoint)
{
	struct server s;
	struct run t = { 0 };

	server_start(&s, serve_ok, false);
	const struct http_endpoint first = {
		.base_url = s.url, .bearer_token = "one", .impersonate_user = "other", .user_agent = "first"
	};
	const struct http_endpoint second = { .base_url = s.url, .username = "me", .password = "secret" };

	open_run(&t, &first);
	const struct http_call get = call_of(&t, "GET", "/");

	go(&t, &get);
	ck_assert_ptr_nonnull(strstr(s.log->last, "Authorization: Bearer one\r\n"));
	ck_assert_ptr_nonnull(strstr(s.log->last, "Impersonate-User: other\r\n"));
	http_client_set_endpoint(t.client, &second);
	go(&t, &get);
	ck_assert_ptr_nonnull(strstr(s.log->last, "Authorization: Basic bWU6c2VjcmV0\r\n"));
	ck_assert_ptr_null(strstr(s.log->last, "Bearer"));
	ck_assert_ptr_null(strstr(s.log->last, "Impersonate"));
	ck_assert_ptr_null(strstr(s.log->last, "first"));
	http_client_set_endpoint(t.client, &first);
	go(&t, &get);
	ck_assert_ptr_null(strstr(s.log->last, "Basic"));
	close_run(&t);
	server_stop(&s);
}

TEST_MAIN("http/reuse")
{
	http_global_init();
	tcase_set_timeout(t, 60);
}
