/* test_delivery.c - a document on its way to a sink that is a real server: forms, headers, proxies, settings
 * that change, answers that are none. */
// SPDX-License-Identifier: Apache-2.0
#include <event2/event.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "http/global.h"
#include "reporter/sinks/delivery.h"
#include "tests/suite.h"
#include "tests/unit/http/server.h"
#include "tests/unit/reporter/sink_document.h"
#include "tests/facts_en.h"

struct run {
	struct event_base *base;
	struct delivery *delivery;
	struct sink_answer a;
	unsigned answers;
};

static void on_answer(void *ctx, const struct sink_answer *a)
{
	struct run *r = ctx;

	r->a = *a;
	r->answers++;
	(void)event_base_loopbreak(r->base);
}

static void begin(struct run *r, const struct sink_settings *s)
{
	*r = (struct run){ .base = event_base_new() };
	r->delivery = delivery_new(r->base, s, on_answer, r);
}

/* One document; what the server was asked last stands in its log. */
static void deliver(struct run *r)
{
	const unsigned before = r->answers;
	struct document d;

	sink_document(&d, LANGUAGE_EN);
	delivery_send(r->delivery, &d);
	document_done(&d); /* it was only read during the call */
	ck_assert_uint_eq(r->answers, before);
	(void)event_base_dispatch(r->base);
	ck_assert_uint_eq(r->answers, before + 1);
}

static void end(struct run *r)
{
	delivery_free(&r->delivery);
	event_base_free(r->base);
}

static void answer(struct server_conn *c, const char *status, const char *body)
{
	char head[256];

	(void)snprintf(head, sizeof(head), "HTTP/1.1 %s\r\nContent-Length: %zu\r\n\r\n", status,
		       strlen(body));
	server_sends(c, head);
	server_sends(c, body);
}

/* A bot that takes no cards. */
static int no_cards(struct server_conn *c, const char *request)
{
	answer(c, "200 OK",
	       strstr(request, "\"interactive\"") ? "{\"code\":11246,\"msg\":\"parse card json err\"}"
						  : "{\"code\":0,\"msg\":\"success\"}");
	return 1;
}

TEST(bot_that_refuses_cards_gets_posts)
{
	struct server server;

	server_start(&server, no_cards, false);
	const struct sink_settings s = sink_of_type(SINK_FEISHU, server.url, "", LANGUAGE_EN);
	struct run r;

	begin(&r, &s);
	deliver(&r);
	ck_assert_int_eq(r.a.verdict, SINK_ACCEPTED);
	ck_assert_uint_eq(server.log->requests, 2);
	ck_assert_ptr_nonnull(strstr(server.log->last, "\"msg_type\":\"post\""));
	deliver(&r); /* it is not asked again what it said */
	ck_assert_int_eq(r.a.verdict, SINK_ACCEPTED);
	ck_assert_uint_eq(server.log->requests, 3);
	delivery_set(r.delivery, &s); /* another bot may stand there */
	deliver(&r);
	ck_assert_uint_eq(server.log->requests, 5);
	end(&r);
	server_stop(&server);
}

/* What waits for a sink goes out at once when this changes. */
TEST(it_says_whether_it_is_another_way)
{
	struct sink_settings s = sink_of_type(SINK_EMAIL, "smtp://h.example", "word", LANGUAGE_EN);
	char *const was_url = s.url, *const was_secret = s.secret;
	struct run r;

	begin(&r, &s);
	ck_assert(!delivery_set(r.delivery, &s));
	s.top = 3;
	s.language = LANGUAGE_ZH;
	ck_assert(!delivery_set(r.delivery, &s));
	s.secret = (char *)"ward";
	ck_assert(delivery_set(r.delivery, &s));
	ck_assert(!delivery_set(r.delivery, &s));
	s.url = (char *)"smtp://i.example";
	ck_assert(delivery_set(r.delivery, &s));
	s.address = (char *)"127.0.0.1:25";
	ck_assert(delivery_set(r.delivery, &s));
	s.problem = (char *)"no such file";
	ck_assert(delivery_set(r.delivery, &s));
	str_list_add(&s.to, "a@b", 3);
	ck_assert(delivery_set(r.delivery, &s));
	s.secret = NULL;
	ck_assert(delivery_set(r.delivery, &s));
	s.url = was_url;
	s.secret = was_secret;
	str_list_done(&s.to);
	end(&r);
}

static int bad_body(struct server_conn *c, const char *request)
{
	(void)request;
	answer(c, "400 Bad Request", "{\"code\":9499,\"msg\":\"Bad Request\"}");
	return 1;
}

TEST(what_is_refused_in_every_form_is_refused)
{
	struct server server;

	server_start(&server, bad_body, false);
	const struct sink_settings s = sink_of_type(SINK_FEISHU, server.url, "", LANGUAGE_EN);
	struct run r;

	begin(&r, &s);
	deliver(&r);
	ck_assert_int_eq(r.a.verdict, SINK_REFUSED);
	ck_assert_int_eq(r.a.code, 9499);
	ck_assert_uint_eq(server.log->requests, 2);
	deliver(&r); /* the best form first, as ever */
	ck_assert_uint_eq(server.log->requests, 4);
	end(&r);
	server_stop(&server);
}

static int takes_all(struct server_conn *c, const char *request)
{
	(void)request;
	answer(c, "202 Accepted", "");
	return 1;
}

TEST(webhook_has_its_headers)
{
	struct server server;

	server_start(&server, takes_all, false);
	char *url = xasprintf("%s/in?token=s3cr3t", server.url);
	const struct sink_settings s = sink_of_type(SINK_WEBHOOK, url, "hook-secret", LANGUAGE_EN);
	struct run r;
	char sign[SINK_HEX_MAX], *message;
	long long stamp = 0;

	begin(&r, &s);
	deliver(&r);
	ck_assert_int_eq(r.a.verdict, SINK_ACCEPTED);
	ck_assert(delivery_knows_ids(r.delivery));
	ck_assert_ptr_nonnull(strstr(server.log->last, "POST /in?token=s3cr3t HTTP/1.1\r\n"));
	ck_assert_ptr_nonnull(strstr(server.log->last, "\r\nX-Ops-Pod-Cleaner-Id: actions-17\r\n"));
	ck_assert_int_eq(sscanf(strstr(server.log->last, "Timestamp: "), "Timestamp: %lld", &stamp), 1);
	message = xasprintf("%lld.%s", stamp, strstr(server.log->last, "\r\n\r\n") + 4);
	sink_hmac_hex("hook-secret", message, sign);
	ck_assert_ptr_nonnull(strstr(server.log->last, sign));
	free(message);
	free(url);
	end(&r);
	server_stop(&server);
}

TEST(proxy_is_asked_for_the_server)
{
	struct server server;
	struct sink_settings s = sink_of_type(SINK_TEAMS, "http://teams.example/hook", NULL, LANGUAGE_EN);
	char proxy[64];
	struct run r;

	server_start(&server, takes_all, false);
	(void)snprintf(proxy, sizeof(proxy), "http://bastion.example:%u", server.port);
	s.proxy = proxy;
	s.address = server.address; /* of the proxy */
	begin(&r, &s);
	deliver(&r);
	ck_assert_int_eq(r.a.verdict, SINK_ACCEPTED);
	ck_assert_ptr_nonnull(strstr(server.log->last, "POST http://teams.example/hook HTTP/1.1\r\n"));
	end(&r);
	server_stop(&server);
}

/* SOCKS 5 without a password: greeting, then the name to connect to, which the proxy resolves. */
static int socks(struct server_conn *c, const char *request)
{
	unsigned char b[256];
	char line[256];

	(void)request;
	ck_assert_int_eq(recv(c->fd, b, 2, MSG_WAITALL), 2);
	ck_assert_int_eq(b[0], 5);
	ck_assert_int_eq(recv(c->fd, b + 2, b[1], MSG_WAITALL), b[1]);
	server_send(c, "\5\0", 2);
	ck_assert_int_eq(recv(c->fd, b, 5, MSG_WAITALL), 5);
	ck_assert_int_eq(b[3], 3); /* a name */
	const size_t n = b[4];

	ck_assert_int_eq(recv(c->fd, b, n + 2, MSG_WAITALL), (ssize_t)n + 2);
	(void)snprintf(c->log->last, sizeof(c->log->last), "%.*s:%u ", (int)n, (char *)b,
		       (unsigned)b[n] << 8 | b[n + 1]);
	server_send(c, "\5\0\0\1\0\0\0\0\0\0", 10);
	while (server_line(c, line, sizeof(line)) && *line)
		;
	answer(c, "202 Accepted", "");
	server_drain(c);
	return 0;
}

TEST(socks_proxy_resolves_the_name)
{
	struct server server;
	struct sink_settings s = sink_of_type(SINK_TEAMS, "http://teams.example:81/hook", NULL, LANGUAGE_EN);
	char proxy[64];
	struct run r;

	server_start_talk(&server, socks, false, false);
	(void)snprintf(proxy, sizeof(proxy), "socks5h://bastion.example:%u", server.port);
	s.proxy = proxy;
	s.address = server.address;
	begin(&r, &s);
	deliver(&r);
	ck_assert_msg(r.a.verdict == SINK_ACCEPTED, "%s", EN(r.a.why));
	ck_assert_int_eq(strncmp(server.log->last, "teams.example:81 ", 17), 0);
	end(&r);
	server_stop(&server);
}

static int cut_off(struct server_conn *c, const char *request)
{
	(void)request;
	server_sends(c, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"code\":0");
	return 0;
}

static int too_large(struct server_conn *c, const char *request)
{
	char big[9000];

	(void)request;
	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	answer(c, "200 OK", big);
	return 1;
}

TEST(answers_that_are_none_leave_doubt)
{
	static server_fn *const servers[] = { cut_off, too_large };

	for (size_t i = 0; i < 2; i++) {
		struct server server;
		struct run r;

		server_start(&server, servers[i], false);
		const struct sink_settings s = sink_of_type(SINK_FEISHU, server.url, "", LANGUAGE_EN);

		begin(&r, &s);
		deliver(&r);
		ck_assert_int_eq(r.a.verdict, SINK_UNKNOWN);
		ck_assert_uint_eq(server.log->requests, 1);
		end(&r);
		server_stop(&server);
	}
}

TEST(what_cannot_be_sent_says_why_and_is_tried_again)
{
	struct sink_settings s = sink_of_type(SINK_FEISHU, "https://h/x", NULL, LANGUAGE_EN);
	char problem[] = "the file of its secret is missing";
	struct run r;

	s.problem = problem;
	begin(&r, &s);
	deliver(&r);
	ck_assert_int_eq(r.a.verdict, SINK_AGAIN);
	ck_assert_str_eq(EN(r.a.why), problem);
	end(&r);
	s = sink_of_type(SINK_FEISHU, "", NULL, LANGUAGE_EN);
	begin(&r, &s);
	deliver(&r);
	ck_assert_int_eq(r.a.verdict, SINK_AGAIN);
	end(&r);
}

TEST(each_message_counts_for_the_limit)
{
	struct server server;

	server_start(&server, takes_all, false);
	const struct sink_settings s = sink_of_type(SINK_TEAMS, server.url, NULL, LANGUAGE_EN);
	struct run r;

	begin(&r, &s);
	for (int i = 0; i < 3; i++) {
		ck_assert_uint_eq(delivery_wait(r.delivery), 0);
		deliver(&r);
	}
	ck_assert_uint_gt(delivery_wait(r.delivery), 0);
	ck_assert_uint_eq(server.log->connections, 3); /* none is kept until it may be dead */
	end(&r);
	server_stop(&server);
}

/* A mail server that knows one reader, and puts the other one off for ever. */
static int puts_off(struct server_conn *c, const char *request)
{
	char line[256];

	(void)request;
	server_sends(c, "220 mail.test\r\n");
	while (server_line(c, line, sizeof(line))) {
		if (strcmp(line, "DATA") != 0) {
			server_sends(c, strstr(line, "oncall@") ? "450 4.2.0 greylisted\r\n" : "250 ok\r\n");
			continue;
		}
		server_sends(c, "354 go on\r\n");
		while (server_line(c, line, sizeof(line)) && strcmp(line, ".") != 0)
			;
		server_sends(c, "250 queued\r\n");
	}
	return 0;
}

/* Of whom that server puts one off. */
static struct sink_settings mail_to_two(struct server *server)
{
	static char *readers[] = { (char *)"team@b", (char *)"oncall@b" }, from[] = "a@b", url[64];

	server_start_talk(server, puts_off, false, false);
	(void)snprintf(url, sizeof(url), "smtp://127.0.0.1:%u", server->port);
	struct sink_settings s = sink_of_type(SINK_EMAIL, url, NULL, LANGUAGE_EN);

	s.from = from;
	s.to = (struct str_list){ readers, 2 };
	return s;
}

/* Nobody gets a mail before everybody may have it; but a mailbox that stays full does not keep all from the
 * others. */
TEST(a_reader_who_is_put_off_is_waited_for_for_a_while)
{
	struct server server;
	struct sink_settings s = mail_to_two(&server);
	struct run r;

	clock_fake_set(1764000000000, 5000000);
	begin(&r, &s);
	for (int i = 0; i < 2; i++) {
		deliver(&r);
		ck_assert_int_eq(r.a.verdict, SINK_AGAIN);
		ck_assert_int_eq(r.a.code, 450);
		ck_assert_ptr_null(strstr(server.log->last, "DATA"));
		clock_fake_advance(i == 0 ? 29 * 60 * 1000 : 60 * 1000);
	}
	for (int i = 0; i < 2; i++) { /* the next one waits no more */
		deliver(&r);
		ck_assert_int_eq(r.a.verdict, SINK_ACCEPTED);
		ck_assert(r.a.not_all);
		ck_assert_str_eq(EN(r.a.why), "not for all: 450 4.2.0 greylisted");
	}
	s.to.n = 1; /* other readers are waited for anew, once they are put off */
	delivery_set(r.delivery, &s);
	deliver(&r);
	ck_assert(r.a.verdict == SINK_ACCEPTED && !r.a.not_all);
	s.to.n = 2;
	delivery_set(r.delivery, &s);
	deliver(&r);
	ck_assert_int_eq(r.a.verdict, SINK_AGAIN);
	end(&r);
	clock_fake_clear();
	server_stop(&server);
}

/* Else it is given up for all of them, for the sake of one. */
TEST(a_mail_goes_to_the_others_before_it_is_given_up)
{
	struct server server;
	struct sink_settings s = mail_to_two(&server);
	struct run r;

	clock_fake_set(1764000000000, 5000000);
	begin(&r, &s);
	delivery_set_patience(r.delivery, 10 * 60 * 1000);
	for (int i = 0; i < 3; i++) {
		deliver(&r);
		ck_assert_int_eq(r.a.verdict, i < 2 ? SINK_AGAIN : SINK_ACCEPTED);
		clock_fake_advance(i == 0 ? 149 * 1000 : 1000);
	}
	end(&r);
	begin(&r, &s);
	delivery_set_patience(r.delivery, 59 * 1000); /* no time for another try */
	deliver(&r);
	ck_assert_int_eq(r.a.verdict, SINK_ACCEPTED);
	end(&r);
	clock_fake_clear();
	server_stop(&server);
}

/* Answers when the test lets it. */
static int waits(struct server_conn *c, const char *request)
{
	(void)request;
	(void)usleep(300000);
	answer(c, "200 OK", "{\"code\":0}");
	return 1;
}

TEST(what_runs_ends_as_it_began)
{
	struct server one, other;
	struct document d;
	struct run r;

	server_start(&one, waits, false);
	server_start(&other, takes_all, false);
	const struct sink_settings first = sink_of_type(SINK_FEISHU, one.url, "", LANGUAGE_EN);
	const struct sink_settings next = sink_of_type(SINK_TEAMS, other.url, NULL, LANGUAGE_EN);

	begin(&r, &first);
	sink_document(&d, LANGUAGE_EN);
	delivery_send(r.delivery, &d);
	delivery_set(r.delivery, &next);
	(void)event_base_dispatch(r.base);
	ck_assert_int_eq(r.a.verdict, SINK_ACCEPTED);
	ck_assert_int_eq(r.a.code, 0); /* as a Feishu bot says it */
	ck_assert_uint_eq(other.log->requests, 0);
	deliver(&r);
	ck_assert_int_eq(r.a.verdict, SINK_ACCEPTED);
	ck_assert_uint_eq(other.log->requests, 1);
	ck_assert_uint_eq(one.log->requests, 1);
	/* and what is cancelled says nothing more */
	delivery_send(r.delivery, &d);
	delivery_free(&r.delivery);
	(void)event_base_loop(r.base, EVLOOP_NONBLOCK);
	ck_assert_uint_eq(r.answers, 2);
	document_done(&d);
	event_base_free(r.base);
	server_stop(&one);
	server_stop(&other);
}

TEST_MAIN("reporter/delivery")
{
	http_global_init();
	tcase_set_timeout(t, 60);
}
