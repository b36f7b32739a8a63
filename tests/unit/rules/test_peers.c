/* Mistakes found in other programs of this kind, by reading them: none of them is ours. Those that are not of
 * the rules are tested where they belong (docs/judgement.md names them). */
// SPDX-License-Identifier: Apache-2.0
#include "fixture.h"
#include "tests/suite.h"

/* A branch of its own for evicted pods without container statuses went round every exclusion. */
TEST(evicted_without_containers_is_guarded_alike)
{
	const struct pod_context s = { .stage = STAGE_LIVE };
	struct pod_facts p = pod_evicted();

	p.n_containers = 0;
	p.ns = STR_LIT("kube-system");
	EXPECT(judge_one(DUTY_EVICTED, &p, s, NOW), REFUSE, NAMESPACE_PROTECTED);
	p = pod_evicted();
	p.n_containers = 0;
	p.mirror = true;
	EXPECT(judge_one(DUTY_EVICTED, &p, s, NOW), REFUSE, MIRROR_POD);
	p.mirror = false;
	EXPECT(judge_one(DUTY_EVICTED, &p, s, NOW), ACT, EVICTED);
}

/* One key served for "failed" and for "completed": to leave the one alone left the other to the broom. */
TEST(completed_is_not_failed)
{
	const struct pod_context s = { .stage = STAGE_LIVE };
	struct pod_facts p = pod_evicted();

	p.phase = STR_LIT("Succeeded");
	EXPECT(judge_one(DUTY_EVICTED, &p, s, NOW), NONE, NOT_EVICTED);
	p.phase = STR_LIT("Failed");
	p.reason = STR_LIT("Completed");
	EXPECT(judge_one(DUTY_EVICTED, &p, s, NOW), NONE, NOT_EVICTED);
}

/* A threshold of two sightings minus one was one: it acted at first sight. */
TEST(first_sight_never_acts)
{
	struct pod_facts p = pod_pull_failing();
	struct pod_context s = live_pull();
	struct verdict v;

	policy.duty[DUTY_IMAGE_PULL].hours_ms = 0;
	s.failing_since = 0;
	EXPECT(judge_one(DUTY_IMAGE_PULL, &p, s, NOW), WAIT, NO_FIRST_SEEN);
	s.failing_since = NOW;
	v = EXPECT(judge_one(DUTY_IMAGE_PULL, &p, s, NOW), WAIT, WAITING_FOR_THRESHOLD);
	ck_assert_int_eq(v.at_ms, NOW + 1);
}

/* One failing init container condemned a workload whose other pods were well. */
TEST(one_failing_init_container_condemns_nobody)
{
	struct pod_facts p = pod_pull_failing();
	struct pod_context s = live_pull();

	p.containers[0].kind = CONTAINER_INIT;
	s.failing = 1;
	EXPECT(judge_one(DUTY_IMAGE_PULL, &p, s, NOW), REFUSE, NOT_ALL_FAILING);
	s.ready = 2;
	EXPECT(judge_one(DUTY_IMAGE_PULL, &p, s, NOW), REFUSE, WORKLOAD_HAS_READY_PODS);
}

/* None of none was taken for all: a workload without pods (quota) was scaled down. */
TEST(none_of_none_is_not_all)
{
	struct pod_facts p = pod_pull_failing();
	struct pod_context s = live_pull();

	s.pods = s.failing = 0;
	EXPECT(judge_one(DUTY_IMAGE_PULL, &p, s, NOW), REFUSE, WORKLOAD_HAS_NO_PODS);
}

/* Image failures were only seen while the pod was Pending. */
TEST(a_running_pod_can_fail_to_pull)
{
	struct pod_facts p = pod_pull_failing();
	const struct pod_context s = live_pull();

	p.phase = STR_LIT("Running");
	EXPECT(judge_one(DUTY_IMAGE_PULL, &p, s, NOW), ACT, CANNOT_PULL_IMAGE);
}

/* An old pod that ran well for months was over the threshold the moment its next pull failed. */
TEST(the_age_of_a_pod_is_not_the_age_of_its_failure)
{
	struct pod_facts p = pod_pull_failing();
	struct pod_context s = live_pull();

	p.created = p.start_time = p.scheduled_at = 1;
	s.failing_since = NOW - 1;
	EXPECT(judge_one(DUTY_IMAGE_PULL, &p, s, NOW), WAIT, WAITING_FOR_THRESHOLD);
	s.failing_since = 0;
	EXPECT(judge_one(DUTY_IMAGE_PULL, &p, s, NOW), WAIT, NO_FIRST_SEEN);
}

POLICY_SUITE("rules/peers");
