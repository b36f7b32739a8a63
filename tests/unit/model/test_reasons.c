/* The table of reasons keeps its own rules: codes fit their message field and are unique. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "model/reasons.h"
#include "tests/suite.h"

START_TEST(codes_are_camel_case_unique_and_short)
{
	for (int i = 0; i < (int)REASON__MAX; i++) {
		const char *code = reason_code((enum reason)i);

		ck_assert(isupper((unsigned char)code[0]));
		ck_assert_uint_le(strlen(code), 48);
		for (const char *c = code; *c; c++)
			ck_assert_msg(isalnum((unsigned char)*c), "%s", code);
		for (int j = 0; j < i; j++)
			ck_assert_str_ne(code, reason_code((enum reason)j));
		ck_assert_uint_gt(strlen(reason_sentence((enum reason)i)), 10);
		ck_assert_uint_ge(strlen(reason_remedy((enum reason)i)), 4);
	}
}
END_TEST

START_TEST(codes_parse_back)
{
	for (int i = 0; i < (int)REASON__MAX; i++)
		ck_assert_int_eq(reason_parse(reason_code((enum reason)i)), i);
	ck_assert_int_eq(reason_parse(""), -1);
	ck_assert_int_eq(reason_parse("evicted"), -1);
	ck_assert_int_eq(reason_parse("EvictedX"), -1);
}
END_TEST

START_TEST(outside_the_table_is_a_question_mark)
{
	ck_assert_str_eq(reason_code(REASON__MAX), "?");
	ck_assert_str_eq(reason_sentence((enum reason) - 1), "?");
	ck_assert_str_eq(reason_remedy(REASON__MAX), "?");
}
END_TEST

TEST_MAIN("model/reasons")
{
	tcase_add_test(t, codes_are_camel_case_unique_and_short);
	tcase_add_test(t, codes_parse_back);
	tcase_add_test(t, outside_the_table_is_a_question_mark);
}
