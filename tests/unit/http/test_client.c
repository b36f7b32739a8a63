/* test_client.c - the HTTP client: ordinary life and streams. */
// SPDX-License-Identifier: Apache-2.0
#include <time.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "http/global.h"
#include "tests/suite.h"
#include "tests/unit/http/play.h"

/* -- ordinary life -- */

TEST(test_get)
{
	struct server s;
	struct run t = { 0 };

	server_start(&s, serve_ok, false);
	open_plain(&t, &s);
	for (int i = 0; i < 3; i++) {
		const struct http_call call = call_of(&t, "GET", "/api/v1/pods?limit=1");

		go(&t, &call);
		ck_assert_uint_eq(t.done, 1);
		ck_assert_int_eq(t.r.failure, HTTP_OK);
		ck_assert_int_eq(t.r.status, 200);
		ck_assert_str_eq(t.body, "hi");
		ck_assert_str_eq(t.type, "application/json");
		ck_assert_int_eq(t.r.server_date_ms, 1795256568000);
		ck_assert_int_eq(t.r.retry_after_ms, -1);
		ck_assert(t.r.sent);
	}
	ck_assert_uint_eq(s.log->connections, 1); /* kept and reused */
	ck_assert_ptr_nonnull(strstr(s.log->last, "GET /api/v1/pods?limit=1 HTTP/1.1\r\n"));
	ck_assert_ptr_nonnull(strstr(s.log->last, "User-Agent: ops-pod-cleaner/test\r\n"));
	ck_assert_ptr_nonnull(strstr(s.log->last, "Accept: application/json\r\n"));
	ck_assert_ptr_null(strcasestr(s.log->last, "Accept-Encoding"));
	close_run(&t);
	server_stop(&s);
}

TEST(test_write_with_body)
{
	struct server s;
	struct run t = { 0 };

	server_start(&s, serve_ok, false);
	open_plain(&t, &s);
	struct http_call call = call_of(&t, "DELETE", "/api/v1/namespaces/a/pods/b");
	char body[] = "{\"kind\":\"DeleteOptions\"}";

	call.body = body;
	call.body_len = strlen(body);
	t.request = http_client_start(t.client, &call);
	memset(body, 'x', sizeof(body)); /* the body was copied */
	event_base_dispatch(t.base);
	ck_assert_int_eq(t.r.failure, HTTP_OK);
	ck_assert_ptr_nonnull(strstr(s.log->last, "DELETE /api/v1/namespaces/a/pods/b HTTP/1.1\r\n"));
	ck_assert_ptr_nonnull(strstr(s.log->last, "Content-Type: application/json\r\n"));
	ck_assert_ptr_nonnull(strstr(s.log->last, "\r\n\r\n{\"kind\":\"DeleteOptions\"}"));
	ck_assert_ptr_null(strcasestr(s.log->last, "Expect:"));
	call.method = "PATCH";
	call.body = "{}";
	call.body_len = 2;
	call.content_type = "application/merge-patch+json";
	go(&t, &call);
	ck_assert_ptr_nonnull(strstr(s.log->last, "PATCH /api"));
	ck_assert_ptr_nonnull(strstr(s.log->last, "Content-Type: application/merge-patch+json\r\n"));
	close_run(&t);
	server_stop(&s);
}

/* The handle of a request serves the next one: of its method, body, headers, callbacks and failure nothing
 * may be left. */
TEST(test_nothing_is_left_for_the_next)
{
	struct server s;
	struct run t = { 0 };

	server_start(&s, serve_ok, false);
	open_plain(&t, &s);
	struct http_call write = call_of(&t, "POST", "/first");

	write.body = "{\"first\":1}";
	write.body_len = strlen(write.body);
	write.content_type = "application/first";
	write.accept = "application/odd";
	write.on_data = on_data;
	t.abort_at = 1;
	go(&t, &write);
	ck_assert_int_ne(t.r.failure, HTTP_OK);
	const struct http_call read = call_of(&t, "GET", "/second");

	t.calls = 0;
	go(&t, &read);
	ck_assert_int_eq(t.r.failure, HTTP_OK);
	ck_assert_str_eq(t.r.error, "");
	ck_assert_str_eq(t.body, "hi");
	ck_assert_uint_eq(t.calls, 0);
	ck_assert_ptr_nonnull(strstr(s.log->last, "GET /second HTTP/1.1\r\n"));
	ck_assert_ptr_nonnull(strstr(s.log->last, "Accept: application/json\r\n"));
	ck_assert_ptr_null(strcasestr(s.log->last, "Content-"));
	ck_assert_ptr_null(strstr(s.log->last, "first"));
	close_run(&t);
	server_stop(&s);
}

TEST(test_start_from_done)
{
	struct server s;
	struct run t = { .again = true };

	server_start(&s, serve_ok, false);
	open_plain(&t, &s);
	t.next = call_of(&t, "GET", "/second");
	const struct http_call call = call_of(&t, "GET", "/first");

	t.request = http_client_start(t.client, &call);
	event_base_dispatch(t.base);
	ck_assert_uint_eq(t.done, 2);
	ck_assert_uint_eq(s.log->connections, 1);
	ck_assert_ptr_nonnull(strstr(s.log->last, "/second"));
	t.free_in_done = true;
	go(&t, &call);
	ck_assert_ptr_null(t.client);
	close_run(&t);
	server_stop(&s);
}

/* -- streams -- */

static int serve_stream(struct server_conn *c, const char *request)
{
	(void)request;
	server_sends(c,
		     "HTTP/1.1 200 OK\r\nContent-Type: application/x\r\nTransfer-Encoding: chunked\r\n\r\n");
	for (int i = 0; i < 10; i++) {
		server_sends(c, "5\r\nhello\r\n");
		usleep(20000);
	}
	if (strstr(request, "/hang"))
		server_drain(c);
	if (strstr(request, "/cut"))
		return 0;
	server_sends(c, "0\r\n\r\n");
	return 1;
}

TEST(test_stream)
{
	struct server s;
	struct run t = { 0 };

	server_start(&s, serve_stream, false);
	open_plain(&t, &s);
	struct http_call call = call_of(&t, "GET", "/watch");

	call.on_data = on_data;
	call.on_headers = on_headers;
	go(&t, &call);
	ck_assert_int_eq(t.r.failure, HTTP_OK);
	ck_assert_uint_eq(t.headers, 1);
	ck_assert_int_eq(t.status, 200);
	ck_assert_uint_eq(t.bytes, 50);
	ck_assert_uint_gt(t.calls, 3); /* as it arrives, not at the end */
	ck_assert_uint_eq(t.r.body_len, 0);
	t.bytes = 0;
	call.path = "/cut";
	go(&t, &call);
	ck_assert_int_eq(t.r.failure, HTTP_BROKEN);
	ck_assert_uint_eq(t.bytes, 50);
	t.bytes = 0;
	t.abort_at = 11;
	call.path = "/watch";
	go(&t, &call);
	ck_assert_int_eq(t.r.failure, HTTP_ABORTED);
	ck_assert_uint_lt(t.bytes, 50);
	close_run(&t);
	server_stop(&s);
}

TEST(test_idle_timeout)
{
	struct server s;
	struct run t = { 0 };
	struct timespec a, b;

	server_start(&s, serve_stream, false);
	open_plain(&t, &s);
	struct http_call call = call_of(&t, "GET", "/hang");

	call.on_data = on_data;
	call.idle_timeout_ms = 150;
	clock_gettime(CLOCK_MONOTONIC, &a);
	go(&t, &call);
	clock_gettime(CLOCK_MONOTONIC, &b);
	const double ms = (double)(b.tv_sec - a.tv_sec) * 1e3 + (double)(b.tv_nsec - a.tv_nsec) / 1e6;

	ck_assert_int_eq(t.r.failure, HTTP_TIMEOUT);
	ck_assert_uint_eq(t.bytes, 50); /* 20 ms pauses were no silence */
	ck_assert(ms > 300 && ms < 5000);
	call.on_data = NULL;
	call.idle_timeout_ms = 0;
	call.total_timeout_ms = 100;
	go(&t, &call);
	ck_assert_int_eq(t.r.failure, HTTP_TIMEOUT);
	ck_assert(t.r.sent);
	close_run(&t);
	server_stop(&s);
}

TEST(test_cancel)
{
	struct server s;
	struct run t = { .cancel_in_data = true };

	server_start(&s, serve_stream, false);
	open_plain(&t, &s);
	struct http_call call = call_of(&t, "GET", "/watch");

	call.on_data = on_data;
	go(&t, &call);
	ck_assert_uint_eq(t.done, 0);
	ck_assert_uint_eq(t.calls, 1);
	t.cancel_in_data = false;
	t.request = http_client_start(t.client, &call);
	http_request_cancel(&t.request);
	ck_assert_ptr_null(t.request);
	http_request_cancel(&t.request);
	event_base_loopexit(t.base, &(struct timeval){ 0, 50000 });
	event_base_dispatch(t.base);
	ck_assert_uint_eq(t.done, 0);
	t.request = http_client_start(t.client, &call); /* freed while running: no on_done */
	event_base_loopexit(t.base, &(struct timeval){ 0, 50000 });
	event_base_dispatch(t.base);
	close_run(&t);
	ck_assert_uint_eq(t.done, 0);
	server_stop(&s);
}

static void expect_target(const struct server *s, const struct http_endpoint *e, const char *path,
			  const char *want)
{
	struct run t = { 0 };

	open_run(&t, e);
	const struct http_call call = call_of(&t, "GET", path);

	go(&t, &call);
	ck_assert_msg(t.r.failure == HTTP_OK, "%s", t.r.error);
	ck_assert_msg(strncmp(s->log->last, want, strlen(want)) == 0, "wanted %s, was %s", want,
		      s->log->last);
	close_run(&t);
}

/* What is asked for stands behind what the base URL names, as it is written; what is no ASCII is encoded. */
TEST(test_target)
{
	static const struct {
		const char *below, *path, *want;
	} cases[] = {
		{ "", "/a?b=c", "GET /a?b=c HTTP/1.1\r\n" },
		{ "", "", "GET / HTTP/1.1\r\n" },
		{ "", "?a", "GET /?a HTTP/1.1\r\n" },
		{ "/", "/a", "GET /a HTTP/1.1\r\n" },
		{ "/p", "/a", "GET /p/a HTTP/1.1\r\n" },
		{ "/p/", "/a", "GET /p/a HTTP/1.1\r\n" },
		{ "/p", "", "GET /p HTTP/1.1\r\n" },
		{ "/p?q=", "r", "GET /p?q=r HTTP/1.1\r\n" },
		{ "?q=", "r", "GET /?q=r HTTP/1.1\r\n" },
		{ "/p#q", "/a", "GET /p/a HTTP/1.1\r\n" },
		{ "", "/a/../b/./c//%2f%2F", "GET /a/../b/./c//%2f%2F HTTP/1.1\r\n" },
		{ "", "//a@b:1/\\\"<>", "GET //a@b:1/\\\"<> HTTP/1.1\r\n" },
		{ "/\xc3\x9c", "/\xe2\x82\xac?\xc3\xa9", "GET /%c3%9c/%e2%82%ac?\xc3\xa9 HTTP/1.1\r\n" },
	};
	struct server s;

	server_start(&s, serve_ok, false);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *url = xasprintf("%s%s", s.url, cases[i].below);
		const struct http_endpoint e = { .base_url = url };

		expect_target(&s, &e, cases[i].path, cases[i].want);
		free(url);
	}
	server_stop(&s);
}

/* A proxy that is asked in clear is told the server, too. */
TEST(test_target_for_a_proxy)
{
	static const struct {
		const char *url, *path, *want;
	} cases[] = {
		{ "http://192.0.2.1:8080/p", "/a?b",
		  "GET http://192.0.2.1:8080/p/a?b HTTP/1.1\r\nHost: 192.0.2.1:8080\r\n" },
		{ "http://192.0.2.1", "/a", "GET http://192.0.2.1/a HTTP/1.1\r\nHost: 192.0.2.1\r\n" },
		{ "http://192.0.2.1:80", "", "GET http://192.0.2.1/ HTTP/1.1\r\nHost: 192.0.2.1\r\n" },
		{ "http://[2001:db8::1]:81", "/a",
		  "GET http://[2001:db8::1]:81/a HTTP/1.1\r\nHost: [2001:db8::1]:81\r\n" },
	};
	struct server s;

	server_start(&s, serve_ok, false);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct http_endpoint e = { .base_url = cases[i].url, .proxy = s.url };

		expect_target(&s, &e, cases[i].path, cases[i].want);
	}
	server_stop(&s);
}

TEST_MAIN("http/client")
{
	setenv("http_proxy", "http://127.0.0.1:1", 1); /* must be ignored */
	setenv("https_proxy", "http://127.0.0.1:1", 1);
	http_global_init();
	tcase_set_timeout(t, 60);
}
