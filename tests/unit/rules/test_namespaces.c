/* R29: which namespace a duty serves. */
// SPDX-License-Identifier: Apache-2.0
#include "fixture.h"
#include "tests/suite.h"

static const struct {
	const char *namespaces, *exclude, *own, *ns;
	int reason; /* -1 = served */
} rows[] = {
	{ "*", "", NULL, "shop", -1 },
	{ "shop", "", NULL, "shop", -1 },
	{ "shop", "", NULL, "shop2", REASON_NAMESPACE_NOT_SELECTED },
	{ "shop2", "", NULL, "shop", REASON_NAMESPACE_NOT_SELECTED },
	{ "", "", NULL, "shop", REASON_NAMESPACE_NOT_SELECTED },
	{ "*", "shop", NULL, "shop", REASON_NAMESPACE_EXCLUDED },
	{ "shop", "shop", NULL, "shop", REASON_NAMESPACE_EXCLUDED },
	{ "*", "shop", NULL, "shop2", -1 },
	{ "*", "*", NULL, "shop", REASON_NAMESPACE_EXCLUDED },
	{ "*", "", NULL, "kube-system", REASON_NAMESPACE_PROTECTED },
	{ "kube-system", "", NULL, "kube-system", -1 },
	{ "*,kube-system", "", NULL, "kube-system", -1 },
	{ "*,kube-public", "", NULL, "kube-system", REASON_NAMESPACE_PROTECTED },
	{ "kube-system", "kube-system", NULL, "kube-system", REASON_NAMESPACE_EXCLUDED },
	{ "*", "", "cleaner", "cleaner", REASON_NAMESPACE_PROTECTED },
	{ "cleaner", "", "cleaner", "cleaner", -1 },
	{ "*", "", "cleaner", "shop", -1 },
	/* patterns: what is protected yields to a name only */
	{ "team-*", "", NULL, "team-a", -1 },
	{ "team-*", "", NULL, "team-", -1 },
	{ "team-*", "", NULL, "team", REASON_NAMESPACE_NOT_SELECTED },
	{ "team-*", "", NULL, "my-team-a", REASON_NAMESPACE_NOT_SELECTED },
	{ "*-dev", "", NULL, "shop-dev", -1 },
	{ "kube-*", "", NULL, "kube-system", REASON_NAMESPACE_PROTECTED },
	{ "kube-*,kube-system", "", NULL, "kube-system", -1 },
	{ "kube-*,kube-system", "", NULL, "kube-public", REASON_NAMESPACE_PROTECTED },
	{ "cleane*", "", "cleaner", "cleaner", REASON_NAMESPACE_PROTECTED },
	{ "*", "team-*", NULL, "team-a", REASON_NAMESPACE_EXCLUDED },
	{ "team-a", "team-*", NULL, "team-a", REASON_NAMESPACE_EXCLUDED },
	{ "*", "team-*,!team-x", NULL, "team-x", -1 },
	{ "*", "*", NULL, "shop", REASON_NAMESPACE_EXCLUDED },
	/* exceptions beat every other item, wherever they stand */
	{ "team-*,!team-x", "", NULL, "team-a", -1 },
	{ "team-*,!team-x", "", NULL, "team-x", REASON_NAMESPACE_NOT_SELECTED },
	{ "!team-x,team-*", "", NULL, "team-x", REASON_NAMESPACE_NOT_SELECTED },
	{ "team-x,!team-*", "", NULL, "team-x", REASON_NAMESPACE_NOT_SELECTED },
	{ "!team-x", "", NULL, "shop", -1 },
	{ "!team-x", "", NULL, "team-x", REASON_NAMESPACE_NOT_SELECTED },
	{ "!team-x", "", NULL, "kube-system", REASON_NAMESPACE_PROTECTED },
	{ "kube-system,!kube-system", "", NULL, "kube-system", REASON_NAMESPACE_NOT_SELECTED },
	{ "*", "", NULL, "", -1 }, /* an empty name is refused as an incomplete fact */
};

static bool serves(enum duty d, const char *ns, enum reason *ret)
{
	struct pod_facts p = pod_healthy();

	p.ns = STR_C(ns);
	return select_namespace(&policy, d, &p, ret);
}

TEST_LOOP(table, 0, sizeof(rows) / sizeof(rows[0]))
{
	enum reason reason = REASON__MAX;
	bool served;

	list_set(&policy.duty[DUTY_EVICTED].namespaces, rows[_i].namespaces);
	list_set(&policy.exclude_namespaces, rows[_i].exclude);
	policy.own_namespace = (char *)(uintptr_t)rows[_i].own;
	served = serves(DUTY_EVICTED, rows[_i].ns, &reason);
	ck_assert_int_eq(served, rows[_i].reason < 0);
	if (!served)
		ck_assert_str_eq(reason_code(reason), reason_code((enum reason)rows[_i].reason));
}

/* The lists of one duty say nothing about another. */
TEST(lists_are_per_duty)
{
	enum reason reason;

	list_set(&policy.duty[DUTY_EVICTED].namespaces, "shop");
	ck_assert(serves(DUTY_TERMINATING, "other", &reason));
	ck_assert(!serves(DUTY_EVICTED, "other", &reason));
}

POLICY_SUITE("rules/namespaces");
