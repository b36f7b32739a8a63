/* test_odd.c - the HTTP client against servers that misbehave, and none at all. */
// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <unistd.h>

#include "http/global.h"
#include "tests/facts_en.h"
#include "tests/suite.h"
#include "tests/unit/http/plain.h"

/* -- misbehaving servers -- */

static int serve_odd(struct server_conn *c, const char *request)
{
	char line[1100];

	if (strstr(request, "/redirect"))
		server_sends(
			c,
			"HTTP/1.1 307 T\r\nLocation: http://127.0.0.1:1/evil\r\nContent-Length: 0\r\n\r\n");
	else if (strstr(request, "/retry"))
		server_sends(c, "HTTP/1.1 429 T\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n");
	else if (strstr(request, "/long"))
		server_sends(c, "HTTP/1.1 429 T\r\nretry-after:  3600 \r\nContent-Length: 0\r\n\r\n");
	else if (strstr(request, "/absurd"))
		server_sends(c, "HTTP/1.1 429 T\r\nRetry-After: 1000000000\r\nContent-Length: 0\r\n\r\n");
	else if (strstr(request, "/negative"))
		server_sends(c, "HTTP/1.1 429 T\r\nRetry-After: -5\r\nContent-Length: 0\r\n\r\n");
	else if (strstr(request, "/date"))
		server_sends(c, "HTTP/1.1 503 T\r\nRetry-After: Sat, 21 Nov 2026 10:22:48 "
				"GMT\r\nContent-Length: 0\r\n"
				"\r\n");
	else if (strstr(request, "/short"))
		server_sends(c, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhi");
	else if (strstr(request, "/continue"))
		server_sends(c, "HTTP/1.1 100 Continue\r\nContent-Type: wrong/type\r\n\r\n" OK_HEAD "\r\nhi");
	else if (strstr(request, "/encoded"))
		server_sends(c, OK_HEAD "Content-Encoding: gzip\r\n\r\nhi");
	else if (strstr(request, "/headers")) {
		memset(line, 'h', sizeof(line));
		memcpy(line, "X-A: ", 5);
		memcpy(line + sizeof(line) - 3, "\r\n", 3);
		server_sends(c, "HTTP/1.1 200 OK\r\n");
		for (int i = 0; i < 90; i++) /* 97 KiB: libcurl itself takes 300 */
			server_sends(c, line);
	} else if (strstr(request, "/nothing")) {
		return 0;
	} else {
		server_sends(c, "SSH-2.0-hello\r\n");
		return 0;
	}
	return strstr(request, "/short") == NULL;
}

TEST(test_odd_answers)
{
	static const struct {
		const char *path;
		enum http_failure failure;
		long status;
		int64_t retry_ms;
		const char *body;
	} cases[] = {
		{ "/redirect", HTTP_OK, 307, -1, "" },    { "/retry", HTTP_OK, 429, 7000, "" },
		{ "/long", HTTP_OK, 429, 60000, "" },     { "/absurd", HTTP_OK, 429, -1, "" },
		{ "/negative", HTTP_OK, 429, -1, "" },    { "/date", HTTP_OK, 503, -1, "" },
		{ "/short", HTTP_BROKEN, 200, -1, "hi" }, { "/continue", HTTP_OK, 200, -1, "hi" },
		{ "/encoded", HTTP_OK, 200, -1, "hi" },   { "/headers", HTTP_BROKEN, 0, -1, "" },
		{ "/nothing", HTTP_BROKEN, 0, -1, "" },   { "/garbage", HTTP_BROKEN, 0, -1, "" },
	};
	play(serve_odd);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct http_call call = call_of(&run, "GET", cases[i].path);

		go(&run, &call);
		ck_assert_msg(run.r.failure == cases[i].failure, "%s: %d %s", cases[i].path, run.r.failure,
			      EN(run.r.why));
		ck_assert_msg(run.r.status == cases[i].status, "%s: %ld", cases[i].path, run.r.status);
		ck_assert_int_eq(run.r.retry_after_ms, cases[i].retry_ms);
		ck_assert_str_eq(run.body, cases[i].body);
		ck_assert_str_eq(run.type, "");
		ck_assert(run.r.sent);
		ck_assert((run.r.failure == HTTP_OK) == facts_empty(&run.r.why));
	}
}

static int serve_big(struct server_conn *c, const char *request)
{
	static char block[1 << 16];

	(void)request;
	memset(block, 'a', sizeof(block));
	server_sends(c, "HTTP/1.1 200 OK\r\nContent-Length: 65536\r\n\r\n");
	server_send(c, block, sizeof(block));
	return 1;
}

TEST(test_body_limit)
{
	play(serve_big);
	struct http_call call = call_of(&run, "GET", "/");

	call.max_body = 65536;
	go(&run, &call);
	ck_assert_int_eq(run.r.failure, HTTP_OK);
	ck_assert_uint_eq(run.r.body_len, 65536);
	call.max_body = 65535;
	go(&run, &call);
	ck_assert_int_eq(run.r.failure, HTTP_TOO_LARGE);
}

/* The first request is answered, the second is read and the connection closed: what curl would repeat. */
static int serve_once(struct server_conn *c, const char *request)
{
	if (c->log->requests % 2 == 0)
		return 0;
	return serve_ok(c, request);
}

TEST(test_write_is_never_repeated)
{
	play(serve_once);
	struct http_call get = call_of(&run, "GET", "/"), write = call_of(&run, "DELETE", "/");

	write.body = "{}";
	write.body_len = 2;
	go(&run, &get);
	ck_assert_int_eq(run.r.failure, HTTP_OK);
	go(&run, &write);
	ck_assert_int_eq(run.r.failure, HTTP_BROKEN);
	ck_assert(run.r.sent);
	ck_assert_uint_eq(s.log->requests, 2);
	go(&run, &get); /* the third */
	ck_assert_int_eq(run.r.failure, HTTP_OK);
	go(&run, &get); /* the fourth is dropped and repeated as the fifth */
	ck_assert_int_eq(run.r.failure, HTTP_OK);
	ck_assert_uint_eq(s.log->requests, 5);
}

/* The first request is answered; with the second the whole server ends, as a process that is killed, so that
 * nobody takes the connection on which curl would repeat it. */
static int serve_once_and_die(struct server_conn *c, const char *request)
{
	if (c->log->requests == 1)
		return serve_ok(c, request);
	(void)setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &(struct linger){ 1, 0 }, sizeof(struct linger));
	(void)kill(getppid(), SIGKILL); /* this process goes with it */
	(void)pause();
	return 0;
}

TEST_LOOP(test_a_write_is_in_doubt_when_its_server_dies, 0, 2)
{
	server_start(&s, serve_once_and_die, _i == 1);
	const struct http_endpoint e = { .base_url = s.url, .ca_pem = s.ca_pem };

	open_run(&run, &e);
	struct http_call get = call_of(&run, "GET", "/"), write = call_of(&run, "DELETE", "/");

	write.body = "{}";
	write.body_len = 2;
	go(&run, &get);
	ck_assert_int_eq(run.r.failure, HTTP_OK);
	go(&run, &write);
	ck_assert_int_ne(run.r.failure, HTTP_OK);
	ck_assert_int_ne(run.r.failure, HTTP_CONNECT);
	ck_assert_msg(run.r.sent, "%s", EN(run.r.why));
	ck_assert_uint_eq(s.log->requests, 2);
}

TEST(test_no_connection)
{
	static const struct {
		const char *url, *address, *proxy, *words;
	} cases[] = {
		{ "http://127.0.0.1:1", NULL, NULL, "" },
		{ "https://api.example:6443", NULL, NULL, "no address is known for host api.example" },
		{ "ftp://127.0.0.1", NULL, NULL, "not an http or https URL" },
		{ "", NULL, NULL, "not an http or https URL" },
		{ "http://127.0.0.1:1", NULL, "http://proxy.example:3128", "by IP address" },
		{ "http://api.example:80", "127.0.0.1:1", NULL, "" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct http_endpoint e = { .base_url = cases[i].url,
						 .address = cases[i].address,
						 .proxy = cases[i].proxy };

		open_run(&run, &e);
		const struct http_call call = call_of(&run, "GET", "/");

		go(&run, &call);
		ck_assert_uint_eq(run.done, 1);
		ck_assert_int_eq(run.r.failure, HTTP_CONNECT);
		ck_assert(!run.r.sent);
		ck_assert_msg(strstr(EN(run.r.why), cases[i].words) != NULL, "%s", EN(run.r.why));
		close_run(&run);
	}
}

TEST(test_bad_path)
{
	play(serve_ok);
	const struct http_call call = call_of(&run, "GET", "/a b\r\nX: y");

	go(&run, &call);
	ck_assert_int_eq(run.r.failure, HTTP_CONNECT);
	ck_assert_uint_eq(s.log->requests, 0);
}

TEST_MAIN("http/odd")
{
	setenv("http_proxy", "http://127.0.0.1:1", 1); /* must be ignored */
	setenv("https_proxy", "http://127.0.0.1:1", 1);
	http_global_init();
	tcase_add_checked_fixture(t, NULL, play_end);
	tcase_set_timeout(t, 60);
}
