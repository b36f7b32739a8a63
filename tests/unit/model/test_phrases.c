/* test_phrases.c - every sentence is there in every language, and takes the same arguments in each. */
// SPDX-License-Identifier: Apache-2.0
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "model/phrases.h"
#include "tests/suite.h"

static const char *const ids[PHRASE__MAX] = {
#define PHRASE(ID, en, zh) #ID,
#include "model/phrases.def"
#undef PHRASE
};

/* The conversions of a format, in their order, separated: "%s" and "%-5.1f" as "s|-5.1f|". "%%" is none of
 * them. "bad" where one cannot be read. */
static const char *conversions(const char *format, char ret[static 256])
{
	size_t n = 0;

	for (const char *p = format; *p; p++) {
		if (*p != '%' || *++p == '%')
			continue;
		const size_t flags = strspn(p, "-+ #0123456789.*hljzt");

		if (!p[flags] || !strchr("sduxocfgp", p[flags]) || n + flags + 3 > 256)
			return "bad";
		memcpy(ret + n, p, flags + 1);
		n += flags + 1;
		ret[n++] = '|';
		p += flags;
	}
	ret[n] = '\0';
	return ret;
}

TEST(conversions_are_read)
{
	char buf[256];

	ck_assert_str_eq(conversions("none, 100%%", buf), "");
	ck_assert_str_eq(conversions("%s of %-5zu, %.1f%%", buf), "s|-5zu|.1f|");
	ck_assert_str_eq(conversions("%1$s", buf), "bad");
	ck_assert_str_eq(conversions("at the end %", buf), "bad");
}

TEST(every_language_has_it_and_takes_the_same)
{
	for (enum phrase p = 0; p < PHRASE__MAX; p++) {
		char en[256], other[256];

		ck_assert_msg(*phrase_text(p, LANGUAGE_EN) &&
				      strcmp(conversions(phrase_text(p, LANGUAGE_EN), en), "bad") != 0,
			      "%s", ids[p]);
		for (int l = 0; l < LANGUAGE__MAX; l++) {
			const char *text = phrase_text(p, (enum language)l);

			ck_assert_msg(*text, "%s says nothing in %s", ids[p],
				      language_name((enum language)l));
			ck_assert_msg(strcmp(conversions(text, other), en) == 0,
				      "%s takes %s in English and %s in %s", ids[p], en, other,
				      language_name((enum language)l));
		}
	}
}

/* A column that was copied is a sentence that nobody translated. */
TEST(chinese_is_not_english)
{
	for (enum phrase p = 0; p < PHRASE__MAX; p++) {
		ck_assert_msg(language_of_text(phrase_text(p, LANGUAGE_EN)) == LANGUAGE_EN, "%s", ids[p]);
		ck_assert_msg(strcmp(phrase_text(p, LANGUAGE_ZH), phrase_text(p, LANGUAGE_EN)) != 0, "%s",
			      ids[p]);
	}
}

TEST(a_sentence_stands_once)
{
	for (enum phrase p = 0; p < PHRASE__MAX; p++)
		for (enum phrase q = 0; q < p; q++)
			ck_assert_msg(
				strcmp(phrase_text(p, LANGUAGE_EN), phrase_text(q, LANGUAGE_EN)) != 0 ||
					strcmp(phrase_text(p, LANGUAGE_ZH), phrase_text(q, LANGUAGE_ZH)) != 0,
				"%s is %s", ids[p], ids[q]);
}

/* -- counts -- */

/* Numbers of these are bounds, or what others count. */
static bool is_uncounted(enum phrase p)
{
	static const bool uncounted[PHRASE__MAX] = {
#define PHRASE(ID, en, zh) [PHRASE_##ID] = true,
#include "model/phrases_config.def"
#undef PHRASE
		[PHRASE_REPORT_ON_NODES] = true, /* of one its name is said: REPORT_ON_NODE */
	};

	return uncounted[p];
}

/* Is the end of its name this one? */
static bool has_end(enum phrase p, const char *end)
{
	const size_t n = strlen(ids[p]), k = strlen(end);

	return n > k && strcmp(ids[p] + n - k, end) == 0;
}

/* A text, with n for each of its numbers and "x" for each of its texts. */
static const char *filled(const char *format, unsigned n, char ret[static 512])
{
	size_t at = 0;

	for (const char *p = format; *p && at < 500; p++) {
		if (*p != '%' || p[1] == '%') {
			p += *p == '%';
			ret[at++] = *p;
			continue;
		}
		p += 1 + strspn(p + 1, "-+ #0123456789.*hljzt");
		at += *p == 's' || *p == 'p' ? (size_t)snprintf(ret + at, 512 - at, "x")
					     : (size_t)snprintf(ret + at, 512 - at, "%u", n);
	}
	ret[at] = '\0';
	return ret;
}

/* Does a digit stand before a plural: "0 pods", "2 more pods"? A bound, "63 bytes", has more of them; "1
 * of 1 pods" is said. */
static bool has_plural(const char *text)
{
	for (const char *p = text; *p; p++) {
		const char *word = p + 2;

		if (!isdigit((unsigned char)p[0]) || p[1] != ' ' ||
		    (p > text && isdigit((unsigned char)p[-1])) ||
		    (p - text >= 5 && isdigit((unsigned char)p[-5]) && strncmp(p - 4, " of ", 4) == 0))
			continue;
		word += strncmp(word, "more ", 5) == 0 ? 5 : 0;
		const size_t n = strspn(word, "abcdefghijklmnopqrstuvwxyz");

		if (n > 2 && word[n - 1] == 's')
			return true;
	}
	return false;
}

TEST(plurals_are_found)
{
	ck_assert(has_plural("of 3: 1 pods") && has_plural("and 2 more pods wait"));
	ck_assert(!has_plural("1 pod waits, 1 s, 63 bytes") && !has_plural("pods: 1, nodes: 1 of 2"));
}

/* "1 pods" and "2 pod" are said of no count. */
TEST_LOOP(english_tells_one_from_many, 0, 3)
{
	size_t pairs = 0;

	for (enum phrase p = 0; p < PHRASE__MAX; p++) {
		const bool one = has_end(p, "_ONE"), many = p > 0 && has_end(p - 1, "_ONE");
		char text[512];

		if (is_uncounted(p) || (one && _i != 1) || (many && _i == 1))
			continue;
		(void)filled(phrase_text(p, LANGUAGE_EN), (unsigned)_i, text);
		ck_assert_msg(has_plural(text) == many, "%s: %s", ids[p], text);
		pairs += one || many;
	}
	ck_assert_uint_gt(pairs, 5);
}

/* Each is chosen by phrase_of(), which the compiler holds to the arguments of ID_MANY alone. */
TEST(one_and_many_take_the_same)
{
	for (enum phrase p = 0; p < PHRASE__MAX; p++) {
		char one[256], other[256];

		if (!has_end(p, "_ONE"))
			continue;
		ck_assert_msg(p + 1 < PHRASE__MAX && has_end(p + 1, "_MANY") &&
				      strncmp(ids[p], ids[p + 1], strlen(ids[p]) - 3) == 0,
			      "%s has no _MANY behind it", ids[p]);
		ck_assert_str_eq(conversions(phrase_text(p, LANGUAGE_EN), one),
				 conversions(phrase_text(p + 1, LANGUAGE_EN), other));
	}
}

TEST(the_row_of_a_count_is_chosen)
{
	ck_assert_str_eq(phrase_of(EXPLAIN_MORE_PODS, 0, LANGUAGE_EN), "and %zu more pods");
	ck_assert_str_eq(phrase_of(EXPLAIN_MORE_PODS, 1, LANGUAGE_EN), "and %zu more pod");
	ck_assert_str_eq(phrase_of(EXPLAIN_MORE_PODS, 2, LANGUAGE_EN), "and %zu more pods");
	ck_assert_str_eq(phrase_of(EXPLAIN_MORE_PODS, 1, LANGUAGE_ZH), "另有 %zu 个 Pod");
}

TEST(outside_the_table_is_a_question_mark)
{
	ck_assert_str_eq(phrase_text(PHRASE__MAX, LANGUAGE_EN), "?");
	ck_assert_str_eq(phrase_text(0, LANGUAGE__MAX), "?");
	ck_assert_str_eq(phrase(REMEDY_IS, LANGUAGE_ZH), "处理建议：%s");
}

SUITE("model/phrases");
