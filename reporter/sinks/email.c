/* email.c - a mail to the readers of a mail server: the text and the same as a page, which is the report's
 * own (document.html) where there is one. It is sent by http/mail.h; `secret` is the password of the user in
 * the URL, or "USER:PASSWORD" where the URL names none. Sources: RFC 5322 (headers; lines of at most 998
 * bytes), RFC 2045/2046 (multipart/alternative, base64 in lines of 76: no byte of a text ever begins a line
 * with a dot or looks like a boundary), RFC 2047 (words of at most 75 characters in the subject, never half a
 * character in one), RFC 3834 5 (Auto-Submitted: nobody's holiday answers it), RFC 5321 4.2 and RFC 4954 6
 * (replies). The same document has the same Message-ID for ever: what is sent twice is one mail for most
 * servers and programs, but no standard promises that, so a repetition says so in its subject. */
// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <jansson.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/unicode.h"
#include "base/xalloc.h"
#include "model/phrases.h"
#include "reporter/sinks/sink.h"
#include "text/texts.h"
#include "text/templates.h"

/* Servers take 10 MB and more; base64 makes four bytes of three. */
#define LIMIT    ((size_t)4 << 20)
#define PAGE_MAX ((size_t)2 << 20)
/* "=?UTF-8?B?" and "?=" around so many bytes in base64 are 64 characters: with the name before it, 73. */
#define WORD_BYTES 39u
#define LINE_BYTES 57u /* 76 characters */
#define BOUNDARY   "=_ops-pod-cleaner"

/* -- as a mail -- */

static void put_base64(FILE *f, const char *s, size_t n)
{
	char line[80];

	for (size_t at = 0; at < n; at += LINE_BYTES) {
		const size_t k = n - at < LINE_BYTES ? n - at : LINE_BYTES;

		(void)EVP_EncodeBlock((unsigned char *)line, (const unsigned char *)s + at, (int)k);
		(void)fprintf(f, "%s\r\n", line);
	}
}

static bool is_ascii(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s >= 0x80)
			return false;
	return true;
}

static void put_subject(FILE *f, const char *s)
{
	const char *before = "Subject: ";
	size_t n = strlen(s);
	char word[80];

	if (is_ascii(s) && n < 70 && !strstr(s, "=?")) {
		(void)fprintf(f, "Subject: %s\r\n", s);
		return;
	}
	while (n > 0) {
		const size_t k = unicode_cut(s, n, WORD_BYTES);

		(void)EVP_EncodeBlock((unsigned char *)word, (const unsigned char *)s, (int)k);
		(void)fprintf(f, "%s=?UTF-8?B?%s?=\r\n", before, word);
		before = " ";
		s += k;
		n -= k;
	}
}

static void put_date(FILE *f, int64_t at_ms)
{
	const time_t t = (time_t)(at_ms / 1000);
	struct tm tm;
	char text[64];

	(void)gmtime_r(&t, &tm);
	(void)strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S +0000", &tm);
	(void)fprintf(f, "Date: %s\r\n", text);
}

/* Letters, digits and dots alone: what stands there is between angle brackets. */
static void put_id(FILE *f, const struct sink_view *v)
{
	const char *from = v->sink->from ? v->sink->from : "", *at = strrchr(from, '@');

	(void)fputs("Message-ID: <", f);
	for (const char *c = v->doc->id; *c; c++)
		(void)fputc(strchr("<>@ \"", *c) || (unsigned char)*c >= 0x80 ? '.' : *c, f);
	(void)fprintf(f, ".ops-pod-cleaner@%s>\r\n", at && at[1] ? at + 1 : "localhost");
}

static void put_to(FILE *f, const struct str_list *to)
{
	for (size_t i = 0; i < to->n; i++)
		(void)fprintf(f, "%s%s", i == 0 ? "To: " : ",\r\n ", to->v[i]);
	(void)fputs("\r\n", f);
}

static void put_part(FILE *f, const char *type, const char *s)
{
	(void)fprintf(f,
		      "--" BOUNDARY "\r\nContent-Type: %s; charset=utf-8\r\n"
		      "Content-Transfer-Encoding: base64\r\n\r\n",
		      type);
	put_base64(f, s, strlen(s));
}

/* The text and the same as a page. */
static void render_parts(const struct sink_view *v, bool with_page, char **ret_text, char **ret_page)
{
	const struct template_target text = { v->doc->language, ESCAPE_NONE, false },
				     page = { v->doc->language, ESCAPE_HTML, false };
	json_t *data = card_value(v);

	*ret_text = template_render(template_find(STR_C("text"), text.language), &text, data, NULL);
	*ret_page = with_page
			    ? template_render(template_find(STR_C("mail"), page.language), &page, data, NULL)
			    : NULL;
	json_decref(data);
}

static char *render(const struct sink_view *v)
{
	const bool has_page = v->doc->html && strlen(v->doc->html) <= PAGE_MAX;
	_cleanup_free_ char *text = NULL, *own = NULL,
			    *title = v->doc->is_repeat
					     ? xasprintf(phrase(NEWS_REPEAT, v->doc->language), v->doc->title)
					     : xstrdup(v->doc->title);
	char *ret = NULL;
	size_t size;
	FILE *f;

	render_parts(v, !has_page, &text, &own);
	if (!text || (!has_page && !own))
		return NULL;
	f = open_memstream(&ret, &size);
	if (!f)
		abort();
	put_date(f, v->doc->at_ms);
	(void)fprintf(f, "From: %s\r\n", v->sink->from ? v->sink->from : "");
	put_to(f, &v->sink->to);
	put_subject(f, title);
	put_id(f, v);
	(void)fprintf(f,
		      "Auto-Submitted: auto-generated\r\nX-Ops-Pod-Cleaner: %s\r\nMIME-Version: 1.0\r\n"
		      "Content-Type: multipart/alternative; boundary=\"" BOUNDARY "\"\r\n\r\n",
		      news_name(v->doc->kind));
	put_part(f, "text/plain", text);
	put_part(f, "text/html", has_page ? v->doc->html : own);
	(void)fputs("--" BOUNDARY "--\r\n", f);
	(void)fclose(f);
	return ret;
}

/* -- the server and its answer -- */

void email_login(const struct sink_settings *s, char **ret_user, const char **ret_password)
{
	const char *scheme = s->url ? strstr(s->url, "://") : NULL;
	const char *authority = scheme ? scheme + 3 : "";
	const char *colon = s->secret ? strchr(s->secret, ':') : NULL;
	const bool named = memchr(authority, '@', strcspn(authority, "/?#")) != NULL;

	*ret_user = named || !colon ? NULL : xstrndup(s->secret, (size_t)(colon - s->secret));
	*ret_password = *ret_user ? colon + 1 : s->secret;
}

void email_answer(const struct mail_result *m, struct http_result *ret, char **ret_body)
{
	*ret_body = xasprintf("%ld %s", m->status, m->reply);
	*ret = (struct http_result){
		.failure = m->failure,
		.status = 200,
		.sent = m->sent,
		.content_type = "",
		.retry_after_ms = -1,
		.body = *ret_body,
		.body_len = strlen(*ret_body),
		.way = m->way,
		.why = m->refused > 0 && m->failure == HTTP_OK ? facts_of(TEXT_MAIL_NOT_ALL) : m->why,
	};
}

static const struct sink_code replies[] = {
	{ 450, SINK_AGAIN, SINK_TOO_OFTEN }, /* a mailbox is busy, or greylisting */
	{ 451, SINK_AGAIN, SINK_BROKEN },
	{ 452, SINK_AGAIN, SINK_TOO_LARGE },
	{ 530, SINK_REFUSED, SINK_BAD_SECRET }, /* a login, or TLS, is needed */
	{ 534, SINK_REFUSED, SINK_BAD_SECRET },
	{ 535, SINK_REFUSED, SINK_BAD_SECRET },
	{ 538, SINK_REFUSED, SINK_BAD_SECRET },
	{ 550, SINK_REFUSED, SINK_BAD_ADDRESS }, /* no such mailbox */
	{ 551, SINK_REFUSED, SINK_BAD_ADDRESS },
	{ 552, SINK_REFUSED, SINK_TOO_LARGE },
	{ 553, SINK_REFUSED, SINK_BAD_ADDRESS },
	{ 554, SINK_REFUSED, SINK_FORBIDDEN },
	{ 0 },
};

static bool interpret(const struct http_result *r, struct sink_answer *ret, char **ret_text)
{
	const char *text = strchr(r->body, ' ');
	uint64_t code = 0;

	if (!text || str_to_u64(r->body, (size_t)(text - r->body), &code) < 0 || code < 200 || code > 999)
		return false;
	const long status = (long)code;

	ret->code = status;
	ret->verdict = status < 300 ? SINK_ACCEPTED : status < 500 ? SINK_AGAIN : SINK_REFUSED;
	ret->cause = status < 300 ? SINK_NO_CAUSE : status < 500 ? SINK_BROKEN : SINK_FORBIDDEN;
	sink_apply_code(replies, status, text + 1, ret);
	/* Who has read the whole mail refuses that mail. */
	if (r->sent && status >= 500 && ret->cause != SINK_TOO_LARGE)
		ret->cause = SINK_OTHER;
	*ret_text = xstrdup(text + 1);
	return true;
}

const struct sink_ops sink_email = {
	.size_max = LIMIT,
	.form = { { "text", ESCAPE_NONE } },
	.is_mail = true,
	.content_type = "message/rfc822",
	.render = render,
	.interpret = interpret,
};
