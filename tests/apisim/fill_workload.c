// SPDX-License-Identifier: Apache-2.0
#include "tests/apisim/fill_workload.h"
#include "tests/apisim/util.h"

#include <string.h>

enum { MISSING_NODE = 90000, OUT_OF_SERVICE_NODE = 80000 };

void fill_workload_init(struct fill_workload *w, uint64_t number, uint64_t namespaces)
{
	static const char *const apps[] = { "web",      "api",      "cart",    "checkout",  "payment",
					    "catalog",  "search",   "auth",    "session",   "mailer",
					    "billing",  "ledger",   "gateway", "profile",   "resizer",
					    "notifier", "shipping", "audit",   "inventory", "recommender" };
	static const char set[] = "bcdf456789";
	size_t count = sizeof(apps) / sizeof(apps[0]);
	const uint64_t seed = w->seed, round = number / count;
	uint64_t r = util_mix(seed);

	/* A name and a label of its own: Deployments of one namespace never select one another's pods. */
	if (round)
		snprintf(w->app, sizeof(w->app), "%s-%llu", apps[number % count],
			 (unsigned long long)round + 1);
	else
		snprintf(w->app, sizeof(w->app), "%s", apps[number % count]);
	for (int i = 0; i < 10; i++, r /= 10)
		w->hash[i] = set[r % 10];
	snprintf(w->rs, sizeof(w->rs), "%s-%s", w->app, w->hash);
	snprintf(w->ns, sizeof(w->ns), "prod-%02llu",
		 (unsigned long long)(util_mix(seed ^ 1) % namespaces) + 1);
	util_uuid(w->uid, util_mix(seed ^ 2), util_mix(seed ^ 3));
	util_uuid(w->rs_uid, util_mix(seed ^ 4), util_mix(seed ^ 5));
	w->created = w->now - 7200 - (int64_t)(util_mix(seed ^ 6) % (60u * 86400u));
	util_time_format(w->created, w->created_at);
	util_time_format(w->now - 3600, w->ended_at);
	snprintf(w->access, sizeof(w->access), "%05x", (unsigned)(seed & 0xfffff));
	for (size_t i = 0; i < 4; i++)
		snprintf(w->digest + 16 * i, 17, "%016llx", (unsigned long long)util_mix(seed ^ (16 + i)));
	util_number(3 + util_mix(seed ^ 7) % 900, w->restarts);
	snprintf(w->image, sizeof(w->image), "registry.example.com/shop/%s:%s", w->app,
		 w->pullfail ? "1.42.8-missing" : "1.42.7");
	util_number(w->replicas, w->count);
	util_number(w->pullfail ? 0 : w->replicas, w->ready);
	util_copy(w->available, sizeof(w->available), w->pullfail ? "False" : "True");
}

static uint64_t pod_seed(const struct obj *o, uint64_t salt)
{
	return util_mix(util_mix(o->group->w->seed ^ (uint64_t)o->group->text) ^
			util_mix(o->index * 64u + salt));
}

static unsigned node_index(const struct obj *o)
{
	if (o->group->text == FILL_TERMINATING)
		return o->index % 2 ? MISSING_NODE : OUT_OF_SERVICE_NODE;
	return (unsigned)(pod_seed(o, 1) % o->group->w->nodes);
}

static void put_container_id(const struct obj *o, uint64_t salt, char out[256])
{
	static const char head[] = "containerd://", hex[] = "0123456789abcdef";
	char *to = out + sizeof(head) - 1;

	memcpy(out, head, sizeof(head));
	for (uint64_t i = 0; i < 4; i++) {
		const uint64_t r = pod_seed(o, salt + i);

		for (int shift = 60; shift >= 0; shift -= 4)
			*to++ = hex[r >> shift & 15];
	}
	*to = '\0';
}

static void put_uid(const struct obj *o, char out[256])
{
	util_uuid(out, pod_seed(o, 3), pod_seed(o, 4));
}

static void put_rv(const struct obj *o, char out[256])
{
	snprintf(out, 256, "%llu", (unsigned long long)o->rv);
}

static void put_ip(const struct obj *o, char out[256])
{
	uint64_t r = pod_seed(o, 2);

	snprintf(out, 256, "10.%u.%u.%u", 100 + (unsigned)(r % 128), 100 + (unsigned)(r >> 8) % 128,
		 100 + (unsigned)(r >> 16) % 128);
}

static void put_host_ip(const struct obj *o, char out[256])
{
	unsigned node = node_index(o);

	snprintf(out, 256, "172.16.%u.%u", 100 + node / 128 % 128, 100 + node % 128);
}

static void put_node(const struct obj *o, char out[256])
{
	fill_node_name(node_index(o), out);
}

static void put_first_id(const struct obj *o, char out[256])
{
	put_container_id(o, 8, out);
}

static void put_second_id(const struct obj *o, char out[256])
{
	put_container_id(o, 16, out);
}

static void put_started(const struct obj *o, char out[256])
{
	util_time_format(o->group->w->created + 12 + o->round, out);
}

static void put_name(const struct obj *o, char out[256])
{
	snprintf(out, 256, "%.250s", o->name);
}

static const struct {
	const char *word;
	void (*put)(const struct obj *o, char out[256]); /* NULL: it is a text of the workload */
	size_t off;
} words[] = {
#define OF_WORKLOAD(member) NULL, offsetof(struct fill_workload, member)
	{ "created", OF_WORKLOAD(created_at) },
	{ "app", OF_WORKLOAD(app) },
	{ "pod", put_name, 0 },
	{ "uid", put_uid, 0 },
	{ "rv", put_rv, 0 },
	{ "ip", put_ip, 0 },
	{ "hostip", put_host_ip, 0 },
	{ "node", put_node, 0 },
	{ "cid1", put_first_id, 0 },
	{ "cid2", put_second_id, 0 },
	{ "started", put_started, 0 },
	{ "ended", OF_WORKLOAD(ended_at) },
	{ "access", OF_WORKLOAD(access) },
	{ "digest", OF_WORKLOAD(digest) },
	{ "restarts", OF_WORKLOAD(restarts) },
	{ "image", OF_WORKLOAD(image) },
	{ "replicas", OF_WORKLOAD(count) },
	{ "ready", OF_WORKLOAD(ready) },
	{ "available", OF_WORKLOAD(available) },
	{ "deployment", OF_WORKLOAD(app) },
	{ "rs", OF_WORKLOAD(rs) },
	{ "hash", OF_WORKLOAD(hash) },
	{ "ns", OF_WORKLOAD(ns) },
	{ "rsuid", OF_WORKLOAD(rs_uid) },
	{ "deployuid", OF_WORKLOAD(uid) },
};

const char *const fill_words[] = { "pod",   "uid",        "rv",      "ip",   "hostip", "node",   "cid1",
				   "cid2",  "started",    "created", "app",  "ended",  "access", "digest",
				   "image", "deployment", "rs",      "hash", "ns",     "rsuid",  NULL };

const char *fill_word(const void *arg, const char *word, size_t n, char out[256])
{
	const struct obj *o = arg;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strncmp(words[i].word, word, n) != 0 || words[i].word[n])
			continue;
		if (!words[i].put)
			return util_copy(out, 256, (const char *)o->group->w + words[i].off);
		words[i].put(o, out);
		return out;
	}
	return NULL;
}
