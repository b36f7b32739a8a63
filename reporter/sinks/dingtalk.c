/* dingtalk.c - the custom robot of a DingTalk group.
 * Sources: open.dingtalk.com, "Custom robots: send messages" (robot/custom-robot-access): markdown with a
 * title for the list of chats; "at" holds the mobile numbers and user IDs that the text mentions, or isAtAll;
 * 20 messages a minute, a robot that sends more is blocked for ten minutes; success is errcode 0.
 * "Custom robot security settings": sign = base64(HMAC-SHA256(key = secret, message = timestamp "\n" secret))
 * with milliseconds, both in the query; 310000 signature, keyword or address, its text says which.
 * Error codes 130101 and 410100 too often, 300001 and 400013 no such robot or group, -1 busy.
 * Its markdown is a subset that documents no escapes: what would be a mark is written as the full-width
 * character of the same look. */
// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/url_template.h"
#include "base/xalloc.h"
#include "reporter/sinks/sink.h"

/* Below the 20 KB of a body. */
#define BODY_MAX ((size_t)18 * 1024)
#define BLOCK_MS INT64_C(600000)

static bool is_all(const char *who)
{
	return strcasecmp(who, "all") == 0;
}

static bool is_mobile(const char *who)
{
	return strlen(who) >= 8 && strspn(who, "+-0123456789") == strlen(who);
}

static const char *mention(const char *who, bool trusted)
{
	if (is_all(who))
		return trusted ? "all" : NULL;
	return !card_is_name(who, "+-_.$:") ? NULL : is_mobile(who) ? "mobile" : "user";
}

/* -- request and answer -- */

static const char *sign_of(const void *ctx, struct str key)
{
	(void)key;
	return ctx;
}

static void request(const struct sink_settings *s, const struct document *doc, int64_t now_ms,
		    struct sink_request *rq)
{
	(void)doc;
	if (!s->secret || !*s->secret)
		return;
	_cleanup_free_ char *message = xasprintf("%" PRId64 "\n%s", now_ms, s->secret);
	char sign[SINK_BASE64_MAX], *path = rq->path;

	sink_hmac_base64(s->secret, message, sign);
	explicit_bzero(message, strlen(message));
	_cleanup_free_ char *coded = url_template_fill("{{sign}}", sign_of, sign);

	rq->path = xasprintf("%s%ctimestamp=%" PRId64 "&sign=%s", path, strchr(path, '?') ? '&' : '?', now_ms,
			     coded);
	free(path);
}

static const struct sink_code codes[] = {
	{ -1, SINK_AGAIN, SINK_BROKEN },
	{ 130101, SINK_AGAIN, SINK_TOO_OFTEN, BLOCK_MS },
	{ 410100, SINK_AGAIN, SINK_TOO_OFTEN, BLOCK_MS },
	{ 300001, SINK_REFUSED, SINK_BAD_ADDRESS },
	{ 400013, SINK_REFUSED, SINK_BAD_ADDRESS },
	{ 310000, SINK_REFUSED, SINK_NO_KEYWORD, .word = "keyword" }, /* one code for three things */
	{ 310000, SINK_REFUSED, SINK_FORBIDDEN, .word = " ip " },
	{ 310000, SINK_REFUSED, SINK_BAD_SECRET },
	{ 0, SINK_ACCEPTED, SINK_NO_CAUSE },
};

const struct sink_ops sink_dingtalk = {
	.size_max = BODY_MAX,
	.per_minute = 18, /* as we count; its minutes begin elsewhere */
	.form = { { "sinks/dingtalk", ESCAPE_FULL_WIDTH } },
	.mention = mention,
	.request = request,
	.codes = codes,
	.keys = { { "errcode", "errmsg" } },
};
