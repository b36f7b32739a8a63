/* test_templates.c - every template and word of the program can be parsed, names what there is, and holds no
 * mark where there must be none; what escapes do, and JSON as templates may write it. */
// SPDX-License-Identifier: Apache-2.0
#include <jansson.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "tests/suite.h"
#include "text/template_files.h"
#include "text/templates.h"

static const struct {
	const char *name, *text[LANGUAGE__MAX];
} words[] = {
#define WORD(ID, en, zh) { #ID, { en, zh } },
#include "text/words.def"
#undef WORD
};

/* -- what is part of the program -- */

struct use {
	const char *of;
	bool used[ARRAY_SIZE(words)];
};

static void see(void *ctx, struct str name)
{
	struct use *u = ctx;

	for (enum language l = 0; l < LANGUAGE__MAX; l++)
		ck_assert_msg(template_find(name, l) != NULL, "%s: no partial %.*s", u->of, STR_ARG(name));
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		u->used[i] = u->used[i] || str_is(name, words[i].name);
}

TEST(templates_name_what_there_is_and_no_word_is_idle)
{
	struct use u = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(template_files); i++) {
		u.of = template_files[i].name;
		mustache_each_partial(template_find(STR_C(u.of), LANGUAGE_EN), see, &u);
	}
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		ck_assert_msg(u.used[i], "no template uses %s", words[i].name);
	ck_assert_ptr_null(template_find(STR_C("nothing"), LANGUAGE_EN));
}

/* Is there a mark of HTML, JSON or a chat outside of tags? */
static bool has_mark(const char *s)
{
	while (*s) {
		const char *tag = strncmp(s, "{{", 2) == 0 ? strstr(s, "}}") : NULL;

		if (!tag && strchr("\"'\\<>&`*_~#[", *s))
			return true;
		s = tag ? tag + 2 : s + 1;
	}
	return false;
}

/* A word without its tags holds no mark, and says the same things in every language. */
TEST(words_hold_no_marks_and_the_same_tags)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		size_t tags[LANGUAGE__MAX] = { 0 };

		for (enum language l = 0; l < LANGUAGE__MAX; l++) {
			const char *s = words[i].text[l];

			ck_assert_msg(*s && !has_mark(s), "%s: %s", words[i].name, s);
			for (; (s = strstr(s, "{{")); s += 2)
				tags[l]++;
			ck_assert_ptr_nonnull(template_find(STR_C(words[i].name), l));
		}
		ck_assert_msg(tags[LANGUAGE_EN] == tags[LANGUAGE_ZH], "%s", words[i].name);
	}
}

/* -- escapes -- */

static char *escaped(enum escape as, bool json, const char *s)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	escape_write(f, as, json, STR_C(s));
	(void)fclose(f);
	return text;
}

TEST(every_mark_is_written_otherwise)
{
	static const struct {
		enum escape as;
		bool json;
		const char *s, *want;
	} rows[] = {
		{ ESCAPE_NONE, false, "<a> \"b\" \\", "<a> \"b\" \\" },
		{ ESCAPE_NONE, true, "<a> \"b\" \\\n", "<a> \\\"b\\\" \\\\\\u000a" },
		{ ESCAPE_HTML, false, "a\u202eb\u3164c", "a?b?c" },
		{ ESCAPE_HTML, false, "<a href='x'>&\"\033\xff重",
		  "&lt;a href=&#39;x&#39;&gt;&amp;&quot;??重" },
		{ ESCAPE_FULL_WIDTH, true, "-*a* [x](y)", "－＊a＊ ［x］(y)" },
		{ ESCAPE_FULL_WIDTH, false, "a-b", "a-b" },
		{ ESCAPE_LARK, true, "+<at id=all>", "&#43;&#60;at id=all&#62;" },
		{ ESCAPE_SLACK, true, "<!here> *b* & \"c\"", "&lt;!here&gt; ∗b∗ &amp; \\\"c\\\"" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *got = escaped(rows[i].as, rows[i].json, rows[i].s);

		ck_assert_str_eq(got, rows[i].want);
	}
	ck_assert(escape_keeps(ESCAPE_LARK, "a*b") && escape_keeps(ESCAPE_SLACK, "a [b]"));
	ck_assert(!escape_keeps(ESCAPE_SLACK, "a*b") && !escape_keeps(ESCAPE_FULL_WIDTH, "a`b"));
}

/* -- templates of JSON -- */

static char *json_of(const char *template, enum escape escape, json_t *data)
{
	const struct template_target target = { LANGUAGE_EN, escape, true };
	struct mustache *m = NULL;
	struct mustache_error e;

	ck_assert_int_eq(mustache_parse(STR_C(template), &m, &e), 0);
	json_t *v = template_render_json(m, &target, data);
	char *ret = v ? json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY) : xstrdup("none");

	json_decref(v);
	json_decref(data);
	mustache_free(&m);
	return ret;
}

TEST(json_may_be_written_in_lines_and_with_commas)
{
	static const struct {
		const char *template, *want;
	} rows[] = {
		{ "[{{#l}}{{.}},\n{{/l}}]", "[1,2]" },
		{ "{\"a\": [1, ], \"b\": 2,\n}", "{\"a\":[1],\"b\":2}" },
		{ "[\"a,]\", \"{,}\"]", "[\"a,]\",\"{,}\"]" },
		{ "[\"\n\t\tone \n\t\ttwo\\n\n\t\"]", "[\"one two\"]" },
		{ "[\"{{s}}\", \"{{{s}}}\"]", "[\"&lt;\\\"],\",\"&lt;\\\"],\"]" },
		{ "[\"\\\\\", \"\\\"\",]", "[\"\\\\\",\"\\\"\"]" },
		{ "[", "none" },
		{ "[,]", "[]" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *got = json_of(rows[i].template, ESCAPE_HTML,
						   json_pack("{s:[i,i], s:s}", "l", 1, 2, "s", "<\"],"));

		ck_assert_msg(strstr(got, i == 4 ? "&lt;&quot;]," : rows[i].want) != NULL, "%s: %s",
			      rows[i].template, got);
	}
}

/* Of a chat {{{ }}} leaves the marks in, but no string can be left by it. */
TEST(no_value_ends_its_string)
{
	_cleanup_free_ char *got =
		json_of("{\"a\":\"{{{s}}}\"}", ESCAPE_SLACK, json_pack("{s:s}", "s", "<x>\",\"b\":\"\\"));

	ck_assert_str_eq(got, "{\"a\":\"<x>\\\",\\\"b\\\":\\\"\\\\\"}");
}

/* Of a page it does not. */
TEST(no_value_is_an_element_of_a_page)
{
	_cleanup_free_ char *got = json_of("[\"{{{s}}}\"]", ESCAPE_HTML, json_pack("{s:s}", "s", "<b>"));

	ck_assert_str_eq(got, "[\"&lt;b&gt;\"]");
}

TEST(values_are_printable)
{
	json_t *v = template_text("a\033b\xff"), *none = template_text(NULL);

	ck_assert_str_eq(json_string_value(v), "a?b?");
	ck_assert_str_eq(json_string_value(none), "");
	json_decref(v);
	json_decref(none);
}

TEST_MAIN("text/templates")
{
	(void)t;
}
