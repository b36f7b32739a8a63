/* test_request.c - paths and bodies. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "kube/path.h"
#include "kube/write_body.h"
#include "tests/suite.h"

#define PATH_IS(want, ...)                                                                                   \
	do {                                                                                                 \
		char *path_ = path_format(__VA_ARGS__);                                                      \
		ck_assert_ptr_nonnull(path_);                                                                \
		ck_assert_str_eq(path_, want);                                                               \
		free(path_);                                                                                 \
	} while (0)

TEST(test_paths)
{
	PATH_IS("/api/v1/pods?limit=500", "", "v1", NULL, "pods", NULL, NULL, "limit=500");
	PATH_IS("/api/v1/namespaces/shop/pods/web-1", "", "v1", "shop", "pods", "web-1", NULL, NULL);
	PATH_IS("/apis/apps/v1/namespaces/shop/deployments/web/scale?dryRun=All", "apps", "v1", "shop",
		"deployments", "web", "scale", "dryRun=All");
	PATH_IS("/api/v1/nodes/node-1", NULL, "v1", NULL, "nodes", "node-1", NULL, NULL);
}

TEST(test_paths_can_not_be_escaped)
{
	PATH_IS("/api/v1/namespaces/a%3Bb/pods/x%3Fy%26z%23", "", "v1", "a;b", "pods", "x?y&z#", NULL, NULL);
	/* A proxy that decodes what is encoded makes another resource of it. */
	ck_assert_ptr_null(path_format("", "v1", "a", "pods", "../secrets/x", NULL, NULL));
	ck_assert_ptr_null(path_format("", "v1", "a/b", "pods", "x", NULL, NULL));
	ck_assert_ptr_null(path_format("", "v1", "a", "pods", "..%2Fsecrets%2Fx", NULL, NULL));
	PATH_IS("/api/v1/namespaces/%C3%A9/pods/%0A%20", "", "v1", "\xc3\xa9", "pods", "\n ", NULL, NULL);
	ck_assert_ptr_null(path_format("", "v1", "..", "pods", "x", NULL, NULL));
	ck_assert_ptr_null(path_format("", "v1", "a", "pods", ".", NULL, NULL));
	ck_assert_ptr_null(path_format("", "v1", "a", "pods", "", NULL, NULL));
	ck_assert_ptr_null(path_format("", "v1", "", "pods", "x", NULL, NULL));
	ck_assert_ptr_null(path_format("..", "v1", "a", "pods", "x", NULL, NULL));
	ck_assert_ptr_null(path_format("", "v1", "a", "pods", NULL, "status", NULL));
	ck_assert_ptr_null(path_format("", "v1", "a", NULL, "x", NULL, NULL));
}

TEST(test_delete_body)
{
	char *s = write_body_delete("u-1", "42", 0, true);

	ck_assert_str_eq(
		s, "{\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\",\"preconditions\":{\"uid\":\"u-1\","
		   "\"resourceVersion\":\"42\"},\"gracePeriodSeconds\":0,\"dryRun\":[\"All\"]}");
	free(s);
	s = write_body_delete("u\"1", "\xff", -1, false);
	ck_assert_str_eq(
		s, "{\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\",\"preconditions\":{\"uid\":\"u\\\"1\","
		   "\"resourceVersion\":\"?\"}}");
	free(s);
}

/* Whatever the cluster calls it, a server reads what it called it. */
TEST(test_delete_body_of_odd_text)
{
	static const char *const odd[] = { "",         "\"\\/",        "\b\f\n\r\t\x01\x1f", "\x7f",
					   "\xc3\xa9", "\xe2\x80\xae", "\xf0\x9f\x98\x80",   "%s\\u0041" };

	for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++) {
		char *s = write_body_delete(odd[i], odd[i], -1, false);
		json_t *o = json_loads(s, JSON_REJECT_DUPLICATES, NULL);
		const json_t *p = json_object_get(o, "preconditions");

		ck_assert_str_eq(json_string_value(json_object_get(p, "uid")), odd[i]);
		ck_assert_str_eq(json_string_value(json_object_get(p, "resourceVersion")), odd[i]);
		json_decref(o);
		free(s);
	}
}

TEST(test_scale_patch)
{
	char *s = write_body_scale("u-1", "42", 0);

	ck_assert_str_eq(
		s, "{\"metadata\":{\"uid\":\"u-1\",\"resourceVersion\":\"42\"},\"spec\":{\"replicas\":0}}");
	free(s);
}

/* What is written into an object itself is bound as tightly, and what is no UTF-8 can only be refused. */
TEST(test_object_patches)
{
	char said[] = "x=\"1\"", odd[] = "\xff";
	const struct write_annotation two[] = { { "example.com/a", said }, { "example.com/b", NULL } };
	const struct write_annotation bad = { "example.com/a", odd };
	char *a = write_body_annotations("u-1", "42", two, 1);
	char *b = write_body_annotations("u-1", "42", &bad, 1);
	char *c = write_body_suspend("u-1", "42", two, 2);

	ck_assert_str_eq(a, "{\"metadata\":{\"uid\":\"u-1\",\"resourceVersion\":\"42\",\"annotations\":"
			    "{\"example.com/a\":\"x=\\\"1\\\"\"}}}");
	ck_assert_ptr_nonnull(strstr(b, "{\"example.com/a\":\"?\"}"));
	ck_assert_str_eq(c, "{\"spec\":{\"suspend\":true},\"metadata\":{\"uid\":\"u-1\",\"resourceVersion\":"
			    "\"42\",\"annotations\":{\"example.com/a\":\"x=\\\"1\\\"\","
			    "\"example.com/b\":null}}}");
	free(a);
	free(b);
	free(c);
}

SUITE("kube/request");
