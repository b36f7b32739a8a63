/* test_mentions.c - whom a message wakes: an operator whom he wants, somebody in the cluster one person. */
// SPDX-License-Identifier: Apache-2.0
#include <regex.h>

#include "base/xalloc.h"
#include "reporter/sinks/sink.h"
#include "tests/suite.h"
#include "tests/unit/reporter/sink_document.h"

#define NOW_MS 1700000000000
#define EN     LANGUAGE_EN

/* How many people at once are named, in any chat, as an annotation of a workload may have it. */
static const char *const crowds[] = {
	"all",
	"All",
	"ALL",
	"@all",
	"@ALL",
	"@@all",
	"@everyone",
	"everyone",
	"@here",
	"here",
	"channel",
	"group",
	"S0614TZR7",
	"subteam^S0614TZR7",
	"!subteam^S0614TZR7",
	"<!subteam^S0614TZR7>",
	"<!subteam^S0614TZR7|@ops>",
	"<!here>",
	"<!channel>",
	"<!everyone>",
	"<!group>",
	"<!date^0^x|y>",
	"<at id=all></at>",
	"<at user_id=\"all\"></at>",
	"all></at><at id=all",
	"oc_820faa21d7ed275b53d1727a0feaa917",
	"od-4e6ac4d14bcd5071",
	"<at>all</at>",
	"<at>channel</at>",
	"<at>General</at>",
	"<@all>",
	"<@@all>",
	"all><@all",
	"@\xe6\x89\x80\xe6\x9c\x89\xe4\xba\xba",
	"ops@x.y</at><at>all",
};

/* What wakes many, in each of them. By its owner's pages: Slack "Formatting text", Feishu "Mention others in
 * a message" (a text of a post is none), DingTalk "Custom robots", WeCom "Group robots", Teams "Mention
 * support in Adaptive Cards" (a tag, a channel or a team by its type). */
static const struct {
	uint64_t type;
	unsigned form;
	const char *wakes[4];
} bells[] = {
	{ SINK_FEISHU, 0, { "<at id=all", "<at id=o[cd]", "<at user_id" } },
	{ SINK_FEISHU, 1, { "\"user_id\":\"(all|o[cd])" } },
	{ SINK_DINGTALK, 0, { "\"isAtAll\":true", "\"atUserIds\":\\[\"@*all" } },
	{ SINK_WECOM, 0, { "<@+all", "mentioned_list" } },
	{ SINK_SLACK, 0, { "<!", "link_names", "\"parse\"" } },
	{ SINK_TEAMS, 0, { "\"type\":\"(tag|channel|team)\"", "\"id\":\"[^@\"]*\"" } },
};

static bool has(const char *text, const char *pattern)
{
	regex_t re;

	ck_assert_int_eq(regcomp(&re, pattern, REG_EXTENDED | REG_ICASE | REG_NOSUB), 0);
	const bool found = regexec(&re, text, 0, NULL, 0) == 0;

	regfree(&re);
	return found;
}

static void document_with(struct document *d, const char *of_cluster, enum tone tone)
{
	document_init(d, NEWS_ATTENTION, EN, NOW_MS);
	d->tone = tone;
	document_add(&section_add_entry(document_add_section(d, ""), "e")->mentions, of_cluster);
}

static char *body_in_form(uint64_t type, unsigned form, const char *of_operator, const char *of_cluster,
			  enum tone tone)
{
	struct sink_settings s = sink_of_type(type, "https://h/x", NULL, EN);
	struct sink_request rq;
	uint64_t left_out;
	struct document d;

	document_with(&d, of_cluster, tone);
	if (*of_operator)
		str_list_add(&s.mentions, of_operator, strlen(of_operator));
	sink_compose(&s, &d, form, NOW_MS, &rq, &left_out);
	char *body = xstrdup(rq.body);

	sink_request_done(&rq);
	document_done(&d);
	str_list_done(&s.mentions);
	return body;
}

static char *body_with(uint64_t type, const char *of_operator, const char *of_cluster, enum tone tone)
{
	return body_in_form(type, 0, of_operator, of_cluster, tone);
}

TEST_LOOP(clusters_wake_no_crowd, 0, sizeof(bells) / sizeof(bells[0]))
{
	for (size_t c = 0; c < sizeof(crowds) / sizeof(crowds[0]); c++) {
		char *body = body_in_form(bells[_i].type, bells[_i].form, "", crowds[c], TONE_BAD);

		for (size_t i = 0; i < 4 && bells[_i].wakes[i]; i++)
			ck_assert_msg(!has(body, bells[_i].wakes[i]), "%s: %s", crowds[c], body);
		free(body);
	}
}

/* Those that are no chat mention nobody: it is a text among others, for a machine whole, and no recipient. */
TEST(what_is_no_chat_mentions_nobody)
{
	for (size_t c = 0; c < sizeof(crowds) / sizeof(crowds[0]); c++) {
		struct sink_settings s = sink_of_type(SINK_EMAIL, "smtp://ops@h", NULL, EN);
		struct sink_request rq;
		uint64_t left_out;
		struct document d;

		document_with(&d, crowds[c], TONE_BAD);
		sink_compose(&s, &d, 0, NOW_MS, &rq, &left_out);
		char *head = xstrndup(rq.body, (size_t)(strstr(rq.body, "\r\n\r\n") - rq.body));

		ck_assert_msg(!strstr(head, crowds[c]), "%s: %s", crowds[c], head);
		free(head);
		sink_request_done(&rq);
		document_done(&d);
	}
	char *body = body_with(SINK_WEBHOOK, "", "<!subteam^S0614TZR7>", TONE_BAD);

	ck_assert_ptr_nonnull(strstr(body, "\"mentions\":[\"<!subteam^S0614TZR7>\"]"));
	free(body);
}

TEST(operators_mention_whom_they_want_and_clusters_only_people)
{
	static const struct {
		uint64_t type;
		const char *of_operator, *of_cluster;
		const char *is, *is_too, *is_not;
	} rows[] = {
		{ SINK_FEISHU, "all", "ou_12ab", "<at id=all></at>", "<at id=ou_12ab></at>", "@" },
		{ SINK_FEISHU, "ou_9", "all", "<at id=ou_9></at>", "@ all", "<at id=all>" },
		{ SINK_FEISHU, "a@b.c", "team-a", "<at email=a@b.c></at>", "@ team-a", "team-a></at>" },
		{ SINK_DINGTALK, "all", "13800138000", "\"isAtAll\":true", "\"atMobiles\":[\"13800138000\"]",
		  "@@" },
		{ SINK_DINGTALK, "manager1", "all", "\"atUserIds\":[\"manager1\"]", "\"isAtAll\":false",
		  "@all" },
		{ SINK_DINGTALK, "manager1", "ALL", "\"atUserIds\":[\"manager1\"]", "\"isAtAll\":false",
		  "@ALL" },
		{ SINK_WECOM, "wangqing", "li.si", "<@wangqing>", "<@li.si>", "@ " },
		{ SINK_WECOM, "all", "All", "<@all>", "@ All", "<@All>" },
		{ SINK_WECOM, "@all", "@ALL", "<@@all>", "@ @ALL", "<@@ALL>" },
		{ SINK_SLACK, "channel", "U024BE7LH", "<!channel>", "<@U024BE7LH>", "@ " },
		{ SINK_SLACK, "SAZ94GDB8", "here", "<!subteam^SAZ94GDB8>", "@ here", "<!here>" },
		{ SINK_SLACK, "UAZ94GDB8", "S0614TZR7", "<@UAZ94GDB8>", "@ S0614TZR7", "<!" },
		{ SINK_TEAMS, "ops@b.c", "al@b.c", "\"mentioned\":{\"id\":\"ops@b.c\"", "<at>al@b.c</at>",
		  "<at>all" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *bad = body_with(rows[i].type, rows[i].of_operator, rows[i].of_cluster, TONE_BAD);
		char *good = body_with(rows[i].type, rows[i].of_operator, "x", TONE_GOOD);

		ck_assert_msg(strstr(bad, rows[i].is), "%s", bad);
		ck_assert_msg(strstr(bad, rows[i].is_too), "%s", bad);
		ck_assert_msg(!strstr(bad, rows[i].is_not), "%s", bad);
		ck_assert_msg(!strstr(good, rows[i].is), "%s", good);
		free(bad);
		free(good);
	}
}

SUITE("reporter/mentions");
