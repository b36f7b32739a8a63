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

SUITE("cli/output");
