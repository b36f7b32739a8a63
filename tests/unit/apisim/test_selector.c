// SPDX-License-Identifier: Apache-2.0
#include "tests/apisim/selector.h"
#include "tests/suite.h"

#include <errno.h>
#include <string.h>

static bool labels_match(const char *selector)
{
	json_t *labels = json_pack("{s:s, s:s, s:s}", "app", "web", "tier", "front", "example.com/x", "");
	struct selector *s = NULL;
	char why[256];
	bool hit;

	ck_assert_msg(selector_new(kinds_pods(), selector, NULL, why, &s) == 0, "%s", selector);
	hit = selector_match_labels(s, labels);
	selector_free(s);
	json_decref(labels);
	return hit;
}

TEST(test_labels)
{
	static const char *const hits[] = { "",
					    "app=web",
					    "app==web",
					    " app = web , tier=front",
					    "app!=api",
					    "missing!=x",
					    "app in (api,web)",
					    "app in ( web )",
					    "app notin (api,cart)",
					    "missing notin (a)",
					    "app",
					    "!missing",
					    "example.com/x",
					    "example.com/x=",
					    "app,tier in (front,back),!gone" };
	static const char *const misses[] = { "app=api",      "app!=web",          "missing=x",
					      "app in (api)", "app notin (web)",   "missing",
					      "!app",         "app=web,tier=back", "missing in (a)" };

	for (size_t i = 0; i < sizeof(hits) / sizeof(hits[0]); i++)
		ck_assert_msg(labels_match(hits[i]), "%s", hits[i]);
	for (size_t i = 0; i < sizeof(misses) / sizeof(misses[0]); i++)
		ck_assert_msg(!labels_match(misses[i]), "%s", misses[i]);
}

TEST(test_bad_selectors)
{
	static const char *const labels[] = { "=",    "a in", "a in (b", "a=b,", "a==b==c",
					      "!a=b", "a!b",  "a in b",  ",a",   "a b" };
	static const char *const fields[] = { "x", "spec.foo=1", "metadata.name", "status.phase!", "a!b=c" };
	struct selector *s;
	char why[256];

	for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
		ck_assert_msg(selector_new(kinds_pods(), labels[i], NULL, why, &s) == -EINVAL, "%s",
			      labels[i]);
		ck_assert_ptr_null(s);
	}
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		ck_assert_msg(selector_new(kinds_pods(), NULL, fields[i], why, &s) == -EINVAL, "%s",
			      fields[i]);
}

static bool fields_match(const char *selector)
{
	struct obj *o =
		object_new(kinds_pods(),
			   json_pack("{s:{s:s, s:s}, s:{s:s}, s:{s:s}}", "metadata", "name", "p", "namespace",
				     "n", "spec", "nodeName", "k", "status", "phase", "Failed"),
			   1);
	struct selector *s = NULL;
	char why[256];
	bool hit;

	ck_assert_msg(selector_new(kinds_pods(), NULL, selector, why, &s) == 0, "%s: %s", selector, why);
	hit = selector_match(s, o);
	selector_free(s);
	object_unref(o);
	return hit;
}

TEST(test_fields)
{
	ck_assert(fields_match("metadata.name=p"));
	ck_assert(fields_match("metadata.name==p,metadata.namespace=n"));
	ck_assert(fields_match("spec.nodeName=k,status.phase!=Running"));
	ck_assert(fields_match("status.podIP="));
	ck_assert(!fields_match("metadata.name=q"));
	ck_assert(!fields_match("status.phase!=Failed"));
	ck_assert(!fields_match("spec.nodeName="));
}

SUITE("apisim/selector");
