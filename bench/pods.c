/* pods.c - see pods.h. One pod is written with marks in the place of everything that differs; every other one
 * is a copy of it with the marks replaced. Field numbers: kubernetes/api core/v1/generated.proto. */
// SPDX-License-Identifier: Apache-2.0
#include "bench/pods.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPOTS_MAX 64u
#define NODES_MAX 5000u /* what Kubernetes supports in one cluster */

/* Marks are as long as what replaces them. */
#define MARK_NS       "<namespace----------->"
#define MARK_WORKLOAD "<workload------------------>"
#define MARK_HASH     "<hash---->"
#define MARK_SUFFIX   "<sfx>"
#define MARK_UID      "<uid------------------------------->"
#define MARK_OWNER    "<owner----------------------------->"
#define MARK_NODE     "<node---------------------------------->"
#define MARK_RV       "<version->"
/* Seconds after the creation, as five bytes of varint. */
static const uint32_t moments[] = { 0, 1, 5, 20 };
#define MARK_TIME UINT64_C(3000000000)

enum mark { NS, WORKLOAD, HASH, SUFFIX, UID, OWNER, NODE, RV, TIME, RESTARTS };

struct spot {
	size_t at;
	enum mark mark;
	uint32_t moment;
};

static struct {
	uint8_t bytes[POD_BYTES_MAX];
	size_t n;
	struct spot spot[SPOTS_MAX];
	size_t n_spots;
} model;

/* -- writing -- */

struct out {
	uint8_t p[POD_BYTES_MAX];
	size_t n;
};

static void put_varint(struct out *o, uint64_t v)
{
	for (; v >= 128; v >>= 7)
		o->p[o->n++] = (uint8_t)(v | 128);
	o->p[o->n++] = (uint8_t)v;
}

static void put_number(struct out *o, unsigned field, uint64_t v)
{
	put_varint(o, field << 3);
	put_varint(o, v);
}

static void put_bytes(struct out *o, unsigned field, const void *p, size_t n)
{
	put_varint(o, field << 3 | 2);
	put_varint(o, n);
	if (n > sizeof(o->p) - o->n)
		abort();
	memcpy(o->p + o->n, p, n);
	o->n += n;
}

static void put_text(struct out *o, unsigned field, const char *s)
{
	put_bytes(o, field, s, strlen(s));
}

/* m is empty after. */
static void put_message(struct out *o, unsigned field, struct out *m)
{
	put_bytes(o, field, m->p, m->n);
	m->n = 0;
}

static void put_pair(struct out *o, unsigned field, const char *key, const char *value)
{
	static struct out m;

	put_text(&m, 1, key);
	put_text(&m, 2, value);
	put_message(o, field, &m);
}

static void put_moment(struct out *o, unsigned field, uint32_t after)
{
	static struct out m;

	put_number(&m, 1, MARK_TIME + after);
	put_message(o, field, &m);
}

/* A message nobody reads. */
static void put_filler(struct out *o, unsigned field, size_t n)
{
	static const uint8_t dots[4096] = { '.' };
	static struct out m;

	put_bytes(&m, 1, dots, n);
	put_message(o, field, &m);
}

/* -- the model -- */

static void put_owner(struct out *o)
{
	static struct out m;

	put_text(&m, 1, "ReplicaSet");
	put_text(&m, 3, MARK_WORKLOAD "-" MARK_HASH);
	put_text(&m, 4, MARK_OWNER);
	put_text(&m, 5, "apps/v1");
	put_number(&m, 6, 1);
	put_number(&m, 7, 1);
	put_message(o, 13, &m);
}

static void put_meta(struct out *o)
{
	static const char *const labels[] = { "app", "app.kubernetes.io/name", "app.kubernetes.io/part-of",
					      "app.kubernetes.io/version", "security.istio.io/tlsMode" };
	static const char *const notes[] = { "istio.io/rev", "kubectl.kubernetes.io/default-container",
					     "prometheus.io/path", "prometheus.io/port",
					     "prometheus.io/scrape" };
	static struct out m;

	put_text(&m, 1, MARK_WORKLOAD "-" MARK_HASH "-" MARK_SUFFIX);
	put_text(&m, 2, MARK_WORKLOAD "-" MARK_HASH "-");
	put_text(&m, 3, MARK_NS);
	put_text(&m, 4, "");
	put_text(&m, 5, MARK_UID);
	put_text(&m, 6, MARK_RV);
	put_number(&m, 7, 0);
	put_moment(&m, 8, 0);
	for (size_t i = 0; i < sizeof(labels) / sizeof(*labels); i++)
		put_pair(&m, 11, labels[i], "some-value");
	put_pair(&m, 11, "pod-template-hash", MARK_HASH);
	for (size_t i = 0; i < sizeof(notes) / sizeof(*notes); i++)
		put_pair(&m, 12, notes[i], "some-value");
	put_owner(&m);
	put_filler(&m, 17, 2300);
	put_filler(&m, 17, 1100);
	put_message(o, 1, &m);
}

static void put_spec(struct out *o)
{
	static const struct {
		unsigned field;
		const char *text;
	} texts[] = {
		{ 3, "Always" },   { 6, "ClusterFirst" },       { 8, "default" },           { 9, "default" },
		{ 10, MARK_NODE }, { 19, "default-scheduler" }, { 24, "business-critical" }
	};
	static struct out m, v, s;

	for (int i = 0; i < 6; i++) {
		put_text(&v, 1, "volume-name");
		put_filler(&s, i == 5 ? 26 : 19, 40);
		put_message(&v, 2, &s);
		put_message(&m, 1, &v);
	}
	put_filler(&m, 2, 1500);
	put_filler(&m, 2, 1000);
	put_number(&m, 4, 30);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		put_text(&m, texts[i].field, texts[i].text);
	put_filler(&m, 14, 40);
	put_filler(&m, 22, 50);
	put_filler(&m, 22, 50);
	put_number(&m, 25, 1000);
	put_number(&m, 30, 1);
	put_text(&m, 31, "PreemptLowerPriority");
	put_message(o, 2, &m);
}

static void put_condition(struct out *o, const char *type, uint32_t after)
{
	static struct out m, never;

	put_text(&m, 1, type);
	put_text(&m, 2, "True");
	put_message(&m, 3, &never);
	put_moment(&m, 4, after);
	put_text(&m, 5, "");
	put_text(&m, 6, "");
	put_message(o, 2, &m);
}

static void put_container(struct out *o, const char *name)
{
	static struct out m, state, running, last;

	put_text(&m, 1, name);
	put_number(&m, 5, 0);
	put_moment(&running, 1, 5);
	put_message(&state, 2, &running);
	put_message(&m, 2, &state);
	put_message(&m, 3, &last);
	put_number(&m, 4, 1);
	put_text(&m, 6, "registry.example.com/shop/service:1.42.7");
	put_text(&m, 7, "registry.example.com/shop/service@sha256:0123456789abcdef0123456789abcdef");
	put_text(&m, 8, "containerd://0123456789abcdef0123456789abcdef0123456789abcdef");
	put_number(&m, 9, 1);
	put_message(o, 8, &m);
}

static void put_status(struct out *o)
{
	static const char *const conditions[] = { "PodReadyToStartContainers", "Initialized", "Ready",
						  "ContainersReady", "PodScheduled" };
	static struct out m;

	put_text(&m, 1, "Running");
	for (size_t i = 0; i < sizeof(conditions) / sizeof(*conditions); i++)
		put_condition(&m, conditions[i], moments[i % 4]);
	put_text(&m, 5, "172.16.100.101");
	put_text(&m, 6, "10.100.101.102");
	put_moment(&m, 7, 1);
	put_container(&m, "app");
	put_container(&m, "istio-proxy");
	put_text(&m, 9, "Burstable");
	put_message(o, 3, &m);
}

static void find_spots(const void *what, size_t n, size_t offset, enum mark mark, uint32_t moment)
{
	const uint8_t *p = model.bytes, *end = model.bytes + model.n;

	while ((p = memmem(p, (size_t)(end - p), what, n))) {
		if (model.n_spots == SPOTS_MAX)
			abort();
		model.spot[model.n_spots++] =
			(struct spot){ (size_t)(p - model.bytes) + offset, mark, moment };
		p += n;
	}
}

void pods_init(void)
{
	static const char *const marks[] = { MARK_NS,  MARK_WORKLOAD, MARK_HASH, MARK_SUFFIX,
					     MARK_UID, MARK_OWNER,    MARK_NODE, MARK_RV };
	static struct out pod, number;

	put_meta(&pod);
	put_spec(&pod);
	put_status(&pod);
	memcpy(model.bytes, pod.p, pod.n);
	model.n = pod.n;
	for (enum mark k = NS; k <= RV; k++)
		find_spots(marks[k], strlen(marks[k]), 0, k, 0);
	for (size_t i = 0; i < sizeof(moments) / sizeof(*moments); i++) {
		number.n = 0;
		put_varint(&number, MARK_TIME + moments[i]);
		find_spots(number.p, number.n, 0, TIME, moments[i]);
	}
	find_spots("\x0a\x03"
		   "app\x28",
		   6, 6, RESTARTS, 0);
}

/* -- copies -- */

static uint64_t mix(uint64_t z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static void uuid(char *out, uint64_t a, uint64_t b)
{
	(void)snprintf(out, 64, "%08x-%04x-4%03x-8%03x-%012llx", (unsigned)a, (unsigned)(a >> 32 & 0xffff),
		       (unsigned)(a >> 48 & 0xfff), (unsigned)(b & 0xfff), (unsigned long long)(b >> 16));
}

size_t pods_write(uint32_t i, uint64_t rv, unsigned restarts, uint8_t buf[static POD_BYTES_MAX])
{
	const uint32_t workload = i / 4, nodes = i / 30 + 100;
	const uint32_t node = (uint32_t)(mix(i + 99) % (nodes < NODES_MAX ? nodes : NODES_MAX));
	const uint64_t a = mix(i + 1), b = mix(workload + 1000000007u);
	static struct out number;
	char text[RV + 1][64];

	(void)snprintf(text[NS], 64, "team-%06u-production", workload / 50);
	(void)snprintf(text[WORKLOAD], 64, "service-%07u-deployment-x", workload);
	(void)snprintf(text[HASH], 64, "%010llx", (unsigned long long)(b & 0xffffffffff));
	(void)snprintf(text[SUFFIX], 64, "%05x", (unsigned)(i % 4 << 18 | (a & 0x3ffff)));
	uuid(text[UID], a, mix(a));
	uuid(text[OWNER], b, mix(b));
	(void)snprintf(text[NODE], 64, "ip-10-%03u-%03u-eu-central-1-compute.local", node / 250, node % 250);
	(void)snprintf(text[RV], 64, "%010llu", (unsigned long long)rv + 1000000000u);
	memcpy(buf, model.bytes, model.n);
	for (size_t k = 0; k < model.n_spots; k++) {
		const struct spot *s = &model.spot[k];

		number.n = 0;
		if (s->mark == RESTARTS) {
			buf[s->at] = (uint8_t)restarts;
		} else if (s->mark == TIME) {
			put_varint(&number, 1760000000 + a % 3000000 + s->moment);
			memcpy(buf + s->at, number.p, number.n);
		} else {
			memcpy(buf + s->at, text[s->mark], strlen(text[s->mark]));
		}
	}
	return model.n;
}
