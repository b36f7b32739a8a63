/* test_short_line.c - the reason of an action at a glance. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/unicode.h"
#include "tests/suite.h"
#include "text/short_line.h"
#include "text/texts.h"

#define IMAGE "registry.example.com/shop/web:1.2.3"

static char *line_of(const char *image, const char *said, const char *evicted, const char *node)
{
	struct facts detail = { 0 }, evidence = { 0 };

	facts_name(&detail, FACT_IMAGE, STR_C(image));
	facts_quoted(&detail, FACT_MESSAGE, STR_C(said));
	facts_quoted(&detail, FACT_POD_MESSAGE, STR_C(evicted));
	facts_name(&evidence, FACT_NODE, STR_C(node));
	return short_line(&detail, &evidence, LANGUAGE_EN);
}

TEST_LOOP(what_it_says, 0, 7)
{
	static const struct {
		const char *image, *said, *evicted, *line;
	} cases[] = {
		{ IMAGE,
		  "Back-off pulling image \"" IMAGE
		  "\": ErrImagePull: rpc error: code = NotFound desc = failed to pull: " IMAGE ": not found",
		  "", IMAGE ": not found" },
		{ IMAGE, "dial tcp: lookup registry.example.com: no such host", "", IMAGE ": no such host" },
		{ IMAGE, "unauthorized", "", IMAGE ": unauthorized" },
		{ IMAGE, "", "", "" }, /* it is not known what was answered */
		{ "", "not found", "", "" },
		{ "", "",
		  "The node was low on resource: memory. Threshold quantity: 100Mi, available: 96Mi. ",
		  "The node was low on resource: memory, node n1" },
		{ "", "", "Usage exceeds the limit.", "Usage exceeds the limit, node n1" },
	};
	_cleanup_free_ char *line = line_of(cases[_i].image, cases[_i].said, cases[_i].evicted, "n1");

	ck_assert_str_eq(line, cases[_i].line);
}

TEST(a_node_that_is_shown_is_not_repeated)
{
	struct facts shown = { 0 }, evidence = { 0 };

	facts_name(&shown, FACT_NODE, STR_LIT("n1"));
	facts_add(&evidence, &shown);
	facts_quoted(&evidence, FACT_POD_MESSAGE, STR_LIT("Usage exceeds the limit."));
	_cleanup_free_ char *line = short_line_beside(&shown, NULL, &evidence, LANGUAGE_EN);

	ck_assert_str_eq(line, "Usage exceeds the limit");
}

TEST(an_event_tells_as_well)
{
	struct facts evidence = { 0 };

	facts_name(&evidence, FACT_IMAGE, STR_LIT(IMAGE));
	facts_quoted(&evidence, FACT_CAUSE_TEXT, STR_LIT("Failed to pull image: manifest unknown"));
	_cleanup_free_ char *line = short_line(NULL, &evidence, LANGUAGE_ZH);

	ck_assert_str_eq(line, "镜像 " IMAGE "：manifest unknown");
}

/* Of a text that was cut the answer is lost: its beginning is shown. */
TEST(no_longer_than_a_line_and_cut_between_characters)
{
	char said[700] = "";

	for (size_t i = 0; i < 100; i++)
		memcpy(said + 6 * i, "ä: ö", sizeof("ä: ö"));
	_cleanup_free_ char *cut = line_of(IMAGE, "Back-off: pulling: regis…", "", "");
	_cleanup_free_ char *pod = line_of("", "", said, "");
	size_t chars = 0;

	ck_assert_str_eq(cut, IMAGE ": Back-off: pulling: regis…");
	for (const char *c = pod; *c; c++)
		chars += ((unsigned char)*c & 0xc0) != 0x80;
	ck_assert_uint_eq(chars, SHORT_LINE_MAX);
	ck_assert_str_eq(pod + strlen(pod) - strlen("…"), "…");
	ck_assert_uint_eq(unicode_cut(pod, strlen(pod), strlen(pod)), strlen(pod));
}

TEST(nothing_of_nothing)
{
	_cleanup_free_ char *line = short_line(NULL, NULL, LANGUAGE_EN);

	ck_assert_str_eq(line, "");
}

SUITE("text/short_line");
