/* deleteFinishedPod: what ended long ago and nobody will look at again; R8, R14, R18, R29. */
// SPDX-License-Identifier: Apache-2.0
#include "fixture.h"
#include "tests/facts_en.h"
#include "tests/suite.h"

#define DEFAULTS                                                                                             \
	"NodeShutdown,Terminated,Shutdown,NodeAffinity,NodePorts,TaintToleration,PodOSNotSupported,"         \
	"PodOSSelectorNodeLabelDoesNotMatch,SysctlForbidden,TopologyAffinityError,SMTAlignmentError,"        \
	"NodeLost,OutOf*,"                                                                                   \
	"UnexpectedAdmissionError,ContainerStatusUnknown,Preempting"

static struct duty_policy *const dp = &policy.duty[DUTY_FINISHED];

static struct verdict judge_at(const struct pod_facts *p, int64_t now)
{
	return judge_one(DUTY_FINISHED, p, live(), now);
}

static struct verdict judge(const struct pod_facts *p)
{
	return judge_at(p, NOW);
}

TEST(strictly_after_its_end_plus_threshold)
{
	struct pod_facts p = pod_finished();
	struct verdict v;

	v = EXPECT(judge_at(&p, p.unready_since + HOURS), WAIT, WAITING_FOR_THRESHOLD);
	ck_assert_int_eq(v.at_ms, p.unready_since + HOURS + 1);
	v = judge_at(&p, v.at_ms);
	EXPECT(v, ACT, FINISHED);
	ck_assert_str_eq(EN(v.evidence), "phase Failed, reason NodeShutdown, since 2026-09-21T14:11:19Z (2m "
					 "ago, threshold 2m); node node-1");
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
					       "OutOfnvidia.com/gpu",
					       "OutOfhugepages-2Mi",
					       "TopologyAffinityError",
					       "SMTAlignmentError",
					       "SysctlForbidden",
					       "NodePorts",
					       "TaintToleration",
					       "PodOSNotSupported",
					       "OutOfephemeral-storage",
					       "UnexpectedAdmissionError",
					       "ContainerStatusUnknown",
					       "Preempting" };
	struct pod_facts p = pod_finished();

	list_set(&dp->status, DEFAULTS);
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		p.reason = STR_C(reasons[i]);
		EXPECT(judge(&p), ACT, FINISHED);
	}
}

/* Reasons of pods that somebody may want to look at, or that another duty deletes. */
TEST(other_reasons_and_phases_are_left)
{
	static const char *const reasons[] = {
		"",          "Error",        "OOMKilled",     "Completed", "DeadlineExceeded",
		"Evicted",   "nodeshutdown", "NodeShutdown ", "outOfcpu",  "NotOutOfcpu",
		"NodePortsX"
	};
	static const char *const phases[] = { "Pending", "Running", "Unknown", "Succeeded", "failed", "" };
	struct pod_facts p;

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		p = pod_finished();
		p.reason = STR_C(reasons[i]);
		EXPECT(judge(&p), NONE, NOT_FINISHED);
	}
	for (size_t i = 0; i < sizeof(phases) / sizeof(phases[0]); i++) {
		p = pod_finished();
		p.phase = STR_C(phases[i]);
		EXPECT(judge(&p), NONE, NOT_FINISHED);
	}
}

/* "*" is any reason, also none; but never a pod that has not ended, whatever phases says. */
TEST(a_star_is_any_reason)
{
	struct pod_facts p = pod_finished();

	list_set(&dp->status, "*");
	list_set(&dp->phases, "Failed,Succeeded,Running");
	p.reason = STR_LIT("");
	EXPECT(judge(&p), ACT, FINISHED);
	p.phase = STR_LIT("Succeeded");
	EXPECT(judge(&p), ACT, FINISHED);
	p.phase = STR_LIT("Running");
	EXPECT(judge(&p), NONE, NOT_FINISHED);
}

TEST(a_container_tells_the_reason_when_the_pod_does_not)
{
	struct pod_facts p = pod_finished();

	p.reason = STR_LIT("");
	p.containers[0] = (struct container_facts){ .name = STR_LIT("app"),
						    .kind = CONTAINER_MAIN,
						    .state = CONTAINER_TERMINATED,
						    .reason = STR_LIT("ContainerStatusUnknown") };
	p.n_containers = 1;
	EXPECT(judge(&p), ACT, FINISHED);
	p.reason = STR_LIT("Evicted"); /* the pod's own word comes first */
	EXPECT(judge(&p), NONE, NOT_FINISHED);
	p.reason = STR_LIT("");
	p.containers[0].state = CONTAINER_WAITING;
	EXPECT(judge(&p), NONE, NOT_FINISHED);
	p.containers[0].state = CONTAINER_TERMINATED;
	p.containers[0].kind = CONTAINER_EPHEMERAL;
	EXPECT(judge(&p), NONE, NOT_FINISHED);
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
	{ 2, 0, 0, 0, true, VERDICT_WAIT, REASON_TIME_IN_FUTURE },
};

TEST_LOOP(its_end_is_the_latest_time_that_tells, 0, sizeof(ends) / sizeof(ends[0]))
{
	/* 1: long ago, -1: a moment ago, 2: in the future */
	const int64_t at[] = { NOW - 1, 0, NOW - HOURS - 1, NOW + JUDGE_SKEW_MS + 1 };
	struct pod_facts p = pod_finished();

	p.unready_since = at[ends[_i].unready + 1];
	p.disruption_at = at[ends[_i].disruption + 1];
	p.start_time = at[ends[_i].started + 1];
	p.n_containers = ends[_i].container;
	p.containers[0].finished_at = at[ends[_i].finished + 1];
	p.scheduled_at = NOW - HOURS - 1;
	expect(judge(&p), ends[_i].kind, ends[_i].reason, __LINE__);
}

TEST(the_newest_of_an_owner_are_kept)
{
	struct pod_facts p = pod_finished();
	struct pod_context s = cache();

	s.newer_known = TRI_YES;
	policy.duty[DUTY_FINISHED].keep_newest = 1;
	EXPECT(judge_one(DUTY_FINISHED, &p, s, NOW), WAIT, KEPT_NEWEST);
	s.newer[DUTY_EVICTED] = 1; /* of another duty */
	EXPECT(judge_one(DUTY_FINISHED, &p, s, NOW), WAIT, KEPT_NEWEST);
	s.newer[DUTY_FINISHED] = 1;
	EXPECT(judge_one(DUTY_FINISHED, &p, s, NOW), ACT, FINISHED);
}

TEST(jobs_and_bare_pods_are_kept_unless_included)
{
	struct pod_facts p = pod_finished();

	p.owner.kind = STR_LIT("Job");
	EXPECT(judge(&p), REFUSE, JOB_POD_KEPT);
	dp->include_jobs = true;
	EXPECT(judge(&p), ACT, FINISHED);
	p.owner = (struct owner_facts){ 0 };
	EXPECT(judge(&p), REFUSE, BARE_POD_KEPT);
	dp->include_bare_pods = true;
	EXPECT(judge(&p), ACT, FINISHED);
}

TEST(a_stale_ready_condition_says_nothing)
{
	struct pod_facts p = pod_finished();

	p.ready = true;
	EXPECT(judge(&p), ACT, FINISHED);
	p.phase = STR_LIT("Succeeded");
	list_set(&dp->phases, "Succeeded");
	EXPECT(judge(&p), ACT, FINISHED);
}

TEST(half_deleted_is_finished)
{
	finishes_half_deleted(DUTY_FINISHED, pod_finished(), REASON_FINISHED);
}

TEST(guards)
{
	struct pod_facts p = pod_finished();

	p.deletion = NOW;
	EXPECT(judge(&p), NONE, BEING_DELETED);
	p = pod_finished();
	p.mirror = true;
	EXPECT(judge(&p), REFUSE, MIRROR_POD);
	EXPECT(judge_at(&p, p.unready_since + HOURS), WAIT, MIRROR_POD);
	p = pod_finished();
	p.annotations.skip = 1u << DUTY_FINISHED;
	EXPECT(judge(&p), REFUSE, SKIP_ANNOTATION);
	p = pod_finished();
	dp->announce_ms = HOUR;
	p.annotations.announced[DUTY_FINISHED] = NOW - MIN;
	EXPECT(judge(&p), WAIT, ANNOUNCED);
	dp->enable = false;
	EXPECT(judge(&p), NONE, DUTY_DISABLED);
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

POLICY_SUITE("rules/finished");
