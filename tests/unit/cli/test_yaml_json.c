/* test_yaml_json.c - pods that people save: YAML and JSON give the same tree, bombs and broken files give a
 * place and a reason. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "cli/local/yaml_json.h"
#include "config/diag.h"
#include "tests/suite.h"

TEST(yaml_and_json_agree)
{
	static const char yaml[] = "kind: Pod\nmetadata:\n  name: a\n  labels: {x: \"1\", y: true}\nspec:\n  "
				   "n: &n 3\n  l: [a, ~, -2]\n";
	static const char json[] =
		"{\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\",\"labels\":{\"x\":\"1\",\"y\":true}},"
		"\"spec\":{\"n\":3,\"l\":[\"a\",null,-2]}}";
	struct diags d = { 0 };
	json_t *a = yaml_json_load("f", yaml, strlen(yaml), &d),
	       *b = yaml_json_load("f", json, strlen(json), &d);
	json_t *c = json_loads(json, 0, NULL);

	ck_assert_ptr_nonnull(a);
	ck_assert(json_equal(a, b));
	ck_assert(json_equal(b, c));
	json_decref(a);
	json_decref(b);
	json_decref(c);
}

TEST(errors_name_the_place)
{
	static const struct {
		const char *text, *part;
	} cases[] = {
		{ "", "empty" },
		{ "a: b: c\n", "1:5" },
		{ "a: 1\nb: *x\n", "2:4: not valid YAML" },
		{ "a:\n\t- b\n", "2:" },
		{ "[a]: b\n", "1:1: a key" },
		{ "{a: 1", "did not find" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct diags d = { 0 };

		ck_assert_ptr_null(yaml_json_load("f", cases[i].text, strlen(cases[i].text), &d));
		ck_assert_uint_gt(d.n, 0);
		ck_assert_msg(strstr(d.v[d.n - 1].text, cases[i].part) != NULL, "%zu: %s", i,
			      d.v[d.n - 1].text);
		diags_done(&d);
	}
}

TEST(depth_is_bounded)
{
	char *text = xmalloc(100001);
	struct diags d = { 0 };

	memset(text, '[', 100000);
	text[100000] = '\0';
	ck_assert_ptr_null(yaml_json_load("f", text, 100000, &d));
	ck_assert_uint_eq(d.errors, 1);
	diags_done(&d);
	free(text);
}

SUITE("cli/yaml_json");
