/* slack.c - an incoming webhook of Slack.
 * Sources: docs.slack.dev, "Sending messages using incoming webhooks": success is status 200 and the body
 * "ok"; errors are a status and a word. "Rate limits": one message a second, 429 with Retry-After.
 * "Block Kit": at most 50 blocks, a header of 150 characters, 3000 characters of text in a section. Blocks of
 * more than about 13 KB together are refused as msg_blocks_too_long (slackapi/bolt-js issue 2509).
 * "Formatting text": & < > are written as &amp; &lt; &gt;, <@U...> mentions a member, <!subteam^S...> a
 * group,
 * <!here> <!channel> <!everyone> many. Nothing is documented for what makes bold, italic, struck and code:
 * these four are written as a character of the same look. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/sinks/sink.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "base/unicode.h"
#include "base/xalloc.h"
#include "reporter/sinks/markup.h"

#define BODY_MAX   ((size_t)12 * 1024)
#define BLOCKS_MAX 50u
#define TEXT_MAX   3000u
#define HEADER_MAX 150u

static const char *const plain[] = { "&amp;", "&lt;", "&gt;", "∗", "＿", "∼", "ˋ" };
static const struct escapes escapes = { .special = "&<>*_~`", .plain = plain, .lookalike = true };

/* "U024BE7LH" */
static bool is_id(const char *s, const char *kinds)
{
	return strlen(s) >= 9 && strchr(kinds, s[0]) &&
	       strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == strlen(s);
}

static bool is_crowd(const char *s)
{
	return strcmp(s, "here") == 0 || strcmp(s, "channel") == 0 || strcmp(s, "everyone") == 0;
}

/* One person, or, where the operator wrote it, many. */
static bool mention(FILE *f, const char *who, bool trusted)
{
	if (is_id(who, "UW"))
		(void)fprintf(f, "<@%s>", who);
	else if (trusted && is_id(who, "S"))
		(void)fprintf(f, "<!subteam^%s>", who);
	else if (trusted && is_crowd(who))
		(void)fprintf(f, "<!%s>", who);
	else
		return false;
	return true;
}

static const struct markup mrkdwn = {
	.escapes = &escapes,
	.bold = "*",
	.bold_end = "*",
	.code = "`",
	.code_end = "`",
	.entry = "",
	.line = "\n",
	.gap = "\n",
	.mention = mention,
};

/* -- blocks -- */

static json_t *section_block(const char *text)
{
	return json_pack("{s:s, s:{s:s, s:s, s:b}}", "type", "section", "text", "type", "mrkdwn", "text",
			 text, "verbatim", 1);
}

/* Texts one under the other, in as few blocks as hold them. */
struct pack {
	json_t *blocks;
	char *text;
	bool too_long;
};

static void flush(struct pack *p)
{
	if (p->text)
		(void)json_array_append_new(p->blocks, section_block(p->text));
	free(p->text);
	p->text = NULL;
}

static void put(struct pack *p, char *text)
{
	const size_t n = strlen(text);

	p->too_long = p->too_long || n > TEXT_MAX;
	if (p->text && n > 0 && strlen(p->text) + 1 + n <= TEXT_MAX) {
		char *both = xasprintf("%s\n%s", p->text, text);

		free(p->text);
		p->text = both;
	} else if (n > 0) {
		flush(p);
		p->text = TAKE_PTR(text);
	}
	free(text);
}

/* What stands for many things grows when its marks are written out: then less of it is written. */
static char *entry_text(const struct sink_view *v, const struct entry *e)
{
	struct sink_view less = *v;
	char *text = markup_entry(&mrkdwn, v, e);

	while (strlen(text) > TEXT_MAX && less.text_max > 20) {
		free(text);
		less.text_max /= 2;
		text = markup_entry(&mrkdwn, &less, e);
	}
	return text;
}

static void put_section(struct pack *p, const struct sink_view *v, size_t i)
{
	const struct section *s = &v->doc->sections[i];

	flush(p);
	if (*s->title) {
		_cleanup_free_ char *title = markup_text(&mrkdwn, v, s->title);

		put(p, xasprintf("*%s*", title));
	}
	for (size_t k = 0; k < v->shown[i]; k++)
		put(p, entry_text(v, &s->entries[k]));
	put(p, markup_more(&mrkdwn, v, sink_more(v, i)));
}

static json_t *header_block(const char *title)
{
	const size_t n = unicode_cut(title, strlen(title), HEADER_MAX);

	/* A header without a text is refused. */
	return json_pack("{s:s, s:{s:s, s:s%, s:b}}", "type", "header", "text", "type", "plain_text", "text",
			 n > 0 ? title : "-", n > 0 ? n : (size_t)1, "emoji", 0);
}

static json_t *context_block(const struct sink_view *v)
{
	_cleanup_free_ char *text = markup_text(&mrkdwn, v, v->doc->footer);

	return json_pack("{s:s, s:[{s:s, s:s, s:b}]}", "type", "context", "elements", "type", "mrkdwn",
			 "text", text, "verbatim", 1);
}

static char *render(const struct sink_view *v)
{
	_cleanup_free_ char *title = markup_title(v), *fallback = markup_text(&mrkdwn, v, title);
	struct pack p = { .blocks = json_array() };

	(void)json_array_append_new(p.blocks, header_block(title));
	put(&p, markup_head(&mrkdwn, v));
	for (size_t i = 0; i < v->sections; i++)
		put_section(&p, v, i);
	put(&p, markup_more(&mrkdwn, v, sink_more_sections(v)));
	flush(&p);
	if (v->doc->footer && *v->doc->footer)
		(void)json_array_append_new(p.blocks, context_block(v));
	const bool fits = !p.too_long && json_array_size(p.blocks) <= BLOCKS_MAX;
	json_t *body = json_pack("{s:s, s:o}", "text", fallback, "blocks", p.blocks);

	if (fits)
		return sink_dump(body);
	json_decref(body);
	return NULL;
}

/* -- answers -- */

static const struct {
	const char *word;
	enum sink_cause cause;
} words[] = {
	{ "no_service", SINK_BAD_ADDRESS },
	{ "no_active_hooks", SINK_BAD_ADDRESS },
	{ "no_team", SINK_BAD_ADDRESS },
	{ "team_disabled", SINK_BAD_ADDRESS },
	{ "channel_not_found", SINK_BAD_ADDRESS },
	{ "channel_is_archived", SINK_BAD_ADDRESS },
	{ "invalid_token", SINK_BAD_SECRET },
	{ "action_prohibited", SINK_FORBIDDEN },
	{ "posting_to_general_channel_denied", SINK_FORBIDDEN },
};

/* One word, whatever the status. */
static bool interpret(const struct http_result *r, struct sink_answer *ret, char **ret_text)
{
	const struct str word = str_trim((struct str){ r->body, r->body_len }, " \r\n");

	*ret_text = xstrndup(word.p, word.n);
	if (word.n == 0 || !markup_is_name(*ret_text, "_")) {
		free(TAKE_PTR(*ret_text));
		return false;
	}
	ret->verdict = str_is(word, "ok") ? SINK_ACCEPTED : SINK_REFUSED;
	ret->cause = str_is(word, "ok") ? SINK_NO_CAUSE : SINK_OTHER;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (str_is(word, words[i].word))
			ret->cause = words[i].cause;
	return true;
}

const struct sink_ops sink_slack = {
	.size_max = BODY_MAX,
	.per_second = 1,
	.per_minute = 60,
	.forms = 1,
	.content_type = "application/json; charset=utf-8",
	.render = render,
	.interpret = interpret,
};
