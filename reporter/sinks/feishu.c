/* feishu.c - see feishu.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/sinks/feishu.h"

#include <inttypes.h>
#include <jansson.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "base/xalloc.h"

/* Room for what surrounds the paragraphs: the frame of the message, " (20/20)", timestamp and signature, and
 * the line about what was left out. */
#define FRAME_BYTES 512u

void feishu_sign(const char *secret, int64_t timestamp_s, char ret[static FEISHU_SIGN_MAX])
{
	_cleanup_free_ char *key = xasprintf("%" PRId64 "\n%s", timestamp_s, secret);
	unsigned char mac[EVP_MAX_MD_SIZE];
	unsigned n = 0;

	_Static_assert(FEISHU_SIGN_MAX > 4 * ((32 + 2) / 3), "base64 of a SHA-256");
	if (!HMAC(EVP_sha256(), key, (int)strlen(key), (const unsigned char *)"", 0, mac, &n))
		n = 0;
	(void)EVP_EncodeBlock((unsigned char *)ret, mac, (int)n);
	OPENSSL_cleanse(key, strlen(key));
}

/* -- bodies ---------------------------------------------------------------------------------------------- */

/* One paragraph is one line of a post: an array with one text element. */
static json_t *line_json(const char *s, size_t n)
{
	return json_pack("[{s:s, s:o}]", "tag", "text", "text", json_stringn(s, n));
}

static size_t json_size(const json_t *j)
{
	return json_dumpb(j, NULL, 0, JSON_COMPACT);
}

static size_t line_size(const char *s, size_t n)
{
	json_t *j = line_json(s, n);
	const size_t size = json_size(j) + 1; /* and a comma */

	json_decref(j);
	return size;
}

static size_t title_size(const char *title)
{
	json_t *j = json_string(title);
	const size_t size = j ? json_dumpb(j, NULL, 0, JSON_COMPACT | JSON_ENCODE_ANY) : 0;

	json_decref(j);
	return size;
}

/* Longest start of s, roughly, that ends between two characters and fits. A byte takes 6 in JSON at most, so
 * a step never takes away more than it must. */
static size_t fitting(const char *s, size_t n, size_t room)
{
	size_t size;

	while (n > 0 && (size = line_size(s, n)) > room) {
		n -= 1 + (size - room) / 6 > n ? n : 1 + (size - room) / 6;
		while (n > 0 && ((unsigned char)s[n] & 0xc0) == 0x80)
			n--;
	}
	return n;
}

static size_t room_of(const char *title)
{
	const size_t used = FRAME_BYTES + title_size(title);

	return used + 1024 < FEISHU_BODY_MAX ? FEISHU_BODY_MAX - used : 1024;
}

void feishu_split(const char *title, char *const *paragraphs, size_t n, struct feishu_parts *ret)
{
	const size_t room = room_of(title);
	size_t used = 0;

	*ret = (struct feishu_parts){ .n = 1 };
	for (size_t i = 0; i < n; i++) {
		size_t size = line_size(paragraphs[i], strlen(paragraphs[i]));

		size = size > room ? room : size; /* it will be cut */
		if (used > 0 && used + size > room) {
			if (ret->n == FEISHU_PARTS_MAX) {
				ret->start[ret->n] = i;
				ret->left_out = n - i;
				return;
			}
			ret->start[ret->n++] = i;
			used = 0;
		}
		used += size;
	}
	ret->start[ret->n] = n;
}

static json_t *lines_json(const char *title, char *const *paragraphs, const struct feishu_parts *parts,
			  size_t part)
{
	const size_t room = room_of(title);
	json_t *lines = json_array();

	for (size_t i = parts->start[part]; i < parts->start[part + 1]; i++) {
		const size_t n = strlen(paragraphs[i]);
		const size_t take = line_size(paragraphs[i], n) > room ? fitting(paragraphs[i], n, room) : n;

		(void)json_array_append_new(lines, line_json(paragraphs[i], take));
	}
	if (parts->left_out > 0 && part + 1 == parts->n) {
		_cleanup_free_ char *more = xasprintf("… and %zu more workloads", parts->left_out);

		(void)json_array_append_new(lines, line_json(more, strlen(more)));
	}
	return lines;
}

static void add_signature(json_t *body, const char *secret, int64_t timestamp_s)
{
	char sign[FEISHU_SIGN_MAX];
	_cleanup_free_ char *timestamp = xasprintf("%" PRId64, timestamp_s);

	feishu_sign(secret, timestamp_s, sign);
	(void)json_object_set_new(body, "timestamp", json_string(timestamp));
	(void)json_object_set_new(body, "sign", json_string(sign));
}

char *feishu_body(const char *title, char *const *paragraphs, const struct feishu_parts *parts, size_t part,
		  const char *secret, int64_t timestamp_s)
{
	_cleanup_free_ char *numbered =
		parts->n > 1 ? xasprintf("%s (%zu/%zu)", title, part + 1, parts->n) : xstrdup(title);
	json_t *body = json_object();

	if (secret && *secret)
		add_signature(body, secret, timestamp_s);
	(void)json_object_set_new(body, "msg_type", json_string("post"));
	(void)json_object_set_new(body, "content",
				  json_pack("{s:{s:{s:s, s:o}}}", "post", "zh_cn", "title", numbered,
					    "content", lines_json(title, paragraphs, parts, part)));
	char *ret = json_dumps(body, JSON_COMPACT | JSON_PRESERVE_ORDER);

	json_decref(body);
	return ret;
}

/* -- answers --------------------------------------------------------------------------------------------- */

/* What jansson, curl or the server says goes to the log; the address is a secret and must not. */
static void set_text(struct feishu_answer *a, const char *s, const char *url)
{
	const char *scheme = strstr(url, "://");
	const char *path = strchr(scheme ? scheme + 3 : url, '/');

	if (path && path[1] && strstr(s, path))
		s = "(a text that contains the address of the bot)";
	(void)str_copy_printable(a->text, sizeof(a->text), s, strlen(s));
}

static int64_t integer_of(const json_t *root, const char *key)
{
	const json_t *v = json_object_get(root, key);

	return json_is_integer(v) ? (int64_t)json_integer_value(v) : -1;
}

/* Codes of the bot that ask for another try: 11232 too many messages just now. */
static enum feishu_verdict verdict_of_code(int64_t code)
{
	return code == 0 ? FEISHU_ACCEPTED : code == 11232 ? FEISHU_AGAIN : FEISHU_REFUSED;
}

/* Code and message of the bot's JSON answer; code stays -1 without one. */
static void read_answer(const struct http_result *r, const char *url, struct feishu_answer *ret)
{
	json_t *root = r->body_len > 0 ? json_loadb(r->body, r->body_len, 0, NULL) : NULL;
	const char *msg = json_string_value(json_object_get(root, "msg"));

	ret->code = integer_of(root, "code");
	if (ret->code < 0)
		ret->code = integer_of(root, "StatusCode"); /* the older form */
	if (ret->code >= 0)
		set_text(ret, msg ? msg : "", url);
	json_decref(root);
}

static enum feishu_verdict verdict_of_status(long status)
{
	/* A gateway that gave up waiting does not know what became of the message. */
	if (status == 504)
		return FEISHU_IN_DOUBT;
	return status == 429 || status >= 500 ? FEISHU_AGAIN : FEISHU_REFUSED;
}

static void judge_response(const struct http_result *r, const char *url, struct feishu_answer *ret)
{
	const bool good = r->status >= 200 && r->status < 300;

	read_answer(r, url, ret);
	ret->verdict = ret->code >= 0 ? verdict_of_code(ret->code) : FEISHU_REFUSED;
	if (!good && ret->verdict != FEISHU_AGAIN)
		ret->verdict = verdict_of_status(r->status);
	if (ret->code >= 0)
		return;
	if (good)
		set_text(ret, "the answer is not what a Feishu bot says; check apiurl", url);
	else
		(void)snprintf(ret->text, sizeof(ret->text), "HTTP status %ld", r->status);
}

void feishu_judge(const struct http_result *r, const char *url, struct feishu_answer *ret)
{
	*ret = (struct feishu_answer){ .code = -1, .retry_after_ms = r->retry_after_ms };
	if (r->failure == HTTP_OK) {
		judge_response(r, url, ret);
		return;
	}
	/* An answer that is too large is an answer: the message arrived, what became of it is not known. */
	const bool arrived = r->failure == HTTP_TOO_LARGE || r->failure == HTTP_ABORTED;

	ret->verdict = arrived || (r->sent && r->failure != HTTP_CONNECT) ? FEISHU_IN_DOUBT : FEISHU_AGAIN;
	set_text(ret, r->error, url);
}

/* -- limits ---------------------------------------------------------------------------------------------- */

/* Until the message `back` messages ago is `window` old. */
static uint64_t window_wait(const struct feishu_limit *l, size_t back, uint64_t window, uint64_t now)
{
	if (l->n < back)
		return 0;
	const uint64_t then = l->sent_ms[(l->next + FEISHU_PER_MINUTE - back) % FEISHU_PER_MINUTE];

	return now >= then + window ? 0 : then + window - now;
}

uint64_t feishu_limit_wait(const struct feishu_limit *l, uint64_t now_ms)
{
	const uint64_t second = window_wait(l, FEISHU_PER_SECOND, 1000, now_ms);
	const uint64_t minute = window_wait(l, FEISHU_PER_MINUTE, 60000, now_ms);

	return second > minute ? second : minute;
}

void feishu_limit_sent(struct feishu_limit *l, uint64_t now_ms)
{
	l->sent_ms[l->next] = now_ms;
	l->next = (l->next + 1) % FEISHU_PER_MINUTE;
	if (l->n < FEISHU_PER_MINUTE)
		l->n++;
}
