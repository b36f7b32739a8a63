/* test_mail.c - one mail by SMTP: what the server gets, and what is said of each of its answers. */
// SPDX-License-Identifier: Apache-2.0
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "http/mail.h"
#include "tests/facts_en.h"
#include "tests/suite.h"
#include "tests/unit/http/server.h"

/* -- the server: how it answers each command, NULL = politely, "" = it closes the connection instead -- */

struct manners {
	bool no_tls;
	const char *login, *from, *to, *to_second, *data, *end;
};

static struct manners manners;

static const char *or_polite(const char *answer, const char *polite)
{
	return answer ? answer : polite;
}

static bool take_data(struct server_conn *c)
{
	char line[2048];

	while (server_line(c, line, sizeof(line)))
		if (strcmp(line, ".") == 0)
			return true;
	return false;
}

/* What the answer to this line is. */
static const char *answer_to(const char *line, unsigned *recipients, bool secure)
{
	static char hello[256];

	if (strncmp(line, "EHLO", 4) == 0) {
		snprintf(hello, sizeof(hello), "250-mail.test\r\n%s250 AUTH PLAIN LOGIN\r\n",
			 !secure && !manners.no_tls ? "250-STARTTLS\r\n" : "");
		return hello;
	}
	if (strncmp(line, "AUTH", 4) == 0)
		return or_polite(manners.login, "235 ok\r\n");
	if (strncmp(line, "MAIL", 4) == 0)
		return or_polite(manners.from, "250 ok\r\n");
	if (strncmp(line, "RCPT", 4) == 0)
		return or_polite((*recipients)++ == 0 ? manners.to : manners.to_second, "250 ok\r\n");
	return strcmp(line, "DATA") == 0 ? or_polite(manners.data, "354 go on\r\n") : "502 what?\r\n";
}

static int serve(struct server_conn *c, const char *request)
{
	char line[2048];
	unsigned recipients = 0;

	(void)request;
	server_sends(c, "220 mail.test ESMTP\r\n");
	while (server_line(c, line, sizeof(line)) && strcmp(line, "QUIT") != 0) {
		if (strcmp(line, "STARTTLS") == 0) {
			server_sends(c, "220 go ahead\r\n");
			if (!server_secure(c))
				return 0;
			continue;
		}
		if (strcmp(line, "AUTH PLAIN") == 0) {
			server_sends(c, "334 \r\n");
			(void)server_line(c, line, sizeof(line));
			memcpy(line, "AUTH", 5);
		}
		const char *answer = answer_to(line, &recipients, c->ssl != NULL);

		if (!*answer)
			return 0;
		server_sends(c, answer);
		if (strncmp(answer, "354", 3) != 0)
			continue;
		answer = or_polite(manners.end, "250 2.0.0 queued as 7\r\n");
		if (!take_data(c) || !*answer)
			return 0;
		server_sends(c, answer);
	}
	return 0;
}

/* -- the client -- */

static struct server s;
static struct event_base *base;
static unsigned done;
static struct mail_result result;
static bool wait_for_all;
static char *const two[] = { (char[]){ "a@example.org" }, (char[]){ "b@example.org" } };

static void on_done(void *ctx, const struct mail_result *r)
{
	(void)ctx;
	done++;
	result = *r;
	event_base_loopbreak(base);
}

static struct mail_call call_of(const char *message)
{
	return (struct mail_call){ .from = "cleaner@example.org",
				   .to = two,
				   .n_to = 2,
				   .message = message,
				   .len = strlen(message),
				   .wait_for_all = wait_for_all,
				   .on_done = on_done };
}

static void post(const struct http_endpoint *e, const char *message)
{
	const struct mail_call call = call_of(message);

	base = event_base_new();
	(void)mail_start(base, e, &call);
	ck_assert_uint_eq(done, 0); /* never before start returned */
	event_base_dispatch(base);
	ck_assert_uint_eq(done, 1);
	event_base_free(base);
}

/* By name, so that it is not this host's own. */
static struct http_endpoint far(char *url, size_t size, const char *scheme)
{
	snprintf(url, size, "%s://me%%40example.org@api.test:%u/client.test", scheme, s.port);
	return (struct http_endpoint){
		.base_url = url, .address = s.address, .ca_pem = s.ca_pem, .password = "secret"
	};
}

static void play(struct manners m, const char *message)
{
	char url[128];

	manners = m;
	server_start_talk(&s, serve, true, true);
	const struct http_endpoint e = far(url, sizeof(url), "smtp");

	post(&e, message);
}

static void play_end(void)
{
	if (s.log)
		server_stop(&s);
}

/* -- what arrives -- */

TEST(test_what_arrives)
{
	play((struct manners){ 0 }, "Subject: x\r\n\r\n.hidden\r\n..\r\nlast");
	ck_assert_int_eq(result.failure, HTTP_OK);
	ck_assert_int_eq(result.status, 250);
	ck_assert_uint_eq(result.refused, 0);
	ck_assert_str_eq(result.reply, "250 2.0.0 queued as 7");
	/* AUTH PLAIN: NUL me@example.org NUL secret */
	ck_assert_ptr_nonnull(strstr(s.log->last, "EHLO client.test\nSTARTTLS\nEHLO client.test\nAUTH "
						  "PLAIN\nAG1lQGV4YW1wbGUub3JnAHNlY3JldA==\n"));
	ck_assert_ptr_nonnull(strstr(s.log->last, "MAIL FROM:<cleaner@example.org>\n"
						  "RCPT TO:<a@example.org>\nRCPT TO:<b@example.org>\nDATA\n"
						  "Subject: x\n\n..hidden\n...\nlast\n.\n"));
}

TEST(test_tls_at_once)
{
	char url[128];

	manners = (struct manners){ .no_tls = true };
	server_start_talk(&s, serve, true, false);
	const struct http_endpoint e = far(url, sizeof(url), "smtps");

	post(&e, "\r\n");
	ck_assert_int_eq(result.status, 250);
	ck_assert_ptr_null(strstr(s.log->last, "STARTTLS"));
}

TEST(test_this_host_needs_no_tls)
{
	char url[64];

	manners = (struct manners){ .no_tls = true };
	server_start_talk(&s, serve, false, false);
	snprintf(url, sizeof(url), "smtp://127.0.0.1:%u", s.port);
	const struct http_endpoint e = { .base_url = url };

	post(&e, "\r\n");
	ck_assert_int_eq(result.status, 250);
	ck_assert_ptr_nonnull(strstr(s.log->last, "EHLO localhost\nMAIL FROM"));
}

TEST(test_a_large_mail)
{
	const size_t lines = 40000;
	_cleanup_free_ char *message = malloc(lines * 80 + 1);

	for (size_t i = 0; i < lines; i++)
		memcpy(message + i * 80,
		       "0123456789012345678901234567890123456789012345678901234567890123456789"
		       "01234567\r\n",
		       80);
	message[lines * 80] = '\0';
	play((struct manners){ 0 }, message);
	ck_assert_int_eq(result.failure, HTTP_OK);
	ck_assert_int_eq(result.status, 250);
}

/* -- answers -- */

static const struct {
	struct manners m;
	enum http_failure failure;
	long status;
	bool sent;
	size_t refused;
	const char *error;
} answers[] = {
	{ { .no_tls = true }, HTTP_OK, 530, false, 0, "STARTTLS" },
	{ { .login = "535 5.7.8 bad password\r\n" }, HTTP_OK, 535, false, 0, "535 5.7.8 bad password" },
	{ { .login = "454 4.7.0 later\r\n" }, HTTP_OK, 454, false, 0, "454 4.7.0 later" },
	{ { .from = "550-not you\r\n550 5.7.1 not you\r\n" }, HTTP_OK, 550, false, 0, "550 5.7.1 not you" },
	{ { .to = "550 5.1.1 nobody\r\n", .to_second = "550 5.1.1 neither\r\n" },
	  HTTP_OK,
	  550,
	  false,
	  0,
	  "550 5.1.1 nobody" },
	{ { .to = "550 5.1.1 nobody\r\n" }, HTTP_OK, 250, true, 1, "550 5.1.1 nobody" },
	{ { .to_second = "550 5.1.1 nobody\r\n" }, HTTP_OK, 250, true, 1, "550 5.1.1 nobody" },
	{ { .to = "550 5.1.1 nobody\r\n", .to_second = "450 4.2.0 later\r\n" },
	  HTTP_OK,
	  450,
	  false,
	  0,
	  "450 4.2.0 later" },
	{ { .to = "450 4.2.0 later\r\n", .to_second = "550 5.1.1 nobody\r\n" },
	  HTTP_OK,
	  450,
	  false,
	  0,
	  "450 4.2.0 later" },
	{ { .data = "451 4.3.0 full\r\n" }, HTTP_OK, 451, false, 0, "451 4.3.0 full" },
	{ { .end = "451 4.7.1 greylisted\r\n" }, HTTP_OK, 451, true, 0, "451 4.7.1 greylisted" },
	{ { .end = "554 5.6.0 spam\r\n" }, HTTP_OK, 554, true, 0, "554 5.6.0 spam" },
	{ { .to = "421 4.3.2 going down\r\n" }, HTTP_OK, 421, false, 0, "421 4.3.2 going down" },
	{ { .from = "hello\r\n" }, HTTP_BROKEN, 0, false, 0, "does not speak SMTP" },
	{ { .from = "" }, HTTP_BROKEN, 0, false, 0, "ended the connection" },
	{ { .data = "" }, HTTP_BROKEN, 0, false, 0, "ended the connection" },
	{ { .end = "" }, HTTP_BROKEN, 0, true, 0, "ended the connection" }, /* in doubt */
};

TEST_LOOP(test_answers, 0, ARRAY_SIZE(answers))
{
	play(answers[_i].m, "Subject: x\r\n\r\n");
	ck_assert_int_eq(result.failure, answers[_i].failure);
	ck_assert_int_eq(result.status, answers[_i].status);
	ck_assert_int_eq(result.sent, answers[_i].sent);
	ck_assert_uint_eq(result.refused, answers[_i].refused);
	const char *said = result.reply[0] ? result.reply : EN(result.why);

	ck_assert_msg(strstr(said, answers[_i].error), "%s", said);
}

/* One of two is put off for the moment, as by greylisting: nobody gets the mail, or the other one does. */
TEST_LOOP(test_one_is_put_off, 0, 4)
{
	static const char later[] = "450 4.2.0 greylisted\r\n";
	const bool waits = _i < 2;

	wait_for_all = waits;
	play((struct manners){ .to = _i % 2 ? later : NULL, .to_second = _i % 2 ? NULL : later },
	     "Subject: x\r\n\r\n");
	ck_assert_int_eq(result.failure, HTTP_OK);
	ck_assert_int_eq(result.status, waits ? 450 : 250);
	ck_assert_int_eq(result.sent, !waits);
	ck_assert_uint_eq(result.refused, waits ? 0 : 1);
	ck_assert(result.put_off);
	ck_assert_str_eq(result.reply, "450 4.2.0 greylisted");
	ck_assert_int_eq(strstr(s.log->last, "DATA") == NULL, waits);
}

/* Who is refused for good is not waited for. */
TEST(test_one_is_refused)
{
	wait_for_all = true;
	play((struct manners){ .to = "550 5.1.1 nobody\r\n" }, "Subject: x\r\n\r\n");
	ck_assert_int_eq(result.status, 250);
	ck_assert_uint_eq(result.refused, 1);
	ck_assert(!result.put_off);
}

/* -- no connection -- */

TEST(test_another_name)
{
	char url[128];

	manners = (struct manners){ 0 };
	server_start_talk(&s, serve, true, true);
	struct http_endpoint e = far(url, sizeof(url), "smtp");

	snprintf(url, sizeof(url), "smtp://me@other.test:%u", s.port);
	post(&e, "\r\n");
	ck_assert_int_eq(result.failure, HTTP_CONNECT);
	ck_assert_ptr_null(strstr(s.log->last, "AUTH"));
}

TEST(test_what_cannot_begin)
{
	const struct {
		const char *url, *from, *why;
	} cases[] = {
		{ "smtp://mail.test", "a@example.org", "no address is known" },
		{ "https://127.0.0.1", "a@example.org", "not an smtp or smtps URL" },
		{ "smtp://127.0.0.1", "nobody", "no mail address" },
		{ "smtp://127.0.0.1", "a@b>\r\nRCPT TO:<c@d", "no mail address" },
		{ "smtp://127.0.0.1:1", "a@example.org", "connect" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct http_endpoint e = { .base_url = cases[i].url };
		struct mail_call call = call_of("\r\n");

		call.from = cases[i].from;
		done = 0;
		base = event_base_new();
		(void)mail_start(base, &e, &call);
		event_base_dispatch(base);
		ck_assert_uint_eq(done, 1);
		ck_assert_int_eq(result.failure, HTTP_CONNECT);
		ck_assert(!result.sent);
		ck_assert_msg(strcasestr(EN(result.why), cases[i].why), "%s", EN(result.why));
		event_base_free(base);
	}
}

static struct mail *to_cancel;

static void on_cancel(evutil_socket_t fd, short what, void *ctx)
{
	(void)fd;
	(void)what;
	(void)ctx;
	mail_cancel(&to_cancel);
}

/* While the server, which says nothing, is waited for: the loop goes on meanwhile. */
static int serve_nothing(struct server_conn *c, const char *request)
{
	(void)request;
	server_drain(c);
	return 0;
}

TEST(test_cancel)
{
	char url[128];

	server_start_talk(&s, serve_nothing, true, true);
	const struct http_endpoint e = far(url, sizeof(url), "smtp");
	const struct mail_call call = call_of("\r\n");

	base = event_base_new();
	to_cancel = mail_start(base, &e, &call);
	struct event *soon = evtimer_new(base, on_cancel, NULL);

	event_add(soon, CLOCK_TIMEVAL(100));
	event_base_dispatch(base);
	ck_assert_uint_eq(done, 0);
	ck_assert_ptr_null(to_cancel);
	event_free(soon);
	event_base_free(base);
}

TEST_MAIN("http/mail")
{
	tcase_add_checked_fixture(t, NULL, play_end);
}
