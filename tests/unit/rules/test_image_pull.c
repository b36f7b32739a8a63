/* errImagePull: R1, R2, R4, R14, R15, R18, R24. */
// SPDX-License-Identifier: Apache-2.0
#include "base/cleanup.h"
#include "fixture.h"
#include "tests/facts_en.h"
#include "tests/suite.h"

static struct verdict judge_at(const struct pod_facts *p, const struct pod_context *s, int64_t now)
{
	return judge_one(DUTY_IMAGE_PULL, p, *s, now);
}

static struct verdict judge(const struct pod_facts *p, struct pod_context s)
{
	return judge_at(p, &s, NOW);
}

TEST(strictly_after_first_seen_plus_threshold)
{
	struct pod_facts p = pod_pull_failing();
	struct pod_context s = live_pull();
	struct verdict v;

	v = EXPECT(judge_at(&p, &s, s.failing_since + HOURS), WAIT, WAITING_FOR_THRESHOLD);
	ck_assert_int_eq(v.at_ms, s.failing_since + HOURS + 1);
	v = judge_at(&p, &s, v.at_ms);
	EXPECT(v, ACT, CANNOT_PULL_IMAGE);
	ck_assert_str_eq(
		EN(v.evidence),
		"container app: ImagePullBackOff for 2m (threshold 2m), cause: unknown; 3 of 3 pods of "
		"the revision fail, 0 Ready");
}

/* Never the creation time: an old pod whose image vanished today starts its clock today. */
TEST(no_first_seen_waits_for_ever)
{
	struct pod_facts p = pod_pull_failing();
	struct pod_context s = live_pull();
	struct verdict v;

	p.created = 1;
	s.failing_since = 0;
	v = EXPECT(judge(&p, s), WAIT, NO_FIRST_SEEN);
	ck_assert_int_eq(v.at_ms, 0);
	s.failing_since = -5;
	EXPECT(judge(&p, s), REFUSE, BAD_TIMESTAMP);
	s.failing_since = NOW + JUDGE_SKEW_MS + 1;
	v = EXPECT(judge(&p, s), WAIT, TIME_IN_FUTURE);
	ck_assert_int_eq(v.at_ms, NOW + 1);
	s.failing_since = INT64_MAX;
	EXPECT(judge(&p, s), WAIT, TIME_IN_FUTURE);
	s.failing_since = NOW + 1;
	EXPECT(judge(&p, s), WAIT, WAITING_FOR_THRESHOLD);
}

static const struct {
	const char *status, *reason;
	enum container_kind kind;
	enum container_state state;
	const char *phase;
	bool failing;
} rows[] = {
	{ "ErrImagePull,ImagePullBackOff", "ErrImagePull", CONTAINER_MAIN, CONTAINER_WAITING, "Pending",
	  true },
	/* one state, whichever of the two is listed */
	{ "ErrImagePull", "ImagePullBackOff", CONTAINER_MAIN, CONTAINER_WAITING, "Pending", true },
	{ "ImagePullBackOff", "ErrImagePull", CONTAINER_MAIN, CONTAINER_WAITING, "Pending", true },
	/* a container that ran before keeps the phase Running */
	{ "ErrImagePull", "ErrImagePull", CONTAINER_MAIN, CONTAINER_WAITING, "Running", true },
	{ "ErrImagePull", "ErrImagePull", CONTAINER_MAIN, CONTAINER_WAITING, "Unknown", true },
	/* an ended pod pulls nothing */
	{ "ErrImagePull", "ErrImagePull", CONTAINER_MAIN, CONTAINER_WAITING, "Failed", false },
	{ "ErrImagePull", "ErrImagePull", CONTAINER_MAIN, CONTAINER_WAITING, "Succeeded", false },
	{ "ErrImagePull", "ErrImagePull", CONTAINER_INIT, CONTAINER_WAITING, "Pending", true },
	{ "Init:ImagePullBackOff", "ErrImagePull", CONTAINER_INIT, CONTAINER_WAITING, "Pending", true },
	{ "Init:InvalidImageName", "InvalidImageName", CONTAINER_INIT, CONTAINER_WAITING, "Pending", true },
	{ "ErrImagePull", "Init:ErrImagePull", CONTAINER_INIT, CONTAINER_WAITING, "Pending", true },
	{ "ErrImagePull", "ErrImagePull", CONTAINER_EPHEMERAL, CONTAINER_WAITING, "Pending", false },
	{ "ErrImagePull", "ErrImagePull", CONTAINER_MAIN, CONTAINER_TERMINATED, "Pending", false },
	{ "ErrImagePull", "ErrImagePull", CONTAINER_MAIN, CONTAINER_RUNNING, "Running", false },
	{ "ErrImagePull", "ErrImagePull", CONTAINER_MAIN, CONTAINER_NONE, "Pending", false },
	/* exact compare */
	{ "ErrImagePull", "ErrImagePullX", CONTAINER_MAIN, CONTAINER_WAITING, "Pending", false },
	{ "ErrImagePull", "errimagepull", CONTAINER_MAIN, CONTAINER_WAITING, "Pending", false },
	{ "ErrImagePull", "", CONTAINER_MAIN, CONTAINER_WAITING, "Pending", false },
	{ "", "ErrImagePull", CONTAINER_MAIN, CONTAINER_WAITING, "Pending", false },
	{ "Init:", "ErrImagePull", CONTAINER_MAIN, CONTAINER_WAITING, "Pending", false },
	/* other classes only when asked for */
	{ "ErrImagePull", "InvalidImageName", CONTAINER_MAIN, CONTAINER_WAITING, "Pending", false },
	{ "ErrImagePull,InvalidImageName", "InvalidImageName", CONTAINER_MAIN, CONTAINER_WAITING, "Pending",
	  true },
	{ "ErrImagePull", "CrashLoopBackOff", CONTAINER_MAIN, CONTAINER_WAITING, "Running", false },
	{ "ErrImagePull", "ContainerCreating", CONTAINER_MAIN, CONTAINER_WAITING, "Pending", false },
};

TEST_LOOP(which_containers_fail, 0, ARRAY_SIZE(rows))
{
	struct pod_facts p = pod_pull_failing();
	uint32_t container = 99;
	struct verdict v;

	list_set(&policy.duty[DUTY_IMAGE_PULL].status, rows[_i].status);
	p.n_containers = 2;
	p.containers[1] = p.containers[0];
	p.containers[0].state = CONTAINER_RUNNING;
	p.containers[0].reason = STR_LIT("");
	p.containers[1].reason = STR_C(rows[_i].reason);
	p.containers[1].kind = rows[_i].kind;
	p.containers[1].state = rows[_i].state;
	p.phase = STR_C(rows[_i].phase);
	ck_assert_msg(judge_fails(DUTY_IMAGE_PULL, &p, &policy, NOW, &container) == rows[_i].failing,
		      "row %d", _i);
	v = judge(&p, live_pull());
	if (rows[_i].failing) {
		ck_assert_uint_eq(container, 1);
		EXPECT(v, ACT, CANNOT_PULL_IMAGE);
	} else {
		ck_assert_uint_eq(container, 99);
		EXPECT(v, NONE, NOT_FAILING);
	}
}

static const struct {
	enum tri known;
	uint32_t pods, failing, ready;
	enum reason live, in_cache;
} tallies[] = {
	{ TRI_YES, 3, 3, 0, REASON_CANNOT_PULL_IMAGE, REASON_CANNOT_PULL_IMAGE },
	{ TRI_YES, 1, 1, 0, REASON_CANNOT_PULL_IMAGE, REASON_CANNOT_PULL_IMAGE },
	{ TRI_YES, 3, 3, 1, REASON_WORKLOAD_HAS_READY_PODS, REASON_WORKLOAD_HAS_READY_PODS },
	/* 0 == 0 is no proof */
	{ TRI_YES, 0, 0, 0, REASON_WORKLOAD_HAS_NO_PODS, REASON_WORKLOAD_HAS_NO_PODS },
	{ TRI_YES, 3, 2, 0, REASON_NOT_ALL_FAILING, REASON_NOT_ALL_FAILING },
	{ TRI_YES, 2, 3, 0, REASON_NOT_ALL_FAILING, REASON_NOT_ALL_FAILING },
	{ TRI_UNKNOWN, 3, 3, 0, REASON_TALLY_UNKNOWN, REASON_CANNOT_PULL_IMAGE },
	{ TRI_NO, 3, 3, 0, REASON_TALLY_UNKNOWN, REASON_CANNOT_PULL_IMAGE },
};

TEST_LOOP(whole_workload, 0, ARRAY_SIZE(tallies))
{
	struct pod_facts p = pod_pull_failing();
	struct pod_context s = live_pull();

	s.tally_known = tallies[_i].known;
	s.pods = tallies[_i].pods;
	s.failing = tallies[_i].failing;
	s.ready = tallies[_i].ready;
	expect(judge(&p, s), tallies[_i].live == REASON_CANNOT_PULL_IMAGE ? VERDICT_ACT : VERDICT_REFUSE,
	       tallies[_i].live, _i);
	s.stage = STAGE_CACHE;
	expect(judge(&p, s), tallies[_i].in_cache == REASON_CANNOT_PULL_IMAGE ? VERDICT_ACT : VERDICT_REFUSE,
	       tallies[_i].in_cache, _i);
}

static const struct {
	const char *api_version, *kind, *uid;
	enum reason reason;
} owners[] = {
	{ "apps/v1", "ReplicaSet", "u", REASON_CANNOT_PULL_IMAGE },
	{ "apps/v1", "StatefulSet", "u", REASON_CANNOT_PULL_IMAGE },
	{ "v1", "ReplicationController", "u", REASON_CANNOT_PULL_IMAGE },
	{ "apps.kruise.io/v1alpha1", "CloneSet", "u", REASON_CANNOT_PULL_IMAGE },
	{ "apps/v1", "DaemonSet", "u", REASON_KIND_NOT_SCALABLE },
	{ "batch/v1", "Job", "u", REASON_KIND_NOT_SCALABLE },
	{ "batch/v1", "CronJob", "u", REASON_KIND_NOT_SCALABLE },
	{ "example.com/v1", "Job", "u", REASON_CANNOT_PULL_IMAGE }, /* discovery decides in the worker */
	{ "v1", "Node", "u", REASON_KIND_NOT_SCALABLE },
	{ "", "", "", REASON_NO_CONTROLLER },
	{ "apps/v1", "ReplicaSet", "", REASON_NO_CONTROLLER },
	{ "apps/v1", "", "u", REASON_NO_CONTROLLER },
};

TEST_LOOP(owner_kinds, 0, ARRAY_SIZE(owners))
{
	struct pod_facts p = pod_pull_failing();

	p.owner.api_version = STR_C(owners[_i].api_version);
	p.owner.kind = STR_C(owners[_i].kind);
	p.owner.uid = STR_C(owners[_i].uid);
	expect(judge(&p, live_pull()),
	       owners[_i].reason == REASON_CANNOT_PULL_IMAGE ? VERDICT_ACT : VERDICT_REFUSE,
	       owners[_i].reason, _i);
}

TEST(guards)
{
	struct pod_facts p = pod_pull_failing();

	p.ready = true;
	EXPECT(judge(&p, live_pull()), REFUSE, POD_READY);
	p = pod_pull_failing();
	p.deletion = NOW;
	EXPECT(judge(&p, live_pull()), NONE, BEING_DELETED);
	p = pod_pull_failing();
	p.mirror = true;
	EXPECT(judge(&p, live_pull()), REFUSE, MIRROR_POD);
	p = pod_pull_failing();
	p.ns = STR_LIT("kube-system");
	EXPECT(judge(&p, live_pull()), REFUSE, NAMESPACE_PROTECTED);
	p.containers_cut = true;
	EXPECT(judge(&p, live_pull()), REFUSE, TOO_MANY_CONTAINERS);
}

static struct pod_facts two_running(void)
{
	struct pod_facts p = pod_healthy();

	p.n_containers = 2;
	p.containers[1] = p.containers[0];
	return p;
}

TEST(has_pulled)
{
	struct pod_facts p = two_running();

	ck_assert(judge_works(DUTY_IMAGE_PULL, &p, NOW));
	p.containers[1].state = CONTAINER_WAITING;
	p.containers[1].reason = STR_LIT("ContainerCreating");
	ck_assert(!judge_works(DUTY_IMAGE_PULL, &p, NOW));
	p.containers[1].reason = STR_LIT("CrashLoopBackOff");
	p.containers[1].restarts = 1;
	ck_assert(judge_works(DUTY_IMAGE_PULL, &p, NOW));
	p.containers[1].restarts = 0;
	p.containers[1].last_finished_at = NOW - MIN;
	ck_assert(judge_works(DUTY_IMAGE_PULL, &p, NOW));
	/* It ran once and now cannot be pulled again: the clock must go on. */
	p.containers[1].reason = STR_LIT("ImagePullBackOff");
	p.containers[1].restarts = 3;
	ck_assert(!judge_works(DUTY_IMAGE_PULL, &p, NOW));
	p = two_running();
	p.containers[1].state = CONTAINER_TERMINATED;
	p.containers[1].reason = STR_LIT("Error");
	ck_assert(judge_works(DUTY_IMAGE_PULL, &p, NOW));
	p.containers[1].reason = STR_LIT("ContainerStatusUnknown");
	ck_assert(!judge_works(DUTY_IMAGE_PULL, &p, NOW));
	p.n_containers = 0;
	ck_assert(!judge_works(DUTY_IMAGE_PULL, &p, NOW));
	p = two_running();
	p.containers[0].kind = CONTAINER_INIT;
	p.containers[0].state = CONTAINER_WAITING;
	p.containers[0].reason = STR_LIT("ErrImagePull");
	ck_assert(!judge_works(DUTY_IMAGE_PULL, &p, NOW));
	p.containers[0].kind = CONTAINER_EPHEMERAL;
	ck_assert(judge_works(DUTY_IMAGE_PULL, &p, NOW));
}

/* One pod of a revision that others could pull: never an act, but after the threshold somebody hears of it.
 */
TEST(one_failing_pod_among_ready_ones_is_told)
{
	struct pod_facts p = pod_pull_failing();
	struct pod_context s = {
		.stage = STAGE_CACHE, .tally_known = TRI_YES, .pods = 3, .failing = 1, .ready = 2
	};
	struct verdict v;

	p.scheduled_at = NOW - HOURS;
	v = EXPECT(judge_one(DUTY_IMAGE_PULL, &p, s, NOW), WAIT, NO_FIRST_SEEN);
	ck_assert_int_eq(v.at_ms, NOW + 1);
	v = EXPECT(judge_one(DUTY_IMAGE_PULL, &p, s, NOW + 1), REFUSE, WORKLOAD_HAS_READY_PODS);
	ck_assert_ptr_nonnull(strstr(EN(v.evidence), "1 of 3 pods of the revision fail, 2 Ready"));
	s.ready = 0;
	EXPECT(judge_one(DUTY_IMAGE_PULL, &p, s, NOW + 1), REFUSE, NOT_ALL_FAILING);
	/* a container that ended well since begins to fail only then */
	p.containers[0].last_finished_at = NOW;
	EXPECT(judge_one(DUTY_IMAGE_PULL, &p, s, NOW + 1), WAIT, NO_FIRST_SEEN);
	/* all fail and the clock has not begun: nothing can be said yet */
	s.failing = 3;
	p.containers[0].last_finished_at = 0;
	v = EXPECT(judge_one(DUTY_IMAGE_PULL, &p, s, NOW + 1), WAIT, NO_FIRST_SEEN);
	ck_assert_int_eq(v.at_ms, 0);
}

/* Of a StatefulSet one pod alone may go: the cache leaves that to the worker, which has read the set. */
TEST_LOOP(one_pod_may_hold_up_an_order, 0, 6)
{
	static const struct {
		enum ordinal_mode mode;
		const char *kind;
		enum judge_stage stage;
		enum tri stuck;
		bool acts;
	} orders[] = {
		{ ORDINAL_DELETE, "StatefulSet", STAGE_CACHE, TRI_UNKNOWN, true },
		{ ORDINAL_DELETE, "StatefulSet", STAGE_LIVE, TRI_YES, true },
		{ ORDINAL_DELETE, "StatefulSet", STAGE_LIVE, TRI_UNKNOWN, false },
		{ ORDINAL_REPORT, "StatefulSet", STAGE_CACHE, TRI_UNKNOWN, false },
		{ ORDINAL_REPORT, "StatefulSet", STAGE_LIVE, TRI_YES, false },
		{ ORDINAL_DELETE, "ReplicaSet", STAGE_CACHE, TRI_YES, false },
	};
	struct pod_facts p = pod_pull_failing();
	struct pod_context s = live_pull();

	policy.duty[DUTY_IMAGE_PULL].ordinal_stuck = orders[_i].mode;
	p.owner.kind = STR_C(orders[_i].kind);
	s.stage = orders[_i].stage;
	s.ordinal_stuck = orders[_i].stuck;
	s.ready = 2;
	expect(judge(&p, s), orders[_i].acts ? VERDICT_ACT : VERDICT_REFUSE,
	       orders[_i].acts ? REASON_CANNOT_PULL_IMAGE : REASON_WORKLOAD_HAS_READY_PODS, _i);
}

/* A stage or a count outside its enum is no cache and no yes: it never scales anything. */
TEST(an_odd_stage_is_no_cache)
{
	struct pod_facts p = pod_pull_failing();
	struct pod_context s = live_pull();

	s.stage = (enum judge_stage)77;
	ck_assert_int_eq(judge(&p, s).kind, VERDICT_ACT);
	s.tally_known = (enum tri)77;
	ck_assert_int_eq(judge(&p, s).reason, REASON_TALLY_UNKNOWN);
}

POLICY_SUITE("rules/image_pull");
