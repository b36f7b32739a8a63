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
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "base/unicode.h"
#include "base/xalloc.h"
#include "reporter/sinks/sink.h"

#define BODY_MAX   ((size_t)12 * 1024)
#define BLOCKS_MAX 50u
#define TEXT_MAX   3000u
#define HEADER_MAX 150u

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
static const char *mention(const char *who, bool trusted)
{
	return is_id(who, "UW")             ? "user"
	       : trusted && is_id(who, "S") ? "group"
	       : trusted && is_crowd(who)   ? "crowd"
					    : NULL;
}

/* -- blocks -- */

static json_t *text_of(json_t *block)
{
	return json_object_get(json_object_get(block, "text"), "text");
}

static bool is_type(const json_t *block, const char *type)
{
	const char *is = json_string_value(json_object_get(block, "type"));

	return is && strcmp(is, type) == 0;
}

/* Add the text of `next` to that of `block`. False when the two are no sections, or have no room in one. */
static bool join(json_t *block, json_t *next)
{
	json_t *text = text_of(block);
	const char *more = json_string_value(text_of(next));

	if (!is_type(block, "section") || !is_type(next, "section") || !more ||
	    json_string_length(text) + 1 + strlen(more) > TEXT_MAX)
		return false;
	_cleanup_free_ char *both = xasprintf("%s\n%s", json_string_value(text), more);

	return json_string_set(text, both) == 0;
}

/* A header without a text is refused. */
static void cut_header(json_t *text)
{
	const char *s = json_string_value(text);
	const size_t n = unicode_cut(s, strlen(s), HEADER_MAX);

	(void)json_string_setn(text, n > 0 ? s : "-", n > 0 ? n : 1);
}

/* Put texts one under the other, in as few blocks as hold them, and take out the dividers that kept them
 * apart. */
static bool finish(json_t *body)
{
	json_t *blocks = json_object_get(body, "blocks");

	for (size_t i = 0; i < json_array_size(blocks); i++) {
		json_t *block = json_array_get(blocks, i);

		while (join(block, json_array_get(blocks, i + 1)))
			(void)json_array_remove(blocks, i + 1);
		if (is_type(block, "header"))
			cut_header(text_of(block));
	}
	for (size_t i = json_array_size(blocks); i > 0; i--)
		if (is_type(json_array_get(blocks, i - 1), "divider"))
			(void)json_array_remove(blocks, i - 1);
	return json_array_size(blocks) <= BLOCKS_MAX;
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
	if (word.n == 0 || !card_is_name(*ret_text, "_")) {
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
	.form = { { "sinks/slack", ESCAPE_SLACK } },
	.has_code = true,
	.mention = mention,
	.string_max = TEXT_MAX,
	.finish = finish,
	.interpret = interpret,
};
