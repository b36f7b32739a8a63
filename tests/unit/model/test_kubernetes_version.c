/* Versions of API servers: what is one, and how it compares with those that were tried. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "model/kubernetes_version.h"
#include "tests/suite.h"

static const struct {
	const char *text;
	uint64_t major, minor, patch; /* all 0: no version */
} texts[] = {
	{ "v1.34.1", 1, 34, 1 },
	{ "v1.30.0", 1, 30, 0 },
	{ "v10.0.255", 10, 0, 255 },
	{ "v1.30.2+k3s1", 1, 30, 2 },
	{ "v1.33.5-eks-113cf36", 1, 33, 5 },
	{ "v1.34.1-gke.1431000", 1, 34, 1 },
	{ "v1.38.0-alpha.1.12+0123456789abcd", 1, 38, 0 },
	{ "v1.2.3-56789012345678901234567890123456789012345678901234567890", 1, 2, 3 },
	{ "v1.2.3-567890123456789012345678901234567890123456789012345678901", 0, 0, 0 },
	{ "", 0, 0, 0 },
	{ "v", 0, 0, 0 },
	{ "1.34.1", 0, 0, 0 },
	{ "V1.34.1", 0, 0, 0 },
	{ " v1.34.1", 0, 0, 0 },
	{ "v1.34", 0, 0, 0 },
	{ "v1.34.", 0, 0, 0 },
	{ "v1..1", 0, 0, 0 },
	{ "v.34.1", 0, 0, 0 },
	{ "v-1.34.1", 0, 0, 0 },
	{ "v1.+34.1", 0, 0, 0 },
	{ "v1.34+.1", 0, 0, 0 },
	{ "v1.34.1.2", 0, 0, 0 },
	{ "v1.34.1 ", 0, 0, 0 },
	{ "v1.34.1k3s", 0, 0, 0 },
	{ "v1.34.1-a b", 0, 0, 0 },
	{ "v1.34.1-\033[31m", 0, 0, 0 },
	{ "v1.34.1-\xe4\xb8\xad", 0, 0, 0 },
	{ "v1.34.99999999999999999999", 0, 0, 0 },
	{ "v99999999999999999999.0.0", 0, 0, 0 },
};

TEST_LOOP(what_is_a_version, 0, (int)ARRAY_SIZE(texts))
{
	const bool is = texts[_i].major != 0;
	const struct str text = STR_C(texts[_i].text);
	struct kubernetes_version v = { 0 };

	ck_assert_msg((kubernetes_version_parse(text, &v) == 0) == is, "%s", text.p);
	if (is) {
		ck_assert_uint_eq(v.major, texts[_i].major);
		ck_assert_uint_eq(v.minor, texts[_i].minor);
		ck_assert_uint_eq(v.patch, texts[_i].patch);
	} else {
		ck_assert_int_eq(kubernetes_version_tried(text), KUBERNETES_UNKNOWN);
		ck_assert(!kubernetes_version_is_from(text, 0, 0));
	}
}

/* Bytes behind the text are not its own. */
TEST(a_text_has_an_end)
{
	struct kubernetes_version v;

	ck_assert_int_eq(kubernetes_version_parse((struct str){ "v1.34.12", 7 }, &v), 0);
	ck_assert_uint_eq(v.patch, 1);
	ck_assert_int_lt(kubernetes_version_parse((struct str){ "v1.34.12", 6 }, &v), 0);
}

static const struct {
	const char *text;
	bool is;
} from_1_37[] = {
	{ "v1.36.99", false },    { "v1.9.0", false },      { "v0.99.0", false }, { "v1.37.0", true },
	{ "v1.37.0-rc.1", true }, { "v1.38.0+k3s1", true }, { "v2.0.0", true },
};

TEST_LOOP(from_a_minor_on, 0, (int)ARRAY_SIZE(from_1_37))
{
	ck_assert_msg(kubernetes_version_is_from(STR_C(from_1_37[_i].text), 1, 37) == from_1_37[_i].is, "%s",
		      from_1_37[_i].text);
}

/* The n-th version that was tried, by so many minors and patches more or less. */
static char *near(size_t n, int64_t minors, int64_t patches)
{
	struct kubernetes_version v = { 0 };

	ck_assert_int_eq(kubernetes_version_parse(STR_C(kubernetes_version_at(n)), &v), 0);
	return xasprintf("v%d.%d.%d", (int)v.major, (int)((int64_t)v.minor + minors),
			 (int)((int64_t)v.patch + patches));
}

static enum kubernetes_tried of(char *text)
{
	const enum kubernetes_tried ret = kubernetes_version_tried(STR_C(text));

	free(text);
	return ret;
}

TEST(older_and_newer_go_by_minor)
{
	size_t last = 0;

	while (kubernetes_version_at(last + 1))
		last++;
	for (size_t i = 0; i <= last; i++)
		ck_assert_int_eq(of(near(i, 0, 0)), KUBERNETES_TRIED);
	ck_assert_int_eq(of(near(0, 0, -1)), KUBERNETES_TRIED);
	ck_assert_int_eq(of(near(0, 1, 0)), KUBERNETES_TRIED);
	ck_assert_int_eq(of(near(0, -1, 99)), KUBERNETES_OLDER);
	ck_assert_int_eq(of(near(last, 0, 99)), KUBERNETES_TRIED);
	ck_assert_int_eq(of(near(last, 1, -1)), KUBERNETES_NEWER);
	ck_assert_int_eq(of(xstrdup("v0.99.0")), KUBERNETES_OLDER);
	ck_assert_int_eq(of(xstrdup("v2.0.0")), KUBERNETES_NEWER);
}

/* The first and the last row are what the others are compared with. */
TEST(the_table_is_in_order)
{
	char text[256] = "";
	size_t n = 0;
	struct kubernetes_version before = { 0 }, v;

	for (size_t i = 0; kubernetes_version_at(i); i++, before = v) {
		ck_assert_int_eq(kubernetes_version_parse(STR_C(kubernetes_version_at(i)), &v), 0);
		ck_assert_msg(v.major > before.major || v.minor > before.minor, "%s",
			      kubernetes_version_at(i));
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", n ? ", " : "",
				      kubernetes_version_at(i) + 1);
	}
	ck_assert_uint_gt(n, 0);
	ck_assert_str_eq(kubernetes_versions_text(), text);
}

SUITE("model/kubernetes_version");
