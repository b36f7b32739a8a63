// SPDX-License-Identifier: Apache-2.0
#include "tests/apisim/patch.h"
#include "tests/suite.h"

#include <errno.h>
#include <string.h>

static json_t *load(const char *text)
{
	json_error_t error;
	json_t *v = json_loads(text, JSON_DECODE_ANY, &error);

	ck_assert_msg(v != NULL, "%s: %s", text, error.text);
	return v;
}

static void same(json_t *got, const char *expected)
{
	json_t *want = load(expected);
	char *text = json_dumps(got, JSON_DECODE_ANY | JSON_ENCODE_ANY);

	ck_assert_msg(json_equal(got, want), "%s instead of %s", text, expected);
	free(text);
	json_decref(want);
	json_decref(got);
}

/* The examples of RFC 7386, appendix A. */
TEST(test_merge)
{
	static const char *const rows[][3] = {
		{ "{\"a\":\"b\"}", "{\"a\":\"c\"}", "{\"a\":\"c\"}" },
		{ "{\"a\":\"b\"}", "{\"b\":\"c\"}", "{\"a\":\"b\",\"b\":\"c\"}" },
		{ "{\"a\":\"b\"}", "{\"a\":null}", "{}" },
		{ "{\"a\":\"b\",\"b\":\"c\"}", "{\"a\":null}", "{\"b\":\"c\"}" },
		{ "{\"a\":[\"b\"]}", "{\"a\":\"c\"}", "{\"a\":\"c\"}" },
		{ "{\"a\":\"c\"}", "{\"a\":[\"b\"]}", "{\"a\":[\"b\"]}" },
		{ "{\"a\":{\"b\":\"c\"}}", "{\"a\":{\"b\":\"d\",\"c\":null}}", "{\"a\":{\"b\":\"d\"}}" },
		{ "{\"a\":[{\"b\":\"c\"}]}", "{\"a\":[1]}", "{\"a\":[1]}" },
		{ "[\"a\",\"b\"]", "[\"c\",\"d\"]", "[\"c\",\"d\"]" },
		{ "{\"a\":\"b\"}", "[\"c\"]", "[\"c\"]" },
		{ "{\"a\":\"foo\"}", "null", "null" },
		{ "{\"e\":null}", "{\"a\":1}", "{\"e\":null,\"a\":1}" },
		{ "[1,2]", "{\"a\":\"b\",\"c\":null}", "{\"a\":\"b\"}" },
		{ "{}", "{\"a\":{\"bb\":{\"ccc\":null}}}", "{\"a\":{\"bb\":{}}}" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_t *doc = load(rows[i][0]), *patch = load(rows[i][1]);

		same(patch_merge(doc, patch, false), rows[i][2]);
		same(doc, rows[i][0]);
		json_decref(patch);
	}
}

static int apply(const char *doc_text, const char *ops_text, json_t **ret)
{
	json_t *doc = load(doc_text), *ops = load(ops_text);
	char why[160];
	int rc = patch_json(doc, ops, why, ret);

	if (rc == -EINVAL)
		ck_assert_uint_gt(strlen(why), 0);
	json_decref(ops);
	same(doc, doc_text);
	return rc;
}

TEST(test_json_patch)
{
	static const char *const rows[][3] = {
		{ "{\"foo\":\"bar\"}", "[{\"op\":\"add\",\"path\":\"/baz\",\"value\":1}]",
		  "{\"foo\":\"bar\",\"baz\":1}" },
		{ "{\"f\":[1,3]}", "[{\"op\":\"add\",\"path\":\"/f/1\",\"value\":2}]", "{\"f\":[1,2,3]}" },
		{ "{\"f\":[1]}", "[{\"op\":\"add\",\"path\":\"/f/-\",\"value\":2}]", "{\"f\":[1,2]}" },
		{ "{\"a\":1,\"b\":2}", "[{\"op\":\"remove\",\"path\":\"/a\"}]", "{\"b\":2}" },
		{ "{\"f\":[1,2,3]}", "[{\"op\":\"remove\",\"path\":\"/f/1\"}]", "{\"f\":[1,3]}" },
		{ "{\"a\":1}", "[{\"op\":\"replace\",\"path\":\"/a\",\"value\":{\"x\":1}}]",
		  "{\"a\":{\"x\":1}}" },
		{ "{\"a\":{\"b\":1},\"c\":{}}", "[{\"op\":\"move\",\"from\":\"/a/b\",\"path\":\"/c/d\"}]",
		  "{\"a\":{},\"c\":{\"d\":1}}" },
		{ "{\"a\":1}", "[{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/b\"}]", "{\"a\":1,\"b\":1}" },
		{ "{\"a/b\":1,\"m~n\":2}",
		  "[{\"op\":\"test\",\"path\":\"/a~1b\",\"value\":1},{\"op\":\"replace\",\"path\":\"/"
		  "m~0n\",\"value\":3}]",
		  "{\"a/b\":1,\"m~n\":3}" },
		{ "{\"a\":1}", "[{\"op\":\"replace\",\"path\":\"\",\"value\":{\"b\":2}}]", "{\"b\":2}" },
		{ "{\"metadata\":{\"uid\":\"u\"},\"spec\":{\"replicas\":3}}",
		  "[{\"op\":\"test\",\"path\":\"/metadata/uid\",\"value\":\"u\"},"
		  "{\"op\":\"test\",\"path\":\"/spec/replicas\",\"value\":3},"
		  "{\"op\":\"replace\",\"path\":\"/spec/replicas\",\"value\":0}]",
		  "{\"metadata\":{\"uid\":\"u\"},\"spec\":{\"replicas\":0}}" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		json_t *got = NULL;

		ck_assert_int_eq(apply(rows[i][0], rows[i][1], &got), 0);
		same(got, rows[i][2]);
	}
}

TEST(test_json_patch_that_does_not_apply)
{
	static const char *const ops[] = {
		"[{\"op\":\"test\",\"path\":\"/a\",\"value\":2}]",
		"[{\"op\":\"test\",\"path\":\"/missing\",\"value\":2}]",
		"[{\"op\":\"remove\",\"path\":\"/missing\"}]",
		"[{\"op\":\"replace\",\"path\":\"/missing\",\"value\":1}]",
		"[{\"op\":\"add\",\"path\":\"/missing/x\",\"value\":1}]",
		"[{\"op\":\"add\",\"path\":\"/l/7\",\"value\":1}]",
		"[{\"op\":\"remove\",\"path\":\"/l/1\"}]",
		"[{\"op\":\"add\",\"path\":\"/a/x\",\"value\":1}]",
		"[{\"op\":\"move\",\"from\":\"/missing\",\"path\":\"/b\"}]",
		"[{\"op\":\"remove\",\"path\":\"\"}]",
	};
	static const char *const bad[] = { "{}",
					   "[1]",
					   "[{\"op\":\"add\",\"path\":\"/x\"}]",
					   "[{\"op\":\"grow\",\"path\":\"/a\",\"value\":1}]",
					   "[{\"op\":\"add\",\"value\":1}]",
					   "[{\"op\":\"add\",\"path\":\"x\",\"value\":1}]" };
	json_t *got = NULL;

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		ck_assert_msg(apply("{\"a\":1,\"l\":[1]}", ops[i], &got) == -ENOENT, "%s", ops[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(apply("{\"a\":1}", bad[i], &got) == -EINVAL, "%s", bad[i]);
}

TEST(test_strategic)
{
	json_t *doc = load("{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"},{\"type\":\"Other\","
			   "\"status\":\"True\"}],"
			   "\"args\":[\"a\",\"b\"]}");
	json_t *patch = load("{\"conditions\":[{\"type\":\"Ready\",\"status\":\"False\"},{\"type\":\"Other\","
			     "\"$patch\":\"delete\"},"
			     "{\"type\":\"New\"}],\"args\":[\"c\"]}");

	same(patch_merge(doc, patch, true), "{\"conditions\":[{\"type\":\"Ready\",\"status\":\"False\"},{"
					    "\"type\":\"New\"}],\"args\":[\"c\"]}");
	json_decref(doc);
	json_decref(patch);
}

SUITE("apisim/patch");
