/* test_client.c - the HTTP client: ordinary life and streams. */
// SPDX-License-Identifier: Apache-2.0
#include <time.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "http/global.h"
#include "tests/facts_en.h"
#include "tests/suite.h"
#include "tests/unit/http/plain.h"

/* -- ordinary life -- */

TEST(test_get)
{
	play(serve_ok);
	for (int i = 0; i < 3; i++) {
		const struct http_call call = call_of(&run, "GET", "/api/v1/pods?limit=1");

		go(&run, &call);
		ck_assert_uint_eq(run.done, 1);
		ck_assert_int_eq(run.r.failure, HTTP_OK);
		ck_assert_int_eq(run.r.status, 200);
		ck_assert_str_eq(run.body, "hi");
		ck_assert_str_eq(run.type, "application/json");
		ck_assert_int_eq(run.r.server_date_ms, 1795256568000);
		ck_assert_int_eq(run.r.retry_after_ms, -1);
		ck_assert(run.r.sent);
	}
	ck_assert_uint_eq(s.log->connections, 1); /* kept and reused */
	ck_assert_ptr_nonnull(strstr(s.log->last, "GET /api/v1/pods?limit=1 HTTP/1.1\r\n"));
	ck_assert_ptr_nonnull(strstr(s.log->last, "User-Agent: ops-pod-cleaner/test\r\n"));
	ck_assert_ptr_nonnull(strstr(s.log->last, "Accept: application/json\r\n"));
	ck_assert_ptr_null(strcasestr(s.log->last, "Accept-Encoding"));
}

static struct http_seen seen;
static unsigned n_seen;

static void note_seen(void *ctx, const struct http_seen *what)
{
	ck_assert_ptr_eq(ctx, &seen);
	seen = *what;
	n_seen++;
}

/* Once each, with an answer or without. */
TEST(requests_are_counted)
{
	play(serve_ok);
	struct http_call call = call_of(&run, "GET", "/api/v1/pods?limit=1");

	http_client_watch(run.client, note_seen, &seen);
	go(&run, &call);
	ck_assert_uint_eq(n_seen, 1);
	ck_assert_int_eq(seen.status, 200);
	ck_assert_int_eq(seen.verb, API_LIST);
	ck_assert_uint_lt(seen.us, 60000000);
	call.path = "/bad path";
	call.method = "DELETE";
	go(&run, &call);
	ck_assert_uint_eq(n_seen, 2);
	ck_assert_int_eq(seen.status, 0);
	ck_assert_int_eq(seen.verb, API_DELETE);
	call.path = "/api/v1/pods";
	run.request = http_client_start(run.client, &call);
	http_request_cancel(&run.request);
	ck_assert_uint_eq(n_seen, 2);
}

TEST(test_write_with_body)
{
	play(serve_ok);
	struct http_call call = call_of(&run, "DELETE", "/api/v1/namespaces/a/pods/b");
	char body[] = "{\"kind\":\"DeleteOptions\"}";

	call.body = body;
	call.body_len = strlen(body);
	run.request = http_client_start(run.client, &call);
	memset(body, 'x', sizeof(body)); /* the body was copied */
	event_base_dispatch(run.base);
	ck_assert_int_eq(run.r.failure, HTTP_OK);
	ck_assert_ptr_nonnull(strstr(s.log->last, "DELETE /api/v1/namespaces/a/pods/b HTTP/1.1\r\n"));
	ck_assert_ptr_nonnull(strstr(s.log->last, "Content-Type: application/json\r\n"));
	ck_assert_ptr_nonnull(strstr(s.log->last, "\r\n\r\n{\"kind\":\"DeleteOptions\"}"));
	ck_assert_ptr_null(strcasestr(s.log->last, "Expect:"));
	call.method = "PATCH";
	call.body = "{}";
	call.body_len = 2;
	call.content_type = "application/merge-patch+json";
	go(&run, &call);
	ck_assert_ptr_nonnull(strstr(s.log->last, "PATCH /api"));
	ck_assert_ptr_nonnull(strstr(s.log->last, "Content-Type: application/merge-patch+json\r\n"));
}

/* The handle of a request serves the next one: of its method, body, headers, callbacks and failure nothing
 * may be left. */
TEST(test_nothing_is_left_for_the_next)
{
	play(serve_ok);
	struct http_call write = call_of(&run, "POST", "/first");

	write.body = "{\"first\":1}";
	write.body_len = strlen(write.body);
	write.content_type = "application/first";
	write.accept = "application/odd";
	write.on_data = on_data;
	run.abort_at = 1;
	go(&run, &write);
	ck_assert_int_ne(run.r.failure, HTTP_OK);
	const struct http_call read = call_of(&run, "GET", "/second");

	run.calls = 0;
	go(&run, &read);
	ck_assert_int_eq(run.r.failure, HTTP_OK);
	ck_assert_str_eq(EN(run.r.why), "");
	ck_assert_str_eq(run.body, "hi");
	ck_assert_uint_eq(run.calls, 0);
	ck_assert_ptr_nonnull(strstr(s.log->last, "GET /second HTTP/1.1\r\n"));
	ck_assert_ptr_nonnull(strstr(s.log->last, "Accept: application/json\r\n"));
	ck_assert_ptr_null(strcasestr(s.log->last, "Content-"));
	ck_assert_ptr_null(strstr(s.log->last, "first"));
}

TEST(test_start_from_done)
{
	play(serve_ok);
	run.again = true;
	run.next = call_of(&run, "GET", "/second");
	const struct http_call call = call_of(&run, "GET", "/first");

	run.request = http_client_start(run.client, &call);
	event_base_dispatch(run.base);
	ck_assert_uint_eq(run.done, 2);
	ck_assert_uint_eq(s.log->connections, 1);
	ck_assert_ptr_nonnull(strstr(s.log->last, "/second"));
	run.free_in_done = true;
	go(&run, &call);
	ck_assert_ptr_null(run.client);
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
	play(serve_stream);
	struct http_call call = call_of(&run, "GET", "/watch");

	call.on_data = on_data;
	call.on_headers = on_headers;
	go(&run, &call);
	ck_assert_int_eq(run.r.failure, HTTP_OK);
	ck_assert_uint_eq(run.headers, 1);
	ck_assert_int_eq(run.status, 200);
	ck_assert_uint_eq(run.bytes, 50);
	ck_assert_uint_gt(run.calls, 3); /* as it arrives, not at the end */
	ck_assert_uint_eq(run.r.body_len, 0);
	run.bytes = 0;
	call.path = "/cut";
	go(&run, &call);
	ck_assert_int_eq(run.r.failure, HTTP_BROKEN);
	ck_assert_uint_eq(run.bytes, 50);
	run.bytes = 0;
	run.abort_at = 11;
	call.path = "/watch";
	go(&run, &call);
	ck_assert_int_eq(run.r.failure, HTTP_ABORTED);
	ck_assert_uint_lt(run.bytes, 50);
}

TEST(test_idle_timeout)
{
	struct timespec a, b;

	play(serve_stream);
	struct http_call call = call_of(&run, "GET", "/hang");

	call.on_data = on_data;
	call.idle_timeout_ms = 1500;
	clock_gettime(CLOCK_MONOTONIC, &a);
	go(&run, &call);
	clock_gettime(CLOCK_MONOTONIC, &b);
	const double ms = (double)(b.tv_sec - a.tv_sec) * 1e3 + (double)(b.tv_nsec - a.tv_nsec) / 1e6;

	ck_assert_int_eq(run.r.failure, HTTP_TIMEOUT);
	ck_assert_uint_eq(run.bytes, 50); /* 20 ms pauses were no silence */
	ck_assert(ms > 1600 && ms < 15000);
	call.on_data = NULL;
	call.idle_timeout_ms = 0;
	call.total_timeout_ms = 1000;
	go(&run, &call);
	ck_assert_int_eq(run.r.failure, HTTP_TIMEOUT);
	ck_assert(run.r.sent);
}

TEST(test_cancel)
{
	play(serve_stream);
	run.cancel_in_data = true;
	struct http_call call = call_of(&run, "GET", "/watch");

	call.on_data = on_data;
	go(&run, &call);
	ck_assert_uint_eq(run.done, 0);
	ck_assert_uint_eq(run.calls, 1);
	run.cancel_in_data = false;
	run.request = http_client_start(run.client, &call);
	http_request_cancel(&run.request);
	ck_assert_ptr_null(run.request);
	http_request_cancel(&run.request);
	event_base_loopexit(run.base, &(struct timeval){ 0, 50000 });
	event_base_dispatch(run.base);
	ck_assert_uint_eq(run.done, 0);
	run.request = http_client_start(run.client, &call); /* freed while running: no on_done */
	event_base_loopexit(run.base, &(struct timeval){ 0, 50000 });
	event_base_dispatch(run.base);
	close_run(&run);
	ck_assert_uint_eq(run.done, 0);
}

static void expect_target(const struct http_endpoint *e, const char *path, const char *want)
{
	open_run(&run, e);
	const struct http_call call = call_of(&run, "GET", path);

	go(&run, &call);
	ck_assert_msg(run.r.failure == HTTP_OK, "%s", EN(run.r.why));
	ck_assert_msg(strncmp(s.log->last, want, strlen(want)) == 0, "wanted %s, was %s", want, s.log->last);
	close_run(&run);
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

	serve(serve_ok);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *url = xasprintf("%s%s", s.url, cases[i].below);
		const struct http_endpoint e = { .base_url = url };

		expect_target(&e, cases[i].path, cases[i].want);
		free(url);
	}
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

	serve(serve_ok);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct http_endpoint e = { .base_url = cases[i].url, .proxy = s.url };

		expect_target(&e, cases[i].path, cases[i].want);
	}
}

TEST_MAIN("http/client")
{
	setenv("http_proxy", "http://127.0.0.1:1", 1); /* must be ignored */
	setenv("https_proxy", "http://127.0.0.1:1", 1);
	http_global_init();
	tcase_add_checked_fixture(t, NULL, play_end);
	tcase_set_timeout(t, 60);
}
