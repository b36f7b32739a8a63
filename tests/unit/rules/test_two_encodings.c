/* 10,000 generated pods, each written as JSON and as protobuf, read by the two decoders: the same facts give
 * the same verdict of every duty, in the cache and live. */
// SPDX-License-Identifier: Apache-2.0
#include "fixture.h"

#include <jansson.h>
#include <stdio.h>

#include "kube/decode_json.h"
#include "kube/decode_protobuf.h"
#include "tests/apisim/podpb.h"
#include "tests/facts_en.h"
#include "tests/same_facts.h"
#include "tests/suite.h"
#include "tests/unit/kube/random_pod.h"

#define PODS 10000

static void same_verdict(const struct verdict *a, const struct verdict *b, const json_t *pod)
{
	if (a->kind == b->kind && a->reason == b->reason && a->at_ms == b->at_ms &&
	    facts_equal(&a->evidence, &b->evidence) && strcmp(a->rule, b->rule) == 0)
		return;
	ck_abort_msg("%s %s (%s) by protobuf, %s %s (%s) by JSON: %s", verdict_kind_name(a->kind),
		     reason_code(a->reason), EN(a->evidence), verdict_kind_name(b->kind),
		     reason_code(b->reason), EN(b->evidence), json_dumps(pod, JSON_COMPACT));
}

static void judge_both(const struct pod_facts *a, const struct pod_facts *b, const json_t *pod,
		       unsigned acts[static DUTY__MAX])
{
	const struct pod_context around[] = { cache(), live_pull(), live_node_gone(), live_node_ready() };
	struct verdict va, vb;

	for (size_t i = 0; i < sizeof(around) / sizeof(around[0]); i++)
		for (enum duty d = 0; d < DUTY__MAX; d++) {
			judge_duty(d, a, &policy, &around[i], NOW, &va);
			judge_duty(d, b, &policy, &around[i], NOW, &vb);
			same_verdict(&va, &vb, pod);
			acts[d] += around[i].stage == STAGE_LIVE && va.kind == VERDICT_ACT;
		}
}

TEST(verdicts_are_the_same)
{
	static struct pod_facts by_protobuf, by_json;
	unsigned acts[DUTY__MAX] = { 0 };

	policy.duty[DUTY_EVICTED].announce_ms = MIN;
	policy.duty[DUTY_CRASH_LOOP].counts = 0;
	list_set(&policy.duty[DUTY_FINISHED].phases, "Failed,Succeeded");
	policy.duty[DUTY_FINISHED].include_jobs = policy.duty[DUTY_FINISHED].include_bare_pods = true;
	for (uint64_t seed = 1; seed <= PODS; seed++) {
		struct dual random = random_pod(seed);
		json_t *pod = random.json;
		struct pb_buf b;

		pb_init(&b, 64);
		podpb_message(&b, "Pod", pod);
		ck_assert_int_eq(
			decode_pod_protobuf((const uint8_t *)b.data + b.at, pb_size(&b), &by_protobuf), 0);
		ck_assert_int_eq(decode_pod_json(pod, &by_json), 0);
		same_facts(&by_protobuf, &by_json, false, "by the encoder of apisim");
		judge_both(&by_protobuf, &by_json, pod, acts);
		pb_done(&b);
		dual_done(&random);
	}
	/* The generator must reach what it is about. */
	for (int d = 0; d < DUTY__MAX; d++)
		ck_assert_msg(acts[d] > 50, "duty %d acted only %u times", d, acts[d]);
}

TEST_MAIN("rules/two_encodings")
{
	tcase_add_checked_fixture(t, policy_setup, policy_teardown);
	tcase_set_timeout(t, 120);
}
