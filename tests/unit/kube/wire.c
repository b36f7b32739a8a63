/* wire.c - see wire.h. */
// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/kube/wire.h"

#include <stdlib.h>
#include <string.h>

#include "base/rfc3339.h"
#include "base/xalloc.h"

void wire_done(struct wire *w)
{
	free(w->p);
	*w = (struct wire){ 0 };
}

void wire_bytes(struct wire *w, const void *p, size_t n)
{
	if (w->n + n > w->cap) {
		w->cap = (w->n + n) * 2;
		w->p = xreallocarray(w->p, w->cap, 1);
	}
	if (n)
		memcpy(w->p + w->n, p, n);
	w->n += n;
}

void wire_varint(struct wire *w, uint64_t v)
{
	uint8_t b[10];
	size_t n = 0;

	do {
		b[n] = (uint8_t)(v & 0x7f);
		v >>= 7;
		if (v)
			b[n] |= 0x80;
		n++;
	} while (v);
	wire_bytes(w, b, n);
}

void wire_tag(struct wire *w, uint32_t field, unsigned type)
{
	wire_varint(w, (uint64_t)field << 3 | type);
}

void wire_field_varint(struct wire *w, uint32_t field, uint64_t v)
{
	wire_tag(w, field, 0);
	wire_varint(w, v);
}

void wire_field_bytes(struct wire *w, uint32_t field, const void *p, size_t n)
{
	wire_tag(w, field, 2);
	wire_varint(w, n);
	wire_bytes(w, p, n);
}

void wire_field_str(struct wire *w, uint32_t field, const char *s)
{
	wire_field_bytes(w, field, s, strlen(s));
}

void wire_field_message(struct wire *w, uint32_t field, struct wire *m)
{
	wire_field_bytes(w, field, m->p, m->n);
	wire_done(m);
}

void wire_envelope(struct wire *w, const char *api_version, const char *kind, struct wire *raw)
{
	struct wire type = { 0 };

	wire_bytes(w, "k8s", 4);
	wire_field_str(&type, 1, api_version);
	wire_field_str(&type, 2, kind);
	wire_field_message(w, 1, &type);
	wire_field_message(w, 2, raw);
	wire_field_str(w, 3, "");
	wire_field_str(w, 4, "");
}

void wire_event(struct wire *w, const char *type, const char *api_version, const char *kind, struct wire *raw)
{
	struct wire event = { 0 }, extension = { 0 }, object = { 0 };

	wire_envelope(&object, api_version, kind, raw);
	wire_field_message(&extension, 1, &object);
	wire_field_str(&event, 1, type);
	wire_field_message(&event, 2, &extension);
	const uint8_t header[4] = { (uint8_t)(event.n >> 24), (uint8_t)(event.n >> 16),
				    (uint8_t)(event.n >> 8), (uint8_t)event.n };

	wire_bytes(w, header, sizeof(header));
	wire_bytes(w, event.p, event.n);
	wire_done(&event);
}

struct dual dual_new(void)
{
	return (struct dual){ .json = json_object() };
}

void dual_done(struct dual *d)
{
	wire_done(&d->wire);
	json_decref(d->json);
	d->json = NULL;
}

void dual_str(struct dual *d, uint32_t field, const char *key, const char *s)
{
	wire_field_str(&d->wire, field, s);
	if (*s)
		json_object_set_new(d->json, key, json_string(s));
}

void dual_int(struct dual *d, uint32_t field, const char *key, int64_t v)
{
	wire_field_varint(&d->wire, field, (uint64_t)v);
	json_object_set_new(d->json, key, json_integer(v));
}

void dual_bool(struct dual *d, uint32_t field, const char *key, bool v)
{
	wire_field_varint(&d->wire, field, v);
	json_object_set_new(d->json, key, json_boolean(v));
}

void dual_time(struct dual *d, uint32_t field, const char *key, int64_t seconds)
{
	struct wire m = { 0 };
	char text[RFC3339_MAX];

	if (seconds) {
		wire_field_varint(&m, 1, (uint64_t)seconds);
		wire_field_varint(&m, 2, 0);
	}
	wire_field_message(&d->wire, field, &m);
	rfc3339_format(seconds * 1000, false, text);
	json_object_set_new(d->json, key, seconds ? json_string(text) : json_null());
}

static json_t *member(struct dual *d, const char *key, json_t *fresh)
{
	json_t *v = json_object_get(d->json, key);

	if (v) {
		json_decref(fresh);
		return v;
	}
	json_object_set_new(d->json, key, fresh);
	return fresh;
}

void dual_pair(struct dual *d, uint32_t field, const char *key, const char *k, const char *v)
{
	struct wire m = { 0 };

	wire_field_str(&m, 1, k);
	wire_field_str(&m, 2, v);
	wire_field_message(&d->wire, field, &m);
	json_object_set_new(member(d, key, json_object()), k, json_string(v));
}

void dual_add_str(struct dual *d, uint32_t field, const char *key, const char *s)
{
	wire_field_str(&d->wire, field, s);
	json_array_append_new(member(d, key, json_array()), json_string(s));
}

void dual_message(struct dual *d, uint32_t field, const char *key, struct dual *child)
{
	wire_field_message(&d->wire, field, &child->wire);
	json_object_set_new(d->json, key, child->json);
	child->json = NULL;
}

void dual_add(struct dual *d, uint32_t field, const char *key, struct dual *child)
{
	wire_field_message(&d->wire, field, &child->wire);
	json_array_append_new(member(d, key, json_array()), child->json);
	child->json = NULL;
}

/* -- random pods ---------------------------------------------------------------------------------------- */

uint64_t wire_random(uint64_t *state) /* splitmix64 */
{
	uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static uint64_t below(uint64_t *s, uint64_t n)
{
	return wire_random(s) % n;
}

#define PICK(s, ...)                                                                                         \
	((const char *const[]){ __VA_ARGS__ })[below(s, sizeof((const char *const[]){ __VA_ARGS__ }) /       \
								sizeof(const char *))]

static int64_t some_time(uint64_t *s)
{
	return below(s, 5) == 0 ? 0 : (int64_t)(INT64_C(1700000000) + (int64_t)below(s, 100000000));
}

static void some_unknown(struct dual *d, uint64_t *s)
{
	static const uint8_t noise[24] = { 0x08, 0xff, 0x12, 0x7f, 0x0a };
	const uint32_t field = (uint32_t)(100 + below(s, 100000));

	switch (below(s, 5)) {
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
	default:
		break;
	}
}

static struct dual some_state(uint64_t *s, unsigned which)
{
	struct dual state = dual_new(), m = dual_new();

	some_unknown(&m, s);
	if (which == 0) {
		dual_str(&m, 1, "reason",
			 PICK(s, "ErrImagePull", "ImagePullBackOff", "CrashLoopBackOff", ""));
		dual_str(&m, 2, "message", PICK(s, "back-off \xe2\x9c\x93", ""));
		dual_message(&state, 1, "waiting", &m);
	} else if (which == 1) {
		dual_time(&m, 1, "startedAt", some_time(s));
		dual_message(&state, 2, "running", &m);
	} else if (which == 2) {
		dual_int(&m, 1, "exitCode", (int64_t)below(s, 300) - 20);
		dual_str(&m, 3, "reason", PICK(s, "OOMKilled", "Error", "Completed"));
		dual_time(&m, 5, "startedAt", some_time(s));
		dual_time(&m, 6, "finishedAt", some_time(s));
		dual_message(&state, 3, "terminated", &m);
	} else {
		dual_done(&m);
	}
	return state;
}

static void some_containers(struct dual *status, uint64_t *s, uint32_t field, const char *key, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		struct dual c = dual_new();
		struct dual state = some_state(s, (unsigned)below(s, 4)),
			    last = some_state(s, 2 + (unsigned)below(s, 2));

		dual_str(&c, 1, "name", PICK(s, "app", "istio-proxy", "sidecar"));
		dual_message(&c, 2, "state", &state);
		dual_message(&c, 3, "lastState", &last);
		dual_bool(&c, 4, "ready", below(s, 2));
		dual_int(&c, 5, "restartCount", (int64_t)below(s, 1000));
		dual_str(&c, 6, "image", "registry.example/app:1");
		some_unknown(&c, s);
		if (below(s, 2))
			dual_bool(&c, 9, "started", below(s, 2));
		dual_add(status, field, key, &c);
	}
}

static struct dual some_meta(uint64_t *s)
{
	struct dual m = dual_new();

	dual_str(&m, 1, "name", PICK(s, "web-7d9f-abcde", "db-0", "x"));
	dual_str(&m, 2, "generateName", "web-");
	dual_str(&m, 3, "namespace", PICK(s, "default", "shop", "kube-system"));
	dual_str(&m, 5, "uid", "6f1e7c1a-0d62-4a35-9f0a-1c2b3d4e5f60");
	dual_str(&m, 6, "resourceVersion", PICK(s, "1", "123456789", "99999999999"));
	dual_time(&m, 8, "creationTimestamp", some_time(s));
	if (below(s, 2)) {
		dual_time(&m, 9, "deletionTimestamp", some_time(s));
		dual_int(&m, 10, "deletionGracePeriodSeconds", (int64_t)below(s, 60));
	}
	if (below(s, 2))
		dual_pair(&m, 11, "labels", PICK(s, "controller-revision-hash", "app"), "rev-a");
	if (below(s, 2))
		dual_pair(&m, 11, "labels", PICK(s, "pod-template-hash", "rollouts-pod-template-hash"),
			  "rev-b");
	if (below(s, 4) == 0)
		dual_pair(&m, 11, "labels", "ops-pod-cleaner.io/ignore", PICK(s, "true", "false", ""));
	if (below(s, 4) == 0)
		dual_pair(&m, 12, "annotations", "ops-pod-cleaner.io/ignore", PICK(s, "true", "True"));
	if (below(s, 4) == 0)
		dual_pair(&m, 12, "annotations", "kubernetes.io/config.mirror", "abc");
	for (uint64_t i = below(s, 3); i > 0; i--) {
		struct dual o = dual_new();

		dual_str(&o, 1, "kind", PICK(s, "ReplicaSet", "StatefulSet", "Node"));
		dual_str(&o, 3, "name", PICK(s, "web-7d9f", "db"));
		dual_str(&o, 4, "uid", PICK(s, "11111111-0d62-4a35-9f0a-1c2b3d4e5f60", "2222"));
		dual_str(&o, 5, "apiVersion", "apps/v1");
		if (below(s, 4))
			dual_bool(&o, 6, "controller", below(s, 3) > 0);
		dual_add(&m, 13, "ownerReferences", &o);
	}
	for (uint64_t i = below(s, 5) == 0 ? below(s, 20) : 0; i > 0; i--)
		dual_add_str(&m, 14, "finalizers", "example.com/keep");
	some_unknown(&m, s);
	wire_field_str(&m.wire, 17, "managedFields are skipped unread");
	return m;
}

static struct dual some_spec(uint64_t *s)
{
	struct dual spec = dual_new();

	for (uint64_t i = below(s, 3); i > 0; i--) {
		struct dual v = dual_new(), source = dual_new(), what = dual_new();
		const uint64_t kind = below(s, 3);

		dual_str(&v, 1, "name", "data");
		dual_str(&what, 1, kind == 0 ? "claimName" : "medium", "x");
		/* Inlined in JSON, a message of its own in protobuf. */
		wire_field_message(&source.wire, kind == 0 ? 10 : kind == 1 ? 29 : 2, &what.wire);
		json_object_set_new(v.json,
				    kind == 0   ? "persistentVolumeClaim"
				    : kind == 1 ? "ephemeral"
						: "emptyDir",
				    what.json);
		wire_field_message(&v.wire, 2, &source.wire);
		json_decref(source.json);
		dual_add(&spec, 1, "volumes", &v);
	}
	dual_str(&spec, 3, "restartPolicy", "Always");
	dual_str(&spec, 10, "nodeName", PICK(s, "", "node-1", "node-22"));
	if (below(s, 2))
		dual_str(&spec, 24, "priorityClassName", "system-node-critical");
	some_unknown(&spec, s);
	return spec;
}

struct dual dual_random_pod(uint64_t seed)
{
	uint64_t *s = &seed;
	struct dual pod = dual_new(), meta = some_meta(s), spec = some_spec(s), status = dual_new();

	dual_str(&status, 1, "phase", PICK(s, "Running", "Pending", "Failed", "Succeeded"));
	for (uint64_t i = below(s, 5); i > 0; i--) {
		struct dual c = dual_new();

		dual_str(&c, 1, "type",
			 PICK(s, "Ready", "Initialized", "PodScheduled", "DisruptionTarget", "Other"));
		dual_str(&c, 2, "status", PICK(s, "True", "False", "Unknown"));
		dual_time(&c, 4, "lastTransitionTime", some_time(s));
		dual_add(&status, 2, "conditions", &c);
	}
	dual_str(&status, 4, "reason", PICK(s, "Evicted", "", "NodeLost"));
	if (below(s, 2))
		dual_time(&status, 7, "startTime", some_time(s));
	some_containers(&status, s, 8, "containerStatuses", below(s, 30) == 0 ? 70 : below(s, 4));
	some_containers(&status, s, 10, "initContainerStatuses", below(s, 2));
	some_containers(&status, s, 13, "ephemeralContainerStatuses", below(s, 2));
	dual_message(&pod, 1, "metadata", &meta);
	dual_message(&pod, 2, "spec", &spec);
	dual_message(&pod, 3, "status", &status);
	some_unknown(&pod, s);
	return pod;
}
