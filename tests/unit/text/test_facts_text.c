/* test_facts_text.c - facts for people and for programs. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
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

TEST(programs_get_an_object)
{
	facts_name(&f, FACT_NODE, STR_LIT("n1"));
	facts_time(&f, FACT_SETTLED, 1700000000000);
	facts_said(&f, "a");
	facts_said(&f, "b");
	json_auto_t *o = facts_json(&f);
	_cleanup_free_ char *text = json_dumps(o, JSON_COMPACT);

	ck_assert_str_eq(text,
			 "{\"node\":\"n1\",\"settled\":\"2023-11-14T22:13:20Z\",\"said\":[\"a\",\"b\"]}");
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
