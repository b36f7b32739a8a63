/* test_sink_answers.c - what the answers of each type of sink mean, and how often it may be sent to. */
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "reporter/sinks/sink.h"
#include "tests/facts_en.h"
#include "tests/suite.h"
#include "tests/unit/reporter/sink_document.h"

#define URL "https://h.example/hook/s3cr3t-t0ken"

static const struct {
	uint64_t type;
	long status;
	const char *body;
	enum sink_verdict verdict;
	enum sink_cause cause;
	bool other_form;
} answers[] = {
	{ SINK_FEISHU, 200, "{\"code\":0,\"msg\":\"success\"}", SINK_ACCEPTED, SINK_NO_CAUSE, false },
	{ SINK_FEISHU, 200, "{\"StatusCode\":0,\"StatusMessage\":\"success\"}", SINK_ACCEPTED, SINK_NO_CAUSE,
	  false },
	{ SINK_FEISHU, 200, "{\"code\":19021,\"msg\":\"sign match fail\"}", SINK_BLOCKED, SINK_BAD_SECRET,
	  false },
	{ SINK_FEISHU, 200, "{\"code\":19022,\"msg\":\"Ip Not Allowed\"}", SINK_BLOCKED, SINK_FORBIDDEN,
	  false },
	{ SINK_FEISHU, 200, "{\"code\":19024,\"msg\":\"Key Words Not Found\"}", SINK_BLOCKED, SINK_NO_KEYWORD,
	  false },
	{ SINK_FEISHU, 200, "{\"code\":11232,\"msg\":\"frequency limited\"}", SINK_AGAIN, SINK_TOO_OFTEN,
	  false },
	{ SINK_FEISHU, 400, "{\"code\":11232,\"msg\":\"frequency limited\"}", SINK_AGAIN, SINK_TOO_OFTEN,
	  false },
	{ SINK_FEISHU, 400, "{\"code\":9499,\"msg\":\"Bad Request\"}", SINK_REFUSED, SINK_OTHER, true },
	{ SINK_FEISHU, 200, "{\"code\":11246,\"msg\":\"parse card json err\"}", SINK_REFUSED, SINK_OTHER,
	  true },
	{ SINK_FEISHU, 200, "{\"code\":19001,\"msg\":\"param invalid\"}", SINK_BLOCKED, SINK_BAD_ADDRESS,
	  false },
	{ SINK_FEISHU, 200, "{\"code\":\"0\"}", SINK_BLOCKED, SINK_BAD_ADDRESS, false },
	{ SINK_FEISHU, 500, "{\"code\":0}", SINK_AGAIN, SINK_BROKEN, false },
	{ SINK_DINGTALK, 200, "{\"errcode\":0,\"errmsg\":\"ok\"}", SINK_ACCEPTED, SINK_NO_CAUSE, false },
	{ SINK_DINGTALK, 200, "{\"errcode\":310000,\"errmsg\":\"sign not match\"}", SINK_BLOCKED,
	  SINK_BAD_SECRET, false },
	{ SINK_DINGTALK, 200, "{\"errcode\":310000,\"errmsg\":\"keywords not in content\"}", SINK_BLOCKED,
	  SINK_NO_KEYWORD, false },
	{ SINK_DINGTALK, 200, "{\"errcode\":310000,\"errmsg\":\"the ip 1.2.3.4 ip not in whitelist\"}",
	  SINK_BLOCKED, SINK_FORBIDDEN, false },
	{ SINK_DINGTALK, 200, "{\"errcode\":130101,\"errmsg\":\"send too fast\"}", SINK_AGAIN, SINK_TOO_OFTEN,
	  false },
	{ SINK_DINGTALK, 200, "{\"errcode\":-1,\"errmsg\":\"system busy\"}", SINK_AGAIN, SINK_BROKEN, false },
	{ SINK_WECOM, 200, "{\"errcode\":0,\"errmsg\":\"ok\"}", SINK_ACCEPTED, SINK_NO_CAUSE, false },
	{ SINK_WECOM, 200, "{\"errcode\":93000,\"errmsg\":\"invalid webhook url\"}", SINK_BLOCKED,
	  SINK_BAD_ADDRESS, false },
	{ SINK_WECOM, 200, "{\"errcode\":40058,\"errmsg\":\"exceed max length\"}", SINK_REFUSED,
	  SINK_TOO_LARGE, false },
	{ SINK_WECOM, 200, "{\"errcode\":45009,\"errmsg\":\"api freq out of limit\"}", SINK_AGAIN,
	  SINK_TOO_OFTEN, false },
	{ SINK_SLACK, 200, "ok", SINK_ACCEPTED, SINK_NO_CAUSE, false },
	{ SINK_SLACK, 404, "no_service", SINK_BLOCKED, SINK_BAD_ADDRESS, false },
	{ SINK_SLACK, 403, "invalid_token", SINK_BLOCKED, SINK_BAD_SECRET, false },
	{ SINK_SLACK, 403, "action_prohibited", SINK_BLOCKED, SINK_FORBIDDEN, false },
	{ SINK_SLACK, 400, "invalid_payload", SINK_REFUSED, SINK_OTHER, false },
	{ SINK_SLACK, 404, "a_word_of_next_year", SINK_BLOCKED, SINK_BAD_ADDRESS, false },
	{ SINK_SLACK, 410, "channel_is_archived", SINK_BLOCKED, SINK_BAD_ADDRESS, false },
	{ SINK_SLACK, 500, "rollup_error", SINK_AGAIN, SINK_BROKEN, false },
	{ SINK_TEAMS, 202, "", SINK_ACCEPTED, SINK_NO_CAUSE, false },
	{ SINK_TEAMS, 200, "1", SINK_ACCEPTED, SINK_NO_CAUSE, false },
	{ SINK_TEAMS, 200, "Microsoft Teams endpoint returned HTTP error 429", SINK_AGAIN, SINK_TOO_OFTEN,
	  false },
	{ SINK_TEAMS, 200, "Microsoft Teams endpoint returned HTTP error 400", SINK_REFUSED, SINK_OTHER,
	  false },
	{ SINK_TEAMS, 200, "Microsoft Teams endpoint returned HTTP error 403", SINK_BLOCKED, SINK_FORBIDDEN,
	  false },
	{ SINK_TEAMS, 200, "Microsoft Teams endpoint returned HTTP error 503", SINK_AGAIN, SINK_BROKEN,
	  false },
	{ SINK_TEAMS, 200, "Microsoft Teams endpoint returned HTTP error soon", SINK_REFUSED, SINK_OTHER,
	  false },
	{ SINK_TEAMS, 413, "", SINK_REFUSED, SINK_TOO_LARGE, false },
	{ SINK_WEBHOOK, 204, "", SINK_ACCEPTED, SINK_NO_CAUSE, false },
	{ SINK_WEBHOOK, 401, "", SINK_BLOCKED, SINK_BAD_SECRET, false },
	{ SINK_WEBHOOK, 403, "", SINK_BLOCKED, SINK_FORBIDDEN, false },
};

TEST_LOOP(answers_mean_what_their_owner_says, 0, sizeof(answers) / sizeof(answers[0]))
{
	const struct sink_settings s = sink_of_type(answers[_i].type, "https://h/s3cr3t", "", LANGUAGE_EN);
	const struct http_result r = { .failure = HTTP_OK,
				       .status = answers[_i].status,
				       .retry_after_ms = -1,
				       .content_type = "text/plain",
				       .body = answers[_i].body,
				       .body_len = strlen(answers[_i].body) };
	struct sink_answer a;

	sink_interpret(&s, &r, &a);
	ck_assert_int_eq(a.verdict, answers[_i].verdict);
	ck_assert_int_eq(a.cause, answers[_i].cause);
	ck_assert_int_eq(a.other_form, answers[_i].other_form);
}

/* What any of them may meet on the way. */
TEST_LOOP(answers_of_others_are_no_yes, 0, SINK_TYPE__MAX)
{
	static const struct {
		enum http_failure failure;
		long status;
		bool sent;
		const char *type, *body;
		enum sink_verdict verdict;
	} rows[] = {
		{ HTTP_OK, 200, true, "text/html; charset=utf-8", "<html>please log in</html>",
		  SINK_BLOCKED },
		{ HTTP_OK, 302, true, "text/html", "", SINK_BLOCKED },
		{ HTTP_OK, 404, true, "text/html", "<html>", SINK_BLOCKED },
		{ HTTP_OK, 401, true, "text/plain", "who?", SINK_BLOCKED },
		{ HTTP_OK, 403, true, "text/plain", "no: you", SINK_BLOCKED },
		{ HTTP_OK, 400, true, "text/html", "<html>", SINK_REFUSED },
		{ HTTP_OK, 413, true, "text/html", "<html>", SINK_REFUSED },
		{ HTTP_OK, 429, true, "text/plain", "slow down", SINK_AGAIN },
		{ HTTP_OK, 502, true, "text/html", "<html>", SINK_AGAIN },
		{ HTTP_OK, 504, true, "text/html", "", SINK_UNKNOWN },
		{ HTTP_CONNECT, 0, false, "", "", SINK_AGAIN },
		{ HTTP_TIMEOUT, 0, false, "", "", SINK_AGAIN },
		{ HTTP_TIMEOUT, 0, true, "", "", SINK_UNKNOWN },
		{ HTTP_BROKEN, 0, true, "", "", SINK_UNKNOWN },
		{ HTTP_BROKEN, 0, false, "", "", SINK_AGAIN },
		{ HTTP_TOO_LARGE, 200, true, "", "", SINK_UNKNOWN },
	};
	const struct sink_settings s = sink_of_type((uint64_t)_i, URL, "", LANGUAGE_EN);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct http_result r = { .failure = rows[i].failure,
					 .status = rows[i].status,
					 .sent = rows[i].sent,
					 .retry_after_ms = 1234,
					 .content_type = rows[i].type,
					 .body = rows[i].body,
					 .body_len = strlen(rows[i].body) };
		struct sink_answer a;

		transport_said(&r.why, "cannot connect to " URL);
		sink_interpret(&s, &r, &a);
		ck_assert_msg(a.verdict == rows[i].verdict, "%s %zu: %d",
			      sink_type_desc((enum sink_type)_i)->name, i, a.verdict);
		ck_assert_int_eq(a.retry_after_ms, 1234);
		ck_assert_int_ne(a.cause, SINK_NO_CAUSE);
		ck_assert_ptr_null(strstr(EN(a.why), "s3cr3t"));
	}
}

/* Of a tunnel the proxy's word is the proxy's. */
TEST_LOOP(a_proxy_that_fails_is_named, 0, SINK_TYPE__MAX)
{
	static const struct {
		long status;
		enum sink_verdict verdict;
	} rows[] = { { 407, SINK_BLOCKED }, { 403, SINK_BLOCKED }, { 405, SINK_BLOCKED }, { 408, SINK_AGAIN },
		     { 429, SINK_AGAIN },   { 502, SINK_AGAIN },   { 0, SINK_AGAIN } };
	const struct sink_settings s = sink_of_type((uint64_t)_i, URL, "", LANGUAGE_EN);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct http_result r = { .failure = HTTP_CONNECT,
					 .retry_after_ms = -1,
					 .body = "",
					 .way = { true, rows[i].status } };
		struct sink_answer a;

		facts_text(&r.why, FACT_PROBLEM, TEXT_PROXY_TRANSPORT);
		facts_quoted(&r.why, FACT_TRANSPORT, STR_LIT("no"));

		sink_interpret(&s, &r, &a);
		ck_assert_int_eq(a.verdict, rows[i].verdict);
		ck_assert_int_eq(a.cause, SINK_PROXY);
		ck_assert_str_eq(EN(a.why), "the proxy: no");
	}
}

/* What is forwarded may be answered by either, but for 407. */
TEST(a_refusal_of_what_is_forwarded_may_be_the_proxys)
{
	static const struct {
		const char *url, *proxy;
		long status;
		enum sink_cause cause;
		const char *text;
	} rows[] = {
		{ "http://h/x", "http://p:1", 407, SINK_PROXY, "the proxy: HTTP status 407" },
		{ "http://h/x", "http://p:1", 403, SINK_FORBIDDEN,
		  "HTTP status 403, of its proxy or of itself" },
		{ "http://h/x", "http://p:1", 502, SINK_BROKEN,
		  "HTTP status 502, of its proxy or of itself" },
		{ "http://h/x", "socks5h://p:1", 502, SINK_BROKEN, "HTTP status 502" },
		{ "https://h/x", "http://p:1", 502, SINK_BROKEN, "HTTP status 502" },
		{ "http://h/x", NULL, 502, SINK_BROKEN, "HTTP status 502" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sink_settings s = sink_of_type(SINK_TEAMS, rows[i].url, NULL, LANGUAGE_EN);
		_cleanup_free_ char *proxy = rows[i].proxy ? xstrdup(rows[i].proxy) : NULL;
		const struct http_result r = { .failure = HTTP_OK,
					       .status = rows[i].status,
					       .sent = true,
					       .retry_after_ms = -1,
					       .content_type = "",
					       .body = "" };
		struct sink_answer a;

		s.proxy = proxy;
		sink_interpret(&s, &r, &a);
		ck_assert_int_eq(a.cause, rows[i].cause);
		ck_assert_str_eq(EN(a.why), rows[i].text);
		ck_assert(rows[i].status != 407 || a.verdict == SINK_BLOCKED);
	}
}

/* A robot that was blocked for ten minutes is left alone for them. */
TEST(blocked_robot_is_left_alone)
{
	const struct sink_settings s = sink_of_type(SINK_DINGTALK, "https://h/x", "", LANGUAGE_EN);
	const char *body = "{\"errcode\":130101,\"errmsg\":\"send too fast\"}";
	const struct http_result r = { .failure = HTTP_OK,
				       .status = 200,
				       .retry_after_ms = -1,
				       .content_type = "application/json",
				       .body = body,
				       .body_len = strlen(body) };
	struct sink_answer a;

	sink_interpret(&s, &r, &a);
	ck_assert_int_eq(a.retry_after_ms, 600000);
}

/* What is shown of a good answer of HTTP with that body. */
static void ck_assert_says(const struct sink_settings *s, const char *body, const char *shown)
{
	const struct http_result r = { .failure = HTTP_OK,
				       .status = 200,
				       .content_type = "application/json",
				       .body = body,
				       .body_len = strlen(body) };
	struct sink_answer a;

	sink_interpret(s, &r, &a);
	ck_assert_str_eq(EN(a.why), shown);
}

TEST(the_address_never_shows)
{
	static const struct {
		const char *says, *shown;
	} rows[] = {
		{ "bad hook https://h/hook/s3cr3t-t0ken", "(a text that contains the address)" },
		{ "no such hook: s3cr3t-t0ken", "(a text that contains the address)" },
		{ "s3cr3t-t0ken", "(a text that contains the address)" },
		{ "no such hook", "no such hook" },
		{ "\\u001b[2Jx", "?[2Jx" },
	};
	const struct sink_settings s =
		sink_of_type(SINK_FEISHU, "https://h/hook/s3cr3t-t0ken", "", LANGUAGE_EN);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *body = xasprintf("{\"code\":1,\"msg\":\"%s\"}", rows[i].says);

		ck_assert_says(&s, body, rows[i].shown);
		free(body);
	}
}

/* What a bot's address has in its query is its secret, too. */
TEST(the_key_of_an_address_never_shows)
{
	const struct sink_settings s = sink_of_type(
		SINK_WECOM, "https://h/cgi-bin/webhook/send?key=693a91f6-7xxx-4bc4-97a0-0ec2sifa5aaa", "",
		LANGUAGE_EN);
	const char *body =
		"{\"errcode\":93000,\"errmsg\":\"invalid key 693a91f6-7xxx-4bc4-97a0-0ec2sifa5aaa\"}";

	ck_assert_says(&s, body, "(a text that contains the address)");
}

/* A mail server that repeats what it was logged in with, whole or without the user; that is no library's
 * doing, so no length is too short. */
TEST(the_password_never_shows)
{
	static const struct {
		const char *secret, *says, *shown;
	} rows[] = {
		{ "hunter2", "535 no such login: bob/hunter2", "(a text that contains the secret)" },
		{ "bob:hunter2", "535 hunter2 is not the password", "(a text that contains the secret)" },
		{ "a:b", "535 (a:b)", "(a text that contains the secret)" },
		{ "hunter2", "535 authentication failed", "authentication failed" },
		{ "bob:", "535 bob: who?", "(a text that contains the secret)" },
		{ "bob:", "535 who is bob?", "who is bob?" },
		{ NULL, "535 authentication failed", "authentication failed" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct sink_settings s =
			sink_of_type(SINK_EMAIL, "smtps://mail.example", rows[i].secret, LANGUAGE_EN);

		ck_assert_says(&s, rows[i].says, rows[i].shown);
	}
}

/* -- how often -- */

TEST_LOOP(limits_hold_in_every_window, 0, SINK_TYPE__MAX)
{
	const struct sink_ops *ops = sink_ops_of((uint64_t)_i);
	const size_t second = ops->per_second, minute = ops->per_minute;
	struct sink_limit l = { 0 };
	uint64_t sent[300], now = 1000;

	for (size_t i = 0; i < 300; i++) {
		now += sink_limit_wait(&l, ops->per_second, ops->per_minute, now);
		ck_assert_uint_eq(sink_limit_wait(&l, ops->per_second, ops->per_minute, now), 0);
		sink_limit_sent(&l, now);
		sent[i] = now;
		if (second > 0 && i >= second)
			ck_assert_uint_ge(sent[i] - sent[i - second], 1000);
		if (minute > 0 && i >= minute)
			ck_assert_uint_ge(sent[i] - sent[i - minute], 60000);
	}
	/* and no slower than it must be */
	ck_assert(minute == 0 || sent[minute - 1] - sent[0] <= 60000);
}

SUITE("reporter/sink_answers");
