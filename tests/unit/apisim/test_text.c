/* JSON as it is written into text is what jansson writes. */
// SPDX-License-Identifier: Apache-2.0
#include "tests/apisim/text.h"
#include "tests/suite.h"

#include <stdlib.h>
#include <string.h>

static void check_is(struct text *t, const char *expected)
{
	ck_assert_uint_eq(t->size, strlen(expected));
	ck_assert_mem_eq(t->data, expected, t->size);
	text_done(t);
}

TEST(test_json_as_jansson)
{
	static const char *const documents[] = {
		"{}",
		"[]",
		"null",
		"\"\"",
		"[true,false,null,0,-1,9223372036854775807,-9223372036854775808]",
		"[0.5,1.0,1e300,-2.5e-7,1795280000.1234567]",
		"{\"b\":1,\"a\":{\"c\":[],\"d\":{}},\"\":[[1],[2,3]]}",
		"{\"quotes \\\" and \\\\ in keys\":\"\\b\\f\\n\\r\\t\\u0001\\u001f / \\u007f\"}",
		"[\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\",\"\\\"\",\"a\\\"\"]",
	};

	for (size_t i = 0; i < sizeof(documents) / sizeof(documents[0]); i++) {
		json_t *v = json_loads(documents[i], JSON_DECODE_ANY, NULL);
		char *expected = json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY);
		struct text t = { 0 };

		ck_assert_ptr_nonnull(v);
		text_json(&t, v);
		check_is(&t, expected);
		free(expected);
		json_decref(v);
	}
}

TEST(test_zero_byte_in_a_string)
{
	struct text t = { 0 };
	json_t *v = json_stringn("a\0b", 3);

	text_json(&t, v);
	check_is(&t, "\"a\\u0000b\"");
	json_decref(v);
}

/* Every character at every place of a string, whichever of them are looked at together. */
TEST(test_every_character)
{
	for (int c = 0; c < 0x80; c++)
		for (size_t at = 0; at < 20; at++) {
			char s[20] = "abcdefghijklmnopqrs", *expected;
			struct text t = { 0 };
			json_t *v;

			s[at] = (char)c;
			v = json_stringn(s, sizeof(s));
			expected = json_dumps(v, JSON_ENCODE_ANY);
			text_json(&t, v);
			check_is(&t, expected);
			free(expected);
			json_decref(v);
		}
}

TEST(test_numbers)
{
	struct text t = { 0 };

	text_number(&t, INT64_MIN);
	text_string(&t, " ");
	text_number(&t, 0);
	text_string(&t, " ");
	text_seconds(&t, 1795280000.0625);
	text_string(&t, " ");
	text_seconds(&t, 0);
	check_is(&t, "-9223372036854775808 0 1795280000.0625000 0.0000000");
}

TEST(test_it_grows)
{
	struct text t = { 0 };

	for (int i = 0; i < 100000; i++)
		text_string(&t, "abc");
	ck_assert_uint_eq(t.size, 300000);
	ck_assert_mem_eq(t.data + 299997, "abc", 3);
	text_done(&t);
	ck_assert_ptr_null(t.data);
}

SUITE("apisim/text");
