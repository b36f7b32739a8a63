/* feishu.c - the custom bot of Feishu/Lark. Form 0 is an interactive card, form 1 a post, for bots and groups
 * that refuse cards.
 * Sources: open.feishu.cn, "client-docs/bot-v3/add-custom-bot": a body of at most 20 KB, 5 messages a second
 * and 100 a minute; success is code 0 in the answer, not the HTTP status; the signature is
 * base64(HMAC-SHA256( key = timestamp "\n" secret, message = "")) with seconds, in the body; 9499 bad body,
 * 19001 no such hook, 19021 signature or clock, 19022 address not allowed, 19024 keyword missing, 11232 too
 * often. "feishu-cards/card-components/content-components/rich-text" (JSON 1.0): markdown, <at id=...>, code
 * between three backquotes, and the HTML codes that characters are written as which would be marks. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/sinks/sink.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "reporter/sinks/markup.h"

#define LIMIT ((size_t)20 * 1024)
/* "timestamp" and "sign" with their values. */
#define SIGNATURE_BYTES 96u

enum form { CARD, POST, FORMS };

static const char *const plain[] = { "&#60;", "&#62;", "&#42;", "&#126;", "&#95;", "&#96;", "&#91;", "&#93;",
				     "&#40;", "&#41;", "&#35;", "&#33;",  "&#92;", "&#38;", "&#36;" };

static const char *const plain_first[] = { "&#45;", "&#43;", "&#61;" };
static const struct escapes entities = {
	.special = "<>*~_`[]()#!\\&$",
	.plain = plain,
	.special_first = "-+=",
	.plain_first = plain_first,
};

static bool is_open_id(const char *who)
{
	return strncmp(who, "ou_", 3) == 0;
}

/* "all", the ID of a user, or a mail address: what looks like none of them is printed. */
static bool mention(FILE *f, const char *who, bool trusted)
{
	if (markup_is_mail(who))
		(void)fprintf(f, "<at email=%s></at>", who);
	else if (markup_is_name(who, "_-") && (trusted || is_open_id(who)))
		(void)fprintf(f, "<at id=%s></at>", who);
	else
		return false;
	return true;
}

static const struct markup lark_md = {
	.escapes = &entities,
	.bold = "**",
	.bold_end = "**",
	.code = "```\n",
	.code_end = "\n```",
	.entry = "",
	.line = "\n",
	.gap = "\n\n",
	.mention = mention,
};

/* -- the card -- */

static const char *const templates[TONE__MAX] = {
	[TONE_GOOD] = "green",
	[TONE_INFO] = "blue",
	[TONE_WARNING] = "orange",
	[TONE_BAD] = "red",
};

static void add_markdown(json_t *elements, char *text)
{
	if (*text)
		(void)json_array_append_new(elements,
					    json_pack("{s:s, s:s}", "tag", "markdown", "content", text));
	free(text);
}

static json_t *plain_text(char *text)
{
	json_t *ret = json_pack("{s:s, s:s}", "tag", "plain_text", "content", text);

	free(text);
	return ret;
}

static json_t *card_json(const struct sink_view *v)
{
	const struct document *doc = v->doc;
	json_t *elements = json_array();

	add_markdown(elements, markup_head(&lark_md, v));
	for (size_t i = 0; i < v->sections; i++) {
		char *text = markup_section(&lark_md, v, i);

		if (*text && json_array_size(elements) > 0)
			(void)json_array_append_new(elements, json_pack("{s:s}", "tag", "hr"));
		add_markdown(elements, text);
	}
	add_markdown(elements, markup_more(&lark_md, v, sink_more_sections(v)));
	if (doc->footer)
		(void)json_array_append_new(elements,
					    json_pack("{s:s, s:[o]}", "tag", "note", "elements",
						      plain_text(markup_text(NULL, v, doc->footer))));
	return json_pack("{s:s, s:{s:{s:b}, s:{s:s, s:o}, s:o}}", "msg_type", "interactive", "card", "config",
			 "wide_screen_mode", 1, "header", "template", templates[doc->tone], "title",
			 plain_text(markup_title(v)), "elements", elements);
}

/* -- the post: lines of text that knows no marks -- */

static const struct markup no_markup = {
	.bold = "",
	.bold_end = "",
	.entry = "- ",
	.line = "\n  ",
	.gap = "\n",
};

/* Whom a post mentions stands in elements of its own; it knows no mail addresses. */
static void add_at(void *ctx, const char *who, bool trusted)
{
	if (markup_is_name(who, "_-") && (trusted || is_open_id(who)))
		(void)json_array_append_new(ctx, json_pack("{s:s, s:s}", "tag", "at", "user_id", who));
}

static json_t *post_json(const struct sink_view *v)
{
	_cleanup_free_ char *title = markup_title(v), *text = markup_document(&no_markup, v);
	json_t *lines = json_pack("[[{s:s, s:s}]]", "tag", "text", "text", text), *at = json_array();

	markup_each_mention(v, add_at, at);
	if (json_array_size(at) > 0)
		(void)json_array_append(lines, at);
	json_decref(at);
	return json_pack("{s:s, s:{s:{s:{s:s, s:o}}}}", "msg_type", "post", "content", "post", "zh_cn",
			 "title", title, "content", lines);
}

static char *render(const struct sink_view *v)
{
	return sink_dump(v->form == CARD ? card_json(v) : post_json(v));
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

static bool interpret(const struct http_result *r, struct sink_answer *ret, char **ret_text)
{
	return sink_read_code(r, "code", "msg", codes, ret, ret_text) ||
	       sink_read_code(r, "StatusCode", "StatusMessage", codes, ret, ret_text); /* the older form */
}

const struct sink_ops sink_feishu = {
	.size_max = LIMIT - SIGNATURE_BYTES,
	.per_second = 5,
	.per_minute = 100,
	.forms = FORMS,
	.content_type = "application/json; charset=utf-8",
	.render = render,
	.request = request,
	.interpret = interpret,
};
