/* feishu.c - the custom bot of Feishu/Lark. Form 0 is an interactive card, form 1 a post, for bots and groups
 * that refuse cards.
 * Sources: open.feishu.cn, "client-docs/bot-v3/add-custom-bot": a body of at most 20 KB, 5 messages a second
 * and 100 a minute; success is code 0 in the answer, not the HTTP status; the signature is
 * base64(HMAC-SHA256( key = timestamp "\n" secret, message = "")) with seconds, in the body; 9499 bad body,
 * 19001 no such hook, 19021 signature or clock, 19022 address not allowed, 19024 keyword missing, 11232 too
 * often. "feishu-cards/card-components/content-components/rich-text" (JSON 1.0): markdown, <at id=...>, code
 * between three backquotes, and the HTML codes that characters are written as which would be marks. */
// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "reporter/sinks/sink.h"

#define LIMIT ((size_t)20 * 1024)
/* "timestamp" and "sign" with their values. */
#define SIGNATURE_BYTES 96u

/* "all", the ID of a user, or a mail address: what looks like none of them is printed. */
static const char *mention(const char *who, bool trusted)
{
	if (card_is_mail(who))
		return "mail";
	return card_is_name(who, "_-") && (trusted || strncmp(who, "ou_", 3) == 0) ? "user" : NULL;
}

/* -- request and answer -- */

static void request(const struct sink_settings *s, const struct document *doc, int64_t now_ms,
		    struct sink_request *rq)
{
	(void)doc;
	if (!s->secret || !*s->secret)
		return;
	_cleanup_free_ char *key = xasprintf("%" PRId64 "\n%s", now_ms / 1000, s->secret);
	char *unsigned_body = rq->body, sign[SINK_BASE64_MAX];

	sink_hmac_base64(key, "", sign);
	explicit_bzero(key, strlen(key));
	rq->body = xasprintf("{\"timestamp\":\"%" PRId64 "\",\"sign\":\"%s\",%s", now_ms / 1000, sign,
			     unsigned_body + 1);
	free(unsigned_body);
}

static const struct sink_code codes[] = {
	{ 9499, SINK_REFUSED, SINK_OTHER, 0, true },   /* bad body: of a card that it does not take, too */
	{ 11246, SINK_REFUSED, SINK_OTHER, 0, true },  /* the card cannot be read */
	{ 19002, SINK_REFUSED, SINK_OTHER, 0, true },  /* msg_type */
	{ 230099, SINK_REFUSED, SINK_OTHER, 0, true }, /* the card cannot be made */
	{ 11232, SINK_AGAIN, SINK_TOO_OFTEN, 0, false },
	{ 19001, SINK_REFUSED, SINK_BAD_ADDRESS, 0, false },
	{ 19021, SINK_REFUSED, SINK_BAD_SECRET, 0, false },
	{ 19022, SINK_REFUSED, SINK_FORBIDDEN, 0, false },
	{ 19024, SINK_REFUSED, SINK_NO_KEYWORD, 0, false },
	{ 0, SINK_ACCEPTED, SINK_NO_CAUSE, 0, false },
};

const struct sink_ops sink_feishu = {
	.size_max = LIMIT - SIGNATURE_BYTES,
	.per_second = 5,
	.per_minute = 100,
	.form = { { "sinks/feishu", ESCAPE_LARK }, { "sinks/feishu_post", ESCAPE_NONE } },
	.has_code = true,
	.has_buttons = true,
	.mention = mention,
	.request = request,
	.codes = codes,
	.keys = { { "code", "msg" }, { "StatusCode", "StatusMessage" } }, /* the other is the older form */
};
