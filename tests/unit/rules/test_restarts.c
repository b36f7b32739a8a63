/* tooManyRestart: what the digest names (R6, R30). */
// SPDX-License-Identifier: Apache-2.0
#include "fixture.h"
#include "tests/facts_en.h"
#include "tests/suite.h"

static struct verdict judge_at(const struct pod_facts *p, int64_t now)
{
	return judge_one(DUTY_RESTARTS, p, (struct pod_context){ .stage = STAGE_CACHE }, now);
}

TEST(counts_and_age_are_inclusive)
{
	struct pod_facts p = pod_crashing();
	struct verdict v;

	v = EXPECT(judge_at(&p, NOW), ACT, TOO_MANY_RESTARTS);
	ck_assert_str_eq(EN(v.evidence), "container app: CrashLoopBackOff, 5 restarts (threshold 5), age 1d "
					 "(threshold 2m)");
	p.containers[0].restarts = 4;
	EXPECT(judge_at(&p, NOW), NONE, BELOW_COUNTS);
	p.containers[0].restarts = 6;
	p.created = NOW - HOURS + 1;
	v = EXPECT(judge_at(&p, NOW), WAIT, WAITING_FOR_THRESHOLD);
	ck_assert_int_eq(v.at_ms, NOW + 1);
	v = judge_at(&p, v.at_ms);
	EXPECT(v, ACT, TOO_MANY_RESTARTS);
}

#define RECENT (NOW - MIN)
static const struct {
	const char *status, *reason, *last;
	enum container_kind kind;
	enum container_state state;
	int64_t ended;
	const char *owner, *phase;
	bool named;
} rows[] = {
	{ "CrashLoopBackOff", "CrashLoopBackOff", "", CONTAINER_MAIN, CONTAINER_WAITING, 0, "", "Running",
	  true },
	{ "Init:CrashLoopBackOff", "CrashLoopBackOff", "", CONTAINER_INIT, CONTAINER_WAITING, 0, "",
	  "Pending", true },
	{ "Error", "CrashLoopBackOff", "", CONTAINER_MAIN, CONTAINER_WAITING, 0, "", "Running", false },
	{ "Error", "Error", "", CONTAINER_MAIN, CONTAINER_TERMINATED, 0, "", "Running", true },
	{ "Error", "ErrorX", "", CONTAINER_MAIN, CONTAINER_TERMINATED, 0, "", "Running", false },
	{ "Error", "", "", CONTAINER_MAIN, CONTAINER_TERMINATED, 0, "", "Running", false },
	{ "Error", "Error", "", CONTAINER_EPHEMERAL, CONTAINER_TERMINATED, 0, "", "Running", false },
	/* running for a moment between two crashes */
	{ "Error", "", "Error", CONTAINER_MAIN, CONTAINER_RUNNING, RECENT, "", "Running", true },
	{ "OOMKilled", "", "Error", CONTAINER_MAIN, CONTAINER_RUNNING, RECENT, "", "Running", false },
	{ "CrashLoopBackOff", "", "OOMKilled", CONTAINER_MAIN, CONTAINER_RUNNING, RECENT, "", "Running",
	  true },
	{ "CrashLoopBackOff", "", "", CONTAINER_MAIN, CONTAINER_RUNNING, RECENT, "", "Running", true },
	{ "CrashLoopBackOff", "", "Error", CONTAINER_MAIN, CONTAINER_RUNNING, NOW - JUDGE_RECENT_MS, "",
	  "Running", true },
	{ "CrashLoopBackOff", "", "Error", CONTAINER_MAIN, CONTAINER_RUNNING, NOW - JUDGE_RECENT_MS - 1, "",
	  "Running", false },
	{ "CrashLoopBackOff", "", "Error", CONTAINER_MAIN, CONTAINER_RUNNING, 0, "", "Running", false },
	{ "CrashLoopBackOff", "", "Error", CONTAINER_MAIN, CONTAINER_RUNNING, INT64_MAX, "", "Running",
	  false },
	{ "CrashLoopBackOff", "", "Error", CONTAINER_MAIN, CONTAINER_RUNNING, INT64_MIN, "", "Running",
	  false },
	/* ending well is what a Job, a finished pod and an init container are for */
	{ "Completed", "Completed", "", CONTAINER_MAIN, CONTAINER_TERMINATED, 0, "ReplicaSet", "Running",
	  true },
	{ "Completed", "Completed", "", CONTAINER_MAIN, CONTAINER_TERMINATED, 0, "Job", "Running", false },
	{ "Completed", "Completed", "", CONTAINER_MAIN, CONTAINER_TERMINATED, 0, "", "Succeeded", false },
	{ "Completed", "Completed", "", CONTAINER_INIT, CONTAINER_TERMINATED, 0, "ReplicaSet", "Running",
	  false },
	{ "CrashLoopBackOff", "", "Completed", CONTAINER_MAIN, CONTAINER_RUNNING, RECENT, "Job", "Running",
	  false },
	{ "CrashLoopBackOff", "", "Completed", CONTAINER_MAIN, CONTAINER_RUNNING, RECENT, "ReplicaSet",
	  "Running", true },
	{ "Error", "Error", "", CONTAINER_MAIN, CONTAINER_TERMINATED, 0, "Job", "Failed", true },
	{ "", "CrashLoopBackOff", "Error", CONTAINER_MAIN, CONTAINER_WAITING, RECENT, "", "Running", false },
};

TEST_LOOP(which_states_are_reported, 0, sizeof(rows) / sizeof(rows[0]))
{
	struct pod_facts p = pod_crashing();

	list_set(&policy.duty[DUTY_RESTARTS].status, rows[_i].status);
	p.containers[0] = (struct container_facts){ .name = STR_LIT("app"),
						    .kind = rows[_i].kind,
						    .state = rows[_i].state,
						    .reason = STR_C(rows[_i].reason),
						    .restarts = 9,
						    .last_reason = STR_C(rows[_i].last),
						    .last_finished_at = rows[_i].ended };
	p.owner.kind = STR_C(rows[_i].owner);
	p.phase = STR_C(rows[_i].phase);
	expect(judge_at(&p, NOW), rows[_i].named ? VERDICT_ACT : VERDICT_NONE,
	       rows[_i].named ? REASON_TOO_MANY_RESTARTS : REASON_NOT_RESTARTING, _i);
}

TEST(a_restart_that_is_asked_for_is_not_reported)
{
	struct pod_facts p = pod_crashing();

	p.n_containers = 2;
	p.containers[1] = p.containers[0];
	p.containers[1].restarts = 50;
	p.containers[1].asked = true;
	ck_assert_uint_eq(EXPECT(judge_at(&p, NOW), ACT, TOO_MANY_RESTARTS).container, 0);
	p.restarting = true;
	EXPECT(judge_at(&p, NOW), NONE, NOT_RESTARTING);
}

/* The threshold is the maximum over containers, not their sum; only containers in a reported state count. */
TEST(worst_container_counts)
{
	struct pod_facts p = pod_crashing();
	struct verdict v;

	p.n_containers = 3;
	p.containers[1] = p.containers[2] = p.containers[0];
	p.containers[0].restarts = 3;
	p.containers[1].restarts = 4;
	p.containers[2].restarts = 50;
	p.containers[2].state = CONTAINER_RUNNING;
	p.containers[2].last_finished_at = NOW - HOUR;
	v = EXPECT(judge_at(&p, NOW), NONE, BELOW_COUNTS);
	ck_assert_uint_eq(v.container, 1);
	p.containers[1].restarts = 7;
	v = EXPECT(judge_at(&p, NOW), ACT, TOO_MANY_RESTARTS);
	ck_assert_uint_eq(v.container, 1);
}

TEST(guards)
{
	struct pod_facts p = pod_crashing();

	p.containers[0].restarts = -1;
	EXPECT(judge_at(&p, NOW), NONE, NOT_RESTARTING);
	p = pod_crashing();
	p.created = 0;
	EXPECT(judge_at(&p, NOW), REFUSE, BAD_TIMESTAMP);
	p = pod_crashing();
	p.skip = true;
	EXPECT(judge_at(&p, NOW), REFUSE, IGNORE_ANNOTATION);
	p = pod_crashing();
	list_set(&policy.exclude_namespaces, "shop");
	EXPECT(judge_at(&p, NOW), REFUSE, NAMESPACE_EXCLUDED);
	p.containers[0].restarts = 1; /* nothing to report: no refusal either */
	EXPECT(judge_at(&p, NOW), NONE, NAMESPACE_EXCLUDED);
	list_set(&policy.exclude_namespaces, "");
	p = pod_crashing();
	p.mirror = true; /* a report harms nobody */
	p.priority_class = STR_LIT("system-node-critical");
	EXPECT(judge_at(&p, NOW), ACT, TOO_MANY_RESTARTS);
	policy.duty[DUTY_RESTARTS].counts = -1;
	EXPECT(judge_at(&p, NOW), REFUSE, BAD_POLICY);
	policy.duty[DUTY_RESTARTS].enable = false;
	EXPECT(judge_at(&p, NOW), NONE, DUTY_DISABLED);
}

POLICY_SUITE("rules/restarts");
