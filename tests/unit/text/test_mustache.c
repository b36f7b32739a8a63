/* test_mustache.c - the engine by cases of its own, which have the names of those of the Mustache
 * specification (github.com/mustache/spec); what is no template, and the limits. */
// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "tests/suite.h"
#include "text/escape.h"
#include "text/mustache.h"

/* Partials as { name: text }, parsed when they are asked for. */
struct partials {
	const json_t *texts;
	struct mustache *parsed[8];
	const char *names[8];
};

static const struct mustache *find(const void *ctx, struct str name)
{
	struct partials *p = (struct partials *)(uintptr_t)ctx;
	const json_t *text = json_object_getn(p->texts, name.p, name.n);
	struct mustache_error e;
	size_t i = 0;

	while (i < 8 && p->names[i] && !str_is(name, p->names[i]))
		i++;
	if (!text || (p->parsed[i] && p->names[i]))
		return text ? p->parsed[i] : NULL;
	ck_assert_int_eq(mustache_parse(STR_C(json_string_value(text)), &p->parsed[i], &e), 0);
	p->names[i] = xstrndup(name.p, name.n);
	return p->parsed[i];
}

static void write_html(const void *ctx, FILE *f, struct str s, bool plain)
{
	(void)ctx;
	escape_write(f, plain ? ESCAPE_NONE : ESCAPE_HTML, false, s);
}

static int render(const char *template, const json_t *data, const json_t *texts, char **ret)
{
	struct partials p = { .texts = texts };
	const struct mustache_target target = { write_html, find, &p };
	struct mustache *m = NULL;
	struct mustache_error e;
	size_t size;

	ck_assert_int_eq(mustache_parse(STR_C(template), &m, &e), 0);
	const int r = mustache_render(m, data, &target, ret, &size);

	mustache_free(&m);
	for (size_t i = 0; i < 8; i++) {
		mustache_free(&p.parsed[i]);
		free((char *)(uintptr_t)p.names[i]);
	}
	return r;
}

TEST(cases_of_the_specification)
{
	json_t *cases = json_load_file(CASES, 0, NULL), *c;
	size_t i;

	ck_assert_uint_gt(json_array_size(cases), 100);
	json_array_foreach (cases, i, c) {
		const char *name = json_string_value(json_object_get(c, "name"));
		_cleanup_free_ char *got = NULL;

		ck_assert_int_eq(render(json_string_value(json_object_get(c, "template")),
					json_object_get(c, "data"), json_object_get(c, "partials"), &got),
				 0);
		ck_assert_msg(strcmp(got, json_string_value(json_object_get(c, "expected"))) == 0, "%s: %s",
			      name, got);
	}
	json_decref(cases);
}

TEST(what_is_no_template_is_refused_by_its_line)
{
	static const struct {
		const char *text;
		enum mustache_fault fault;
		size_t line;
	} bad[] = {
		{ "a\nb {{name", MUSTACHE_UNCLOSED_TAG, 2 },
		{ "{{", MUSTACHE_UNCLOSED_TAG, 1 },
		{ "{{{name}}", MUSTACHE_UNCLOSED_TAG, 1 },
		{ "{{}}", MUSTACHE_BAD_TAG, 1 },
		{ "\n\n{{two words}}", MUSTACHE_BAD_TAG, 3 },
		{ "{{=<% %>=}}", MUSTACHE_BAD_TAG, 1 },
		{ "a\n{{#on}}\nb", MUSTACHE_UNCLOSED_SECTION, 2 },
		{ "{{/on}}", MUSTACHE_NO_SECTION, 1 },
		{ "{{#a}}\n{{#b}}{{/a}}{{/b}}", MUSTACHE_NO_SECTION, 2 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct mustache *m = NULL;
		struct mustache_error e;

		ck_assert_int_eq(mustache_parse(STR_C(bad[i].text), &m, &e), -EINVAL);
		ck_assert_ptr_null(m);
		ck_assert_msg(e.fault == bad[i].fault && e.line == bad[i].line, "%s: %d, line %zu",
			      bad[i].text, e.fault, e.line);
	}
}

TEST(a_template_that_includes_itself_ends)
{
	json_t *texts =
		json_pack("{s:s, s:s}", "self", "{{>self}}", "list", "{{#.}}{{#.}}{{>list}}{{/.}}{{/.}}");
	json_t *data = json_array();
	char *text = NULL;

	ck_assert_int_eq(render("{{>self}}", data, texts, &text), -ELOOP);
	ck_assert_ptr_null(text);
	json_decref(data);
	data = json_pack("{s:{s:i}}", "a", "b", 1);
	ck_assert_int_eq(render("{{#a}}{{>list}}{{/a}}", data, texts, &text), -ELOOP);
	json_decref(data);
	json_decref(texts);
}

TEST(what_grows_beyond_all_bounds_ends)
{
	json_t *list = json_array(), *data;
	char *text = NULL;

	for (int i = 0; i < 300; i++)
		(void)json_array_append_new(list, json_integer(i));
	data = json_pack("{s:o}", "l", list);
	ck_assert_int_eq(render("{{#l}}{{#l}}{{#l}}{{.}}{{/l}}{{/l}}{{/l}}", data, NULL, &text), -E2BIG);
	ck_assert_ptr_null(text);
	json_decref(data);
}

static void count(void *ctx, struct str name)
{
	size_t *n = ctx;

	*n += str_is(name, "a") ? 1 : str_is(name, "b") ? 10 : 0;
}

TEST(partials_are_named)
{
	struct mustache *m = NULL;
	struct mustache_error e;
	size_t n = 0;

	ck_assert_int_eq(mustache_parse(STR_C("{{>a}}{{#x}}{{> b }}{{c}}{{/x}}"), &m, &e), 0);
	mustache_each_partial(m, count, &n);
	ck_assert_uint_eq(n, 11);
	mustache_free(&m);
}

TEST_MAIN("text/mustache")
{
	tcase_set_timeout(t, 60);
}
