/* random_pod.c - see random_pod.h. Each message of fields.def has one function that makes it; what a field
 * may be is said by its kind, or by a pool of its own. */
// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/kube/random_pod.h"

#include <string.h>

#include "base/cleanup.h"
#include "model/fields.def"

static uint64_t below(uint64_t *s, uint64_t n)
{
	return wire_random(s) % n;
}

/* The values of texts; those of others are made up. */
static const struct pool {
	const char *field, *values[10];
} pools[] = {
	{ "meta.name", { "web-7d9f-abcde", "db-0", "x" } },
	{ "meta.namespace", { "shop", "shop", "shop", "default", "kube-system" } },
	{ "meta.uid", { "6f1e7c1a-0d62-4a35-9f0a-1c2b3d4e5f60" } },
	{ "meta.resourceVersion", { "1", "123456789", "99999999999" } },
	{ "owner.kind",
	  { "ReplicaSet", "ReplicaSet", "ReplicaSet", "StatefulSet", "Job", "DaemonSet", "Node", "Fleet" } },
	{ "owner.apiVersion", { "apps/v1", "apps/v1", "apps/v1", "apps/v1", "batch/v1" } },
	{ "owner.uid", { "11111111-0d62-4a35-9f0a-1c2b3d4e5f60", "2222" } },
	{ "spec.nodeName", { "", "node-1", "node-1", "node-22" } },
	{ "spec.priorityClassName", { "", "", "", "", "", "system-node-critical" } },
	{ "status.phase",
	  { "Pending", "Pending", "Running", "Running", "Failed", "Failed", "Succeeded", "Unknown" } },
	{ "status.reason", { "Evicted", "Evicted", "", "NodeShutdown", "NodeShutdown", "NodeLost" } },
	{ "condition.type",
	  { "Ready", "Ready", "Initialized", "PodScheduled", "PodScheduled", "DisruptionTarget",
	    "AllContainersRestarting", "Other" } },
	{ "condition.status", { "True", "False", "Unknown" } },
	{ "container.name", { "app", "istio-proxy", "sidecar" } },
	{ "template.name", { "app", "istio-proxy", "sidecar" } },
	{ "exit_codes.operator", { "In", "In", "NotIn", "NotIn", "Among" } },
	{ "claim.name", { "gpu", "nic" } },
	{ "claim.resourceClaimName", { "", "shared-gpu" } },
	{ "claim_status.resourceClaimName", { "", "web-gpu-x7k2p" } },
	{ "health.resourceID", { "GPU-1", "driver.example.com/pool/nic-0", "" } },
	{ "health.health", { "Healthy", "Unhealthy", "Unhealthy", "Unknown" } },
	{ "container.image", { "nginx", "r.example.com/app:v1", "localhost:5000/x", "" } },
	{ "waiting.reason",
	  { "ErrImagePull", "ErrImagePull", "ImagePullBackOff", "ImagePullBackOff", "CrashLoopBackOff",
	    "CrashLoopBackOff", "ContainerCreating", "InvalidImageName", "" } },
	{ "waiting.message",
	  { "manifest unknown", "manifest unknown", "i/o timeout", "401 Unauthorized",
	    "back-off \xe2\x9c\x93", "" } },
	{ "terminated.reason", { "Completed", "Error", "OOMKilled", "ContainerStatusUnknown", "" } },
	{ "last.reason", { "Completed", "Error", "OOMKilled", "ContainerStatusUnknown", "" } },
	{ "", { "", "some", "text" } },
};

static const char *const labels[][2] = {
	{ "controller-revision-hash", "rev-a" },
	{ "pod-template-hash", "rev-b" },
	{ "rollouts-pod-template-hash", "rev-c" },
	{ "app", "web" },
	{ "tier", "gold" },
	{ "ops-pod-cleaner.io/ignore", "true" },
	{ "ops-pod-cleaner.io/ignore", "false" },
};
static const char *const annotations[][2] = {
	{ "ops-pod-cleaner.io/ignore", "true" },
	{ "ops-pod-cleaner.io/ignore", "True" },
	{ "ops-pod-cleaner.io/skip", "errImagePull, deleteEvictedPod" },
	{ "ops-pod-cleaner.io/skip", "nonsense" },
	{ "ops-pod-cleaner.io/extend", "2h" },
	{ "ops-pod-cleaner.io/extend", "soon" },
	{ "ops-pod-cleaner.io/announced", "deleteEvictedPod=2026-09-21T14:00:00Z" },
	{ "kubernetes.io/config.mirror", "x" },
	{ "example.com/other", "y" },
};

/* -- a field of each kind -- */

static const char *some_text(uint64_t *s, const char *message, const char *key)
{
	const size_t n = strlen(message);
	const struct pool *pool = pools;
	size_t size = 0;

	while (*pool->field && !(strncmp(pool->field, message, n) == 0 && pool->field[n] == '.' &&
				 strcmp(pool->field + n + 1, key) == 0))
		pool++;
	while (size < ARRAY_SIZE(pool->values) && pool->values[size])
		size++;
	return pool->values[below(s, size)];
}

/* Mostly before now, and near what a rule waits for. */
static int64_t some_time(uint64_t *s)
{
	static const int64_t ages[] = { 137600, 137600, 11600, 11600, 80, 0, -8776000, RANDOM_POD_NOW_S };

	return below(s, 8) ? RANDOM_POD_NOW_S - ages[below(s, ARRAY_SIZE(ages))]
			   : INT64_C(1700000000) + (int64_t)below(s, 100000000);
}

/* What a reader steps over. */
static void some_unknown(struct dual *d, uint64_t *s)
{
	static const uint8_t noise[24] = { 0x08, 0xff, 0x12, 0x7f, 0x0a };
	const uint32_t field = (uint32_t)(100 + below(s, 100000));

	switch (below(s, 6)) {
	case 0:
		wire_field_varint(&d->wire, field, wire_random(s));
		break;
	case 1:
		wire_field_bytes(&d->wire, field, noise, below(s, sizeof(noise)));
		break;
	case 2:
		wire_tag(&d->wire, field, 1);
		wire_bytes(&d->wire, noise, 8);
		break;
	case 3:
		wire_tag(&d->wire, field, 5);
		wire_bytes(&d->wire, noise, 4);
		break;
	case 4:
		wire_field_str(&d->wire, 17, "managedFields, in metadata");
		break;
	default:
		break;
	}
}

static void some_pairs(struct dual *d, uint64_t *s, uint32_t number, const char *key,
		       const char *const (*pairs)[2], size_t n)
{
	for (uint64_t i = below(s, 4); i > 0; i--) {
		const char *const *pair = pairs[below(s, n)];

		if (below(s, 3) == 0 && !json_object_get(json_object_get(d->json, key), pair[0]))
			dual_pair(d, number, key, pair[0], pair[1]);
	}
	for (uint64_t i = below(s, 90) ? 0 : below(s, 90); i > 0; i--)
		dual_pair(d, number, key,
			  (const char[]){ 'l', (char)('0' + i / 10), (char)('0' + i % 10), '\0' }, "x");
}

/* What would keep most pods from most acts. */
static bool is_rare(const char *key)
{
	return strncmp(key, "resourceClaim", 13) == 0 || strcmp(key, "restartPolicyRules") == 0 ||
	       strcmp(key, "allocatedResourcesStatus") == 0;
}

/* clang-format off */
#define SOME_TEXT(fact, n, key)      dual_str(d, n, key, some_text(s, in, key))
#define SOME_BOOL(fact, n, key)      if (below(s, 4)) dual_bool(d, n, key, below(s, 3) > 0)
#define SOME_INT32(fact, n, key)     dual_int(d, n, key, below(s, 3) ? 0 : (int64_t)below(s, below(s, 2) ? 12 : 300) - 1)
#define SOME_SECONDS(fact, n, key)   if (below(s, 2)) dual_int(d, n, key, (int64_t)below(s, 32) - 1)
#define SOME_TIME(fact, n, key)      if (below(s, strncmp(key, "creation", 8) ? 2 : 9)) dual_time(d, n, key, some_time(s))
#define SOME_PAIR(fact, n, key)      some_pairs(d, s, n, key, fact##s, ARRAY_SIZE(fact##s))
#define SOME_NUMBERS(fact, n, key)   for (uint64_t i_ = below(s, 6); i_ > 0; i_--) dual_add_int(d, n, key, (int64_t)below(s, 12) - 1)
#define SOME_ITEM(fact, n, key)      for (uint64_t i_ = below(s, 9) ? 0 : below(s, 20); i_ > 0; i_--) dual_add_str(d, n, key, "example.com/keep")
#define SOME_MESSAGES(make, n, key, add, times) for (uint64_t i_ = (times); i_ > 0; i_--) { struct dual m_ = make(s); add(d, n, key, &m_); }
#define SOME_PART(fact, n, key)      SOME_MESSAGES(some_##fact, n, key, dual_message, 1)
#define SOME_MESSAGE(fact, n, key)   SOME_MESSAGES(some_##fact, n, key, dual_message, strncmp(key, "extended", 8) ? 1 : below(s, 9) == 0)
#define SOME_ONEOF(fact, n, key)     SOME_MESSAGES(some_##fact, n, key, dual_message, below(s, 2))
#define SOME_PRESENT(fact, n, key)   SOME_MESSAGES(some_running, n, key, dual_message, below(s, 5) == 0)
#define SOME_EACH(fact, n, key)      SOME_MESSAGES(some_##fact, n, key, dual_add, is_rare(key) ? below(s, 12) == 0 : below(s, 4))
#define SOME_CONTAINER(fact, n, key) SOME_MESSAGES(some_container, n, key, dual_add, below(s, 90) == 0 ? 70 : below(s, CONTAINERS_##fact))
#define CONTAINERS_MAIN      4
#define CONTAINERS_INIT      2
#define CONTAINERS_EPHEMERAL 2
#define SOME(d, fact, number, key, kind) SOME_##kind(fact, number, #key);
/* clang-format on */

/* -- each message -- */

#define MAKER(name, message)                                                                                 \
	static struct dual some_##name(uint64_t *s)                                                          \
	{                                                                                                    \
		struct dual made = dual_new(), *d = &made;                                                   \
		__attribute__((unused)) static const char in[] = #message;                                   \
                                                                                                             \
		FIELDS_##message(SOME, d) some_unknown(d, s);                                                \
		return made;                                                                                 \
	}

MAKER(running, running)
MAKER(waiting, waiting)
MAKER(terminated, terminated)
MAKER(last, last)
MAKER(state, state)

static struct dual some_last_state(uint64_t *s)
{
	struct dual d = dual_new(), last = some_last(s);

	if (below(s, 4))
		dual_done(&last);
	else
		dual_message(&d, 3, "terminated", &last);
	return d;
}

MAKER(health, health)
MAKER(allocated, allocated)
MAKER(container, container)
MAKER(exit_codes, exit_codes)
MAKER(rule, rule)
MAKER(template, template)
MAKER(claim, claim)
MAKER(claim_status, claim_status)
MAKER(condition, condition)
MAKER(owner, owner)
MAKER(source, volume)

/* Its source is a message of its own in protobuf, and stands beside the name in JSON. */
static struct dual some_volume(uint64_t *s)
{
	struct dual d = dual_new(), source = some_source(s);

	dual_str(&d, 1, "name", "data");
	wire_field_message(&d.wire, 2, &source.wire);
	json_object_update(d.json, source.json);
	dual_done(&source);
	return d;
}

MAKER(meta, meta)
MAKER(spec, spec)
MAKER(status, status)
MAKER(pod, pod)

struct dual random_pod(uint64_t seed)
{
	return some_pod(&seed);
}
