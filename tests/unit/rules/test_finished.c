/* deleteFinishedPod: what ended long ago and nobody will look at again; R8, R14, R18, R29. */
// SPDX-License-Identifier: Apache-2.0
#include "fixture.h"
#include "tests/suite.h"

#define DEFAULTS                                                                                             \
	"NodeShutdown,Terminated,Shutdown,NodeAffinity,NodeLost,OutOfcpu,OutOfmemory,OutOfpods,"             \
	"OutOfephemeral-storage,UnexpectedAdmissionError,ContainerStatusUnknown,Preempting"

static struct policy policy;
static struct duty_policy *dp;

static void setup(void)
{
	policy_init(&policy);
	dp = &policy.duty[DUTY_FINISHED];
}

static void teardown(void)
{
	policy.own_namespace = policy.own_pod = NULL;
	policy_done(&policy);
}

static struct verdict judge_at(const struct pod_facts *p, int64_t now)
{
	struct pod_context s = { .stage = STAGE_LIVE };
	struct verdict v;

	judge_duty(DUTY_FINISHED, p, &policy, &s, now, &v);
	return v;
}

static struct verdict judge(const struct pod_facts *p)
{
	return judge_at(p, NOW);
}

TEST(strictly_after_its_end_plus_threshold)
{
	struct pod_facts p = pod_finished();
	struct verdict v;

	v = judge_at(&p, p.unready_since + HOURS);
	EXPECT(v, WAIT, WAITING_FOR_THRESHOLD);
	ck_assert_int_eq(v.at_ms, p.unready_since + HOURS + 1);
	v = judge_at(&p, v.at_ms);
	EXPECT(v, ACT, FINISHED);
	ck_assert_str_eq(
		v.evidence,
		"phase Failed, reason NodeShutdown, since 2026-09-21T14:11:19Z (2m ago, threshold 2m)");
}

TEST(every_reason_of_the_default)
{
	static const char *const reasons[] = { "NodeShutdown",
					       "Terminated",
					       "Shutdown",
					       "NodeAffinity",
					       "NodeLost",
					       "OutOfcpu",
					       "OutOfmemory",
					       "OutOfpods",
					       "OutOfephemeral-storage",
					       "UnexpectedAdmissionError",
					       "ContainerStatusUnknown",
					       "Preempting" };
	struct pod_facts p = pod_finished();
	struct verdict v;

	list_set(&dp->status, DEFAULTS);
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		p.reason = STR_C(reasons[i]);
		v = judge(&p);
		EXPECT(v, ACT, FINISHED);
	}
}

/* Reasons of pods that somebody may want to look at, or that another duty deletes. */
TEST(other_reasons_and_phases_are_left)
{
	static const char *const reasons[] = {
		"",        "Error",        "OOMKilled",     "Completed", "DeadlineExceeded",
		"Evicted", "nodeshutdown", "NodeShutdown ", "OutOf"
	};
	static const char *const phases[] = { "Pending", "Running", "Unknown", "Succeeded", "failed", "" };
	struct pod_facts p;
	struct verdict v;

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		p = pod_finished();
		p.reason = STR_C(reasons[i]);
		v = judge(&p);
		EXPECT(v, NONE, NOT_FINISHED);
	}
	for (size_t i = 0; i < sizeof(phases) / sizeof(phases[0]); i++) {
		p = pod_finished();
		p.phase = STR_C(phases[i]);
		v = judge(&p);
		EXPECT(v, NONE, NOT_FINISHED);
	}
}

/* "*" is any reason, also none; but never a pod that has not ended, whatever phases says. */
TEST(a_star_is_any_reason)
{
	struct pod_facts p = pod_finished();
	struct verdict v;

	list_set(&dp->status, "*");
	list_set(&dp->phases, "Failed,Succeeded,Running");
	p.reason = STR_LIT("");
	v = judge(&p);
	EXPECT(v, ACT, FINISHED);
	p.phase = STR_LIT("Succeeded");
	v = judge(&p);
	EXPECT(v, ACT, FINISHED);
	p.phase = STR_LIT("Running");
	v = judge(&p);
	EXPECT(v, NONE, NOT_FINISHED);
}

TEST(a_container_tells_the_reason_when_the_pod_does_not)
{
	struct pod_facts p = pod_finished();
	struct verdict v;

	p.reason = STR_LIT("");
	p.containers[0] = (struct container_facts){ .name = STR_LIT("app"),
						    .kind = CONTAINER_MAIN,
						    .state = CONTAINER_TERMINATED,
						    .reason = STR_LIT("ContainerStatusUnknown") };
	p.n_containers = 1;
	v = judge(&p);
	EXPECT(v, ACT, FINISHED);
	p.reason = STR_LIT("Evicted"); /* the pod's own word comes first */
	v = judge(&p);
	EXPECT(v, NONE, NOT_FINISHED);
	p.reason = STR_LIT("");
	p.containers[0].state = CONTAINER_WAITING;
	v = judge(&p);
	EXPECT(v, NONE, NOT_FINISHED);
	p.containers[0].state = CONTAINER_TERMINATED;
	p.containers[0].kind = CONTAINER_EPHEMERAL;
	v = judge(&p);
	EXPECT(v, NONE, NOT_FINISHED);
}

/* The latest of what its status tells. */
static const struct {
	int64_t unready, disruption, started, finished;
	bool container;
	enum verdict_kind kind;
	enum reason reason;
} ends[] = {
	{ 1, 0, 0, 0, true, VERDICT_ACT, REASON_FINISHED },
	{ 0, 1, 0, 0, true, VERDICT_ACT, REASON_FINISHED },
	{ 0, 0, 0, 1, true, VERDICT_ACT, REASON_FINISHED },
	{ 0, 0, 1, 0, false, VERDICT_ACT, REASON_FINISHED },           /* turned away at once */
	{ 0, 0, 1, 0, true, VERDICT_REFUSE, REASON_INCOMPLETE_FACTS }, /* it ran, nobody knows until when */
	{ 0, 0, 0, 0, true, VERDICT_REFUSE, REASON_INCOMPLETE_FACTS },
	{ 0, 0, 0, 0, false, VERDICT_REFUSE, REASON_INCOMPLETE_FACTS },
	{ 1, -1, 0, 0, true, VERDICT_WAIT, REASON_WAITING_FOR_THRESHOLD },
	{ -1, 1, 0, 1, true, VERDICT_WAIT, REASON_WAITING_FOR_THRESHOLD },
	{ 1, 0, 0, -1, true, VERDICT_WAIT, REASON_WAITING_FOR_THRESHOLD },
	{ 1, 0, -1, 0, false, VERDICT_WAIT, REASON_WAITING_FOR_THRESHOLD },
	{ 2, 0, 0, 0, true, VERDICT_REFUSE, REASON_BAD_TIMESTAMP },
};

TEST_LOOP(its_end_is_the_latest_time_that_tells, 0, sizeof(ends) / sizeof(ends[0]))
{
	/* 1: long ago, -1: a moment ago, 2: in the future */
	const int64_t at[] = { NOW - 1, 0, NOW - HOURS - 1, NOW + JUDGE_SKEW_MS + 1 };
	struct pod_facts p = pod_finished();
	struct verdict v;

	p.unready_since = at[ends[_i].unready + 1];
	p.disruption_at = at[ends[_i].disruption + 1];
	p.start_time = at[ends[_i].started + 1];
	p.n_containers = ends[_i].container;
	p.containers[0].finished_at = at[ends[_i].finished + 1];
	p.scheduled_at = NOW - HOURS - 1;
	v = judge(&p);
	expect(&v, ends[_i].kind, ends[_i].reason, __LINE__);
}

TEST(jobs_and_bare_pods_are_kept_unless_included)
{
	struct pod_facts p = pod_finished();
	struct verdict v;

	p.owner.kind = STR_LIT("Job");
	v = judge(&p);
	EXPECT(v, REFUSE, JOB_POD_KEPT);
	dp->include_jobs = true;
	v = judge(&p);
	EXPECT(v, ACT, FINISHED);
	p.owner = (struct owner_facts){ 0 };
	v = judge(&p);
	EXPECT(v, REFUSE, BARE_POD_KEPT);
	dp->include_bare_pods = true;
	v = judge(&p);
	EXPECT(v, ACT, FINISHED);
}

TEST(guards)
{
	struct pod_facts p = pod_finished();
	struct verdict v;

	p.deletion = NOW;
	v = judge(&p);
	EXPECT(v, NONE, BEING_DELETED);
	p = pod_finished();
	p.ready = true;
	v = judge(&p);
	EXPECT(v, REFUSE, POD_READY);
	p = pod_finished();
	p.mirror = true;
	v = judge(&p);
	EXPECT(v, REFUSE, MIRROR_POD);
	v = judge_at(&p, p.unready_since + HOURS);
	EXPECT(v, WAIT, MIRROR_POD);
	p = pod_finished();
	p.annotations.skip = 1u << DUTY_FINISHED;
	v = judge(&p);
	EXPECT(v, REFUSE, SKIP_ANNOTATION);
	p = pod_finished();
	dp->announce_ms = HOUR;
	p.annotations.announced[DUTY_FINISHED] = NOW - MIN;
	v = judge(&p);
	EXPECT(v, WAIT, ANNOUNCED);
	dp->enable = false;
	v = judge(&p);
	EXPECT(v, NONE, DUTY_DISABLED);
}

/* An evicted pod belongs to deleteEvictedPod, which comes first. */
TEST(an_evicted_pod_is_the_other_duty_s)
{
	struct pod_context s = { .stage = STAGE_LIVE };
	struct pod_facts p = pod_evicted();
	struct verdict v;

	list_set(&dp->status, "*");
	p.unready_since = NOW - HOURS - 1;
	judge_pod(&p, &policy, &s, NOW, &v);
	EXPECT(v, ACT, EVICTED);
	policy.duty[DUTY_EVICTED].enable = false;
	judge_pod(&p, &policy, &s, NOW, &v);
	EXPECT(v, ACT, FINISHED);
}

TEST_MAIN("rules/finished")
{
	tcase_add_checked_fixture(t, setup, teardown);
}
