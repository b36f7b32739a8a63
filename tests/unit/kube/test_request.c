/* test_request.c - paths, bodies, answers and discovery. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "kube/discovery.h"
#include "kube/path.h"
#include "kube/refusal.h"
#include "kube/write_body.h"
#include "tests/suite.h"
#include "tests/unit/kube/wire.h"

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
	PATH_IS("/api/v1/namespaces/a%2Fb/pods/x%3Fy%26z%23%25", "", "v1", "a/b", "pods", "x?y&z#%", NULL,
		NULL);
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
	char *a = write_body_annotation("u-1", "42", "example.com/a", "x=\"1\"");
	char *b = write_body_annotation("u-1", "42", "example.com/a", "\xff");
	char *c = write_body_suspend("u-1", "42");

	ck_assert_str_eq(a, "{\"metadata\":{\"uid\":\"u-1\",\"resourceVersion\":\"42\",\"annotations\":"
			    "{\"example.com/a\":\"x=\\\"1\\\"\"}}}");
	ck_assert_ptr_nonnull(strstr(b, "{\"example.com/a\":\"?\"}"));
	ck_assert_str_eq(c, "{\"metadata\":{\"uid\":\"u-1\",\"resourceVersion\":\"42\"},"
			    "\"spec\":{\"suspend\":true}}");
	free(a);
	free(b);
	free(c);
}

static struct refusal parse(long http, const char *body)
{
	struct refusal s;

	refusal_parse(http, body, strlen(body), &s);
	return s;
}

TEST(test_status_json)
{
	struct refusal s =
		parse(429, "{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"TooManyRequests\","
			   "\"message\":\"wait\\nnow\",\"details\":{\"retryAfterSeconds\":7},"
			   "\"code\":429}");

	ck_assert_str_eq(s.reason, "TooManyRequests");
	ck_assert_str_eq(s.message, "wait?now");
	ck_assert_int_eq(s.retry_after_s, 7);
	/* An eviction that several budgets refuse: HTTP 201 around a 500. */
	s = parse(201,
		  "{\"kind\":\"Status\",\"status\":\"Failure\",\"code\":500,\"message\":\"more than one\"}");
	ck_assert_int_eq(s.code, 500);
	/* The deleted object itself. */
	s = parse(200, "{\"kind\":\"Pod\",\"code\":500,\"message\":\"no\"}");
	ck_assert_int_eq(s.code, 200);
	ck_assert_str_eq(s.message, "");
	ck_assert_str_eq(s.reason, "");
}

TEST(test_status_protobuf)
{
	struct wire raw = { 0 }, w = { 0 };
	struct refusal s;

	wire_field_str(&raw, 3, "pods \"a\" not found");
	wire_field_str(&raw, 4, "NotFound");
	wire_field_varint(&raw, 6, 404);
	wire_envelope(&w, "v1", "Status", &raw);
	refusal_parse(404, (const char *)w.p, w.n, &s);
	ck_assert_int_eq(s.code, 404);
	ck_assert_str_eq(s.reason, "NotFound");
	ck_assert_str_eq(s.message, "pods \"a\" not found");
	ck_assert_int_eq(s.retry_after_s, -1);
	wire_done(&w);
}

TEST(test_status_text)
{
	struct refusal s = parse(429, "Too many requests, please try again later.\n");

	ck_assert_int_eq(s.code, 429);
	ck_assert_str_eq(s.message, "Too many requests, please try again later.");
	s = parse(502, "<html><body>login</body></html>");
	ck_assert_str_eq(s.message, "");
	s = parse(500, "");
	ck_assert_int_eq(s.code, 500);
	ck_assert_str_eq(s.message, "");
	s = parse(500, "{\"kind\":\"Stat");
	ck_assert_str_eq(s.message, "");
}

static const char apps[] =
	"{\"kind\":\"APIResourceList\",\"groupVersion\":\"apps/v1\",\"resources\":["
	"{\"name\":\"deployments\",\"namespaced\":true,\"kind\":\"Deployment\",\"verbs\":[\"get\"]},"
	"{\"name\":\"deployments/"
	"scale\",\"namespaced\":true,\"kind\":\"Scale\",\"group\":\"autoscaling\",\"version\":"
	"\"v1\",\"verbs\":[\"get\",\"patch\",\"update\"]},"
	"{\"name\":\"deployments/status\",\"namespaced\":true,\"kind\":\"Deployment\",\"verbs\":[\"get\"]},"
	"{\"name\":\"daemonsets/status\",\"kind\":\"DaemonSet\"},"
	"{\"name\":\"daemonsets\",\"namespaced\":true,\"kind\":\"DaemonSet\",\"verbs\":[\"get\"]},"
	"{\"name\":\"gizmos\",\"namespaced\":true,\"kind\":\"Gizmo\"},"
	"{\"name\":\"gizmos/scale\",\"kind\":\"Scale\",\"verbs\":[\"get\"]},7,{\"name\":1,\"kind\":[]}]}";

TEST(test_discovery)
{
	struct discovery_kind k;

	ck_assert_int_eq(discovery_find_kind(apps, strlen(apps), "Deployment", &k), 0);
	ck_assert_str_eq(k.resource, "deployments");
	ck_assert(k.namespaced && k.has_scale && k.scale_patchable);
	discovery_kind_done(&k);
	ck_assert_int_eq(discovery_find_kind(apps, strlen(apps), "DaemonSet", &k), 0);
	ck_assert_str_eq(k.resource, "daemonsets");
	ck_assert(!k.has_scale);
	discovery_kind_done(&k);
	ck_assert_int_eq(discovery_find_kind(apps, strlen(apps), "Gizmo", &k), 0);
	ck_assert(k.has_scale && !k.scale_patchable);
	discovery_kind_done(&k);
	ck_assert_int_eq(discovery_find_kind(apps, strlen(apps), "Rollout", &k), -ENOENT);
	ck_assert_int_eq(discovery_find_kind("{}", 2, "Rollout", &k), -EBADMSG);
	ck_assert_int_eq(discovery_find_kind("<html>", 6, "Rollout", &k), -EBADMSG);
}

TEST(test_split_version)
{
	char *g, *v;

	ck_assert_int_eq(discovery_split_version("apps/v1", &g, &v), 0);
	ck_assert_str_eq(g, "apps");
	ck_assert_str_eq(v, "v1");
	free(g);
	free(v);
	ck_assert_int_eq(discovery_split_version("v1", &g, &v), 0);
	ck_assert_str_eq(g, "");
	ck_assert_str_eq(v, "v1");
	free(g);
	free(v);
	ck_assert_int_eq(discovery_split_version("", &g, &v), -EINVAL);
	ck_assert_int_eq(discovery_split_version("/v1", &g, &v), -EINVAL);
	ck_assert_int_eq(discovery_split_version("a/b/c", &g, &v), -EINVAL);
	ck_assert_int_eq(discovery_split_version("apps/", &g, &v), -EINVAL);
}

SUITE("kube/request");
