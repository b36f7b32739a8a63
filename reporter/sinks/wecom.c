/* wecom.c - the robot of a WeCom (WeChat Work) group.
 * Source: developer.work.weixin.qq.com/document/path/91770 (group robots): markdown of at most 4096 bytes of
 * UTF-8; 20 messages a minute; <@userid> mentions a member; `code` on one line; <font color="info|comment|
 * warning">; success is errcode 0. Error codes (document/path/96213): 40058 too long, 45009 too often,
 * 93000 no such robot, -1 busy.
 * Its markdown is a subset that documents no escapes: what would be a mark is written as the full-width
 * character of the same look. There is no secret: whoever knows the address may send. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/sinks/sink.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "reporter/sinks/markup.h"

#define CONTENT_MAX 4096u
/* The content may take six times its bytes as JSON. */
#define BODY_MAX ((size_t)32 * 1024)

/* User IDs have no case there (document/path/90195): "All" may be everybody, too. */
static bool is_all(const char *who)
{
	return strcasecmp(who + strspn(who, "@"), "all") == 0;
}

static bool mention(FILE *f, const char *who, bool trusted)
{
	if ((is_all(who) && !trusted) || !markup_is_name(who, "_-.@"))
		return false;
	(void)fprintf(f, "<@%s>", who);
	return true;
}

static const struct markup markdown = {
	.escapes = &markup_full_width,
	.bold = "**",
	.bold_end = "**",
	.code = "`",
	.code_end = "`",
	.entry = "",
	.line = "\n",
	.gap = "\n",
	.mention = mention,
};

static const char *const colours[TONE__MAX] = {
	[TONE_GOOD] = "info",
	[TONE_INFO] = "info",
	[TONE_WARNING] = "warning",
	[TONE_BAD] = "warning",
};

static char *render(const struct sink_view *v)
{
	_cleanup_free_ char *title = markup_title(v), *head = markup_text(&markdown, v, title),
			    *rest = markup_document(&markdown, v);
	_cleanup_free_ char *text =
		xasprintf("### <font color=\"%s\">%s</font>\n%s", colours[v->doc->tone], head, rest);

	if (strlen(text) > CONTENT_MAX)
		return NULL;
	return sink_dump(json_pack("{s:s, s:{s:s}}", "msgtype", "markdown", "markdown", "content", text));
}

static const struct sink_code codes[] = {
	{ -1, SINK_AGAIN, SINK_BROKEN, 0, false },
	{ 40058, SINK_REFUSED, SINK_TOO_LARGE, 0, false },
	{ 45009, SINK_AGAIN, SINK_TOO_OFTEN, 60000, false },
	{ 93000, SINK_REFUSED, SINK_BAD_ADDRESS, 0, false },
	{ 0, SINK_ACCEPTED, SINK_NO_CAUSE, 0, false },
};

static bool interpret(const struct http_result *r, struct sink_answer *ret, char **ret_text)
{
	return sink_read_code(r, "errcode", "errmsg", codes, ret, ret_text);
}

const struct sink_ops sink_wecom = {
	.size_max = BODY_MAX,
	.per_minute = 18, /* as we count; its minutes begin elsewhere */
	.forms = 1,
	.content_type = "application/json; charset=utf-8",
	.render = render,
	.interpret = interpret,
};
