/* test_output.c - JSON for machines, which people look at all the same. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/view/output.h"
#include "tests/hostile.h"
#include "tests/suite.h"

static char *printed(json_t *root)
{
	FILE *const was = stdout;
	char *text = NULL;
	size_t n = 0;

	stdout = open_memstream(&text, &n);
	output_json(root);
	(void)fclose(stdout);
	stdout = was;
	return text;
}

/* Escaped, so that nothing is lost: read back it is the same. */
TEST_LOOP(hostile_text_is_escaped, 0, 5)
{
	static const char *const texts[] = { "\xc2\x9b[2J", "\xd8\x9c", "\xe2\x80\xa8", "\xf3\xa0\x81\x81",
					     "a\n\"\\\xe9\x87\x8d\xf0\x9f\x98\x80" };
	char *text = printed(json_pack("{s:[s]}", "k", texts[_i]));
	json_t *back = json_loads(text, 0, NULL);

	ck_assert(hostile_is_gone(text));
	ck_assert_str_eq(json_string_value(json_array_get(json_object_get(back, "k"), 0)), texts[_i]);
	ck_assert(_i != 4 || strstr(text, "\xe9\x87\x8d\xf0\x9f\x98\x80"));
	json_decref(back);
	free(text);
}

/* What stands in an answer is kept; what is no answer that we know is said as it came. */
TEST(answers_in_the_readers_language)
{
	static const struct {
		const char *text, *said;
	} cases[] = {
		{ "still starting", "仍在启动" },
		{ "still starting now", "still starting now" },
		{ "the reporter is not running at the moment: see `ops-pod-cleaner status`",
		  "reporter 当前没有运行：用 `ops-pod-cleaner status` 查看" },
		{ "no pod or workload shop/web is in the cache", "缓存中没有 Pod 或工作负载 shop/web" },
		{ "no pod or workload shop/web is in the cache; it is stale",
		  "缓存中没有 Pod 或工作负载 shop/web; it is stale" },
		{ "no pod or workload is in the cache", "no pod or workload is in the cache" },
		{ "action 12 wrote nothing, so there is nothing to take back",
		  "操作 12 没有写入任何内容，无需撤销" },
		{ "pods of the workload that are not shown: 12", "该工作负载还有 12 个 Pod 未显示" },
		{ "", "" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *zh = output_answer(cases[i].text, LANGUAGE_ZH);
		char *en = output_answer(cases[i].text, LANGUAGE_EN);

		ck_assert_str_eq(zh, cases[i].said);
		ck_assert_str_eq(en, cases[i].text);
		free(zh);
		free(en);
	}
}

SUITE("cli/output");
