/* teams.c - a workflow of Microsoft Teams that posts what a webhook request brings.
 * Sources: learn.microsoft.com, "Create incoming webhooks with Workflows" and "Limits and specifications for
 * Microsoft Teams": a message of type "message" with one Adaptive Card, at most 28 KB, four requests a
 * second, 429 above; 202 (a workflow) or 200 (what it replaces) is a yes. What it replaces says 200, too,
 * when Teams itself refused, and that in the text: "... Microsoft Teams endpoint returned HTTP error 429".
 * "Format cards in Microsoft Teams": an element "<at>name</at>" of the text with an entity that names the
 * user by mail address (UPN) is a mention. adaptivecards.io: a TextBlock is markdown, a TextRun is a text and
 * nothing else, which is why all texts are TextRuns. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/sinks/sink.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "reporter/sinks/markup.h"

#define BODY_MAX ((size_t)27 * 1024)

static const char *const colours[TONE__MAX] = {
	[TONE_GOOD] = "Good",
	[TONE_INFO] = "Accent",
	[TONE_WARNING] = "Warning",
	[TONE_BAD] = "Attention",
};

/* A text as it looks: members of its TextRun beside the text. */
struct look {
	const char *key, *value;
};
static const struct look bold = { "weight", "Bolder" }, code = { "fontType", "Monospace" },
			 small = { "size", "Small" };

struct card {
	json_t *body, *entities;
	const struct sink_view *view;
};

/* A line of its own; gap: away from what is above. Takes text; nothing comes of an empty one. */
static json_t *add_line(const struct card *c, char *text, const struct look *look, bool gap)
{
	json_t *run = json_pack("{s:s, s:s}", "type", "TextRun", "text", text);
	const bool empty = !*text;

	free(text);
	if (empty) {
		json_decref(run);
		return NULL;
	}
	if (look)
		(void)json_object_set_new(run, look->key, json_string(look->value));
	(void)json_array_append_new(c->body, json_pack("{s:s, s:s, s:[o]}", "type", "RichTextBlock",
						       "spacing", gap ? "Medium" : "None", "inlines", run));
	return run;
}

static void add_mention(void *ctx, const char *who, bool trusted)
{
	const struct card *c = ctx;
	_cleanup_free_ char *text = xasprintf("<at>%s</at>", who);

	(void)trusted; /* everybody cannot be mentioned */
	if (!markup_is_mail(who))
		return;
	(void)json_array_append_new(
		c->body, json_pack("{s:s, s:s, s:s}", "type", "TextBlock", "spacing", "None", "text", text));
	(void)json_array_append_new(c->entities,
				    json_pack("{s:s, s:s, s:{s:s, s:s}}", "type", "mention", "text", text,
					      "mentioned", "id", who, "name", who));
}

static void add_lines(const struct card *c, const struct str_list *l)
{
	for (size_t i = 0; i < l->n && i < c->view->lines_max; i++)
		(void)add_line(c, markup_text(NULL, c->view, l->v[i]), NULL, false);
}

static void add_entry(const struct card *c, const struct entry *e)
{
	(void)add_line(c, markup_text(NULL, c->view, e->title), &bold, true);
	add_lines(c, &e->lines);
	if (e->command && strlen(e->command) <= c->view->text_max)
		(void)add_line(c, xstrdup(e->command), &code, false);
}

static json_t *card_json(struct card *c)
{
	const struct sink_view *v = c->view;
	json_t *title = add_line(c, markup_title(v), &bold, false);

	if (title) {
		(void)json_object_set_new(title, "size", json_string("Medium"));
		(void)json_object_set_new(title, "color", json_string(colours[v->doc->tone]));
	}
	add_lines(c, &v->doc->lines);
	for (size_t i = 0; i < v->sections; i++) {
		(void)add_line(c, markup_text(NULL, v, v->doc->sections[i].title), &bold, true);
		for (size_t k = 0; k < v->shown[i]; k++)
			add_entry(c, &v->doc->sections[i].entries[k]);
		(void)add_line(c, markup_more(NULL, v, sink_more(v, i)), NULL, true);
	}
	(void)add_line(c, markup_more(NULL, v, sink_more_sections(v)), NULL, true);
	markup_each_mention(v, add_mention, c);
	(void)add_line(c, markup_text(NULL, v, v->doc->footer ? v->doc->footer : ""), &small, true);
	return json_pack("{s:s, s:s, s:s, s:o, s:{s:s, s:o}}", "$schema",
			 "http://adaptivecards.io/schemas/adaptive-card.json", "type", "AdaptiveCard",
			 "version", "1.2", "body", c->body, "msteams", "width", "Full", "entities",
			 c->entities);
}

static char *render(const struct sink_view *v)
{
	struct card c = { json_array(), json_array(), v };

	return sink_dump(json_pack("{s:s, s:[{s:s, s:n, s:o}]}", "type", "message", "attachments",
				   "contentType", "application/vnd.microsoft.card.adaptive", "contentUrl",
				   "content", card_json(&c)));
}

/* Of "Microsoft Teams endpoint returned HTTP error 429 ..."; 0 when it does not say that. */
static long status_of(const char *body)
{
	static const char words[] = "returned HTTP error ";
	const char *at = strstr(body, words);
	const char *digits = at ? at + sizeof(words) - 1 : "";
	uint64_t status = 0;

	if (at && str_to_u64(digits, strspn(digits, "0123456789"), &status) < 0)
		return 400;
	return (long)status;
}

static bool interpret(const struct http_result *r, struct sink_answer *ret, char **ret_text)
{
	if (!sink_read_status(r, ret, ret_text))
		return false;
	if (status_of(r->body) == 0)
		return true;
	sink_judge_status(status_of(r->body), ret);
	*ret_text = xstrdup(r->body);
	return true;
}

const struct sink_ops sink_teams = {
	.size_max = BODY_MAX,
	.per_second = 3, /* as we count; its seconds begin elsewhere */
	.per_minute = 90,
	.forms = 1,
	.content_type = "application/json; charset=utf-8",
	.render = render,
	.interpret = interpret,
};
