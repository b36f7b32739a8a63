/* deleteTerminatingPod: R9-R14. */
// SPDX-License-Identifier: Apache-2.0
#include "fixture.h"
#include "tests/facts_en.h"
#include "tests/suite.h"

static struct verdict judge_at(const struct pod_facts *p, const struct pod_context *s, int64_t now)
{
	return judge_one(DUTY_TERMINATING, p, *s, now);
}

static struct verdict judge(const struct pod_facts *p, struct pod_context s)
{
	return judge_at(p, &s, NOW);
}

TEST(strictly_after_the_deadline_plus_threshold)
{
	struct pod_facts p = pod_terminating();
	struct pod_context s = live_node_gone();
	struct verdict v;

	v = EXPECT(judge_at(&p, &s, p.deletion + HOURS), WAIT, WAITING_FOR_THRESHOLD);
	ck_assert_int_eq(v.at_ms, p.deletion + HOURS + 1);
	v = judge_at(&p, &s, v.at_ms);
	EXPECT(v, ACT, STUCK_TERMINATING);
	EXPECT(judge_at(&p, &s, p.deletion - 1), WAIT, WAITING_FOR_THRESHOLD);
	policy.duty[DUTY_TERMINATING].hours_ms = 0;
	EXPECT(judge_at(&p, &s, p.deletion), WAIT, WAITING_FOR_THRESHOLD);
	EXPECT(judge_at(&p, &s, p.deletion + 1), ACT, STUCK_TERMINATING);
}

/* deletionTimestamp already holds the grace: a pod with 600 s of grace is not stuck while it shuts down. */
TEST(grace_is_not_subtracted)
{
	struct pod_facts p = pod_terminating();
	struct pod_context s = live_node_gone();
	struct verdict v;

	p.grace_s = 600;
	p.deletion = NOW + 600 * S;
	v = EXPECT(judge_at(&p, &s, NOW), WAIT, WAITING_FOR_THRESHOLD);
	ck_assert_int_eq(v.at_ms, NOW + 600 * S + HOURS + 1);
}

TEST(absurd_times_never_act)
{
	struct pod_facts p = pod_terminating();
	struct pod_context s = live_node_gone();
	struct verdict v;

	p.deletion = INT64_MAX;
	v = EXPECT(judge_at(&p, &s, NOW), WAIT, WAITING_FOR_THRESHOLD);
	ck_assert_int_eq(v.at_ms, INT64_MAX);
	EXPECT(judge_at(&p, &s, INT64_MAX), WAIT, WAITING_FOR_THRESHOLD);
	p.deletion = 1;
	EXPECT(judge_at(&p, &s, NOW), REFUSE, BAD_TIMESTAMP);
	p.deletion = INT64_MIN;
	EXPECT(judge_at(&p, &s, NOW), REFUSE, BAD_TIMESTAMP);
	p = pod_terminating();
	policy.duty[DUTY_TERMINATING].hours_ms = INT64_MAX;
	EXPECT(judge_at(&p, &s, NOW), WAIT, WAITING_FOR_THRESHOLD);
}

TEST(not_terminating)
{
	struct pod_facts p = pod_healthy();

	EXPECT(judge(&p, live_node_gone()), NONE, NOT_TERMINATING);
}

/* Older kubectl shows Terminating in every phase, newer ones not for ended pods: both are stuck. */
TEST(every_phase_may_be_stuck)
{
	static const char *const phases[] = { "Pending", "Running", "Succeeded", "Failed", "Unknown" };

	for (size_t i = 0; i < sizeof(phases) / sizeof(phases[0]); i++) {
		struct pod_facts p = pod_terminating();

		p.phase = STR_C(phases[i]);
		EXPECT(judge(&p, live_node_gone()), ACT, STUCK_TERMINATING);
	}
	struct pod_facts p = pod_terminating();
	p.phase = STR_LIT("Banana");
	EXPECT(judge(&p, live_node_gone()), REFUSE, INCOMPLETE_FACTS);
}

TEST(finalizers_are_named_and_refused)
{
	struct pod_facts p = pod_terminating();
	struct verdict v;

	p.n_finalizers = 2;
	p.finalizers[0] = STR_LIT("batch.kubernetes.io/job-tracking");
	p.finalizers[1] = STR_LIT("example.com/hold");
	v = EXPECT(judge(&p, live_node_gone()), REFUSE, HAS_FINALIZERS);
	ck_assert_str_eq(EN(v.evidence),
			 "held by batch.kubernetes.io/job-tracking, held by example.com/hold");
	p.grace_s = 0;
	v = EXPECT(judge(&p, live_node_gone()), REFUSE, HAS_FINALIZERS);
	ck_assert_ptr_nonnull(strstr(EN(v.evidence), "already deleted by force"));
	p.n_finalizers = 1;
	EXPECT(judge(&p, live_node_gone()), REFUSE, HAS_FINALIZERS);
	/* More than are kept: the count alone refuses. */
	p.n_finalizers = 1000;
	EXPECT(judge(&p, live_node_gone()), REFUSE, HAS_FINALIZERS);
	/* Before the threshold it is no refusal yet. */
	p.deletion = NOW - 1;
	EXPECT(judge(&p, live_node_gone()), WAIT, WAITING_FOR_THRESHOLD);
}

/* A force delete shows as MODIFIED (grace 0) before DELETED: no second one is sent, unless it was cut off
 * between the two. Then it is due at its own time, not after the hours, and where it is safe. */
TEST(forced_already)
{
	struct pod_facts p = pod_terminating();
	struct verdict v;

	policy.duty[DUTY_TERMINATING].hours_ms = 1000 * HOURS;
	p.grace_s = 0;
	p.deletion = NOW - FINISH;
	v = EXPECT(judge(&p, live_node_gone()), WAIT, GRACE_ALREADY_ZERO);
	ck_assert_int_eq(v.at_ms, NOW + 1);
	EXPECT(judge(&p, cache()), WAIT, GRACE_ALREADY_ZERO);
	p.deletion = NOW - FINISH - 1;
	v = EXPECT(judge(&p, live_node_gone()), ACT, STUCK_TERMINATING);
	ck_assert_ptr_nonnull(strstr(EN(v.evidence), "threshold 1m"));
	ck_assert_ptr_nonnull(strstr(EN(v.evidence), "half-deleted"));
	EXPECT(judge(&p, cache()), ACT, STUCK_TERMINATING);
	p.containers[0].state = CONTAINER_RUNNING;
	EXPECT(judge(&p, (struct pod_context){ .stage = STAGE_LIVE,
					       .node_exists = TRI_YES,
					       .node_ready = TRI_NO }),
	       REFUSE, NODE_NOT_READY);
	p.n_finalizers = 1; /* the API server waits for it: nothing is half-way */
	EXPECT(judge(&p, live_node_gone()), WAIT, WAITING_FOR_THRESHOLD);
}

TEST(never_scheduled_is_safe)
{
	struct pod_facts p = pod_terminating();
	struct verdict v;

	p.node = STR_LIT("");
	p.scheduled = false;
	v = EXPECT(judge(&p, (struct pod_context){ .stage = STAGE_LIVE }), ACT, STUCK_TERMINATING);
	ck_assert_ptr_nonnull(strstr(EN(v.evidence), "never scheduled"));
	p.scheduled = true; /* the condition says so, the node is missing: contradiction */
	EXPECT(judge(&p, (struct pod_context){ .stage = STAGE_LIVE }), REFUSE, INCOMPLETE_FACTS);
}

/* In the cache the node is not known: a candidate, for the worker to prove. */
TEST(unknown_node_is_a_candidate_only_in_the_cache)
{
	struct pod_facts p = pod_terminating();

	p.containers[0].state = CONTAINER_RUNNING;
	EXPECT(judge(&p, cache()), ACT, STUCK_TERMINATING);
	EXPECT(judge(&p, (struct pod_context){ .stage = STAGE_LIVE }), REFUSE, NODE_UNKNOWN);
}

/* R12, every line: node exists, ready, out of service, unreachable_nodes, container, pvc, attached. */
#define U   TRI_UNKNOWN
#define N   TRI_NO
#define Y   TRI_YES
#define RUN CONTAINER_RUNNING
#define END CONTAINER_TERMINATED
static const struct {
	enum tri exists, ready, out;
	bool unreachable;
	enum container_state state;
	bool pvc;
	enum tri attached;
	enum reason reason;
} safe[] = {
	{ N, U, U, false, RUN, true, U, REASON_STUCK_TERMINATING },
	{ U, Y, Y, true, END, false, N, REASON_NODE_UNKNOWN },
	{ Y, N, Y, false, RUN, true, Y, REASON_STUCK_TERMINATING },
	{ Y, Y, Y, false, RUN, false, N, REASON_CONTAINER_RUNNING },
	{ Y, Y, Y, true, END, true, Y, REASON_VOLUME_ATTACHED },
	{ Y, Y, Y, false, END, true, N, REASON_STUCK_TERMINATING },
	{ Y, U, Y, true, END, false, N, REASON_NODE_UNKNOWN },
	{ Y, U, N, true, END, false, N, REASON_NODE_UNKNOWN },
	{ Y, U, U, true, END, false, N, REASON_NODE_UNKNOWN },
	{ Y, N, N, false, END, false, N, REASON_NODE_NOT_READY },
	{ Y, N, U, false, END, false, N, REASON_NODE_NOT_READY },
	{ Y, N, N, true, RUN, true, Y, REASON_STUCK_TERMINATING },
	{ Y, Y, N, false, RUN, false, N, REASON_CONTAINER_RUNNING },
	{ Y, Y, N, true, RUN, false, N, REASON_CONTAINER_RUNNING },
	{ Y, Y, N, false, CONTAINER_NONE, false, N, REASON_FORCE_NOT_SAFE },
	{ Y, Y, N, false, END, false, U, REASON_STUCK_TERMINATING },
	{ Y, Y, U, false, END, false, U, REASON_STUCK_TERMINATING },
	{ Y, Y, N, false, CONTAINER_WAITING, false, U, REASON_STUCK_TERMINATING },
	{ Y, Y, N, false, END, true, N, REASON_STUCK_TERMINATING },
	{ Y, Y, N, false, END, true, Y, REASON_VOLUME_ATTACHED },
	{ Y, Y, N, false, END, true, U, REASON_VOLUMES_UNKNOWN },
	{ Y, Y, N, true, END, true, U, REASON_VOLUMES_UNKNOWN },
};

TEST_LOOP(safety_certificate, 0, sizeof(safe) / sizeof(safe[0]))
{
	struct pod_facts p = pod_terminating();
	struct pod_context s = { .stage = STAGE_LIVE,
				 .node_exists = safe[_i].exists,
				 .node_ready = safe[_i].ready,
				 .node_out_of_service = safe[_i].out,
				 .volume_attached = safe[_i].attached };
	struct verdict v;

	policy.duty[DUTY_TERMINATING].unreachable_nodes = safe[_i].unreachable;
	p.containers[0].state = safe[_i].state;
	p.has_pvc = safe[_i].pvc;
	expect(judge(&p, s), safe[_i].reason == REASON_STUCK_TERMINATING ? VERDICT_ACT : VERDICT_REFUSE,
	       safe[_i].reason, _i);
	/* A certain "no" binds the watcher's cache as well. */
	s.stage = STAGE_CACHE;
	v = judge(&p, s);
	if (safe[_i].exists == TRI_UNKNOWN)
		EXPECT(v, ACT, STUCK_TERMINATING);
	else
		expect(v, safe[_i].reason == REASON_STUCK_TERMINATING ? VERDICT_ACT : VERDICT_REFUSE,
		       safe[_i].reason, _i);
}

/* A device is given back by the kubelet, after the containers have ended: the same rows with a ResourceClaim.
 * Only a node that is gone or out of service has none to give back. */
TEST_LOOP(a_claim_is_not_freed_by_force, 0, sizeof(safe) / sizeof(safe[0]))
{
	struct pod_facts p = pod_terminating();
	struct pod_context s = { .stage = STAGE_LIVE,
				 .node_exists = safe[_i].exists,
				 .node_ready = safe[_i].ready,
				 .node_out_of_service = safe[_i].out,
				 .volume_attached = safe[_i].attached };
	const bool no_node =
		s.node_exists == TRI_NO || (s.node_out_of_service == TRI_YES && s.node_ready == TRI_NO);
	const bool else_safe = safe[_i].reason == REASON_STUCK_TERMINATING;
	struct verdict v;

	policy.duty[DUTY_TERMINATING].unreachable_nodes = safe[_i].unreachable;
	p.containers[0].state = safe[_i].state;
	p.has_pvc = safe[_i].pvc;
	p.claim = STR_LIT("web-gpu-x7k2p");
	for (int half = 0; half < 2; half++) {
		p.grace_s = half ? 0 : 30;
		v = judge(&p, s);
		if (no_node)
			ck_assert_int_eq(v.reason, safe[_i].reason);
		else
			ck_assert_int_eq(v.kind, VERDICT_REFUSE);
		if (else_safe && !no_node) {
			ck_assert_int_eq(v.reason, REASON_RESOURCE_CLAIM_HELD);
			ck_assert_ptr_nonnull(strstr(EN(v.evidence), "; holds ResourceClaim web-gpu-x7k2p"));
		}
	}
	/* The kubelet reports a phase that is over after it has given all back. */
	p.phase = STR_LIT("Failed");
	ck_assert_int_eq(judge(&p, s).reason, safe[_i].reason);
	/* Where it never ran nothing was prepared. */
	p = pod_terminating();
	p.claim = STR_LIT("web-gpu-x7k2p");
	p.node = STR_LIT("");
	p.scheduled = false;
	EXPECT(judge(&p, s), ACT, STUCK_TERMINATING);
}

/* Any running container forbids it, whatever its kind; no report at all proves nothing. */
TEST(init_and_ephemeral_containers_count)
{
	struct pod_facts p = pod_terminating();

	p.n_containers = 2;
	p.containers[1] = p.containers[0];
	p.containers[1].state = CONTAINER_RUNNING;
	p.containers[1].kind = CONTAINER_EPHEMERAL;
	EXPECT(judge(&p, live_node_ready()), REFUSE, CONTAINER_RUNNING);
	p.containers[1].kind = CONTAINER_INIT;
	EXPECT(judge(&p, live_node_ready()), REFUSE, CONTAINER_RUNNING);
	p.n_containers = 0;
	EXPECT(judge(&p, live_node_ready()), REFUSE, FORCE_NOT_SAFE);
}

/* A container of the spec without a status may run. */
TEST(a_container_without_a_status_has_not_ended)
{
	struct pod_facts p = pod_terminating();

	EXPECT(judge(&p, live_node_ready()), ACT, STUCK_TERMINATING);
	p.unreported = true;
	EXPECT(judge(&p, live_node_ready()), REFUSE, FORCE_NOT_SAFE);
}

/* Who keeps up the condition: the kubelet and the node controller, both only where there is a node. */
TEST(ready_forbids_it_only_where_its_node_exists)
{
	struct pod_facts p = pod_terminating();
	struct pod_context s = live_node_ready();
	struct verdict v;

	p.ready = true;
	EXPECT(judge(&p, s), REFUSE, POD_READY);
	s.node_out_of_service = TRI_YES;
	EXPECT(judge(&p, s), REFUSE, POD_READY);
	s.node_exists = TRI_UNKNOWN;
	EXPECT(judge(&p, s), REFUSE, POD_READY);
	EXPECT(judge(&p, cache()), ACT, STUCK_TERMINATING); /* a candidate: the worker looks for the node */
	v = EXPECT(judge(&p, live_node_gone()), ACT, STUCK_TERMINATING);
	ck_assert_ptr_nonnull(strstr(EN(v.evidence), "node is gone, nobody keeps up that it is Ready"));
}

TEST(a_stale_ready_condition_says_nothing_of_what_is_over)
{
	struct pod_facts p = pod_terminating();

	p.ready = true;
	p.phase = STR_LIT("Failed");
	EXPECT(judge(&p, live_node_ready()), ACT, STUCK_TERMINATING);
}

TEST(guards)
{
	struct pod_facts p = pod_terminating();
	struct verdict v;

	p.mirror = true;
	EXPECT(judge(&p, live_node_gone()), REFUSE, MIRROR_POD);
	/* A pod of a protected namespace that ends as it should is no refusal; one that does not is judged in
	 * time. */
	p = pod_terminating();
	p.ns = STR_LIT("kube-system");
	EXPECT(judge(&p, live_node_gone()), REFUSE, NAMESPACE_PROTECTED);
	p.deletion = NOW;
	v = EXPECT(judge(&p, live_node_gone()), WAIT, NAMESPACE_PROTECTED);
	ck_assert_int_eq(v.at_ms, NOW + HOURS + 1);
}

TEST(stateful_sets_and_daemon_sets_alike)
{
	static const char *const kinds[] = { "StatefulSet", "DaemonSet", "Job", "" };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct pod_facts p = pod_terminating();
		struct pod_context s = live_node_ready();

		p.owner.kind = STR_C(kinds[i]);
		EXPECT(judge(&p, live_node_gone()), ACT, STUCK_TERMINATING);
		s.node_ready = TRI_NO;
		EXPECT(judge(&p, s), REFUSE, NODE_NOT_READY);
	}
}

/* A value outside the enum, from whatever mistake, is as good as unknown. */
TEST_LOOP(whatever_is_not_yes_is_not_yes, 0, 3)
{
	static const size_t members[] = { offsetof(struct pod_context, node_exists),
					  offsetof(struct pod_context, node_ready),
					  offsetof(struct pod_context, volume_attached) };
	const enum tri odd = (enum tri)77;
	struct pod_facts p = pod_terminating();
	struct pod_context s = live_node_ready();

	s.volume_attached = TRI_NO;
	p.has_pvc = true;
	ck_assert_int_eq(judge(&p, s).kind, VERDICT_ACT);
	memcpy((char *)&s + members[_i], &odd, sizeof(odd));
	ck_assert_int_eq(judge(&p, s).kind, VERDICT_REFUSE);
}

TEST(evidence_tells_the_proof)
{
	struct pod_facts p = pod_terminating();
	struct verdict v;

	p.deletion = NOW - 3 * HOUR - 5 * MIN;
	v = judge(&p, live_node_gone());
	ck_assert_str_eq(EN(v.evidence),
			 "deletion deadline 2026-09-21T11:08:20Z, overdue by 3h5m (threshold 2m), "
			 "node node-1; node is gone");
}

POLICY_SUITE("rules/terminating");
