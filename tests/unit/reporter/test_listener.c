/* test_listener.c - the HTTP listener against clients that behave and clients that do not. */
// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>

#include "reporter/web/listener.h"
#include "tests/suite.h"
#include "tests/unit/reporter/support.h"

#define LARGE (16 << 20) /* more than the kernel holds for one that does not read */

static struct event_base *base;
static struct web_listener *l;

static void on_path(void *ctx, const struct web_request *r, struct listener_answer *ret)
{
	(void)ctx;
	ret->status = 200;
	if (strcmp(r->path, "/large") == 0) {
		ret->share = LISTENER_LARGE;
		ret->size = LARGE;
		ret->body = calloc(1, LARGE);
		return;
	}
	ret->body = calloc(1, 128);
	ret->headers = strcmp(r->path, "/headers") == 0 ? "X-One: 1\r\nX-Two: 2\r\n" : NULL;
	(void)snprintf(ret->body, 128, "path=%s query=%s%s%s%s", r->path, r->query ? r->query : "-",
		       r->accept ? " accept=" : "", r->accept ? r->accept : "",
		       request_language(r) == LANGUAGE_ZH ? " zh" : "");
	ret->size = strlen(ret->body);
}

static void setup(void)
{
	base = event_base_new();
	ck_assert_int_eq(listener_new(base, "127.0.0.1:0", on_path, NULL, &l), 0);
}

static void teardown(void)
{
	listener_free(&l);
	event_base_free(base);
}

static int dial(void)
{
	const char *port = strrchr(listener_address(l), ':') + 1;
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_port = htons((uint16_t)strtoul(port, NULL, 10)) };
	const int fd = socket(AF_INET, SOCK_STREAM, 0);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	ck_assert_int_eq(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	return fd;
}

static void turn_for(int ms)
{
	const struct timeval tv = { ms / 1000, ms % 1000 * 1000 };

	(void)event_base_loopexit(base, &tv);
	(void)event_base_dispatch(base);
}

/* Read until the peer closes; -1 when it did not within about 2 s. */
static ssize_t read_all(int fd, char *buf, size_t size)
{
	size_t have = 0;

	for (int i = 0; i < 100; i++) {
		turn_for(20);
		const ssize_t n = read(fd, buf + have, size - 1 - have);

		if (n > 0)
			have += (size_t)n;
		buf[have] = '\0';
		if (n == 0 || (n < 0 && errno != EAGAIN))
			return (ssize_t)have;
	}
	return -1;
}

#define OTHER_NAME                                                                                           \
	"Nothing is shown here under that name: ask by the address, as http://127.0.0.1:9464/, or have the " \
	"proxy before it send that as Host.\n"

static const struct {
	const char *request, *status, *body;
} cases[] = {
	{ "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", "HTTP/1.1 200 OK\r\n",
	  "path=/metrics query=-" },
	{ "GET /readyz?verbose HTTP/1.0\r\n\r\n", "HTTP/1.1 200 OK\r\n", "path=/readyz query=verbose" },
	{ "HEAD /metrics HTTP/1.1\r\n\r\n", "HTTP/1.1 200 OK\r\n", "" },
	{ "POST /metrics HTTP/1.1\r\n\r\n", "HTTP/1.1 405 Method Not Allowed\r\n",
	  "405 Method Not Allowed\n" },
	{ "TRACE / HTTP/1.1\r\n\r\n", "HTTP/1.1 405 Method Not Allowed\r\n", "405 Method Not Allowed\n" },
	{ "GET /\r\n\r\n", "HTTP/1.1 400 Bad Request\r\n", "400 Bad Request\n" },
	{ "GET / HTTP/2.0\r\n\r\n", "HTTP/1.1 505 HTTP Version Not Supported\r\n",
	  "505 HTTP Version Not Supported\n" },
	{ "GET / FTP/1.1\r\n\r\n", "HTTP/1.1 400 Bad Request\r\n", "400 Bad Request\n" },
	{ "GET  / HTTP/1.1\r\n\r\n", "HTTP/1.1 400 Bad Request\r\n", "400 Bad Request\n" },
	{ "GET http://x/ HTTP/1.1\r\n\r\n", "HTTP/1.1 400 Bad Request\r\n", "400 Bad Request\n" },
	{ "\r\n\r\n", "HTTP/1.1 400 Bad Request\r\n", "400 Bad Request\n" },
	{ "GET /a HTTP/1.1\r\nHost: localhost\r\naCCept:text/plain;q=0.5\r\nAccept: */*\r\n\r\n",
	  "HTTP/1.1 200 OK\r\n", "path=/a query=- accept=text/plain;q=0.5" },
	{ "GET /a HTTP/1.1\r\nAccept-Language: zh\r\n\r\nAccept: late\r\n\r\n", "HTTP/1.1 200 OK\r\n",
	  "path=/a query=- zh" },
	{ "GET /a HTTP/1.1\r\nAccept: b\r\nX: 1\r\naccept-language: zh-CN,zh;q=0.9\r\nAccept: c\r\n\r\n",
	  "HTTP/1.1 200 OK\r\n", "path=/a query=- accept= b zh" },
	/* Whoever owns a name can have it mean this machine. */
	{ "GET /host HTTP/1.1\r\n\r\n", "HTTP/1.1 200 OK\r\n", "path=/host query=-" },
	{ "GET /host HTTP/1.1\r\nHost: 127.0.0.1:9464\r\n\r\n", "HTTP/1.1 200 OK\r\n", "path=/host query=-" },
	{ "GET /host HTTP/1.1\r\nhost:localhost\r\n\r\n", "HTTP/1.1 200 OK\r\n", "path=/host query=-" },
	{ "GET /host HTTP/1.1\r\nHost: [::1]:9464\r\n\r\n", "HTTP/1.1 200 OK\r\n", "path=/host query=-" },
	{ "GET /host HTTP/1.1\r\nHost: evil.example.com:9464\r\n\r\n", "HTTP/1.1 421 Misdirected Request\r\n",
	  OTHER_NAME },
	{ "GET /metrics HTTP/1.1\r\nHost: evil.example.com\r\n\r\n", "HTTP/1.1 421 Misdirected Request\r\n",
	  OTHER_NAME },
	{ "GET /host HTTP/1.1\r\nHost: 127.0.0.1.evil.example.com\r\n\r\n",
	  "HTTP/1.1 421 Misdirected Request\r\n", OTHER_NAME },
	{ "GET /host HTTP/1.1\r\nHost: [evil]:80\r\n\r\n", "HTTP/1.1 421 Misdirected Request\r\n",
	  OTHER_NAME },
	{ "GET /host HTTP/1.1\r\nHost: x\r\nHost: localhost\r\n\r\n", "HTTP/1.1 400 Bad Request\r\n",
	  "400 Bad Request\n" },
	{ "GET /host HTTP/1.1\r\nHost: localhost\r\nAccept: x\r\nhost: x\r\n\r\n",
	  "HTTP/1.1 400 Bad Request\r\n", "400 Bad Request\n" },
	{ "GET /a HTTP/1.1\r\n\r\nGET /b HTTP/1.1\r\n\r\n", "HTTP/1.1 200 OK\r\n", "path=/a query=-" },
};

TEST_LOOP(requests, 0, (int)(sizeof(cases) / sizeof(cases[0])))
{
	char buf[4096];
	const int fd = dial();

	ck_assert_int_gt(write(fd, cases[_i].request, strlen(cases[_i].request)), 0);
	ck_assert_int_gt(read_all(fd, buf, sizeof(buf)), 0);
	ck_assert_msg(strncmp(buf, cases[_i].status, strlen(cases[_i].status)) == 0, "%s", buf);
	const char *body = strstr(buf, "\r\n\r\n");

	ck_assert_ptr_nonnull(body);
	ck_assert_str_eq(body + 4, cases[_i].body);
	ck_assert_ptr_nonnull(strstr(buf, "Connection: close\r\n"));
	(void)close(fd);
}

TEST(too_large_a_request_is_refused)
{
	static char big[LISTENER_REQUEST_MAX + 100];
	char buf[4096];
	const int fd = dial();

	memset(big, 'a', sizeof(big));
	memcpy(big, "GET /", 5);
	ck_assert_int_gt(write(fd, big, sizeof(big)), 0);
	ck_assert_int_gt(read_all(fd, buf, sizeof(buf)), 0);
	ck_assert_int_eq(strncmp(buf, "HTTP/1.1 431 ", 13), 0);
	(void)close(fd);
}

/* Another Prometheus asks by the name of a Service. */
TEST(names_are_for_those_who_ask_from_elsewhere)
{
	struct web_request r = { .host = "ops-pod-cleaner.monitoring.svc:9464" };

	ck_assert_int_eq(request_refused(&r), 0);
	r.local = true;
	ck_assert_int_eq(request_refused(&r), 421);
	r = (struct web_request){ .host = "10.0.0.7:9464", .local = true };
	ck_assert_int_eq(request_refused(&r), 0);
	r.two_hosts = true;
	ck_assert_int_eq(request_refused(&r), 400);
}

/* Sends until that fails or it is enough. Returns how much. */
static size_t send_much(int fd, size_t enough)
{
	static char some[16384];
	size_t sent = 0;

	memset(some, 'a', sizeof(some));
	for (int i = 0; sent < enough && i < 20000; i++) {
		const ssize_t n = send(fd, some, sizeof(some), MSG_NOSIGNAL);

		if (n < 0 && errno != EAGAIN)
			break;
		sent += n > 0 ? (size_t)n : 0;
		(void)event_base_loop(base, EVLOOP_NONBLOCK);
	}
	return sent;
}

/* A connection that is closed with something unread is reset, and the answer is lost with it. */
TEST(a_refusal_reaches_who_still_sends)
{
	const size_t enough = 40 * LISTENER_REQUEST_MAX;
	const int fd = dial();
	char buf[4096];
	size_t have = 0;
	ssize_t n = -1;

	ck_assert_int_eq(write(fd, "GET /", 5), 5);
	ck_assert_uint_ge(send_much(fd, enough), enough);
	for (int i = 0; i < 100 && n != 0; i++) {
		turn_for(20);
		n = read(fd, buf + have, sizeof(buf) - have);
		ck_assert_msg(n >= 0 || errno == EAGAIN, "%s", strerror(errno));
		have += n > 0 ? (size_t)n : 0;
	}
	ck_assert_int_eq(n, 0);
	ck_assert_int_eq(strncmp(buf, "HTTP/1.1 431 ", 13), 0);
	(void)close(fd);
}

TEST(who_never_stops_is_not_read_for_ever)
{
	const size_t most = (size_t)64 << 20; /* more than the kernel holds besides */
	const int fd = dial();

	ck_assert_int_eq(write(fd, "GET /", 5), 5);
	ck_assert_uint_lt(send_much(fd, most), (size_t)24 << 20);
	(void)close(fd);
}

/* One byte now and then holds a connection no longer than one silent from the start. */
TEST(slow_requests_end_at_the_deadline)
{
	struct timespec a, b;
	char c;
	const int fd = dial();
	ssize_t n;

	(void)clock_gettime(CLOCK_MONOTONIC, &a);
	do {
		(void)send(fd, "x", 1, MSG_NOSIGNAL);
		turn_for(200);
		n = read(fd, &c, 1);
		(void)clock_gettime(CLOCK_MONOTONIC, &b);
	} while (n < 0 && errno == EAGAIN && b.tv_sec - a.tv_sec < 15);
	ck_assert_int_ge(b.tv_sec - a.tv_sec, LISTENER_HEAD_MS / 1000 - 1);
	ck_assert_int_le(b.tv_sec - a.tv_sec, LISTENER_HEAD_MS / 1000 + 2);
	(void)close(fd);
}

static void ask(int fd, const char *path)
{
	char request[64];
	const int n = snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\n\r\n", path);

	ck_assert_int_eq(write(fd, request, (size_t)n), n);
}

static void expect_answer(int fd)
{
	char buf[4096];

	ck_assert_int_gt(read_all(fd, buf, sizeof(buf)), 0);
	ck_assert_int_eq(strncmp(buf, "HTTP/1.1 200 OK\r\n", 17), 0);
	(void)close(fd);
}

static bool is_open(int fd)
{
	char c;

	return read(fd, &c, 1) < 0 && errno == EAGAIN;
}

static void close_all(const int *fd, size_t n)
{
	for (size_t i = 0; i < n; i++)
		(void)close(fd[i]);
}

#define SLOW 20u /* more than there is room for */

/* The attack: more clients that say one byte than there may be. The oldest of them go, and who asks is
 * answered.
 */
TEST(slow_clients_keep_nobody_out)
{
	int fd[LISTENER_HEADS_MAX + SLOW];
	size_t open = 0;

	for (size_t i = 0; i < sizeof(fd) / sizeof(fd[0]); i++) {
		fd[i] = dial();
		ck_assert_int_eq(write(fd[i], "G", 1), 1);
		turn_for(1);
	}
	turn_for(50);
	for (size_t i = 0; i < sizeof(fd) / sizeof(fd[0]); i++) {
		ck_assert_int_eq(is_open(fd[i]), i >= SLOW);
		open += i >= SLOW;
	}
	ck_assert_uint_eq(open, LISTENER_HEADS_MAX);
	const int probe = dial();

	ask(probe, "/healthz");
	expect_answer(probe);
	close_all(fd, sizeof(fd) / sizeof(fd[0]));
}

/* The same, all of them behind the probe in the queue of the kernel: it has its turn before they drive it
 * out. */
TEST(a_burst_behind_a_probe)
{
	int fd[LISTENER_HEADS_MAX + SLOW];
	const int probe = dial();

	ask(probe, "/healthz");
	for (size_t i = 0; i < sizeof(fd) / sizeof(fd[0]); i++)
		fd[i] = dial();
	expect_answer(probe);
	close_all(fd, sizeof(fd) / sizeof(fd[0]));
}

/* Who asks for metrics and does not read them holds one of few places, which are no places of health. */
TEST(slow_readers_of_metrics)
{
	int fd[LISTENER_LARGE_MAX + 1];

	for (size_t i = 0; i < sizeof(fd) / sizeof(fd[0]); i++) {
		fd[i] = dial();
		ask(fd[i], "/large");
		turn_for(20);
	}
	const int probe = dial();

	ask(probe, "/healthz");
	expect_answer(probe);
	for (size_t i = 0; i < sizeof(fd) / sizeof(fd[0]); i++) {
		static char buf[LARGE + 4096];
		const ssize_t n = read_all(fd[i], buf, sizeof(buf));

		/* the oldest was cut off, the others get all of it now that they read */
		ck_assert(i == 0 ? n < LARGE : n > LARGE);
		(void)close(fd[i]);
	}
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(*(int *)arg)++;
}

/* A connection that cannot be accepted keeps the socket readable: it is waited with, not tried in a circle.
 */
TEST(without_descriptors_the_loop_rests)
{
	const struct timeval tick_time = { 0, 20000 };
	struct rlimit all, few;
	char buf[1024];
	int ticks = 0, passes = 0;
	struct event *tick = event_new(base, -1, EV_PERSIST, on_tick, &ticks);
	const int fd = dial(); /* the lowest that is free */

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &all), 0);
	few = (struct rlimit){ (rlim_t)fd + 1, all.rlim_max };
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	(void)event_add(tick, &tick_time);
	while (ticks < 10) {
		(void)event_base_loop(base, EVLOOP_ONCE);
		passes++;
	}
	event_free(tick);
	ck_assert_int_lt(passes, 20);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &all), 0);
	ck_assert_int_gt(write(fd, cases[0].request, strlen(cases[0].request)), 0);
	ck_assert_int_gt(read_all(fd, buf, sizeof(buf)), 0);
	(void)close(fd);
}

TEST(addresses)
{
	struct web_listener *x = NULL;

	ck_assert_int_eq(listener_new(base, "nonsense", on_path, NULL, &x), -EINVAL);
	ck_assert_int_eq(listener_new(base, "127.0.0.1", on_path, NULL, &x), -EINVAL);
	ck_assert_int_eq(listener_new(base, "127.0.0.1:99999", on_path, NULL, &x), -EINVAL);
	ck_assert_int_eq(listener_new(base, "::1:0", on_path, NULL, &x), -EINVAL);
	ck_assert_int_eq(listener_new(base, "[::1]", on_path, NULL, &x), -EINVAL);
	ck_assert_int_eq(listener_new(base, listener_address(l), on_path, NULL, &x), -EADDRINUSE);
	ck_assert_int_eq(listener_new(base, "localhost:0", on_path, NULL, &x), 0);
	ck_assert_int_eq(strncmp(listener_address(x), "127.0.0.1:", 10), 0);
	listener_free(&x);
	ck_assert_int_eq(listener_new(base, ":0", on_path, NULL, &x), 0);
	ck_assert_int_eq(strncmp(listener_address(x), "0.0.0.0:", 8), 0);
	listener_free(&x);
}

TEST(more_headers_stand_in_the_answer)
{
	static const char request[] = "HEAD /headers HTTP/1.1\r\n\r\n";
	char buf[4096];
	const int fd = dial();

	ck_assert_int_gt(write(fd, request, sizeof(request) - 1), 0);
	ck_assert_int_gt(read_all(fd, buf, sizeof(buf)), 0);
	ck_assert_ptr_nonnull(strstr(buf, "\r\nX-One: 1\r\nX-Two: 2\r\n"));
	(void)close(fd);
}

TEST(the_language_that_is_wanted_most)
{
	static const struct {
		const char *header;
		enum language want;
	} rows[] = {
		{ NULL, LANGUAGE_EN },
		{ "", LANGUAGE_EN },
		{ "fr", LANGUAGE_EN },
		{ "zh", LANGUAGE_ZH },
		{ " ZH-cn ", LANGUAGE_ZH },
		{ "zhx", LANGUAGE_EN },
		{ "en,zh", LANGUAGE_EN },
		{ "zh;q=0.8, en;q=0.9", LANGUAGE_EN },
		{ "fr, zh;q=0.8,en-US;q=0.75", LANGUAGE_ZH },
		{ "zh;q=0", LANGUAGE_EN },
		{ "zh;q=99999999999999999999", LANGUAGE_EN },
		{ ",,;q=1,zh", LANGUAGE_ZH },
		{ "zh;q=", LANGUAGE_EN },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct web_request r = { .languages = rows[i].header };

		ck_assert_int_eq(request_language(&r), rows[i].want);
	}
}

TEST_MAIN("reporter/listener")
{
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
}
