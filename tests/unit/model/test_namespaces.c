/* What a list of namespaces means: tables, and a second, naive reading of generated lists. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "model/namespaces.h"
#include "tests/suite.h"

static void list_set(struct str_list *l, const char *items)
{
	for (const char *end; *items; items = *end ? end + 1 : end) {
		end = strchrnul(items, ',');
		str_list_add(l, items, (size_t)(end - items));
	}
}

static const struct {
	const char *pattern, *text;
	bool matches;
} globs[] = {
	{ "", "", true },
	{ "", "a", false },
	{ "a", "", false },
	{ "*", "", true },
	{ "*", "anything", true },
	{ "team-*", "team-a", true },
	{ "team-*", "team-", true },
	{ "team-*", "team", false },
	{ "team-*", "a-team-a", false },
	{ "*-dev", "shop-dev", true },
	{ "*-dev", "shop-dev-2", false },
	{ "*-dev", "shop-dev-dev", true },
	{ "a*b", "ab", true },
	{ "a*b", "aXbXb", true },
	{ "a*b", "aXbX", false },
	{ "*a*b*", "xxaxxbxx", true },
	{ "*a*b*", "xxbxxaxx", false },
	{ "a**b", "ab", true },
	{ "a*ab", "aab", true },
	{ "a*ab", "ab", false },
	{ "team-?", "team-a", false },
	{ "t.*", "team", false },
};

TEST_LOOP(glob, 0, (int)ARRAY_SIZE(globs))
{
	ck_assert_msg(str_glob(STR_C(globs[_i].pattern), STR_C(globs[_i].text)) == globs[_i].matches,
		      "%s against %s", globs[_i].pattern, globs[_i].text);
}

static const struct label team_a[] = { { STR_LIT("team"), STR_LIT("a") },
				       { STR_LIT("env"), STR_LIT("dev-1") } };
static const struct namespace_labels labelled = { team_a, 2 }, bare = { NULL, 0 };

static const struct {
	const char *list, *ns;
	enum tri with, without, unknown; /* its labels are team=a,env=dev-1; none; not known */
} rows[] = {
	{ "", "shop", TRI_NO, TRI_NO, TRI_NO },
	{ "shop", "shop", TRI_YES, TRI_YES, TRI_YES },
	{ "shop", "sho", TRI_NO, TRI_NO, TRI_NO },
	{ "!shop", "shop", TRI_NO, TRI_NO, TRI_NO },
	{ "!shop", "bank", TRI_YES, TRI_YES, TRI_YES },
	{ "!shop,bank", "web", TRI_NO, TRI_NO, TRI_NO },
	{ "label:team=a", "shop", TRI_YES, TRI_NO, TRI_UNKNOWN },
	{ "label:team=b", "shop", TRI_NO, TRI_NO, TRI_UNKNOWN },
	{ "label:team=b,label:team=a", "shop", TRI_YES, TRI_NO, TRI_UNKNOWN },
	{ "label:team=*", "shop", TRI_YES, TRI_NO, TRI_UNKNOWN },
	{ "label:tea=*", "shop", TRI_NO, TRI_NO, TRI_UNKNOWN },
	{ "label:env=dev-*", "shop", TRI_YES, TRI_NO, TRI_UNKNOWN },
	{ "label:env=dev", "shop", TRI_NO, TRI_NO, TRI_UNKNOWN },
	{ "shop,label:team=a", "shop", TRI_YES, TRI_YES, TRI_YES },
	{ "*,!label:team=a", "shop", TRI_NO, TRI_YES, TRI_UNKNOWN },
	{ "!label:team=a", "shop", TRI_NO, TRI_YES, TRI_UNKNOWN },
	{ "shop,!label:team=a", "shop", TRI_NO, TRI_YES, TRI_UNKNOWN },
	{ "label:team=a,!label:env=dev-1", "shop", TRI_NO, TRI_NO, TRI_UNKNOWN },
	{ "label:team=a,!shop", "shop", TRI_NO, TRI_NO, TRI_NO },
	{ "bank,!label:team=b", "shop", TRI_NO, TRI_NO, TRI_NO },
};

TEST_LOOP(match, 0, (int)ARRAY_SIZE(rows))
{
	struct str_list l = { 0 };
	const struct str ns = STR_C(rows[_i].ns);

	list_set(&l, rows[_i].list);
	ck_assert_msg(namespaces_match(&l, ns, &labelled) == rows[_i].with, "%s: labelled", rows[_i].list);
	ck_assert_msg(namespaces_match(&l, ns, &bare) == rows[_i].without, "%s: bare", rows[_i].list);
	ck_assert_msg(namespaces_match(&l, ns, NULL) == rows[_i].unknown, "%s: unknown", rows[_i].list);
	str_list_done(&l);
}

static const struct {
	const char *list, *ns;
	bool named;
} names[] = {
	{ "kube-system", "kube-system", true },
	{ "kube-*", "kube-system", false },
	{ "*", "*", false },
	{ "kube-*,kube-system", "kube-system", true },
	{ "kube-system,!kube-system", "kube-system", false },
	{ "kube-system,!kube-*", "kube-system", false },
	{ "!kube-system", "kube-system", false },
	{ "!kube-system", "!kube-system", false },
	{ "label:a=b", "label:a=b", false },
};

TEST_LOOP(by_name, 0, (int)ARRAY_SIZE(names))
{
	struct str_list l = { 0 };

	list_set(&l, names[_i].list);
	ck_assert_msg(namespaces_name(&l, STR_C(names[_i].ns)) == names[_i].named, "%s", names[_i].list);
	str_list_done(&l);
}

/* -- a second reading: by recursion, and item by item as the words say it -- */

static bool naive_glob(const char *p, size_t pn, const char *t, size_t tn)
{
	if (pn == 0)
		return tn == 0;
	if (*p == '*')
		return naive_glob(p + 1, pn - 1, t, tn) || (tn > 0 && naive_glob(p, pn, t + 1, tn - 1));
	return tn > 0 && *p == *t && naive_glob(p + 1, pn - 1, t + 1, tn - 1);
}

static uint64_t state;

static size_t below(size_t n)
{
	state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (size_t)(state >> 33) % n;
}

static struct str random_text(char *buf, const char *alphabet, size_t max)
{
	const size_t n = below(max + 1);

	for (size_t i = 0; i < n; i++)
		buf[i] = alphabet[below(strlen(alphabet))];
	return (struct str){ buf, n };
}

TEST(generated_patterns)
{
	unsigned matched = 0;

	state = 7;
	for (int i = 0; i < 200000; i++) {
		char a[10], b[10];
		const struct str p = random_text(a, "ab*", 9), t = random_text(b, "ab", 9);
		const bool want = naive_glob(p.p, p.n, t.p, t.n);

		ck_assert_msg(str_glob(p, t) == want, "%.*s against %.*s", STR_ARG(p), STR_ARG(t));
		matched += want;
	}
	ck_assert_uint_gt(matched, 10000);
}

/* An order of the items changes nothing; an exception more never selects more; what is not known is NO or YES
 * in one of the two cases that it may be. */
TEST(generated_lists)
{
	static const char *const items[] = { "a",           "b",         "ab",        "a*",
					     "*b",          "*",         "!a",        "!b*",
					     "!*a",         "label:k=v", "label:k=*", "!label:k=v",
					     "!label:k=w*", "label:k=w" };
	static const struct label v = { STR_LIT("k"), STR_LIT("v") }, w = { STR_LIT("k"), STR_LIT("w") };
	const struct namespace_labels worlds[] = { { NULL, 0 }, { &v, 1 }, { &w, 1 } };
	unsigned unknown = 0;

	state = 11;
	for (int i = 0; i < 50000; i++) {
		struct str_list there = { 0 }, back = { 0 };
		const char *pick[5];
		const size_t n = below(5) + 1;
		char buf[4];
		const struct str ns = random_text(buf, "ab", 3);

		for (size_t k = 0; k < n; k++)
			pick[k] = items[below(ARRAY_SIZE(items))];
		for (size_t k = 0; k < n; k++) {
			str_list_add(&there, pick[k], strlen(pick[k]));
			str_list_add(&back, pick[n - 1 - k], strlen(pick[n - 1 - k]));
		}
		const enum tri blind = namespaces_match(&there, ns, NULL);

		unknown += blind == TRI_UNKNOWN;
		for (size_t k = 0; k < ARRAY_SIZE(worlds); k++) {
			const enum tri seen = namespaces_match(&there, ns, &worlds[k]);

			ck_assert_int_ne(seen, TRI_UNKNOWN);
			ck_assert_int_eq(seen, namespaces_match(&back, ns, &worlds[k]));
			ck_assert(blind == TRI_UNKNOWN || blind == seen);
			if (namespaces_name(&there, ns) && seen == TRI_NO)
				ck_assert_int_eq(blind, TRI_UNKNOWN); /* excepted by a label alone */
		}
		if (!namespaces_only_except(&there)) {
			str_list_add(&there, "!a*", 3);
			ck_assert(namespaces_match(&there, ns, NULL) == TRI_NO || blind != TRI_NO);
			if (ns.n > 0 && ns.p[0] == 'a')
				ck_assert_int_eq(namespaces_match(&there, ns, NULL), TRI_NO);
		}
		str_list_done(&there);
		str_list_done(&back);
	}
	ck_assert_uint_gt(unknown, 1000);
}

/* -- over a policy -- */

static struct policy policy;

static void use(enum duty d, const char *list)
{
	policy.duty[d].enable = true;
	str_list_done(&policy.duty[d].namespaces);
	policy.duty[d].namespaces = (struct str_list){ 0 };
	list_set(&policy.duty[d].namespaces, list);
}

static const struct {
	const char *evicted, *names;
	bool all, labels;
} policies[] = {
	{ "a,b", "a,b,z", true, false },
	{ "z,a", "z,a", true, false },
	{ "a,!b", "a,z", true, false },
	{ "a,b*", "a,z", false, false },
	{ "*", "z", false, false },
	{ "!a", "z", false, false },
	{ "a,label:x=y", "a,z", false, true },
	{ "a,!label:x=y", "a,z", true, true },
};

TEST_LOOP(names_of_a_policy, 0, (int)ARRAY_SIZE(policies))
{
	struct str_list found = { 0 }, want = { 0 };

	use(DUTY_EVICTED, policies[_i].evicted);
	use(DUTY_TERMINATING, "z");
	use(DUTY_FINISHED, "off,label:a=b");
	policy.duty[DUTY_FINISHED].enable = false;
	list_set(&want, policies[_i].names);
	ck_assert_int_eq(policy_list_namespaces(&policy, &found), policies[_i].all);
	ck_assert_int_eq(policy_needs_namespaces(&policy), policies[_i].labels);
	ck_assert_uint_eq(found.n, want.n);
	for (size_t i = 0; i < want.n; i++)
		ck_assert_str_eq(found.v[i], want.v[i]);
	str_list_done(&found);
	str_list_done(&want);
	for (int d = 0; d < DUTY__MAX; d++)
		str_list_done(&policy.duty[d].namespaces);
	policy = (struct policy){ 0 };
}

/* Exclusions and overrides may ask for labels, too. */
TEST(labels_of_other_lists)
{
	struct policy_override o = { 0 };

	list_set(&policy.exclude_namespaces, "x,label:a=b");
	ck_assert(policy_needs_namespaces(&policy));
	str_list_done(&policy.exclude_namespaces);
	policy = (struct policy){ 0 };
	list_set(&policy.default_exclude_namespaces, "!label:a=b");
	ck_assert(policy_needs_namespaces(&policy));
	str_list_done(&policy.default_exclude_namespaces);
	policy = (struct policy){ .overrides = &o, .n_overrides = 1 };
	ck_assert(!policy_needs_namespaces(&policy));
	list_set(&o.namespaces, "label:a=b");
	ck_assert(policy_needs_namespaces(&policy));
	str_list_done(&o.namespaces);
	policy = (struct policy){ 0 };
}

SUITE("model/namespaces");
