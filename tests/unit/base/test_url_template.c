/* test_url_template.c - texts of others fill places of a URL and lead nowhere else. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/url_template.h"
#include "tests/suite.h"

static const char *const keys[] = { "ns", "name" };

static const struct {
	const char *template;
	enum url_template_fault fault;
	const char *at;
} cases[] = {
	{ "https://h/{{ns}}?x={{name}}&y=%20#z", URL_TEMPLATE_OK, NULL },
	{ "http://h", URL_TEMPLATE_OK, NULL },
	{ "https://h?x={{ns}}", URL_TEMPLATE_OK, NULL },
	{ "", URL_TEMPLATE_SCHEME, NULL },
	{ "javascript:alert(1)", URL_TEMPLATE_SCHEME, NULL },
	{ "HTTPS://h/", URL_TEMPLATE_SCHEME, NULL },
	{ "https:///{{ns}}", URL_TEMPLATE_HOST, NULL },
	{ "https://{{ns}}/", URL_TEMPLATE_HOST, NULL },
	{ "https://h{{ns}}/", URL_TEMPLATE_HOST, NULL },
	{ "https://h/a b", URL_TEMPLATE_CHARACTER, " " },
	{ "https://h/)", URL_TEMPLATE_CHARACTER, ")" },
	{ "https://h/|{{ns}}", URL_TEMPLATE_CHARACTER, "|" },
	{ "https://h/{{ns}}\"", URL_TEMPLATE_CHARACTER, "\"" },
	{ "https://h/{{ns", URL_TEMPLATE_CHARACTER, "{" },
	{ "https://h/{ns}", URL_TEMPLATE_CHARACTER, "{" },
	{ "https://h/\xe4\xbd\xa0", URL_TEMPLATE_CHARACTER, "\xe4" },
	{ "https://h/{{nss}}", URL_TEMPLATE_KEY, "nss" },
	{ "https://h/{{ns}}{{#ns}}", URL_TEMPLATE_KEY, "#ns" },
	{ "https://h/{{{ns}}}", URL_TEMPLATE_KEY, "{ns" },
	{ "https://h/{{}}", URL_TEMPLATE_KEY, "" },
};

TEST_LOOP(what_is_wrong, 0, ARRAY_SIZE(cases))
{
	struct str at;

	ck_assert_int_eq(url_template_check(cases[_i].template, keys, ARRAY_SIZE(keys), &at),
			 cases[_i].fault);
	if (cases[_i].at)
		ck_assert(str_eq(at, STR_C(cases[_i].at)));
}

static const char *value(const void *ctx, struct str key)
{
	return str_eq(key, STR_C("ns")) ? ctx : NULL;
}

TEST(places_are_filled)
{
	static const char evil[] = "a-._~/../@h?#&=%|<>()[]\"'`*!\xff {{ns}}";
	_cleanup_free_ char *url = url_template_fill("https://h/{{ns}}/{{ns}}?", value, "x/y");
	_cleanup_free_ char *hostile = url_template_fill("https://h/?q={{ns}}", value, evil);
	struct str at;

	ck_assert_str_eq(url, "https://h/x%2Fy/x%2Fy?");
	ck_assert_int_eq(url_template_check(hostile, NULL, 0, &at), URL_TEMPLATE_OK);
	ck_assert_ptr_null(strpbrk(hostile + strlen("https://h/?q="), "/?#&="));
	ck_assert_ptr_null(url_template_fill("https://h/{{ns}}/{{name}}", value, "x"));
	_cleanup_free_ char *whole = url_template_fill("https://h/", value, NULL);

	ck_assert_str_eq(whole, "https://h/");
}

SUITE("base/url_template");
