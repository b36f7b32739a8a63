/* test_email.c - a document as a mail, and what the replies of its server mean. */
// SPDX-License-Identifier: Apache-2.0
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "reporter/sinks/sink.h"
#include "tests/facts_en.h"
#include "tests/suite.h"

#define SENDER "cleaner@example.org"

static char *readers[] = { (char[]){ "ops@example.org" }, (char[]){ "night@example.org" } };
static struct sink_settings sink = { .type = SINK_EMAIL,
				     .url = (char[]){ "smtp://mail.test:587" },
				     .from = (char[]){ SENDER },
				     .to = { readers, 2 } };

static void make(struct document *d, const char *title)
{
	document_init(d, NEWS_ATTENTION, LANGUAGE_ZH, 1795355722000); /* 2026-11-22T13:55:22Z */
	d->tone = TONE_BAD;
	free(d->id);
	d->id = xstrdup("17@a <b>");
	document_set(&d->title, title);
	struct entry *e = section_add_entry(document_add_section(d, "新出现"), "shop/<script>&web");

	document_add(&e->lines, ".镜像 \"web:2\" 无法拉取");
	document_set(&e->command, "ops-pod-cleaner restore 7");
}

static char *compose(const struct document *d)
{
	struct sink_request rq;
	uint64_t left_out;

	sink_compose(&sink, d, 0, 0, &rq, &left_out);
	ck_assert_uint_eq(left_out, 0);
	char *body = xstrdup(rq.body);

	sink_request_done(&rq);
	return body;
}

/* What stands in base64 in the part of that type; the caller frees it. */
static char *part(const char *mail, const char *type)
{
	const char *at = strstr(mail, type);
	_cleanup_free_ char *coded = xcalloc(1, strlen(mail) + 1);
	char *ret = xcalloc(1, strlen(mail) + 1);
	size_t n = 0;

	ck_assert_ptr_nonnull(at);
	at = strstr(at, "\r\n\r\n");
	ck_assert_ptr_nonnull(at);
	for (at += 4; *at && *at != '-'; at++)
		if (*at != '\r' && *at != '\n')
			coded[n++] = *at;
	const int size = EVP_DecodeBlock((unsigned char *)ret, (const unsigned char *)coded, (int)n);

	ck_assert_int_gt(size, 0);
	ret[size] = '\0';
	return ret;
}

/* Lines end with CR LF, are short, and none begins with a dot. */
static void check_lines(const char *mail)
{
	for (const char *line = mail; *line;) {
		const size_t n = strcspn(line, "\n");

		ck_assert_uint_le(n, 79);
		ck_assert_int_ne(line[0], '.');
		ck_assert(n > 0 && line[n] == '\n' && line[n - 1] == '\r');
		for (size_t i = 0; i < n; i++)
			ck_assert_int_lt((unsigned char)line[i], 0x80);
		line += n + 1;
	}
}

TEST(test_a_mail)
{
	struct document d;

	make(&d, "OK");
	_cleanup_free_ char *mail = compose(&d);

	check_lines(mail);
	ck_assert_ptr_eq(strstr(mail, "Date: Sun, 22 Nov 2026 13:55:22 +0000\r\nFrom: " SENDER "\r\n"
				      "To: ops@example.org,\r\n night@example.org\r\nSubject: OK\r\n"
				      "Message-ID: <17.a..b..ops-pod-cleaner@example.org>\r\n"
				      "Auto-Submitted: auto-generated\r\n"
				      "X-Ops-Pod-Cleaner: attention\r\n"),
			 mail);
	_cleanup_free_ char *text = part(mail, "text/plain"), *page = part(mail, "text/html");

	ck_assert_str_eq(text, "OK\n\n新出现\n- shop/<script>&web\n  .镜像 \"web:2\" 无法拉取\n"
			       "  $ ops-pod-cleaner restore 7\n");
	ck_assert_ptr_nonnull(strstr(page, "<html lang=\"zh\">"));
	ck_assert_ptr_nonnull(strstr(page, "shop/&lt;script&gt;&amp;web"));
	ck_assert_ptr_nonnull(strstr(page, "ops-pod-cleaner restore 7"));
	document_done(&d);
}

TEST(test_a_page_of_its_own)
{
	struct document d;

	make(&d, "OK");
	d.html = xstrdup("<!DOCTYPE html><p>the report</p>");
	_cleanup_free_ char *mail = compose(&d), *page = part(mail, "text/html");

	ck_assert_str_eq(page, d.html);
	document_done(&d);
}

/* RFC 2047: words of 75 characters at most, none of which cuts a character; a repetition is the same mail. */
TEST(test_subject)
{
	static const char title[] =
		"集群 prod：有 12 个工作负载需要处理，其中 3 个镜像仓库无法访问（详见正文）";
	struct document d;

	make(&d, title);
	d.is_repeat = true;
	_cleanup_free_ char *mail = compose(&d);
	_cleanup_free_ char *whole = xstrdup("");

	check_lines(mail);
	for (const char *w = mail; (w = strstr(w, "=?UTF-8?B?"));) {
		const char *end = strstr(w, "?=");
		char piece[80];

		ck_assert_int_le(end + 2 - w, 75);
		w += 10;
		const int n =
			EVP_DecodeBlock((unsigned char *)piece, (const unsigned char *)w, (int)(end - w));

		ck_assert_int_gt(n, 0);
		piece[n] = '\0';
		ck_assert_int_ne((unsigned char)piece[0] & 0xc0, 0x80);
		char *longer = xconcat(whole, piece, NULL);

		free(whole);
		whole = longer;
	}
	ck_assert_ptr_nonnull(strstr(whole, title));
	ck_assert_ptr_nonnull(strstr(whole, "可能重复"));
	ck_assert_ptr_nonnull(strstr(mail, "Message-ID: <17.a..b..ops-pod-cleaner@example.org>\r\n"));
	document_done(&d);
}

TEST(test_a_title_that_looks_coded)
{
	struct document d;

	make(&d, "=?UTF-8?B?aGk=?=");
	_cleanup_free_ char *mail = compose(&d);

	ck_assert_ptr_null(strstr(mail, "aGk="));
	document_done(&d);
}

/* -- who logs in -- */

TEST(test_login)
{
	static const struct {
		const char *url, *secret, *user, *password;
	} cases[] = {
		{ "smtp://mail.test", NULL, NULL, NULL },
		{ "smtp://me@mail.test", "pass:word", NULL, "pass:word" },
		{ "smtp://mail.test/me@x", "me@x:pass:word", "me@x", "pass:word" },
		{ "smtp://mail.test", "password", NULL, "password" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct sink_settings s = { .url = xstrdup(cases[i].url),
					   .secret = cases[i].secret ? xstrdup(cases[i].secret) : NULL };
		_cleanup_free_ char *user = NULL;
		const char *password;

		email_login(&s, &user, &password);
		ck_assert_pstr_eq(user, cases[i].user);
		ck_assert_pstr_eq(password, cases[i].password);
		free(s.url);
		free(s.secret);
	}
}

/* -- replies -- */

TEST(test_replies)
{
	static const struct {
		struct mail_result m;
		enum sink_verdict verdict;
		enum sink_cause cause;
		const char *text;
	} cases[] = {
		{ { HTTP_OK, 250, true, 0, "250 queued" }, SINK_ACCEPTED, SINK_NO_CAUSE, "250 queued" },
		{ { HTTP_OK, 250, true, 1, "550 nobody" },
		  SINK_ACCEPTED,
		  SINK_NO_CAUSE,
		  "not for all: 550 nobody" },
		{ { HTTP_OK, 451, true, 0, "451 later" }, SINK_AGAIN, SINK_BROKEN, "451 later" },
		{ { HTTP_OK, 421, false, 0, "421 bye" }, SINK_AGAIN, SINK_BROKEN, "421 bye" },
		{ { HTTP_OK, 535, false, 0, "535 no" }, SINK_BLOCKED, SINK_BAD_SECRET, "535 no" },
		{ { HTTP_OK, 550, false, 0, "550 who?" }, SINK_BLOCKED, SINK_BAD_ADDRESS, "550 who?" },
		{ { HTTP_OK, 571, false, 0, "571 no" }, SINK_BLOCKED, SINK_FORBIDDEN, "571 no" },
		/* what the mail says is the reason, and another one may be taken */
		{ { HTTP_OK, 554, true, 0, "554 spam" }, SINK_REFUSED, SINK_OTHER, "554 spam" },
		{ { HTTP_OK, 550, true, 0, "550 spam" }, SINK_REFUSED, SINK_OTHER, "550 spam" },
		{ { HTTP_OK, 552, true, 0, "552 big" }, SINK_REFUSED, SINK_TOO_LARGE, "552 big" },
		{ { HTTP_CONNECT, 0, false, 0, "refused" }, SINK_AGAIN, SINK_UNREACHABLE, "refused" },
		{ { HTTP_CONNECT, 0, false, 0, "down", { true, 0 } }, SINK_AGAIN, SINK_PROXY, "down" },
		{ { HTTP_CONNECT, 0, false, 0, "login", { true, 407 } }, SINK_BLOCKED, SINK_PROXY, "login" },
		{ { HTTP_BROKEN, 0, false, 0, "cut" }, SINK_AGAIN, SINK_UNREACHABLE, "cut" },
		{ { HTTP_BROKEN, 0, true, 0, "cut" }, SINK_UNKNOWN, SINK_UNREACHABLE, "cut" },
		{ { HTTP_TIMEOUT, 0, true, 0, "late" }, SINK_UNKNOWN, SINK_UNREACHABLE, "late" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *body = NULL;
		struct mail_result m = cases[i].m;
		struct http_result r;
		struct sink_answer a;

		if (m.failure != HTTP_OK) {
			transport_said(&m.why, m.reply);
			m.reply[0] = '\0';
		}
		email_answer(&m, &r, &body);
		sink_interpret(&sink, &r, &a);
		ck_assert_int_eq(a.verdict, cases[i].verdict);
		ck_assert_int_eq(a.cause, cases[i].cause);
		ck_assert_int_eq(a.not_all, cases[i].m.refused > 0);
		ck_assert_str_eq(EN(a.why), cases[i].text);
	}
}

SUITE("reporter/email");
