/* The grace announced on the object: when it begins, how its owner extends or refuses it. */
// SPDX-License-Identifier: Apache-2.0
#include "fixture.h"

#include "rules/escalation.h"
#include "tests/suite.h"

static const struct duty_policy with_grace = { .announce_ms = HOUR };

static enum announce ask(const struct annotations *m, const struct duty_policy *dp, int64_t *ret_until)
{
	return announce_judge(m, DUTY_IMAGE_PULL, dp, NOW, ret_until);
}

TEST(no_grace_no_announcement)
{
	const struct duty_policy none = { 0 };
	const struct annotations m = { 0 };
	int64_t until;

	ck_assert_int_eq(ask(&m, &none, &until), ANNOUNCE_GO);
	ck_assert_int_eq(ask(&m, &with_grace, &until), ANNOUNCE_NEEDED);
}

TEST(strictly_after_the_grace)
{
	struct annotations m = { .announced = { [DUTY_IMAGE_PULL] = NOW - HOUR } };
	int64_t until;

	ck_assert_int_eq(ask(&m, &with_grace, &until), ANNOUNCE_WAIT);
	ck_assert_int_eq(until, NOW);
	m.announced[DUTY_IMAGE_PULL]--;
	ck_assert_int_eq(ask(&m, &with_grace, &until), ANNOUNCE_GO);
	/* announced for another duty */
	m.announced[DUTY_IMAGE_PULL] = 0;
	m.announced[DUTY_EVICTED] = NOW - 2 * HOUR;
	ck_assert_int_eq(ask(&m, &with_grace, &until), ANNOUNCE_NEEDED);
}

TEST(the_owner_extends_it)
{
	struct annotations m = { .announced = { [DUTY_IMAGE_PULL] = NOW - HOUR - 1 }, .extend_ms = MIN };
	int64_t until;

	ck_assert_int_eq(ask(&m, &with_grace, &until), ANNOUNCE_WAIT);
	ck_assert_int_eq(until, NOW - 1 + MIN);
	m.extend_ms = 0;
	ck_assert_int_eq(ask(&m, &with_grace, &until), ANNOUNCE_GO);
	m.extend_ms = INT64_MAX;
	ck_assert_int_eq(ask(&m, &with_grace, &until), ANNOUNCE_WAIT);
}

TEST(the_owner_refuses_it)
{
	struct annotations m = { .announced = { [DUTY_IMAGE_PULL] = NOW - 2 * HOUR } };
	int64_t until;

	m.skip = 1u << DUTY_IMAGE_PULL;
	ck_assert_int_eq(ask(&m, &with_grace, &until), ANNOUNCE_REFUSED);
	m.skip = 1u << DUTY_EVICTED;
	ck_assert_int_eq(ask(&m, &with_grace, &until), ANNOUNCE_GO);
	m.ignore = true;
	ck_assert_int_eq(ask(&m, &with_grace, &until), ANNOUNCE_REFUSED);
}

TEST(an_announcement_from_the_future_is_none)
{
	struct annotations m = { .announced = { [DUTY_IMAGE_PULL] = NOW + JUDGE_SKEW_MS } };
	int64_t until;

	ck_assert_int_eq(ask(&m, &with_grace, &until), ANNOUNCE_WAIT);
	m.announced[DUTY_IMAGE_PULL]++;
	ck_assert_int_eq(ask(&m, &with_grace, &until), ANNOUNCE_NEEDED);
}

/* The marks of a pod hold in the judgement itself. */
TEST(marks_of_a_pod)
{
	struct pod_facts p = pod_evicted();
	const struct pod_context s = { .stage = STAGE_LIVE };
	struct verdict v;

	policy.duty[DUTY_EVICTED].announce_ms = HOUR;
	EXPECT(judge_one(DUTY_EVICTED, &p, s, NOW), ACT, EVICTED); /* whose first step is to announce it */
	p.annotations.announced[DUTY_EVICTED] = NOW - MIN;
	v = EXPECT(judge_one(DUTY_EVICTED, &p, s, NOW), WAIT, ANNOUNCED);
	ck_assert_int_eq(v.at_ms, NOW - MIN + HOUR + 1);
	v = judge_one(DUTY_EVICTED, &p, s, v.at_ms);
	EXPECT(v, ACT, EVICTED);
	p.annotations.skip = 1u << DUTY_EVICTED;
	EXPECT(judge_one(DUTY_EVICTED, &p, s, NOW), REFUSE, SKIP_ANNOTATION);
	p.annotations.skip = 1u << DUTY_TERMINATING;
	p.annotations.announced[DUTY_EVICTED] = 0;
	EXPECT(judge_one(DUTY_EVICTED, &p, s, NOW), ACT, EVICTED);
}

POLICY_SUITE("rules/announce");
