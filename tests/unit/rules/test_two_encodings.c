/* 10,000 generated pods, each written as JSON and as protobuf, read by the two decoders: the same facts give
 * the same verdict of every duty, in the cache and live. */
// SPDX-License-Identifier: Apache-2.0
#include "fixture.h"

#include <jansson.h>
#include <stdio.h>

#include "kube/decode.h"
#include "tests/apisim/podpb.h"
#include "tests/suite.h"

#define PODS       10000
#define PICK(pool) (pool)[below(sizeof(pool) / sizeof((pool)[0]))]

static uint64_t state = UINT64_C(0x7e57);

/* splitmix64 */
static uint64_t next(void)
{
	uint64_t z = (state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static size_t below(size_t n)
{
	return (size_t)(next() % n);
}

static const char *const phases[] = { "Pending", "Pending",   "Running", "Running",
				      "Failed",  "Succeeded", "Unknown", "" };
static const char *const pod_reasons[] = { "Evicted", "Evicted", "NodeLost", "" };
static const char *const waiting[] = { "ErrImagePull",      "ImagePullBackOff", "CrashLoopBackOff",
				       "ContainerCreating", "InvalidImageName", "" };
static const char *const ended[] = { "Completed", "Error", "OOMKilled", "ContainerStatusUnknown", "" };
static const char *const messages[] = { "manifest unknown", "i/o timeout", "401 Unauthorized", "",
					"Back-off" };
static const char *const images[] = { "nginx", "r.example.com/app:v1", "localhost:5000/x", "" };
static const char *const kinds[] = { "ReplicaSet", "ReplicaSet", "StatefulSet", "Job",
				     "DaemonSet",  "Node",       "Fleet" };
static const char *const times[] = { "2026-09-20T00:00:00Z", "2026-09-21T11:00:00Z", "2026-09-21T14:12:00Z",
				     "2026-09-21T14:13:20Z", "2027-01-01T00:00:00Z", "1969-01-01T00:00:00Z" };
static const char *const annotations[][2] = {
	{ "ops-pod-cleaner.io/ignore", "true" },
	{ "ops-pod-cleaner.io/skip", "errImagePull, deleteEvictedPod" },
	{ "ops-pod-cleaner.io/skip", "nonsense" },
	{ "ops-pod-cleaner.io/extend", "2h" },
	{ "ops-pod-cleaner.io/extend", "soon" },
	{ "ops-pod-cleaner.io/announced", "deleteEvictedPod=2026-09-21T14:00:00Z" },
	{ "kubernetes.io/config.mirror", "x" },
	{ "example.com/other", "y" },
};

static void set(json_t *o, const char *key, const char *value)
{
	if (*value || below(2))
		json_object_set_new(o, key, json_string(value));
}

static json_t *some_state(void)
{
	json_t *outer = json_object(), *inner = json_object();
	const size_t which = below(5);

	if (which < 3) {
		set(inner, "reason", PICK(waiting));
		set(inner, "message", PICK(messages));
		json_object_set_new(outer, "waiting", inner);
	} else if (which == 3) {
		json_object_set_new(inner, "startedAt", json_string(PICK(times)));
		json_object_set_new(outer, "running", inner);
	} else {
		set(inner, "reason", PICK(ended));
		json_object_set_new(inner, "exitCode", json_integer((json_int_t)below(256) - 1));
		json_object_set_new(inner, "startedAt", json_string(PICK(times)));
		json_object_set_new(inner, "finishedAt", json_string(PICK(times)));
		json_object_set_new(outer, "terminated", inner);
	}
	return outer;
}

static json_t *some_containers(size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++) {
		json_t *c = json_object();
		char name[32];

		(void)snprintf(name, sizeof(name), "c%zu", i);
		json_object_set_new(c, "name", json_string(name));
		set(c, "image", PICK(images));
		json_object_set_new(c, "imageID", json_string(""));
		json_object_set_new(c, "ready", json_boolean(below(8) == 0));
		json_object_set_new(c, "restartCount", json_integer((json_int_t)below(12) - 1));
		json_object_set_new(c, "state", some_state());
		if (below(3) == 0)
			json_object_set_new(c, "lastState", some_state());
		if (below(3) == 0)
			json_object_set_new(c, "started", json_boolean(below(2) != 0));
		json_array_append_new(list, c);
	}
	return list;
}

static json_t *some_meta(void)
{
	json_t *meta = json_pack("{s:s, s:s, s:s, s:s, s:s}", "namespace", below(9) ? "shop" : "kube-system",
				 "name", "web-1-abcde", "uid", "0b8f0f3e-0000-4000-8000-000000000001",
				 "resourceVersion", "4711", "creationTimestamp", PICK(times));
	json_t *map = json_object();

	for (size_t n = below(3); n > 0 && below(3) == 0; n--) {
		const char *const *a = PICK(annotations);

		json_object_set_new(map, a[0], json_string(a[1]));
	}
	if (json_object_size(map) || below(2))
		json_object_set(meta, "annotations", map);
	json_decref(map);
	json_object_set_new(
		meta, "labels",
		json_pack("{s:s, s:s}", "pod-template-hash", "abc", "tier", below(2) ? "gold" : ""));
	if (below(8))
		json_object_set_new(meta, "ownerReferences",
				    json_pack("[{s:s, s:s, s:s, s:s, s:b}]", "apiVersion",
					      below(8) ? "apps/v1" : "batch/v1", "kind", PICK(kinds), "name",
					      "web-1", "uid", "0b8f0f3e-0000-4000-8000-00000000000a",
					      "controller", below(9) != 0));
	if (below(3) == 0) {
		json_object_set_new(meta, "deletionTimestamp", json_string(PICK(times)));
		json_object_set_new(meta, "deletionGracePeriodSeconds",
				    json_integer((json_int_t)below(32) - 1));
	}
	if (below(12) == 0)
		json_object_set_new(meta, "finalizers", json_pack("[s, s]", "example.com/a", "b"));
	return meta;
}

static json_t *some_pod(void)
{
	json_t *spec = json_object(), *status = json_object(), *conditions = json_array();
	static const char *const types[] = { "Ready", "Initialized", "PodScheduled", "DisruptionTarget" };

	if (below(6))
		json_object_set_new(spec, "nodeName", json_string("node-1"));
	if (below(9) == 0)
		json_object_set_new(spec, "priorityClassName", json_string("system-node-critical"));
	if (below(3) == 0)
		json_object_set_new(spec, "volumes",
				    json_pack("[{s:s, s:{s:s}}]", "name", "data", "persistentVolumeClaim",
					      "claimName", "data"));
	set(status, "phase", PICK(phases));
	if (below(3) == 0) {
		json_object_set_new(status, "phase", json_string("Failed"));
		json_object_set_new(status, "reason", json_string(PICK(pod_reasons)));
	}
	for (size_t i = 0; i < 4; i++)
		if (below(3) == 0)
			json_array_append_new(conditions, json_pack("{s:s, s:s, s:s}", "type", types[i],
								    "status", below(3) ? "False" : "True",
								    "lastTransitionTime", PICK(times)));
	json_object_set_new(status, "conditions", conditions);
	json_object_set_new(status, "containerStatuses", some_containers(below(3)));
	if (below(3) == 0)
		json_object_set_new(status, "initContainerStatuses", some_containers(1 + below(2)));
	return json_pack("{s:o, s:o, s:o}", "metadata", some_meta(), "spec", spec, "status", status);
}

static void same_verdict(const struct verdict *a, const struct verdict *b, const json_t *pod)
{
	if (a->kind == b->kind && a->reason == b->reason && a->at_ms == b->at_ms &&
	    strcmp(a->evidence, b->evidence) == 0 && strcmp(a->rule, b->rule) == 0)
		return;
	ck_abort_msg("%s %s (%s) by protobuf, %s %s (%s) by JSON: %s", verdict_kind_name(a->kind),
		     reason_code(a->reason), a->evidence, verdict_kind_name(b->kind), reason_code(b->reason),
		     b->evidence, json_dumps(pod, JSON_COMPACT));
}

/* What the verdicts above do not all hang on. Maps have no order: labels are compared as sets. */
static void same_facts(const struct pod_facts *a, const struct pod_facts *b)
{
	ck_assert_uint_eq(a->n_labels, b->n_labels);
	for (uint32_t i = 0; i < a->n_labels; i++) {
		uint32_t k = 0;

		while (k < b->n_labels && !(str_eq(a->labels[i].key, b->labels[k].key) &&
					    str_eq(a->labels[i].value, b->labels[k].value)))
			k++;
		ck_assert_uint_lt(k, b->n_labels);
	}
	ck_assert_int_eq(memcmp(&a->annotations, &b->annotations, sizeof(a->annotations)), 0);
	ck_assert_uint_eq(a->n_containers, b->n_containers);
	for (uint32_t i = 0; i < a->n_containers; i++) {
		ck_assert(str_eq(a->containers[i].image, b->containers[i].image));
		ck_assert(str_eq(a->containers[i].message, b->containers[i].message));
		ck_assert_int_eq(a->containers[i].restarts, b->containers[i].restarts);
		ck_assert_int_eq(a->containers[i].exit_code, b->containers[i].exit_code);
	}
}

static void judge_both(const struct pod_facts *a, const struct pod_facts *b, const struct policy *policy,
		       const json_t *pod, unsigned acts[static DUTY__MAX])
{
	const struct pod_context around[] = { cache(), live_pull(), live_node_gone(), live_node_ready() };
	struct verdict va, vb;

	for (size_t i = 0; i < sizeof(around) / sizeof(around[0]); i++)
		for (enum duty d = 0; d < DUTY_RESTARTS; d++) {
			judge_duty(d, a, policy, &around[i], NOW, &va);
			judge_duty(d, b, policy, &around[i], NOW, &vb);
			same_verdict(&va, &vb, pod);
			acts[d] += around[i].stage == STAGE_LIVE && va.kind == VERDICT_ACT;
		}
	judge_restarts(a, policy, NOW, &va, NULL);
	judge_restarts(b, policy, NOW, &vb, NULL);
	same_verdict(&va, &vb, pod);
	acts[DUTY_RESTARTS] += va.kind == VERDICT_ACT;
}

START_TEST(verdicts_are_the_same)
{
	static struct pod_facts by_protobuf, by_json;
	unsigned acts[DUTY__MAX] = { 0 };
	struct policy policy;

	policy_init(&policy);
	policy.duty[DUTY_EVICTED].announce_ms = MIN;
	for (int i = 0; i < PODS; i++) {
		json_t *pod = some_pod();
		struct pb_buf b;

		pb_init(&b, 64);
		podpb_message(&b, "Pod", pod);
		ck_assert_int_eq(
			decode_pod_protobuf((const uint8_t *)b.data + b.at, pb_size(&b), &by_protobuf), 0);
		ck_assert_int_eq(decode_pod_json(pod, &by_json), 0);
		same_facts(&by_protobuf, &by_json);
		judge_both(&by_protobuf, &by_json, &policy, pod, acts);
		pb_done(&b);
		json_decref(pod);
	}
	/* The generator must reach what it is about. */
	for (int d = 0; d < DUTY__MAX; d++)
		ck_assert_msg(acts[d] > 50, "duty %d acted only %u times", d, acts[d]);
	policy_done(&policy);
}
END_TEST

TEST_MAIN("rules/two_encodings")
{
	tcase_set_timeout(t, 120);
	tcase_add_test(t, verdicts_are_the_same);
}
