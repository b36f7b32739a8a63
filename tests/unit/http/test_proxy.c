/* test_proxy.c - a proxy that is not there, refuses, or goes away: what a request and a mail say of it. */
// SPDX-License-Identifier: Apache-2.0
#include <sys/socket.h>

#include "http/global.h"
#include "http/mail.h"
#include "tests/facts_en.h"
#include "tests/suite.h"
#include "tests/unit/http/play.h"

static struct server s;
static struct run run;

/* What the proxy answers to CONNECT before it closes, "" = nothing; to SOCKS the last byte of its reply. */
static const char *said;
static char refusal;

static int http_proxy(struct server_conn *c, const char *request)
{
	char line[512];

	(void)request;
	while (server_line(c, line, sizeof(line)) && *line)
		;
	if (*said)
		server_sends(c, said);
	return 0;
}

static int socks_proxy(struct server_conn *c, const char *request)
{
	unsigned char b[512];
	const char reply[] = { 5, refusal, 0, 1, 0, 0, 0, 0, 0, 0 };

	(void)request;
	ck_assert_int_eq(recv(c->fd, b, 2, MSG_WAITALL), 2);
	ck_assert_int_eq(recv(c->fd, b + 2, b[1], MSG_WAITALL), b[1]);
	server_send(c, "\5\0", 2);
	ck_assert_int_eq(recv(c->fd, b, 5, MSG_WAITALL), 5);
	ck_assert_int_eq(recv(c->fd, b + 5, (size_t)b[4] + 2, MSG_WAITALL), b[4] + 2);
	if (refusal >= 0)
		server_send(c, reply, sizeof(reply));
	return 0;
}

/* -- a request and a mail by it -- */

static struct mail_result mailed;

static void on_mailed(void *ctx, const struct mail_result *r)
{
	mailed = *r;
	(void)event_base_loopbreak(ctx);
}

static void post(const struct http_endpoint *e)
{
	char *const to[] = { (char[]){ "a@example.org" } };
	struct event_base *base = event_base_new();
	const struct mail_call call = { .from = "b@example.org",
					.to = to,
					.n_to = 1,
					.message = "x\r\n",
					.len = 3,
					.on_done = on_mailed,
					.ctx = base };

	(void)mail_start(base, e, &call);
	(void)event_base_dispatch(base);
	event_base_free(base);
}

static void expect_way(const struct http_way *way, const char *error, bool at_proxy, long status)
{
	ck_assert_msg(way->at_proxy == at_proxy, "%s", error);
	ck_assert_int_eq(way->proxy_status, status);
	ck_assert_msg(at_proxy == (strncmp(error, "the proxy: ", 11) == 0), "%s", error);
}

/* A request in TLS, and a mail. */
static void expect_both(const char *proxy, bool at_proxy, long status)
{
	struct http_endpoint e = { .base_url = "https://api.example:6443",
				   .proxy = proxy,
				   .ca_pem = s.ca_pem };

	open_run(&run, &e);
	const struct http_call call = call_of(&run, "POST", "/");

	go(&run, &call);
	expect_way(&run.r.way, EN(run.r.why), at_proxy, status);
	ck_assert(!run.r.sent);
	ck_assert_int_eq(run.r.failure, HTTP_CONNECT);
	close_run(&run);
	e.base_url = "smtp://mail.example:587";
	post(&e);
	expect_way(&mailed.way, EN(mailed.why), at_proxy, status);
	ck_assert(!mailed.sent);
	ck_assert_int_eq(mailed.failure, HTTP_CONNECT);
}

TEST_LOOP(a_tunnel_that_is_refused_is_the_proxys, 0, 5)
{
	static const struct {
		const char *said;
		bool at_proxy;
		long status;
	} cases[] = {
		{ "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"p\"\r\n"
		  "Content-Length: 0\r\n\r\n",
		  true, 407 },
		{ "HTTP/1.1 403 Forbidden\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>",
		  true, 403 },
		{ "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n", true, 502 },
		{ "", true, 0 },
		{ "HTTP/1.1 200 Connection established\r\n\r\n", false, 0 }, /* then the server goes away */
	};

	char proxy[96];

	said = cases[_i].said;
	server_start_talk(&s, http_proxy, true, true);
	(void)snprintf(proxy, sizeof(proxy), "http://%s", s.address);
	expect_both(proxy, cases[_i].at_proxy, cases[_i].status);
}

TEST_LOOP(a_socks_proxy_that_refuses_is_the_proxys, 0, 3)
{
	static const char replies[] = { 2 /* not allowed */, 5 /* refused */, -1 /* it goes away */ };
	char proxy[96];

	refusal = replies[_i];
	server_start_talk(&s, socks_proxy, true, true);
	(void)snprintf(proxy, sizeof(proxy), "socks5h://%s", s.address);
	expect_both(proxy, true, 0);
}

TEST_LOOP(a_proxy_that_is_not_there_is_the_proxys, 0, 2)
{
	static const char *const proxies[] = { "http://127.0.0.1:1", "socks5h://127.0.0.1:1" };

	server_start_talk(&s, http_proxy, true, true); /* for its certificate */
	expect_both(proxies[_i], true, 0);
}

TEST(without_a_proxy_it_is_nobodys)
{
	const struct http_endpoint e = { .base_url = "http://127.0.0.1:1" };

	open_run(&run, &e);
	const struct http_call call = call_of(&run, "GET", "/");

	go(&run, &call);
	expect_way(&run.r.way, EN(run.r.why), false, 0);
}

/* An answer is an answer, also that of the proxy itself. */
static int bad_gateway(struct server_conn *c, const char *request)
{
	(void)request;
	server_sends(c, "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n");
	return 1;
}

/* no_proxy, http_proxy and the like stand in the environment (below) and change nothing. */
TEST(in_clear_it_is_forwarded_whatever_the_environment_says)
{
	server_start(&s, bad_gateway, false);

	const struct http_endpoint e = { .base_url = "http://sink.example:8080", .proxy = s.url };

	open_run(&run, &e);
	const struct http_call call = call_of(&run, "POST", "/in");

	go(&run, &call);
	ck_assert_int_eq(run.r.failure, HTTP_OK);
	ck_assert_int_eq(run.r.status, 502);
	expect_way(&run.r.way, EN(run.r.why), false, 0);
	ck_assert_ptr_nonnull(strstr(s.log->last, "POST http://sink.example:8080/in HTTP/1.1\r\n"));
}

/* A server that says nothing but goodbye: what it says is heard. */
static int goodbye(struct server_conn *c, const char *request)
{
	(void)request;
	server_sends(c, "421 4.3.2 not today\r\n");
	return 0;
}

TEST(a_mail_goes_its_own_way_whatever_the_environment_says)
{
	char url[64];

	unsetenv("no_proxy");
	unsetenv("NO_PROXY");
	server_start_talk(&s, goodbye, false, false);
	(void)snprintf(url, sizeof(url), "smtp://127.0.0.1:%u", s.port);
	const struct http_endpoint e = { .base_url = url };

	post(&e);
	ck_assert_int_eq(mailed.status, 421);
	expect_way(&mailed.way, EN(mailed.why), false, 0);
}

static void play_end(void)
{
	if (run.base)
		close_run(&run);
	if (s.log)
		server_stop(&s);
}

TEST_MAIN("http/proxy")
{
	static const char *const names[] = { "http_proxy", "https_proxy", "HTTPS_PROXY",
					     "all_proxy",  "ALL_PROXY",   "smtp_proxy" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		setenv(names[i], "http://127.0.0.1:1", 1);
	setenv("no_proxy", "*", 1);
	setenv("NO_PROXY", "*", 1);
	http_global_init();
	tcase_add_checked_fixture(t, NULL, play_end);
	tcase_set_timeout(t, 60);
}
