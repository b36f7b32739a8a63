/* test_addresses.c - a name with several addresses: the first that takes a connection serves. */
// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/xalloc.h"
#include "http/global.h"
#include "http/mail.h"
#include "http/transfer.h"
#include "tests/facts_en.h"
#include "tests/suite.h"
#include "tests/unit/http/play.h"

static struct server s;
static struct run run;

static void begin(server_fn *fn, bool tls, const char *scheme, const char *addresses)
{
	server_start(&s, fn, tls);
	_cleanup_free_ char *url = xasprintf("%s://api.test:%u", scheme, s.port);
	_cleanup_free_ char *address = xasprintf("%s:%u", addresses, s.port);
	const struct http_endpoint e = { .base_url = url, .address = address, .ca_pem = s.ca_pem };

	open_run(&run, &e);
}

static void end(void)
{
	close_run(&run);
	server_stop(&s);
}

static void get(void)
{
	const struct http_call call = call_of(&run, "GET", "/");

	go(&run, &call);
}

/* Nobody listens at 127.0.0.2 and ::2. */
static const struct {
	bool tls;
	const char *addresses;
} lists[] = {
	{ false, "127.0.0.1" },
	{ false, "127.0.0.2,127.0.0.1" },
	{ true, "127.0.0.2,127.0.0.1" },
	{ true, "127.0.0.2,127.0.0.3,127.0.0.4,127.0.0.5,127.0.0.6,127.0.0.7,127.0.0.8,127.0.0.1" },
	{ true, "[::2],[2001:db8:1111:1111:1111:1111:1111:1111],127.0.0.1" },
	{ true, "127.0.0.2,[::2],127.0.0.1" },
	{ true, "[2001:db8:1111:1111:1111:1111:1111:1111],[2001:db8:1111:1111:1111:1111:1111:1112],"
		"[2001:db8:1111:1111:1111:1111:1111:1113],[2001:db8:1111:1111:1111:1111:1111:1114],"
		"[2001:db8:1111:1111:1111:1111:1111:1115],[2001:db8:1111:1111:1111:1111:1111:1116],"
		"[2001:db8:1111:1111:1111:1111:1111:1117],127.0.0.1" },
};

TEST_LOOP(a_dead_address_is_passed_over, 0, ARRAY_SIZE(lists))
{
	begin(serve_ok, lists[_i].tls, lists[_i].tls ? "https" : "http", lists[_i].addresses);
	const uint64_t since = clock_boot_ms();

	get();
	ck_assert_msg(run.r.failure == HTTP_OK, "%s", EN(run.r.why));
	ck_assert_uint_lt(clock_boot_ms() - since, 3000);
	ck_assert_ptr_nonnull(strstr(s.log->last, "Host: api.test:"));
	get();
	ck_assert_uint_eq(s.log->connections, 1);
	end();
}

TEST(all_are_named_when_none_serves)
{
	begin(serve_ok, false, "http", "127.0.0.2,127.0.0.3,[::2]");
	get();
	ck_assert_int_eq(run.r.failure, HTTP_CONNECT);
	ck_assert_msg(strstr(EN(run.r.why), "127.0.0.2,127.0.0.3,__2 port") != NULL, "%s", EN(run.r.why));
	end();
}

/* What was connected to another list is not used again, nor is a list that was replaced. */
TEST(other_addresses_are_another_connection)
{
	begin(serve_ok, false, "http", "127.0.0.2,127.0.0.1");
	_cleanup_free_ char *url = xasprintf("http://api.test:%u", s.port);
	_cleanup_free_ char *more = xasprintf("127.0.0.2,127.0.0.3,127.0.0.1:%u", s.port);
	_cleanup_free_ char *dead = xasprintf("127.0.0.2,127.0.0.3:%u", s.port);

	get();
	http_client_set_endpoint(run.client, &(struct http_endpoint){ .base_url = url, .address = more });
	get();
	ck_assert_int_eq(run.r.failure, HTTP_OK);
	ck_assert_uint_eq(s.log->connections, 2);
	http_client_set_endpoint(run.client, &(struct http_endpoint){ .base_url = url, .address = dead });
	get();
	ck_assert_int_eq(run.r.failure, HTTP_CONNECT);
	end();
}

/* An address whose packets are dropped: a queue that is full takes no more. */
static int full_queue(uint16_t port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(port) };
	const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_eq(inet_pton(AF_INET, "127.0.0.2", &a.sin_addr), 1);
	ck_assert_int_eq(bind(listener, (struct sockaddr *)&a, sizeof(a)), 0);
	ck_assert_int_eq(listen(listener, 0), 0);
	for (int i = 0; i < 4; i++)
		(void)connect(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0),
			      (struct sockaddr *)&a, sizeof(a));
	return listener;
}

TEST(a_silent_address_leaves_time_for_the_next)
{
	begin(serve_ok, false, "http", "127.0.0.2,127.0.0.1");
	_cleanup_close_ int silent = full_queue(s.port);
	struct http_call call = call_of(&run, "GET", "/");
	const uint64_t since = clock_boot_ms();

	call.total_timeout_ms = 10000;
	go(&run, &call);
	ck_assert_msg(run.r.failure == HTTP_OK, "%s", EN(run.r.why));
	ck_assert_uint_lt(clock_boot_ms() - since, 8000);
	ck_assert_int_ge(silent, 0);
	end();
}

/* -- by a proxy -- */

static int forward(struct server_conn *c, const char *request)
{
	ck_assert_ptr_nonnull(strstr(request, "GET http://api.test/"));
	return serve_ok(c, request);
}

/* Its name is one that nobody may look up, also when nothing was asked for a while: with the connections
 * libcurl forgets what it knew of names. */
TEST(a_proxy_keeps_its_addresses)
{
	server_start(&s, forward, false);
	_cleanup_free_ char *proxy = xasprintf("http://proxy.invalid:%u", s.port);
	_cleanup_free_ char *address = xasprintf("127.0.0.2,127.0.0.1:%u", s.port);

	open_run(&run, &(struct http_endpoint){
			       .base_url = "http://api.test", .address = address, .proxy = proxy });
	get();
	ck_assert_msg(run.r.failure == HTTP_OK, "%s", EN(run.r.why));
	run.client->last_end_ms = clock_boot_ms() - IDLE_CONN_MAX_S * UINT64_C(1000);
	event_active(run.client->quiet, EV_TIMEOUT, 0);
	(void)event_base_loop(run.base, EVLOOP_ONCE);
	get();
	ck_assert_msg(run.r.failure == HTTP_OK, "%s", EN(run.r.why));
	ck_assert_uint_eq(s.log->connections, 2);
	end();
}

/* The sandbox lets no other port through, and another than that of the addresses would ask a resolver. Of an
 * HTTP proxy libcurl takes 1080. */
static const struct {
	const char *proxy, *address;
	unsigned port;
} portless[] = {
	{ "http://127.0.0.2", NULL, 80 },
	{ "http://proxy.invalid", "127.0.0.2:80", 80 },
	{ "https://proxy.invalid", "127.0.0.2:443", 443 },
	{ "socks5h://Proxy.invalid", "127.0.0.2:1080", 1080 },
};

TEST_LOOP(a_proxy_without_a_port, 0, ARRAY_SIZE(portless))
{
	_cleanup_free_ char *words = xasprintf("port %u after", portless[_i].port);

	open_run(&run, &(struct http_endpoint){ .base_url = "http://api.test",
						.address = portless[_i].address,
						.proxy = portless[_i].proxy,
						.ca_pem = "-----BEGIN X-----\n" });
	get();
	ck_assert_int_eq(run.r.failure, HTTP_CONNECT);
	ck_assert_msg(strstr(EN(run.r.why), words) != NULL, "%s", EN(run.r.why));
	close_run(&run);
}

/* -- a mail -- */

static int smtp(struct server_conn *c, const char *request)
{
	char line[256];

	(void)request;
	server_sends(c, "220 mail.test\r\n");
	while (server_line(c, line, sizeof(line)) && strncmp(line, "DATA", 4) != 0)
		server_sends(c, "250 ok\r\n");
	server_sends(c, "354 go\r\n");
	while (server_line(c, line, sizeof(line)) && strcmp(line, ".") != 0)
		;
	server_sends(c, "250 taken\r\n");
	server_drain(c);
	return 0;
}

static bool taken;

static void on_mailed(void *ctx, const struct mail_result *r)
{
	taken = r->failure == HTTP_OK && r->status == 250;
	if (!taken)
		fprintf(stderr, "%s\n", EN(r->why));
	event_base_loopbreak(ctx);
}

TEST(a_mail_passes_a_dead_address_over)
{
	server_start_talk(&s, smtp, false, false);
	struct event_base *base = event_base_new();
	_cleanup_free_ char *url = xasprintf("smtp://localhost:%u", s.port);
	_cleanup_free_ char *address = xasprintf("127.0.0.2,127.0.0.3,127.0.0.1:%u", s.port);
	const uint64_t since = clock_boot_ms();
	char to[] = "b@example.org", *readers[] = { to };
	const struct http_endpoint e = { .base_url = url, .address = address };
	const struct mail_call call = { .from = "a@example.org",
					.to = readers,
					.n_to = 1,
					.message = "x",
					.len = 1,
					.on_done = on_mailed,
					.ctx = base };

	ck_assert_ptr_nonnull(mail_start(base, &e, &call));
	event_base_dispatch(base);
	ck_assert(taken);
	ck_assert_uint_lt(clock_boot_ms() - since, 3000);
	event_base_free(base);
	server_stop(&s);
}

TEST_MAIN("http/addresses")
{
	http_global_init();
	tcase_set_timeout(t, 30);
}
