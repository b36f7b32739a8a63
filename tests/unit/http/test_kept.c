/* test_kept.c - connections that are kept between requests, one and several at a time. */
// SPDX-License-Identifier: Apache-2.0
#include <openssl/ssl.h>

#include "base/clock.h"
#include "http/transfer.h"
#include "http/global.h"
#include "tests/facts_en.h"
#include "tests/suite.h"
#include "tests/unit/http/plain.h"

#define AT_ONCE 4

struct many {
	struct event_base *base;
	struct http_client *client;
	unsigned left, ok, resumed;
};

static void one_done(void *ctx, const struct http_result *r)
{
	struct many *m = ctx;

	m->ok += r->failure == HTTP_OK && r->status == 200 && r->body_len == 2;
	m->resumed += strcmp(r->body, "re") == 0;
	if (--m->left == 0)
		event_base_loopbreak(m->base);
}

static struct many m;

static void ask_at_once(const char *method)
{
	const struct http_call call = { .method = method, .path = "/", .on_done = one_done, .ctx = &m };

	m.left = AT_ONCE;
	m.ok = 0;
	for (int i = 0; i < AT_ONCE; i++)
		(void)http_client_start(m.client, &call);
	event_base_dispatch(m.base);
	ck_assert_uint_eq(m.ok, AT_ONCE);
}

/* Ended after each case. */
static void begin(server_fn *fn, bool tls)
{
	server_start(&s, fn, tls);
	const struct http_endpoint e = { .base_url = s.url, .ca_pem = s.ca_pem };

	m.base = event_base_new();
	m.client = http_client_new(m.base, &e);
}

static void end(void)
{
	http_client_free(&m.client);
	if (m.base)
		event_base_free(m.base);
	play_end();
}

/* What was opened and made for the first serves all later ones. */
TEST_LOOP(several_at_once, 0, 2)
{
	begin(serve_ok, _i == 1);
	for (unsigned i = 1; i <= 10; i++) {
		ask_at_once(i % 2 ? "GET" : "DELETE");
		ck_assert_uint_eq(s.log->requests, i * AT_ONCE);
		ck_assert_uint_eq(s.log->connections, AT_ONCE);
		ck_assert_uint_eq(m.client->endpoint->n_idle, AT_ONCE);
	}
}

static int serve_one(struct server_conn *c, const char *request)
{
	(void)serve_ok(c, request);
	return 0;
}

static unsigned rounds(struct event_base *base)
{
	unsigned n = 0;

	event_base_loopexit(base, &(struct timeval){ 0, 100000 });
	for (; !event_base_got_exit(base); n++)
		event_base_loop(base, EVLOOP_ONCE);
	return n;
}

/* Until the server's end of every connection is seen. */
static void await_close(void)
{
	while (!LIST_EMPTY(&m.client->sockets.watches))
		(void)event_base_loop(m.base, EVLOOP_ONCE);
}

/* The server closes each connection: that wakes nobody for long, and the next request opens another, with
 * the same descriptor. */
TEST_LOOP(closed_by_the_server, 0, 2)
{
	begin(serve_one, _i == 1);
	for (unsigned i = 1; i <= 5; i++) {
		ask_at_once("GET");
		await_close();
		ck_assert_uint_le(rounds(m.base), 1);
		ck_assert_uint_eq(s.log->connections, i * AT_ONCE);
	}
}

static int serve_resumed(struct server_conn *c, const char *request)
{
	(void)request;
	server_sends(c, SSL_session_reused(c->ssl) ? OK_HEAD "\r\nre" : OK_HEAD "\r\nno");
	return 0;
}

/* Each handle knows the session of its own last connection. */
TEST(sessions_are_resumed)
{
	begin(serve_resumed, true);
	const struct http_endpoint careless = { .base_url = s.url, .insecure = true };

	ask_at_once("GET");
	ck_assert_uint_eq(m.resumed, 0);
	for (unsigned i = 1; i <= 3; i++) {
		await_close();
		ask_at_once("GET");
		ck_assert_uint_eq(m.resumed, i * AT_ONCE);
	}
	await_close();
	http_client_set_endpoint(m.client, &careless);
	ask_at_once("GET");
	ck_assert_uint_eq(m.resumed, 3 * AT_ONCE);
	ck_assert_uint_eq(s.log->connections, 5 * AT_ONCE);
}

static int serve_chatty(struct server_conn *c, const char *request)
{
	(void)serve_ok(c, request);
	server_sends(c, "unasked");
	return 1;
}

/* What arrives on a kept connection belongs to no request. */
TEST(bytes_that_nobody_asked_for)
{
	play(serve_chatty);
	const struct http_call call = call_of(&run, "DELETE", "/");

	go(&run, &call);
	ck_assert_int_eq(run.r.failure, HTTP_OK);
	ck_assert_str_eq(run.body, "hi");
	ck_assert_uint_le(rounds(run.base), 3);
	go(&run, &call);
	ck_assert(run.r.failure != HTTP_OK || strcmp(run.body, "hi") == 0);
}

/* After a minute without a request no connection is held any more, and requests go on as before. */
TEST_LOOP(quiet, 0, 2)
{
	begin(serve_ok, _i == 1);
	clock_fake_set(1, 1000);
	for (unsigned i = 1; i <= 3; i++) {
		ask_at_once("GET");
		clock_fake_advance(IDLE_CONN_MAX_S * 1000 - 1);
		event_active(m.client->quiet, EV_TIMEOUT, 0);
		(void)event_base_loop(m.base, EVLOOP_NONBLOCK);
		ck_assert(!LIST_EMPTY(&m.client->sockets.watches));
		ck_assert(evtimer_pending(m.client->quiet, NULL));
		clock_fake_advance(1);
		event_active(m.client->quiet, EV_TIMEOUT, 0);
		(void)event_base_loop(m.base, EVLOOP_NONBLOCK);
		ck_assert(LIST_EMPTY(&m.client->sockets.watches));
		ck_assert_uint_eq(m.client->endpoint->n_idle, 1);
		ck_assert_uint_eq(s.log->connections, i * AT_ONCE);
	}
	clock_fake_clear();
}

/* -- handles of requests that failed -- */

static int serve_half(struct server_conn *c, const char *request)
{
	server_sends(c, strstr(request, "/ok") ? OK_HEAD "\r\nok" : OK_HEAD "\r\no");
	if (strstr(request, "/late"))
		server_drain(c);
	return strstr(request, "/ok") != NULL;
}

static int give_up(void *ctx, const void *p, size_t n)
{
	(void)ctx;
	(void)p;
	(void)n;
	return -1;
}

/* Whatever state libcurl left in it goes with it. */
TEST(a_handle_of_a_failure_serves_no_other_request)
{
	static const struct {
		struct http_call call;
		enum http_failure failure;
	} cases[] = {
		{ { .method = "GET", .path = "/ok" }, HTTP_OK },
		{ { .method = "GET", .path = "/cut" }, HTTP_BROKEN },
		{ { .method = "POST", .path = "/cut", .body = "{}", .body_len = 2 }, HTTP_BROKEN },
		{ { .method = "GET", .path = "/ok", .max_body = 1 }, HTTP_TOO_LARGE },
		{ { .method = "GET", .path = "/ok", .on_data = give_up }, HTTP_ABORTED },
		{ { .method = "GET", .path = "/late", .total_timeout_ms = 50 }, HTTP_TIMEOUT },
	};
	struct run t = { 0 };

	server_start(&s, serve_half, false);
	open_plain(&t, &s);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct http_call call = cases[i].call;

		call.on_done = on_done;
		call.ctx = &t;
		go(&t, &call);
		ck_assert_msg(t.r.failure == cases[i].failure, "%zu: %s", i, EN(t.r.why));
		ck_assert_uint_eq(t.client->endpoint->n_idle, t.r.failure == HTTP_OK);
	}
	close_run(&t);
	server_stop(&s);
}

TEST_MAIN("http/kept")
{
	http_global_init();
	tcase_add_checked_fixture(t, NULL, end);
	tcase_set_timeout(t, 60);
}
