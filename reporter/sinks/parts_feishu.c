/* parts_feishu.c - the custom bot of Feishu/Lark as the digest posts to it (post_feishu of parts.h).
 * Source: open.feishu.cn, client-docs/bot-v3/add-custom-bot: body up to 20 KB, 5 messages a second and 100 a
 * minute, success is code 0 in the JSON answer and not the HTTP status. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/sinks/parts.h"

#include <inttypes.h>
#include <jansson.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"

/* Largest body made, below the bot's 20 KB. */
#define BODY_MAX ((size_t)18 * 1024)
/* Room for what surrounds the paragraphs: the frame of the message, " (20/20)", timestamp and signature, and
 * the line about what was left out. */
#define FRAME_BYTES 512u
/* The bot's code for too many messages just now. */
#define CODE_TOO_MANY 11232

static bool accepts(const char *url)
{
	(void)url; /* Lark and what stands in for the bot in a private network have other hosts */
	return true;
}

/* -- bodies -- */

/* One paragraph is one line of a post: an array with one text element. */
static json_t *line_json(const char *s, size_t n)
{
	return json_pack("[{s:s, s:o}]", "tag", "text", "text", json_stringn(s, n));
}

static json_t *lines_json(const struct sink_message *m)
{
	json_t *lines = json_array();

	for (size_t i = m->parts->start[m->part]; i < m->parts->start[m->part + 1]; i++)
		(void)json_array_append_new(
			lines,
			line_json(m->paragraphs[i], sink_fitting(&post_feishu, m->title, m->paragraphs[i])));
	if (m->parts->left_out > 0 && m->part + 1 == m->parts->n) {
		_cleanup_free_ char *more = xasprintf("… and %zu more workloads", m->parts->left_out);

		(void)json_array_append_new(lines, line_json(more, strlen(more)));
	}
	return lines;
}

/* sign: base64(HMAC-SHA256(key = "<timestamp>\n<secret>", message = "")); timestamp in seconds. */
static void add_signature(json_t *body, const struct sink_message *m)
{
	_cleanup_free_ char *timestamp = xasprintf("%" PRId64, m->timestamp_s);
	_cleanup_free_ char *key = xasprintf("%s\n%s", timestamp, m->secret);
	unsigned char mac[EVP_MAX_MD_SIZE], sign[4 * ((EVP_MAX_MD_SIZE + 2) / 3) + 1];
	unsigned n = 0;

	if (!HMAC(EVP_sha256(), key, (int)strlen(key), (const unsigned char *)"", 0, mac, &n))
		n = 0;
	(void)EVP_EncodeBlock(sign, mac, (int)n);
	OPENSSL_cleanse(key, strlen(key));
	(void)json_object_set_new(body, "timestamp", json_string(timestamp));
	(void)json_object_set_new(body, "sign", json_string((const char *)sign));
}

/* "title (i/n)" when there are several parts; signed when there is a secret. */
static char *render(const struct sink_message *m)
{
	_cleanup_free_ char *numbered =
		m->parts->n > 1 ? xasprintf("%s (%zu/%zu)", m->title, m->part + 1, m->parts->n)
				: xstrdup(m->title);
	json_t *body = json_object();

	if (*m->secret)
		add_signature(body, m);
	(void)json_object_set_new(body, "msg_type", json_string("post"));
	(void)json_object_set_new(body, "content",
				  json_pack("{s:{s:{s:s, s:o}}}", "post", "zh_cn", "title", numbered,
					    "content", lines_json(m)));
	char *ret = json_dumps(body, JSON_COMPACT | JSON_PRESERVE_ORDER);

	json_decref(body);
	return ret;
}

/* -- answers -- */

static int64_t integer_of(const json_t *root, const char *key)
{
	const json_t *v = json_object_get(root, key);

	return json_is_integer(v) ? (int64_t)json_integer_value(v) : -1;
}

static bool interpret(const char *body, size_t n, struct sink_answer *ret, char **ret_text)
{
	json_t *root = n > 0 ? json_loadb(body, n, 0, NULL) : NULL;
	const char *msg = json_string_value(json_object_get(root, "msg"));

	ret->code = integer_of(root, "code");
	if (ret->code < 0)
		ret->code = integer_of(root, "StatusCode"); /* the older form */
	ret->verdict = ret->code == 0               ? SINK_ACCEPTED
		       : ret->code == CODE_TOO_MANY ? SINK_AGAIN
						    : SINK_REFUSED;
	if (ret->code >= 0)
		*ret_text = xstrdup(msg ? msg : "");
	json_decref(root);
	return ret->code >= 0;
}

const struct post_ops post_feishu = {
	.name = "a Feishu bot",
	.content_type = "application/json; charset=utf-8",
	.per_second = 5,
	.per_minute = 100,
	.accepts = accepts,
	.size_max = BODY_MAX,
	.frame = FRAME_BYTES,
	.around = sizeof("[{\"tag\":\"text\",\"text\":}],") - 1,
	.render = render,
	.interpret = interpret,
};
