/* teams.c - a workflow of Microsoft Teams that posts what a webhook request brings.
 * Sources: learn.microsoft.com, "Create incoming webhooks with Workflows" and "Limits and specifications for
 * Microsoft Teams": a message of type "message" with one Adaptive Card, at most 28 KB, four requests a
 * second, 429 above; 202 (a workflow) or 200 (what it replaces) is a yes. What it replaces says 200, too,
 * when Teams itself refused, and that in the text: "... Microsoft Teams endpoint returned HTTP error 429".
 * "Format cards in Microsoft Teams": an element "<at>name</at>" of the text with an entity that names the
 * user by mail address (UPN) is a mention. adaptivecards.io: a TextBlock is markdown, a TextRun is a text and
 * nothing else, which is why all texts are TextRuns. */
// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "reporter/sinks/sink.h"

#define BODY_MAX ((size_t)27 * 1024)

/* Everybody cannot be mentioned. */
static const char *mention(const char *who, bool trusted)
{
	(void)trusted;
	return card_is_mail(who) ? "mail" : NULL;
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
	.form = { { "sinks/teams", ESCAPE_NONE } },
	.has_buttons = true,
	.mention = mention,
	.interpret = interpret,
};
