/* judge_pod: the order of the duties and which verdict stands. */
// SPDX-License-Identifier: Apache-2.0
#include "fixture.h"
#include "tests/suite.h"

static struct policy policy;

static void setup(void)
{
	policy_init(&policy);
}

static void teardown(void)
{
	policy_done(&policy);
}

static struct verdict judge(const struct pod_facts *p, struct pod_context s)
{
	struct verdict v;

	judge_pod(p, &policy, &s, NOW, &v);
	return v;
}

TEST(healthy)
{
	struct pod_facts p = pod_healthy();
	struct verdict v = judge(&p, cache());

	EXPECT(v, NONE, NOTHING_TO_DO);
}

TEST(each_duty_is_reached)
{
	struct pod_facts p = pod_evicted();
	struct verdict v = judge(&p, cache());

	EXPECT(v, ACT, EVICTED);
	ck_assert_int_eq(v.duty, DUTY_EVICTED);
	p = pod_terminating();
	v = judge(&p, cache());
	EXPECT(v, ACT, STUCK_TERMINATING);
	ck_assert_int_eq(v.duty, DUTY_TERMINATING);
	p = pod_pull_failing();
	v = judge(&p, cache());
	EXPECT(v, ACT, CANNOT_PULL_IMAGE);
	ck_assert_int_eq(v.duty, DUTY_IMAGE_PULL);
	p = pod_finished();
	v = judge(&p, cache());
	EXPECT(v, ACT, FINISHED);
	p = pod_crashing();
	v = judge(&p, cache());
	EXPECT(v, ACT, CRASH_LOOPING);
	policy.duty[DUTY_CRASH_LOOP].enable = false; /* the digest is not in the chain */
	v = judge(&p, cache());
	EXPECT(v, NONE, NOTHING_TO_DO);
}

/* An evicted pod that is held in Terminating: the first duty has nothing to do, the second acts. */
TEST(evicted_and_stuck)
{
	struct pod_facts p = pod_evicted();
	struct verdict v;

	p.deletion = NOW - HOURS - 1;
	p.grace_s = 30;
	v = judge(&p, live_node_gone());
	EXPECT(v, ACT, STUCK_TERMINATING);
}

TEST(a_later_act_beats_an_earlier_refusal)
{
	struct pod_facts p = pod_evicted();
	struct verdict v;

	p.owner.kind = STR_LIT("Job");
	v = judge(&p, live_node_gone());
	EXPECT(v, REFUSE, JOB_POD_KEPT);
	p.deletion = NOW - HOURS - 1;
	p.grace_s = 30;
	v = judge(&p, live_node_gone());
	EXPECT(v, ACT, STUCK_TERMINATING);
}

TEST(wait_beats_refusal)
{
	struct pod_facts p = pod_pull_failing();
	struct pod_context s = cache();
	struct verdict v;

	s.failing_since = NOW;
	v = judge(&p, s);
	EXPECT(v, WAIT, WAITING_FOR_THRESHOLD);
	ck_assert_int_eq(v.at_ms, NOW + HOURS + 1);
	s.failing_since = 0;
	v = judge(&p, s);
	EXPECT(v, WAIT, NO_FIRST_SEEN);
	ck_assert_int_eq(v.at_ms, 0);
}

TEST(by_duty)
{
	struct pod_facts p = pod_evicted();
	struct pod_context s = cache();
	struct verdict v;

	judge_duty(DUTY_EVICTED, &p, &policy, &s, NOW, &v);
	EXPECT(v, ACT, EVICTED);
	judge_duty(DUTY_TERMINATING, &p, &policy, &s, NOW, &v);
	EXPECT(v, NONE, NOT_TERMINATING);
	judge_duty(DUTY_IMAGE_PULL, &p, &policy, &s, NOW, &v);
	EXPECT(v, NONE, NOT_FAILING);
	judge_duty(DUTY_RESTARTS, &p, &policy, &s, NOW, &v);
	EXPECT(v, NONE, NOT_RESTARTING);
	judge_duty((enum duty)77, &p, &policy, &s, NOW, &v);
	EXPECT(v, NONE, NOTHING_TO_DO);
}

TEST_MAIN("rules/chain")
{
	tcase_add_checked_fixture(t, setup, teardown);
}
