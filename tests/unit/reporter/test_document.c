/* test_document.c - a message for people is the same after it was kept as JSON; its texts are printable. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "reporter/news/document.h"
#include "config/settings.h"
#include "tests/suite.h"

static void make(struct document *d)
{
	document_init(d, NEWS_ATTENTION, LANGUAGE_ZH, 1700000000000);
	d->tone = TONE_BAD;
	document_set(&d->title, "需要处理");
	document_add(&d->lines, "one line");
	struct entry *e = section_add_entry(document_add_section(d, "新出现"), "shop/web");

	entry_set_key(e, "prod/BreakerOpen");
	e->is_over = true;
	e->begin_ms = 1;
	e->end_ms = 2;
	document_add(&e->lines, "many workloads fail");
	document_set(&e->command, "ops-pod-cleaner plan");
	document_add(&e->mentions, "ou_1");
	entry_add_fact(e, "cluster", "prod");
	entry_add_link(e, "page", "https://h/prod");
	d->sections[0].more = 7;
	document_set(&d->footer, "v1");
	d->is_repeat = true;
}

TEST(json_keeps_all_of_it)
{
	struct document d, again;

	make(&d);
	_cleanup_free_ char *json = document_to_json(&d);

	ck_assert_int_eq(document_from_json(json, strlen(json), &again), 0);
	_cleanup_free_ char *twice = document_to_json(&again);

	ck_assert_str_eq(json, twice);
	ck_assert(again.kind == NEWS_ATTENTION && again.tone == TONE_BAD && again.is_repeat);
	ck_assert_int_eq(again.language, LANGUAGE_ZH);
	ck_assert_str_eq(entry_fact(&again.sections[0].entries[0], "cluster"), "prod");
	ck_assert_ptr_null(entry_fact(&again.sections[0].entries[0], "node"));
	ck_assert_int_eq(again.sections[0].entries[0].end_ms, 2);
	document_done(&d);
	document_done(&again);
}

TEST(what_is_no_document_is_refused)
{
	static const char *const bad[] = { "",
					   "{",
					   "[]",
					   "{\"news\":\"gossip\",\"tone\":\"bad\",\"language\":\"en\"}",
					   "{\"news\":\"report\",\"tone\":\"worst\",\"language\":\"en\"}",
					   "{\"news\":\"report\",\"tone\":9,\"language\":\"en\"}",
					   "{\"news\":\"report\",\"tone\":\"bad\",\"language\":\"la\"}",
					   "{\"news\":\"report\",\"tone\":\"bad\"}" };
	struct document d;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ck_assert_int_eq(document_from_json(bad[i], strlen(bad[i]), &d), -EINVAL);
}

TEST(links_are_of_an_entry_and_bring_no_marks)
{
	const struct link_settings links = { (char *)"https://h/{{cluster}}/{{workload}}",
					     (char *)"https://h/{{node}}" };
	struct document d;

	document_init(&d, NEWS_ACTIONS, LANGUAGE_EN, 0);
	struct section *s = document_add_section(&d, "");

	for (int i = 0; i < 3; i++) {
		struct entry *e = section_add_entry(s, "");

		entry_add_fact(e, "cluster", i == 1 ? "" : "a/b");
		entry_add_fact(e, "workload", "web");
		e->is_over = i == 2;
	}
	document_add_links(&d, NULL);
	document_add_links(&d, &links);
	const struct entry *e = d.sections[0].entries;

	ck_assert_uint_eq(e[0].n_links, 1);
	ck_assert_str_eq(e[0].links[0].key, "page");
	ck_assert_str_eq(e[0].links[0].value, "https://h/a%2Fb/web");
	ck_assert_uint_eq(e[1].n_links + e[2].n_links, 0); /* an empty fact; what is over */
	entry_add_link(&d.sections[0].entries[1], "page", "https://h/)[evil](https://e/");
	ck_assert_uint_eq(e[1].n_links, 0);
	document_done(&d);
}

TEST(texts_are_printable)
{
	struct document d;

	document_init(&d, NEWS_REPORT, LANGUAGE_EN, 0);
	document_set(&d.title, "a\033[31mb\nc\xff");
	ck_assert_ptr_null(strpbrk(d.title, "\033\n\xff"));
	document_set(&d.title, NULL);
	ck_assert_str_eq(d.title, "");
	document_done(&d);
}

TEST(text_shows_all_that_people_read)
{
	struct document d;

	make(&d);
	_cleanup_free_ char *text = document_to_text(&d);

	ck_assert_str_eq(text, "（可能重复）需要处理\none line\n\n新出现\n- shop/web\n  many workloads fail\n"
			       "  $ ops-pod-cleaner plan\n  详情: https://h/prod\n- … 另有 7 项\n\nv1\n");
	document_done(&d);
}

TEST_MAIN("reporter/document")
{
	(void)t;
}
