/* crashLoop: scale to zero what crashes in a loop; R4, R5, R15, R18, R24. */
// SPDX-License-Identifier: Apache-2.0
#include "fixture.h"
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
			 "container app: CrashLoopBackOff for 2m (threshold 2m), 5 restarts (threshold 5); "
			 "3 of 3 pods of the revision fail, 0 Ready");
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
	ck_assert(judge_fails(DUTY_CRASH_LOOP, &p, &policy, &container) == rows[_i].fails);
	ck_assert_uint_eq(container, rows[_i].fails ? 1 : 99);
	v = judge(&p, live_pull());
	ck_assert_int_eq(v.reason, rows[_i].fails ? REASON_CRASH_LOOPING : REASON_NOT_CRASHING);
	p.phase = STR_LIT("Failed");
	ck_assert(!judge_fails(DUTY_CRASH_LOOP, &p, &policy, NULL));
}

/* Without a readiness probe a pod is Ready while it runs from one crash to the next. */
TEST(a_ready_pod_that_never_restarted_ends_the_clock)
{
	struct pod_facts p = pod_crashing();

	ck_assert(!judge_works(DUTY_CRASH_LOOP, &p));
	p.ready = true;
	ck_assert(!judge_works(DUTY_CRASH_LOOP, &p));
	for (uint32_t i = 0; i < p.n_containers; i++)
		p.containers[i].restarts = 0;
	ck_assert(judge_works(DUTY_CRASH_LOOP, &p));
	p.phase = STR_LIT("Failed"); /* evicted, and nobody took the condition back */
	ck_assert(!judge_works(DUTY_CRASH_LOOP, &p));
	p.phase = STR_LIT("Running");
	p.ready = false;
	ck_assert(!judge_works(DUTY_CRASH_LOOP, &p));
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
	ck_assert(!judge_fails(DUTY_CRASH_LOOP, &p, &policy, NULL) && !judge_works(DUTY_CRASH_LOOP, &p));
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
	ck_assert(judge_fails(DUTY_CRASH_LOOP, &p, &policy, NULL));
	ck_assert(!judge_blames(DUTY_CRASH_LOOP, &p, &policy));
	/* another container of it crashes all the same */
	p.n_containers = 2;
	p.containers[1] = pod_crashing().containers[0];
	ck_assert(judge_fails(DUTY_CRASH_LOOP, &p, &policy, &container) && container == 1);
	ck_assert(judge_blames(DUTY_CRASH_LOOP, &p, &policy));
	EXPECT(judge(&p, s), ACT, CRASH_LOOPING);
}

/* Of a gang that waits for its last member (KEP-4671), or behind a gate, nothing was tried: it neither fails
 * nor works, whatever is wrong with it, and one of it among others leaves the workload alone. */
TEST(a_pod_that_waits_for_its_gang_proves_nothing)
{
	struct pod_facts p = pod_healthy();
	struct pod_context s = live_pull();

	p.phase = STR_LIT("Pending");
	p.ready = p.initialized = p.scheduled = false;
	p.scheduled_at = p.start_time = p.n_containers = 0;
	p.node = STR_LIT("");
	for (enum duty d = 0; d < DUTY__MAX; d++) {
		ck_assert(!judge_fails(d, &p, &policy, NULL) && !judge_works(d, &p));
		ck_assert_int_eq(judge_worked_at(d, &p), 0);
		ck_assert_int_eq(judge_one(d, &p, s, NOW).kind, VERDICT_NONE);
	}
	p = pod_crashing();
	s.failing = s.pods - 1;
	EXPECT(judge(&p, s), REFUSE, NOT_ALL_FAILING);
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
