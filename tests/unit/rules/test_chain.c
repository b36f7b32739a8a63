/* judge_pod: the order of the duties and which verdict stands. */
// SPDX-License-Identifier: Apache-2.0
#include "fixture.h"
#include "tests/suite.h"

static struct verdict judge(const struct pod_facts *p, struct pod_context s)
{
	struct verdict v;

	judge_pod(p, &policy, &s, NOW, &v);
	return v;
}

TEST(healthy)
{
	struct pod_facts p = pod_healthy();

	EXPECT(judge(&p, cache()), NONE, NOTHING_TO_DO);
}

TEST(each_duty_is_reached)
{
	struct pod_facts p = pod_evicted();
	struct verdict v = judge(&p, cache());

	EXPECT(v, ACT, EVICTED);
	ck_assert_int_eq(v.duty, DUTY_EVICTED);
	p = pod_terminating();
	v = EXPECT(judge(&p, cache()), ACT, STUCK_TERMINATING);
	ck_assert_int_eq(v.duty, DUTY_TERMINATING);
	p = pod_pull_failing();
	v = EXPECT(judge(&p, cache()), ACT, CANNOT_PULL_IMAGE);
	ck_assert_int_eq(v.duty, DUTY_IMAGE_PULL);
	p = pod_finished();
	EXPECT(judge(&p, cache()), ACT, FINISHED);
	p = pod_crashing();
	EXPECT(judge(&p, cache()), ACT, CRASH_LOOPING);
	policy.duty[DUTY_CRASH_LOOP].enable = false; /* the digest is not in the chain */
	EXPECT(judge(&p, cache()), NONE, NOTHING_TO_DO);
}

/* An evicted pod that is held in Terminating: the first duty has nothing to do, the second acts. */
TEST(evicted_and_stuck)
{
	struct pod_facts p = pod_evicted();

	p.deletion = NOW - HOURS - 1;
	p.grace_s = 30;
	EXPECT(judge(&p, live_node_gone()), ACT, STUCK_TERMINATING);
}

TEST(a_later_act_beats_an_earlier_refusal)
{
	struct pod_facts p = pod_evicted();

	p.owner.kind = STR_LIT("Job");
	EXPECT(judge(&p, live_node_gone()), REFUSE, JOB_POD_KEPT);
	p.deletion = NOW - HOURS - 1;
	p.grace_s = 30;
	EXPECT(judge(&p, live_node_gone()), ACT, STUCK_TERMINATING);
}

TEST(wait_beats_refusal)
{
	struct pod_facts p = pod_pull_failing();
	struct pod_context s = cache();
	struct verdict v;

	s.failing_since = NOW;
	v = EXPECT(judge(&p, s), WAIT, WAITING_FOR_THRESHOLD);
	ck_assert_int_eq(v.at_ms, NOW + HOURS + 1);
	s.failing_since = 0;
	v = EXPECT(judge(&p, s), WAIT, NO_FIRST_SEEN);
	ck_assert_int_eq(v.at_ms, 0);
}

TEST(by_duty)
{
	struct pod_facts p = pod_evicted();
	struct pod_context s = cache();
	struct verdict v;

	EXPECT(judge_one(DUTY_EVICTED, &p, s, NOW), ACT, EVICTED);
	EXPECT(judge_one(DUTY_TERMINATING, &p, s, NOW), NONE, NOT_TERMINATING);
	EXPECT(judge_one(DUTY_IMAGE_PULL, &p, s, NOW), NONE, NOT_FAILING);
	v = EXPECT(judge_one(DUTY_RESTARTS, &p, s, NOW), NONE, NOT_RESTARTING);
	judge_duty((enum duty)77, &p, &policy, &s, NOW, &v);
	EXPECT(v, NONE, NOTHING_TO_DO);
}

POLICY_SUITE("rules/chain");
