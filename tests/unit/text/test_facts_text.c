/* test_facts_text.c - facts for people and for programs. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "model/sentence.h"
#include "tests/suite.h"
#include "text/facts_json.h"
#include "text/facts_text.h"
#include "text/texts.h"

static struct facts f;

static void setup(void)
{
	f = (struct facts){ 0 };
}

static void assert_told(const char *en, const char *zh)
{
	_cleanup_free_ char *e = facts_render_in(&f, LANGUAGE_EN), *z = facts_render_in(&f, LANGUAGE_ZH);

	ck_assert_str_eq(e, en);
	ck_assert_str_eq(z, zh);
}

TEST(labels_and_values)
{
	assert_told("", "");
	facts_name(&f, FACT_NODE, STR_LIT("n1"));
	facts_count(&f, FACT_SEEN, 3);
	assert_told("node n1, seen 3", "节点 n1，出现次数 3");
}

TEST(words_of_others_stay_as_they_are)
{
	facts_quoted(&f, FACT_WHY, STR_LIT("yes; no: unknown"));
	facts_name(&f, FACT_NODE, STR_LIT("n1"));
	assert_told("yes; no: unknown; node n1", "yes; no: unknown；节点 n1");
}

static void in_zone(const void *zone, int64_t ms, char ret[static RFC3339_MAX])
{
	(void)snprintf(ret, RFC3339_MAX, "%lld in %s", (long long)ms, (const char *)zone);
}

TEST(times_are_those_of_the_reader)
{
	facts_time(&f, FACT_SETTLED, 1700000000000);
	_cleanup_free_ char *utc = facts_render(&f, NULL);
	_cleanup_free_ char *own =
		facts_render(&f, &(const struct facts_view){ LANGUAGE_EN, in_zone, "Asia/Shanghai" });

	ck_assert_str_eq(utc, "pod gone since 2023-11-14T22:13:20Z");
	ck_assert_str_eq(own, "pod gone since 1700000000000 in Asia/Shanghai");
}

/* As a watcher and a worker find the same: the history keeps what both found. */
TEST(a_statement_is_made_once)
{
	facts_finding(&f, TEXT_FRESH_ATTEMPT);
	facts_finding(&f, TEXT_FRESH_ATTEMPT);
	assert_told("a pod was deleted for a fresh attempt", "已删除一个 Pod，以便重新尝试");
}

TEST(programs_get_an_object)
{
	facts_name(&f, FACT_NODE, STR_LIT("n1"));
	facts_time(&f, FACT_SETTLED, 1700000000000);
	facts_name(&f, FACT_OWNER, STR_LIT("a"));
	facts_name(&f, FACT_OWNER, STR_LIT("b"));
	json_auto_t *o = facts_json(&f);
	_cleanup_free_ char *text = json_dumps(o, JSON_COMPACT);

	ck_assert_str_eq(text,
			 "{\"node\":\"n1\",\"settled\":\"2023-11-14T22:13:20Z\",\"owner\":[\"a\",\"b\"]}");
}

TEST(a_statement_is_filled_from_the_facts_around_it)
{
	facts_finding(&f, TEXT_FRESH_ATTEMPT);
	facts_finding(&f, TEXT_GONE_AT_WRITE);
	facts_name(&f, FACT_NODE, STR_LIT("n1"));
	assert_told("a pod was deleted for a fresh attempt; it was gone when the write arrived; node n1",
		    "已删除一个 Pod，以便重新尝试；写入到达时它已不存在；节点 n1");
}

TEST(facts_of_several_things_are_told_one_behind_the_other)
{
	struct facts one = facts_of(TEXT_OF_SINK), said = { 0 }, whole;

	facts_quoted(&said, FACT_ANSWER, STR_LIT("no; never"));
	facts_name(&one, FACT_SINK, STR_LIT("a"));
	facts_facts(&one, FACT_BECAUSE, &said);
	facts_facts(&f, FACT_EACH, &one);
	one = facts_of(TEXT_MORE_SINKS);
	facts_count(&one, FACT_MORE, 2);
	facts_facts(&f, FACT_EACH, &one);
	assert_told("a: no; never; and 2 more", "a：no; never；另有 2 个");
	whole = f;
	f = facts_of(TEXT_OF_PROCESS);
	facts_name(&f, FACT_ROLE, STR_LIT("worker"));
	assert_told("the worker", "worker");
	facts_facts(&f, FACT_BECAUSE, &whole);
	assert_told("the worker: a: no; never; and 2 more", "worker：a：no; never；另有 2 个");
	json_auto_t *o = facts_json(&whole);
	_cleanup_free_ char *text = json_dumps(o, JSON_COMPACT);

	ck_assert_str_eq(text, "{\"each\":[{\"finding\":[\"OfSink\"],\"sink\":\"a\",\"because\":"
			       "{\"answer\":\"no; never\"}},{\"finding\":[\"MoreSinks\"],\"more\":2}]}");
}

TEST(a_sentence_of_the_configuration_is_told_in_the_readers_language)
{
	char packed[SENTENCE_MAX];

	(void)sentence_make(packed, FILE_UNREAD, "No such file or directory");
	f = facts_of(TEXT_LOAD_ERROR);
	facts_quoted(&f, FACT_PLACE, STR_LIT("/etc/kc"));
	facts_sentence(&f, FACT_SENTENCE, packed);
	assert_told("/etc/kc: cannot be read: No such file or directory",
		    "/etc/kc: 无法读取：No such file or directory");
	json_auto_t *o = facts_json(&f);

	ck_assert_str_eq(json_string_value(json_object_get(o, "sentence")),
			 "cannot be read: No such file or directory");
}

/* Nobody looks into words of others for words of ours. */
TEST_LOOP(what_others_say_stays_byte_for_byte, 0, 4)
{
	static const char *const words[] = {
		"admission webhook \"p\" denied the request: no",
		"created by hand",
		"still starting",
		"no such cluster; it had ended already",
	};
	const enum fact keys[] = { FACT_SERVER_MESSAGE, FACT_WHY, FACT_ANSWER, FACT_SYSTEM };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		setup();
		facts_quoted(&f, keys[i], STR_C(words[_i]));
		assert_told(words[_i], words[_i]);
	}
}

/* What a row says of these facts, and which of them stand beside it. */
static void assert_filled(const char *row, const char *want)
{
	_cleanup_free_ char *line = facts_fill(row, &f, NULL);

	ck_assert_str_eq(line, want);
}

TEST(a_place_holds_the_value_of_its_key)
{
	facts_name(&f, FACT_NODE, STR_LIT("n1"));
	facts_count(&f, FACT_SEEN, 1);
	facts_quoted(&f, FACT_WHY, STR_LIT("a {node} [b]"));
	assert_filled("on {node}", "on n1");
	assert_filled("{why}", "a {node} [b]");
	assert_filled("{seen} {seen|time|times}", "1 time");
	assert_filled("{phase}, {nonsense}, {seen|x}, {node", "?, ?, , {node");
	setup();
	facts_count(&f, FACT_SEEN, 2);
	assert_filled("{seen} {seen|time|times}", "2 times");
}

TEST(a_part_in_brackets_needs_all_of_its_facts)
{
	facts_name(&f, FACT_PHASE, STR_LIT("Failed"));
	assert_filled("phase {phase}[, reason {podReason}]", "phase Failed");
	facts_name(&f, FACT_POD_REASON, STR_LIT("Evicted"));
	assert_filled("phase {phase}[, reason {podReason}]", "phase Failed, reason Evicted");
	assert_filled("[{node}{phase}]", "");
}

/* The places of a row, in the order of their keys. */
static void places_of(const char *row, unsigned n[static FACT__MAX])
{
	for (const char *p = strchr(row, '{'); p; p = strchr(p, '{')) {
		const size_t length = strcspn(++p, "|}");
		const enum fact key = fact_of((struct str){ p, length });

		ck_assert_msg(key < FACT__MAX, "%s: no fact {%.*s}", row, (int)length, p);
		n[key] |= p[length] == '}' ? 1 : 2;
	}
}

TEST(every_place_is_a_fact_in_both_languages)
{
	for (enum text t = 0; t < TEXT__MAX; t++) {
		unsigned en[FACT__MAX] = { 0 }, zh[FACT__MAX] = { 0 };

		places_of(text_in(t, LANGUAGE_EN), en);
		places_of(text_in(t, LANGUAGE_ZH), zh);
		for (enum fact key = 0; key < FACT__MAX; key++) {
			ck_assert_msg((en[key] & 1) == (zh[key] & 1), "%s: {%s}", text_code(t),
				      fact_key(key));
			ck_assert_msg(!(en[key] & 2) || fact_kind(key) == FACT_KIND_COUNT, "%s: {%s|",
				      text_code(t), fact_key(key));
		}
	}
}

TEST(every_statement_has_a_code_of_its_own)
{
	for (enum text t = 0; t < TEXT__MAX; t++) {
		ck_assert_int_eq(text_find(STR_C(text_code(t))), t);
		ck_assert(*text_in(t, LANGUAGE_EN) && *text_in(t, LANGUAGE_ZH));
	}
	ck_assert_int_eq(text_find(STR_LIT("Nonsense")), TEXT__MAX);
}

TEST_MAIN("text/facts_text")
{
	tcase_add_checked_fixture(t, setup, NULL);
}
