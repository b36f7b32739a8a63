/* Which override is in force for a pod. */
// SPDX-License-Identifier: Apache-2.0
#include "fixture.h"

#include <stdio.h>

#include "rules/select.h"
#include "tests/facts_en.h"
#include "tests/suite.h"

static struct policy_override overrides[5];

static void override_init(size_t i, const char *name, const char *namespaces, const char *labels)
{
	static char names[5][16];

	(void)snprintf(names[i], sizeof(names[i]), "%s", name);
	overrides[i].name = names[i];
	list_set(&overrides[i].namespaces, namespaces);
	list_set(&overrides[i].labels, labels);
	memcpy(overrides[i].duty, policy.duty, sizeof(policy.duty));
	for (int d = 0; d < DUTY__MAX; d++)
		overrides[i].duty[d].hours_ms = HOUR * (int64_t)(i + 1);
}

static void setup(void)
{
	policy_setup();
	override_init(0, "namespace", "shop,bank", "");
	override_init(1, "second", "shop", "");
	override_init(2, "labels", "", "tier=gold");
	override_init(3, "both", "shop", "tier=gold");
	override_init(4, "two", "", "tier=gold,team=a");
	policy.overrides = overrides;
	policy.n_overrides = 5;
}

static void teardown(void)
{
	for (size_t i = 0; i < 5; i++) {
		str_list_done(&overrides[i].namespaces);
		str_list_done(&overrides[i].labels);
	}
	policy_teardown();
}

static void label(struct pod_facts *p, const char *key, const char *value)
{
	p->labels[p->n_labels++] = (struct label){ STR_C(key), STR_C(value) };
}

static const char *name_for(const struct pod_facts *p)
{
	const struct policy_override *o = select_override(&policy, p);

	return o ? o->name : "";
}

TEST(the_most_specific_wins)
{
	struct pod_facts p = pod_healthy();

	p.ns = STR_LIT("web");
	ck_assert_str_eq(name_for(&p), "");
	ck_assert_ptr_eq(policy_of(&policy, &p), policy.duty);
	p.ns = STR_LIT("bank");
	ck_assert_str_eq(name_for(&p), "namespace");
	ck_assert_ptr_eq(policy_of(&policy, &p), overrides[0].duty);
	p.ns = STR_LIT("shop");
	ck_assert_str_eq(name_for(&p), "namespace"); /* of equals the first */
	label(&p, "tier", "gold");
	ck_assert_str_eq(name_for(&p), "both");
	p.ns = STR_LIT("bank");
	ck_assert_str_eq(name_for(&p), "labels");
	label(&p, "team", "a");
	ck_assert_str_eq(name_for(&p), "labels");
	p.labels[0].value = STR_LIT("silver");
	ck_assert_str_eq(name_for(&p), "namespace");
}

TEST(all_labels_of_an_override_must_match)
{
	struct pod_facts p = pod_healthy();

	list_set(&overrides[2].labels, "");
	list_set(&overrides[3].labels, "x=y");
	p.ns = STR_LIT("web");
	label(&p, "tier", "gold");
	ck_assert_str_eq(name_for(&p), "");
	label(&p, "team", "ab");
	ck_assert_str_eq(name_for(&p), "");
	p.labels[1].value = STR_LIT("a");
	ck_assert_str_eq(name_for(&p), "two");
}

/* The cache keeps the mask, not the labels: both must choose alike. */
TEST(a_mask_chooses_as_the_labels_do)
{
	struct pod_facts p = pod_healthy(), cached;

	label(&p, "tier", "gold");
	label(&p, "team", "a");
	cached = p;
	cached.labels_mask = select_labels(&policy, &p);
	cached.n_labels = 0;
	ck_assert_uint_eq(cached.labels_mask, 4 | 8 | 16);
	ck_assert_ptr_eq(policy_of(&policy, &p), policy_of(&policy, &cached));
}

TEST(an_override_changes_the_verdict_and_is_named)
{
	struct pod_facts p = pod_pull_failing();
	const struct pod_context s = live_pull();
	struct verdict v;

	p.ns = STR_LIT("bank");
	v = EXPECT(judge_one(DUTY_IMAGE_PULL, &p, s, NOW), WAIT, WAITING_FOR_THRESHOLD);
	ck_assert_int_eq(v.at_ms, s.failing_since + HOUR + 1);
	ck_assert_str_eq(v.override, "namespace");
	ck_assert_ptr_nonnull(strstr(EN(v.evidence), "override namespace"));
	p.ns = STR_LIT("web");
	v = EXPECT(judge_one(DUTY_IMAGE_PULL, &p, s, NOW), ACT, CANNOT_PULL_IMAGE);
	ck_assert_str_eq(v.override, "");
	overrides[0].duty[DUTY_IMAGE_PULL].enable = false;
	p.ns = STR_LIT("bank");
	EXPECT(judge_one(DUTY_IMAGE_PULL, &p, s, NOW), NONE, DUTY_DISABLED);
}

TEST(an_override_matches_by_pattern)
{
	struct pod_facts p = pod_healthy();

	list_set(&overrides[0].namespaces, "team-*,!team-x");
	p.ns = STR_LIT("team-a");
	ck_assert_str_eq(name_for(&p), "namespace");
	p.ns = STR_LIT("team-x");
	ck_assert_str_eq(name_for(&p), "");
}

/* Whether an override forbids it is not known: no act, until the labels of the namespace are. */
TEST(an_override_by_labels_of_the_namespace)
{
	const struct label dev = { STR_LIT("env"), STR_LIT("dev") };
	const struct namespace_labels labels = { &dev, 1 };
	const struct pod_context s = { .stage = STAGE_LIVE };
	struct pod_facts p = pod_evicted();

	list_set(&overrides[0].namespaces, "label:env=dev");
	overrides[0].duty[DUTY_EVICTED].enable = false;
	EXPECT(judge_one(DUTY_EVICTED, &p, s, NOW), REFUSE, NAMESPACE_UNKNOWN);
	p.namespace_labels = &labels;
	EXPECT(judge_one(DUTY_EVICTED, &p, s, NOW), NONE, DUTY_DISABLED);
	p.namespace_labels = &(struct namespace_labels){ 0 };
	EXPECT(judge_one(DUTY_EVICTED, &p, s, NOW), ACT, EVICTED);
}

TEST(an_override_never_beats_an_exclusion)
{
	struct pod_facts p = pod_evicted();
	const struct pod_context s = { .stage = STAGE_LIVE };

	p.ns = STR_LIT("bank");
	list_set(&policy.exclude_namespaces, "bank");
	EXPECT(judge_one(DUTY_EVICTED, &p, s, NOW), REFUSE, NAMESPACE_EXCLUDED);
}

/* Whether an override forbids it is not known: no act. */
TEST(labels_beyond_the_limit_never_act)
{
	struct pod_facts p = pod_evicted();
	const struct pod_context s = { .stage = STAGE_LIVE };

	p.labels_cut = true;
	EXPECT(judge_one(DUTY_EVICTED, &p, s, NOW), REFUSE, INCOMPLETE_FACTS);
	p.labels_cut = false;
	p.labels_mask = SELECT_LABELS_UNKNOWN;
	EXPECT(judge_one(DUTY_EVICTED, &p, s, NOW), REFUSE, INCOMPLETE_FACTS);
	policy.n_overrides = 2; /* none of them asks for labels */
	p.labels_mask = 0;
	p.labels_cut = true;
	EXPECT(judge_one(DUTY_EVICTED, &p, s, NOW), ACT, EVICTED);
}

TEST_MAIN("rules/select")
{
	tcase_add_checked_fixture(t, setup, teardown);
}
