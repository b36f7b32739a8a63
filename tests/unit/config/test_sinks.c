/* test_sinks.c - `sinks`: what is read, what is refused and with which remedy, and that no address is shown.
 * Warnings: golden/config/sinks.out. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "config/config.h"
#include "config/config_print.h"
#include "config/positions.h"
#include "config/table.h"
#include "config/diag.h"
#include "config/url.h"
#include "model/language.h"
#include "model/news.h"
#include "model/sink_types.h"
#include "tests/suite.h"
#include "tests/unit/config/chinese.h"
#include "tests/unit/config/loaded.h"

#define FEISHU   "https://open.feishu.cn/open-apis/bot/v2/hook/HIDE"
#define DINGTALK "https://oapi.dingtalk.com/robot/send?access_token=HIDE"

/* A text with one error, and that error. */
static const struct {
	const char *text, *line;
} errors[] = {
	{ "sinks: [{type: feishu, url: '" FEISHU "'}]", "f:1:9: sinks[].name: missing: write ..." },
	{ "sinks: [{name: a, url: '" FEISHU "'}]", "f:1:9: sinks[].type: missing: write feishu" },
	{ "sinks: [{name: a, urlFile: x}]", "sinks[].type: missing: write ..." },
	{ "sinks: [{name: a, type: feishu}]", "f:1:9: a sink without an address: write urlFile" },
	{ "sinks: [{name: a, type: feishu, url: '" FEISHU "', urlFile: x}]",
	  "sinks[].urlFile: url is given as well: keep one" },
	{ "sinks: [{name: a, type: feishu, url: '" FEISHU "', secret: x, secretFile: x}]",
	  "sinks[].secretFile: secret is given as well: keep one" },
	{ "sinks: [{name: a, type: feishu, url: 'https://hooks.slack.com/services/HIDE'}]",
	  "f:1:33: sinks[].url: hooks.slack.com is the host of a Slack webhook, not of a Feishu bot: write "
	  "type: "
	  "slack" },
	{ "sinks: [{name: a, type: wecom, url: '" DINGTALK "'}]", "write type: dingtalk" },
	{ "sinks: [{name: a, type: webhook, url: 'https://x.westeurope.logic.azure.com/HIDE'}]",
	  "write type: teams" },
	{ "tooManyRestart: {apiurl: 'https://hooks.slack.com/services/HIDE'}",
	  "f:1:18: tooManyRestart.apiurl: hooks.slack.com is the host of a Slack webhook, not of a Feishu "
	  "bot: "
	  "write it in an item of sinks, with type: slack" },
	{ "sinks: [{name: a, type: email, url: 'https://mail/HIDE', from: a@b, to: a@b}]",
	  "the address of a mail server begins with smtp://" },
	{ "sinks: [{name: a, type: slack, url: 'smtps://mail/HIDE'}]",
	  "the address of a Slack webhook begins with https://" },
	{ "sinks: [{name: a, type: email, url: 'smtps://mail', to: [a@b]}]",
	  "f:1:9: sinks[].from: missing: write cleaner@example.com" },
	{ "sinks: [{name: a, type: email, url: 'smtps://mail', from: a@b}]",
	  "sinks[].to: missing: write [sre@example.com]" },
	{ "sinks: [{name: a, type: email, url: 'smtps://u:HIDE@mail', from: a@b, to: a@b}]",
	  "a password in the URL is not supported: write it in secret" },
	{ "sinks: [{name: a, type: feishu, urlFile: x}, {name: a, type: feishu, urlFile: y}]",
	  "f:1:47: sinks[].name: two are called \"a\"" },
	{ "tooManyRestart: {enable: true, namespaces: a, apiurl: '" FEISHU "'}\nsinks: [{name: feishu, type: "
	  "feishu, urlFile: y}]",
	  "f:2:10: sinks[].name: two are called \"feishu\": tooManyRestart.apiurl is one of them" },
	{ "tooManyRestart: {enable: true, namespaces: a}\nsinks: [{name: a, type: feishu, urlFile: y, tell: "
	  "actions}]",
	  "f:1:18: tooManyRestart.enable: there is no apiurl, and no sink is told the report" },
	{ "sinks: [{name: a, type: feishu, url: ''}]", "f:1:38: sinks[].url: the text is empty" },
	{ "sinks: [{name: a, type: dingtalk, url: 'https://oapi.dingtalk.com/robot/send?x=HIDE', secret: "
	  "SECHIDE}]",
	  "f:1:35: sinks[].url: the address of a DingTalk robot holds access_token=..." },
	{ "sinks: [{name: a, type: wecom, url: 'https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key='}]",
	  "f:1:32: sinks[].url: the address of a WeCom robot holds key=...: copy all of it" },
	{ "sinks: [{name: a, type: email, url: 'smtps://mail', from: ab, to: a@b}]",
	  "f:1:53: sinks[].from: \"ab\" is no mail address: write for example cleaner@example.com" },
	{ "sinks: [{name: a, type: email, url: 'smtps://mail', from: a@b, to: [a@b, c]}]",
	  "f:1:64: sinks[].to: \"c\" is no mail address" },
	{ "sinks: [{name: a, type: fieshu, urlFile: y}]", "\"fieshu\" is none of feishu|dingtalk|" },
	{ "sinks: [{name: a, type: 钉钉, urlFile: y}]", "; did you mean dingtalk?" },
	{ "sinks: [{name: a, type: Lark, urlFile: y}]", "; did you mean feishu?" },
	{ "sinks: [{name: a, type: wechat, urlFile: y}]", "; did you mean wecom?" },
	{ "logLevel: mail", "\"mail\" is none of debug|info|warn|error" },
	{ "logLevel: warning", "did you mean warn?" },
	{ "sinks: [{name: a, type: feishu, urlFile: y, tell: [action]}]",
	  "f:1:52: sinks[].tell: \"action\" is none of actions|attention|report; did you mean actions?" },
	{ "sinks: [{name: a, type: feishu, urlFile: y, tell: 'report, x'}]",
	  "sinks[].tell: \"x\" is none of" },
	{ "sinks: [{name: a, type: feishu, urlFile: y, duties: [errimagepull]}]",
	  "is none of deleteEvictedPod|deleteTerminatingPod|errImagePull|" },
	{ "sinks: [{name: a, type: feishu, urlFile: y, namespaces: ['label:team=a']}]",
	  "labels are not known here: write names or patterns" },
	{ "sinks: [{name: a, type: feishu, urlFile: y, proxy: none}]",
	  "f:1:52: sinks[].proxy: the URL does not begin with http:// or socks5h://" },
	{ "sinks: [{name: a, type: feishu, urlFile: y, proxy: 'http://me:HIDE@p:1'}]",
	  "sinks[].proxy: a URL with a user name or password in it is not supported" },
	{ "sinks: [{name: a, type: feishu, urlFile: y, proxy: 'http://p:1/x'}]",
	  "a proxy is SCHEME://HOST:PORT" },
	{ "sinks: [{name: a, type: feishu, urlFile: y, uri: y}]",
	  "unknown key \"sinks[].uri\": did you mean url?" },
	{ "sinks: {name: a}", "f:1:8: sinks is a mapping, a list of mappings was expected" },
	{ "sinks: [feishu]", "f:1:9: an item of sinks is a text, a mapping was expected" },
	{ "sinks: [{name: a, type: feishu, urlFile: y, top: 0}]", "0 is out of range: write 1 to 500" },
	{ "language: fr", "\"fr\" is none of en|zh|auto" },
	{ "tell: {giveUp: 1ms}", "1ms is out of range" },
};

TEST_LOOP(one_error_each, 0, ARRAY_SIZE(errors))
{
	ck_assert_int_lt(load(errors[_i].text), 0);
	ck_assert_uint_eq(diags.errors, 1);
	for (size_t i = 0; i < diags.n; i++) {
		ck_assert_ptr_null(strstr(diags.v[i].text, "HIDE"));
		if (diags.v[i].error)
			ck_assert_msg(strstr(diags.v[i].text, errors[_i].line), "%s", diags.v[i].text);
	}
}

TEST_LOOP(one_error_each_in_chinese, 0, ARRAY_SIZE(errors))
{
	ck_assert_int_lt(load(errors[_i].text), 0);
	diags_in_chinese(&diags);
	ck_assert_uint_eq(diags.errors, 1);
	for (size_t i = 0; i < diags.n; i++) {
		ck_assert_ptr_null(strstr(diags.v[i].text, "HIDE"));
		assert_chinese(diags.v[i].text);
	}
}

static const char all[] =
	"sinks:\n- name: ops\n  type: Email\n  url: smtp://me@HIDE:587\n  secret: HIDE\n"
	"  language: zh\n  tell: report, actions\n  clusters: [prod-*]\n  namespaces: 'a,b*'\n"
	"  duties: crashLoop\n  mention: [all, '13800000000']\n  top: 7\n"
	"  proxy: socks5h://bastion\n  caFile: ca.pem\n  from: a@b\n  to: [c@d, e@f]\n"
	"- {name: other, type: wecom, urlFile: u, secretFile: s}\n";

TEST(every_key_is_read)
{
	ck_assert_msg(load(all) == 0, "%s", diags.n ? diags.v[0].text : "");
	const struct sink_settings *s = config.settings.sinks;

	ck_assert_uint_eq(config.settings.n_sinks, 2);
	ck_assert_str_eq(s->name, "ops");
	ck_assert_uint_eq(s->type, SINK_EMAIL);
	ck_assert_str_eq(s->url, "smtp://me@HIDE:587");
	ck_assert_str_eq(s->secret, "HIDE");
	ck_assert_uint_eq(s->language, LANGUAGE_ZH);
	ck_assert_uint_eq(s->news, 1 << NEWS_REPORT | 1 << NEWS_ACTIONS);
	ck_assert_str_eq(s->clusters.v[0], "prod-*");
	ck_assert_str_eq(s->namespaces.v[1], "b*");
	ck_assert_str_eq(s->duties.v[0], "crashLoop");
	ck_assert_str_eq(s->mentions.v[1], "13800000000");
	ck_assert_uint_eq(s->top, 7);
	ck_assert_str_eq(s->proxy, "socks5h://bastion");
	ck_assert_str_eq(s->ca_file, "ca.pem");
	ck_assert_str_eq(s->from, "a@b");
	ck_assert_str_eq(s->to.v[1], "e@f");
	ck_assert_uint_eq(s[1].type, SINK_WECOM);
	ck_assert_uint_eq(s[1].language, LANGUAGE__MAX); /* of the whole */
	ck_assert_uint_eq(s[1].news, (1 << NEWS__MAX) - 1);
	ck_assert_uint_eq(s[1].top, 20);
	ck_assert_str_eq(s[1].url_file, "u");
	ck_assert_str_eq(s[1].secret_file, "s");
}

TEST(what_is_in_force_shows_no_address)
{
	ck_assert_int_eq(load(all), 0);
	_cleanup_free_ char *text = printed(config_print_effective, &config);
	ck_assert_ptr_null(strstr(text, "HIDE"));
	ck_assert_ptr_nonnull(strstr(text, "    url: \"(hidden)\"\n"));
	ck_assert_ptr_nonnull(strstr(text, "    secret: \"(hidden)\"\n"));
	ck_assert_ptr_nonnull(strstr(text, "    tell: [actions, report]\n"));
}

static bool is_unsigned(const char *text)
{
	loaded_teardown();
	loaded_setup();
	ck_assert_int_eq(load(text), 0);
	for (size_t i = 0; i < diags.n; i++)
		if (strstr(diags.v[i].text, "sinks[].type: unsigned: "))
			return true;
	return false;
}

TEST(a_robot_without_a_signature_is_told)
{
	ck_assert(!is_unsigned("sinks: [{name: a, type: dingtalk, urlFile: u, secretFile: s}]"));
	ck_assert(is_unsigned("sinks: [{name: a, type: dingtalk, urlFile: u}]"));
}

TEST(what_is_in_force_reads_back_equal)
{
	ck_assert_int_eq(
		load("language: zh\ntell: {actions: false, remind: 0s}\nsinks:\n"
		     "- {name: a, type: email, urlFile: u, from: a@b, to: c@d, proxy: 'http://p:1'}\n"
		     "- {name: b, type: teams, urlFile: u, tell: attention, namespaces: ['!x']}\n"),
		0);
	_cleanup_free_ char *first = printed(config_print_effective, &config);
	loaded_teardown();
	loaded_setup();
	ck_assert_msg(load(first) == 0, "%s\n%s", diags.n ? diags.v[0].text : "", first);
	_cleanup_free_ char *second = printed(config_print_effective, &config);
	ck_assert_str_eq(first, second);
}

TEST(as_many_as_there_is_room_for)
{
	char text[SINKS_MAX * 64] = "sinks:\n";
	size_t n = strlen(text);

	for (int i = 0; i < SINKS_MAX; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "- {name: s%d, type: feishu, urlFile: u}\n",
				      i);
	ck_assert_int_lt(load(text), 0);
	ck_assert_uint_eq(diags.errors, 1);
	ck_assert_uint_eq(config.settings.n_sinks, SINKS_MAX - 1);
}

/* The words of a row are the names of a table of the model, in its order. */
static void assert_words(const char *path, const char *(*name)(int), int n)
{
	const struct setting *row = settings_sink_table;
	_cleanup_free_ char *words = xstrdup("");

	while (strcmp(row->path, path) != 0)
		row++;
	for (int i = 0; i < n; i++) {
		char *longer = xasprintf("%s%s%s", words, i ? "|" : "", name(i));

		free(words);
		words = longer;
	}
	ck_assert_str_eq(row->unit, words);
	ck_assert_int_eq(row->kind == SET_ENUM ? row->max : row->max >> (n - 1),
			 row->kind == SET_ENUM ? n - 1 : 1);
}

static const char *type_name(int i)
{
	return sink_type_desc((enum sink_type)i)->name;
}

static const char *name_of_news(int i)
{
	return news_name((enum news)i);
}

TEST(the_words_are_those_of_the_model)
{
	size_t rows = 0;

	assert_words("sinks[].type", type_name, SINK_TYPE__MAX);
	assert_words("sinks[].tell", name_of_news, NEWS__MAX);
	for (const struct setting *row = settings_sink_table; row->path; row++)
		rows++;
	ck_assert_uint_le(rows, ITEM_KEYS_MAX);
}

TEST(schemes_of_a_sink_have_a_port)
{
	for (int t = 0; t < SINK_TYPE__MAX; t++) {
		_cleanup_free_ char *schemes = xstrdup(sink_type_desc((enum sink_type)t)->schemes);

		for (char *next = schemes, *one; (one = strsep(&next, ","));) {
			char text[32];
			enum phrase why;
			struct url u;

			(void)snprintf(text, sizeof(text), "%s://h", one);
			ck_assert_msg(url_parse_as(text, URL_SINKS, &u, &why) == 0 && u.port > 0, "%s", text);
		}
	}
}

TEST_MAIN("config/sinks")
{
	tcase_add_checked_fixture(t, loaded_setup, loaded_teardown);
}
