/* test_sentence.c - sentences of the configuration: what is packed comes out in either language, and of bytes
 * that nobody vouches for nothing else does. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "model/sentence.h"
#include "tests/suite.h"

static void assert_told(const char *packed, const char *en, const char *zh)
{
	char *e = sentence_text(packed, LANGUAGE_EN), *z = sentence_text(packed, LANGUAGE_ZH);

	ck_assert_str_eq(e, en);
	ck_assert_str_eq(z, zh);
	free(e);
	free(z);
}

TEST(a_sentence_holds_texts_numbers_and_sentences)
{
	char packed[SENTENCE_MAX], inner[SENTENCE_MAX];

	(void)sentence_make(packed, FILE_LARGE, (size_t)64);
	assert_told(packed, "is larger than 64 KiB: is this the right file?",
		    "大于 64 KiB：是否写错了文件？");
	(void)sentence_make(inner, FILE_UNREAD, "No such file");
	(void)sentence_make(packed, SINK_PROBLEM, "", "url", "/a", ": ", inner);
	ck_assert(sentence_ok(STR_C(packed)));
	assert_told(packed, "url: /a: cannot be read: No such file", "url：/a: 无法读取：No such file");
	(void)sentence_make(packed, NO_FILE, WORD(PHRASE_DIAG_PIPE));
	assert_told(packed, "is a pipe, not a regular file", "是管道，不是普通文件");
}

/* Cut anywhere it is told as far as it goes. */
TEST(a_sentence_that_was_cut_is_told)
{
	char packed[SENTENCE_MAX], inner[SENTENCE_MAX], part[SENTENCE_MAX];

	(void)sentence_make(inner, FILE_UNREAD, "No such file");
	(void)sentence_make(packed, SINK_PROBLEM, "", "url", "/a", ": ", inner);
	for (size_t n = 0; n <= strlen(packed); n++) {
		(void)snprintf(part, sizeof(part), "%.*s", (int)n, packed);
		char *text = sentence_text(part, LANGUAGE_ZH);

		ck_assert_ptr_null(strpbrk(text, "\x02\x03\x1f"));
		free(text);
	}
}

TEST(a_text_that_is_no_sentence_stays)
{
	assert_told("", "", "");
	assert_told("no sentence", "no sentence", "no sentence");
	assert_told("\x02NO_SUCH_ROW\x1fx\x1f\x03", "?", "?");
	assert_told("\x02", "?", "?");
}

TEST(only_marks_and_what_is_printable_are_taken)
{
	ck_assert(sentence_ok(STR_LIT("\x02"
				      "DIAG_PIPE\x1f\x03")));
	ck_assert(!sentence_ok(STR_LIT("\x02"
				       "DIAG_PIPE\x1f\x1b[31m\x03")));
	ck_assert(!sentence_ok(STR_LIT("a\nb")));
	ck_assert(!sentence_ok(STR_LIT("\xff")));
}

/* However deep somebody nests it. */
TEST(depth_is_bounded)
{
	char deep[1100];
	size_t n = 0;

	while (n + 16 < sizeof(deep))
		n += (size_t)snprintf(deep + n, sizeof(deep) - n,
				      "\x02"
				      "DIAG_PLUGIN\x1f");
	char *text = sentence_text(deep, LANGUAGE_EN);

	ck_assert_uint_lt(strlen(text), sizeof(deep));
	free(text);
}

SUITE("model/sentence");
