/* crashLoop: scale to zero what crashes in a loop; R4, R5, R15, R18, R24. */
// SPDX-License-Identifier: Apache-2.0
#include "fixture.h"

#include "base/cleanup.h"
#include "tests/facts_en.h"
#include "tests/suite.h"

static struct verdict judge_at(const struct pod_facts *p, struct pod_context s, int64_t now)
{
	return judge_one(DUTY_CRASH_LOOP, p, s, now);
}

static struct verdict judge(const struct pod_facts *p, struct pod_context s)
{
	return judge_at(p, s, NOW);
}

TEST(strictly_after_first_seen_plus_threshold)
{
	struct pod_facts p = pod_crashing();
	struct pod_context s = live_pull();
	struct verdict v;

	v = EXPECT(judge_at(&p, s, s.failing_since + HOURS), WAIT, WAITING_FOR_THRESHOLD);
	v = judge_at(&p, s, v.at_ms);
	EXPECT(v, ACT, CRASH_LOOPING);
	ck_assert_str_eq(EN(v.evidence),
			 "container app: CrashLoopBackOff for 2m (threshold 2m), 5 restarts (threshold 5), "
			 "exit code 1 (Error); 3 of 3 pods of the revision fail, 0 Ready");
	s.failing_since = 0;
	EXPECT(judge(&p, s), WAIT, NO_FIRST_SEEN);
}

static const struct {
	enum container_kind kind;
	enum container_state state;
	const char *reason;
	int32_t restarts, exit_code;
	bool fails;
} rows[] = {
	{ CONTAINER_MAIN, CONTAINER_WAITING, "CrashLoopBackOff", 5, 0, true },
	{ CONTAINER_MAIN, CONTAINER_WAITING, "CrashLoopBackOff", 4, 0, false },
	{ CONTAINER_MAIN, CONTAINER_WAITING, "ImagePullBackOff", 9, 0, false },
	{ CONTAINER_MAIN, CONTAINER_WAITING, "ContainerCreating", 9, 0, false },
	{ CONTAINER_MAIN, CONTAINER_TERMINATED, "Error", 5, 1, true },
	{ CONTAINER_MAIN, CONTAINER_TERMINATED, "Completed", 5, 0, true },
	{ CONTAINER_MAIN, CONTAINER_RUNNING, "", 99, 0, false }, /* for a moment, or for good */
	{ CONTAINER_MAIN, CONTAINER_NONE, "", 99, 0, false },
	{ CONTAINER_INIT, CONTAINER_WAITING, "CrashLoopBackOff", 5, 0, true },
	{ CONTAINER_INIT, CONTAINER_TERMINATED, "Error", 5, 1, true },
	{ CONTAINER_INIT, CONTAINER_TERMINATED, "Completed", 5, 0, false }, /* it is done */
	{ CONTAINER_EPHEMERAL, CONTAINER_WAITING, "CrashLoopBackOff", 9, 0, false },
};

TEST_LOOP(what_crashes_in_a_loop, 0, sizeof(rows) / sizeof(rows[0]))
{
	struct pod_facts p = pod_crashing();
	struct verdict v;
	uint32_t container = 99;

	p.n_containers = 2;
	p.containers[0] = (struct container_facts){ .state = CONTAINER_RUNNING };
	p.containers[1] = (struct container_facts){ .name = STR_LIT("app"),
						    .kind = rows[_i].kind,
						    .state = rows[_i].state,
						    .reason = STR_C(rows[_i].reason),
						    .restarts = rows[_i].restarts,
						    .exit_code = rows[_i].exit_code };
	ck_assert(judge_fails(DUTY_CRASH_LOOP, &p, &policy, NOW, &container) == rows[_i].fails);
	ck_assert_uint_eq(container, rows[_i].fails ? 1 : 99);
	v = judge(&p, live_pull());
	ck_assert_int_eq(v.reason, rows[_i].fails ? REASON_CRASH_LOOPING : REASON_NOT_CRASHING);
	p.phase = STR_LIT("Failed");
	ck_assert(!judge_fails(DUTY_CRASH_LOOP, &p, &policy, NOW, NULL));
}

/* What runs again has crashed as often, and nothing shows yet that it goes on: pods that crash out of step
 * are never all down in one instant. */
TEST(a_short_run_is_no_recovery)
{
	struct pod_facts p = pod_crashing();
	struct container_facts *c = &p.containers[0];
	struct verdict v;

	c->state = CONTAINER_RUNNING;
	c->reason = STR_LIT("");
	c->started_at = NOW - 10 * MIN + 1;
	ck_assert(judge_fails(DUTY_CRASH_LOOP, &p, &policy, NOW, NULL));
	v = EXPECT(judge(&p, live_pull()), ACT, CRASH_LOOPING);
	ck_assert_ptr_nonnull(strstr(EN(v.evidence), "container app: Running for 2m"));
	c->started_at = NOW - 10 * MIN;
	ck_assert(!judge_fails(DUTY_CRASH_LOOP, &p, &policy, NOW, NULL));
	c->started_at = 0; /* nothing tells */
	ck_assert(!judge_fails(DUTY_CRASH_LOOP, &p, &policy, NOW, NULL));
	c->started_at = NOW - MIN;
	p.ready = true;
	ck_assert(!judge_fails(DUTY_CRASH_LOOP, &p, &policy, NOW, NULL));
	p.ready = false;
	c->restarts = 0;
	policy.duty[DUTY_CRASH_LOOP].counts = 0;
	ck_assert(!judge_fails(DUTY_CRASH_LOOP, &p, &policy, NOW, NULL));
}

/* The kubelet forgets its back-off after ten minutes: what comes then is another loop. */
TEST(a_run_of_ten_minutes_ends_the_clock)
{
	struct pod_facts p = pod_crashing();
	struct container_facts *c = &p.containers[0];

	ck_assert_int_eq(judge_worked_at(DUTY_CRASH_LOOP, &p, NOW), 0);
	c->last_started_at = c->last_finished_at - 10 * MIN + 1;
	ck_assert_int_eq(judge_worked_at(DUTY_CRASH_LOOP, &p, NOW), 0);
	c->last_started_at = c->last_finished_at - 10 * MIN;
	ck_assert_int_eq(judge_worked_at(DUTY_CRASH_LOOP, &p, NOW), c->last_finished_at);
	ck_assert(!judge_works(DUTY_CRASH_LOOP, &p, NOW));
	c->state = CONTAINER_TERMINATED;
	c->started_at = NOW - 11 * MIN;
	c->finished_at = NOW - 1;
	ck_assert_int_eq(judge_worked_at(DUTY_CRASH_LOOP, &p, NOW), NOW - 1);
	c->started_at = NOW - MIN;
	ck_assert_int_eq(judge_worked_at(DUTY_CRASH_LOOP, &p, NOW), 0);
	c->state = CONTAINER_RUNNING;
	c->started_at = NOW - 10 * MIN;
	ck_assert_int_eq(judge_worked_at(DUTY_CRASH_LOOP, &p, NOW), NOW);
	ck_assert(judge_works(DUTY_CRASH_LOOP, &p, NOW));
	c->started_at = NOW - 10 * MIN + 1; /* ... and its run before that one was long enough */
	ck_assert_int_eq(judge_worked_at(DUTY_CRASH_LOOP, &p, NOW), c->last_finished_at);
	c->asked = true;
	ck_assert_int_eq(judge_worked_at(DUTY_CRASH_LOOP, &p, NOW), 0);
}

/* Its sidecar is well. */
TEST(every_container_that_restarted_must_have_run)
{
	struct pod_facts p = pod_crashing();

	p.n_containers = 2;
	p.containers[1] = (struct container_facts){
		.name = STR_LIT("proxy"), .state = CONTAINER_RUNNING, .restarts = 1, .started_at = NOW - HOUR
	};
	ck_assert_int_eq(judge_worked_at(DUTY_CRASH_LOOP, &p, NOW), 0);
	p.containers[0].last_started_at = p.containers[0].last_finished_at - HOUR;
	ck_assert_int_eq(judge_worked_at(DUTY_CRASH_LOOP, &p, NOW), p.containers[0].last_finished_at);
	p.containers[0].kind = CONTAINER_INIT; /* it is past that one */
	p.containers[0].state = CONTAINER_TERMINATED;
	ck_assert_int_eq(judge_worked_at(DUTY_CRASH_LOOP, &p, NOW), NOW);
	p.containers[1].restarts = 0; /* the cache does not know since when it runs */
	ck_assert_int_eq(judge_worked_at(DUTY_CRASH_LOOP, &p, NOW), 0);
	p = pod_healthy();
	ck_assert(!judge_works(DUTY_CRASH_LOOP, &p, NOW));
}

/* The clock begins with the first loop, whatever `counts` says. */
TEST(the_clock_begins_before_it_is_too_often)
{
	struct pod_facts p = pod_crashing();

	p.containers[0].restarts = 1;
	ck_assert(judge_begins(DUTY_CRASH_LOOP, &p, &policy, NOW));
	ck_assert(!judge_fails(DUTY_CRASH_LOOP, &p, &policy, NOW, NULL));
	p.containers[0].restarts = 0; /* the first restart comes at once */
	ck_assert(!judge_begins(DUTY_CRASH_LOOP, &p, &policy, NOW));
	p.containers[0].restarts = 1;
	p.containers[0].asked = true;
	ck_assert(!judge_begins(DUTY_CRASH_LOOP, &p, &policy, NOW));
	p.containers[0].asked = false;
	p.containers[0].state = CONTAINER_RUNNING;
	ck_assert(!judge_begins(DUTY_CRASH_LOOP, &p, &policy, NOW));
	p = pod_crashing();
	p.phase = STR_LIT("Failed");
	ck_assert(!judge_begins(DUTY_CRASH_LOOP, &p, &policy, NOW));
	p = pod_pull_failing();
	ck_assert(judge_begins(DUTY_IMAGE_PULL, &p, &policy, NOW));
}

TEST(restarts_count_since_the_clock_began)
{
	struct pod_facts p = pod_crashing();
	struct pod_context s = live_pull();
	struct verdict v;

	s.restarts_before = 1;
	EXPECT(judge(&p, s), WAIT, BELOW_COUNTS);
	p.containers[0].restarts = 6;
	v = EXPECT(judge(&p, s), ACT, CRASH_LOOPING);
	ck_assert_ptr_nonnull(strstr(EN(v.evidence), "5 restarts (threshold 5)"));
	/* made since: all of its restarts are of this time */
	p.containers[0].restarts = 5;
	p.created = s.failing_since + 1;
	EXPECT(judge(&p, s), ACT, CRASH_LOOPING);
	p.created = s.failing_since;
	EXPECT(judge(&p, s), WAIT, BELOW_COUNTS);
}

/* One replica that is killed now and then. */
TEST(what_is_ready_now_and_then_works)
{
	struct pod_facts p = pod_crashing();
	struct pod_context s = live_pull();
	struct verdict v;

	s.ready_ms = HOURS / 10;
	EXPECT(judge(&p, s), ACT, CRASH_LOOPING);
	s.ready_ms = HOURS / 10 + 1;
	v = EXPECT(judge(&p, s), REFUSE, READY_IN_BETWEEN);
	ck_assert_ptr_nonnull(strstr(EN(v.evidence), "a pod of it was Ready for 12s, within the last 2m"));
	EXPECT(judge_at(&p, s, s.failing_since + HOURS), WAIT, WAITING_FOR_THRESHOLD);
	s.stage = STAGE_CACHE;
	EXPECT(judge(&p, s), REFUSE, READY_IN_BETWEEN);
}

/* Neither duty does what is half the other's, and both halves are told. */
TEST(one_crashes_and_one_cannot_pull)
{
	struct pod_facts crashes = pod_crashing(), pulls = pod_pull_failing();
	struct pod_context s = live_pull();
	struct verdict v;

	s.failing = 2;
	s.otherwise = 1;
	v = EXPECT(judge(&crashes, s), REFUSE, FAILS_IN_TWO_WAYS);
	ck_assert_ptr_nonnull(
		strstr(EN(v.evidence), "pods that cannot pull their image 1, pods that crash 2"));
	v = EXPECT(judge_one(DUTY_IMAGE_PULL, &pulls, s, NOW), REFUSE, FAILS_IN_TWO_WAYS);
	ck_assert_ptr_nonnull(
		strstr(EN(v.evidence), "pods that cannot pull their image 2, pods that crash 1"));
	s.pods = 4; /* and one that does neither */
	EXPECT(judge(&crashes, s), REFUSE, NOT_ALL_FAILING);
	s.pods = 3;
	s.ready = 1;
	EXPECT(judge(&crashes, s), REFUSE, WORKLOAD_HAS_READY_PODS);
}

static const struct {
	enum container_kind kind;
	enum container_state state;
	const char *reason;
	int32_t restarts;
	bool main, init; /* does it speak for a workload whose main, init containers fail? */
} proofs[] = {
	{ CONTAINER_MAIN, CONTAINER_NONE, "", 0, false, false },
	{ CONTAINER_MAIN, CONTAINER_WAITING, "ContainerCreating", 0, false, false },
	{ CONTAINER_MAIN, CONTAINER_WAITING, "PodInitializing", 0, false, false },
	{ CONTAINER_MAIN, CONTAINER_WAITING, "InvalidImageName", 0, false, false },
	{ CONTAINER_MAIN, CONTAINER_WAITING, "CreateContainerConfigError", 0, true, false },
	{ CONTAINER_MAIN, CONTAINER_WAITING, "CrashLoopBackOff", 1, true, false },
	{ CONTAINER_MAIN, CONTAINER_WAITING, "ContainerCreating", 1, true, false },
	{ CONTAINER_MAIN, CONTAINER_RUNNING, "", 0, true, false },
	{ CONTAINER_MAIN, CONTAINER_TERMINATED, "Error", 0, true, false },
	{ CONTAINER_MAIN, CONTAINER_TERMINATED, "ContainerStatusUnknown", 0, false, false },
	{ CONTAINER_INIT, CONTAINER_RUNNING, "", 0, false, true },
	{ CONTAINER_EPHEMERAL, CONTAINER_RUNNING, "", 0, false, false },
};

TEST_LOOP(what_has_pulled_no_image_proves_nothing, 0, ARRAY_SIZE(proofs))
{
	struct pod_facts p = pod_healthy();

	p.ready = false;
	p.n_containers = 1;
	p.containers[0] = (struct container_facts){ .kind = proofs[_i].kind,
						    .state = proofs[_i].state,
						    .reason = STR_C(proofs[_i].reason),
						    .restarts = proofs[_i].restarts };
	ck_assert(judge_proves(&p, CONTAINER_MAIN) == proofs[_i].main);
	ck_assert(judge_proves(&p, CONTAINER_INIT) == proofs[_i].init);
	p.ready = true;
	ck_assert(judge_proves(&p, CONTAINER_MAIN) && judge_proves(&p, CONTAINER_INIT));
	p.ready = false;
	p.containers_cut = true;
	ck_assert(judge_proves(&p, CONTAINER_MAIN) && judge_proves(&p, CONTAINER_INIT));
}

static const struct {
	enum tri known;
	uint32_t pods, failing, ready;
	enum reason reason;
} tallies[] = {
	{ TRI_YES, 3, 3, 0, REASON_CRASH_LOOPING },
	{ TRI_YES, 3, 2, 0, REASON_NOT_ALL_FAILING },
	{ TRI_YES, 3, 3, 1, REASON_WORKLOAD_HAS_READY_PODS },
	{ TRI_YES, 0, 0, 0, REASON_WORKLOAD_HAS_NO_PODS },
	{ TRI_UNKNOWN, 3, 3, 0, REASON_TALLY_UNKNOWN },
};

TEST_LOOP(every_pod_must_crash_and_none_be_ready, 0, sizeof(tallies) / sizeof(tallies[0]))
{
	struct pod_facts p = pod_crashing();
	struct pod_context s = live_pull();

	s.tally_known = tallies[_i].known;
	s.pods = tallies[_i].pods;
	s.failing = tallies[_i].failing;
	s.ready = tallies[_i].ready;
	ck_assert_int_eq(judge(&p, s).reason, tallies[_i].reason);
}

/* A restart that the pod asks for is no crash, nor does it show that the revision works. */
TEST(what_is_asked_for_is_no_crash)
{
	struct pod_facts p = pod_crashing();

	p.containers[0].asked = true;
	ck_assert(!judge_fails(DUTY_CRASH_LOOP, &p, &policy, NOW, NULL) &&
		  !judge_works(DUTY_CRASH_LOOP, &p, NOW));
	EXPECT(judge(&p, live_pull()), NONE, NOT_CRASHING);
	/* the rule of one container says nothing of another */
	p.n_containers = 2;
	p.containers[1] = pod_crashing().containers[0];
	EXPECT(judge(&p, live_pull()), ACT, CRASH_LOOPING);
	/* ... unless all of them are restarted together */
	p.restarting = true;
	EXPECT(judge(&p, live_pull()), NONE, NOT_CRASHING);
}

/* The node is at fault: refused when it is due, in the cache and live, and not counted against the workload.
 */
TEST(a_sick_device_is_the_nodes)
{
	struct pod_facts p = pod_crashing();
	struct pod_context s = live_pull();
	uint32_t container = 99;
	struct verdict v;

	p.containers[0].device = STR_LIT("GPU-1");
	v = EXPECT(judge(&p, s), REFUSE, DEVICE_UNHEALTHY);
	ck_assert_ptr_nonnull(strstr(EN(v.evidence), "; its device GPU-1 on node node-1 is Unhealthy"));
	EXPECT(judge(&p, cache()), REFUSE, DEVICE_UNHEALTHY);
	EXPECT(judge_at(&p, s, s.failing_since + HOURS), WAIT, WAITING_FOR_THRESHOLD);
	ck_assert(judge_fails(DUTY_CRASH_LOOP, &p, &policy, NOW, NULL));
	ck_assert(!judge_blames(DUTY_CRASH_LOOP, &p, &policy, NOW));
	/* another container of it crashes all the same */
	p.n_containers = 2;
	p.containers[1] = pod_crashing().containers[0];
	ck_assert(judge_fails(DUTY_CRASH_LOOP, &p, &policy, NOW, &container) && container == 1);
	ck_assert(judge_blames(DUTY_CRASH_LOOP, &p, &policy, NOW));
	EXPECT(judge(&p, s), ACT, CRASH_LOOPING);
}

/* Of a gang that waits for its last member (KEP-4671), or behind a gate, nothing was tried: it neither fails
 * nor works, whatever is wrong with it, and one of it among others says nothing for the workload. */
TEST(a_pod_that_waits_for_its_gang_proves_nothing)
{
	struct pod_facts p = pod_healthy();
	struct pod_context s = live_pull();
	struct verdict v;

	p.phase = STR_LIT("Pending");
	p.ready = p.initialized = p.scheduled = false;
	p.scheduled_at = p.start_time = p.n_containers = 0;
	p.node = STR_LIT("");
	for (enum duty d = 0; d < DUTY__MAX; d++) {
		ck_assert(!judge_fails(d, &p, &policy, NOW, NULL) && !judge_works(d, &p, NOW));
		ck_assert_int_eq(judge_worked_at(d, &p, NOW), 0);
		ck_assert_int_eq(judge_one(d, &p, s, NOW).kind, VERDICT_NONE);
	}
	ck_assert(!judge_proves(&p, CONTAINER_MAIN) && !judge_proves(&p, CONTAINER_INIT));
	p = pod_crashing();
	s.silent = 1;
	v = EXPECT(judge(&p, s), ACT, CRASH_LOOPING);
	ck_assert_ptr_nonnull(strstr(EN(v.evidence), "pods that were never started and prove nothing 1"));
}

/* Behind a break nobody knows what happened in it: restarts tell of a loop, where no probe says that it is
 * not Ready. */
TEST_LOOP(what_a_pod_tells_of_its_loop, 0, 7)
{
	enum { H = 3600000 };
	static const struct {
		enum duty duty;
		int64_t created, unready;
		int32_t restarts, before;
		int64_t told;
	} told[] = {
		{ DUTY_CRASH_LOOP, -10 * H, -60000, 40, 0, -10 * H },  /* four an hour */
		{ DUTY_CRASH_LOOP, -10 * H, -60000, 39, 0, -60000 },   /* it worked for a while */
		{ DUTY_CRASH_LOOP, -100 * H, -60000, 80, 0, -20 * H }, /* older than the clock */
		{ DUTY_CRASH_LOOP, -100 * H, -60000, 80, 1, -60000 },  /* one of them was before that */
		{ DUTY_CRASH_LOOP, -10 * H, -11 * H, 1, 0, -11 * H },  /* a probe says so */
		{ DUTY_CRASH_LOOP, -10 * H, 0, 1, 0, 0 },              /* nothing does */
		{ DUTY_IMAGE_PULL, -10 * H, -60000, 99, 0, -60000 },   /* it had its image each time */
	};
	const int64_t now = INT64_C(1790000000000);
	struct pod_facts p = { .created = now + told[_i].created,
			       .unready_since = told[_i].unready ? now + told[_i].unready : 0,
			       .n_containers = 1 };

	p.containers[0].restarts = told[_i].restarts;
	ck_assert_int_eq(judge_told_since(told[_i].duty, &p, now - 20 * H, told[_i].before, now) - now,
			 told[_i].told);
}

TEST(guards)
{
	struct pod_facts p = pod_crashing();

	p.owner.kind = STR_LIT("Job");
	p.owner.api_version = STR_LIT("batch/v1");
	EXPECT(judge(&p, live_pull()), REFUSE, KIND_NOT_SCALABLE);
	p.owner = (struct owner_facts){ 0 };
	EXPECT(judge(&p, live_pull()), REFUSE, NO_CONTROLLER);
	p = pod_crashing();
	p.deletion = NOW;
	EXPECT(judge(&p, live_pull()), NONE, BEING_DELETED);
	p = pod_crashing();
	p.annotations.skip = 1u << DUTY_CRASH_LOOP;
	EXPECT(judge(&p, live_pull()), REFUSE, SKIP_ANNOTATION);
	policy.duty[DUTY_CRASH_LOOP].enable = false;
	EXPECT(judge(&p, live_pull()), NONE, DUTY_DISABLED);
}

POLICY_SUITE("rules/crash_loop");
