/* wecom.c - the robot of a WeCom (WeChat Work) group.
 * Source: developer.work.weixin.qq.com/document/path/91770 (group robots): markdown of at most 4096 bytes of
 * UTF-8; 20 messages a minute; <@userid> mentions a member; `code` on one line; <font color="info|comment|
 * warning">; success is errcode 0. Error codes (document/path/96213): 40058 too long, 45009 too often,
 * 93000 no such robot, -1 busy.
 * Its markdown is a subset that documents no escapes: what would be a mark is written as the full-width
 * character of the same look. There is no secret: whoever knows the address may send. */
// SPDX-License-Identifier: Apache-2.0
#include <string.h>
#include <strings.h>

#include "reporter/sinks/sink.h"

#define CONTENT_MAX 4096u
/* The content may take six times its bytes as JSON. */
#define BODY_MAX ((size_t)32 * 1024)

/* User IDs have no case there (document/path/90195): "All" may be everybody, too. */
static bool is_all(const char *who)
{
	return strcasecmp(who + strspn(who, "@"), "all") == 0;
}

static const char *mention(const char *who, bool trusted)
{
	return (is_all(who) && !trusted) || !card_is_name(who, "_-.@") ? NULL : "user";
}

static const struct sink_code codes[] = {
	{ -1, SINK_AGAIN, SINK_BROKEN },
	{ 40058, SINK_REFUSED, SINK_TOO_LARGE },
	{ 45009, SINK_AGAIN, SINK_TOO_OFTEN, 60000 },
	{ 93000, SINK_REFUSED, SINK_BAD_ADDRESS },
	{ 0, SINK_ACCEPTED, SINK_NO_CAUSE },
};

const struct sink_ops sink_wecom = {
	.size_max = BODY_MAX,
	.per_minute = 18, /* as we count; its minutes begin elsewhere */
	.form = { { "sinks/wecom", ESCAPE_FULL_WIDTH } },
	.has_code = true,
	.mention = mention,
	.string_max = CONTENT_MAX,
	.codes = codes,
	.keys = { { "errcode", "errmsg" } },
};
