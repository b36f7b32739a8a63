/* cache.c - the cache alone: bytes a pod, time to put, to relist, to judge. Usage: bench_cache [pods]. */
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rules/judge.h"
#include "watcher/store.h"

/* Our own time only: others may be using this machine. */
static double seconds(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static uint64_t mix(uint64_t z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

struct text {
	char ns[64], rs[80], name[128], uid[40], owner[40], node[64], rv[24];
};

/* Pod i of a cluster where a workload has four pods, a node thirty, a namespace two hundred. */
static void make_pod(struct pod_facts *p, uint32_t i, struct text *t)
{
	uint32_t workload = i / 4;
	uint64_t a = mix(i + 1), b = mix(workload + 1000000007u);

	(void)snprintf(t->ns, sizeof(t->ns), "team-%u-production", workload / 50);
	(void)snprintf(t->rs, sizeof(t->rs), "service-%u-api-%010llx", workload % 1000,
		       (unsigned long long)(b & 0xffffffffff));
	(void)snprintf(t->name, sizeof(t->name), "%s-%05x", t->rs, (unsigned)(a & 0xfffff));
	(void)snprintf(t->uid, sizeof(t->uid), "%08x-%04x-4%03x-8%03x-%012llx", (unsigned)a,
		       (unsigned)(a >> 32 & 0xffff), (unsigned)(a >> 48 & 0xfff), (unsigned)(b & 0xfff),
		       (unsigned long long)(mix(a) & 0xffffffffffff));
	(void)snprintf(t->owner, sizeof(t->owner), "%08x-1111-4222-8333-%012x", (unsigned)b, workload);
	(void)snprintf(t->node, sizeof(t->node), "ip-10-1-%u-%u.eu-central-1.compute.internal", i / 30 / 250,
		       i / 30 % 250);
	(void)snprintf(t->rv, sizeof(t->rv), "%llu", 4000000000ull + (a & 0xffffff));
	memset(p, 0, offsetof(struct pod_facts, finalizers));
	p->ns = STR_C(t->ns);
	p->name = STR_C(t->name);
	p->uid = STR_C(t->uid);
	p->rv = STR_C(t->rv);
	p->owner = (struct owner_facts){ STR_LIT("apps/v1"), STR_LIT("ReplicaSet"), STR_C(t->rs),
					 STR_C(t->owner) };
	p->revision = (struct str){ t->rs + strlen(t->rs) - 10, 10 };
	p->node = STR_C(t->node);
	p->phase = STR_LIT("Running");
	p->created = (1760000000 + (int64_t)(a % 3000000)) * 1000;
	p->scheduled_at = p->created;
	p->start_time = p->created + 1000;
	p->ready_since = p->created + 20000;
	p->grace_s = -1;
	p->ready = p->initialized = p->scheduled = true;
	p->n_containers = 2;
	for (int k = 0; k < 2; k++)
		p->containers[k] =
			(struct container_facts){ .name = k ? STR_LIT("istio-proxy") : STR_LIT("app"),
						  .state = CONTAINER_RUNNING,
						  .ready = true,
						  .started = true,
						  .started_at = p->created + 5000 };
}

static void on_removed(void *ctx, uint32_t h)
{
	(void)ctx;
	(void)h;
}

static void on_tally(void *ctx, uint32_t group)
{
	(void)ctx;
	(void)group;
}

static size_t resident_kb(void)
{
	unsigned long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (f && fscanf(f, "%*u %lu", &pages) != 1)
		pages = 0;
	if (f)
		(void)fclose(f);
	return pages * 4;
}

static double fill(struct store *s, uint32_t pods)
{
	static struct pod_facts p;
	static struct text t;
	enum store_change change;
	double spent = 0;
	uint32_t h;

	for (uint32_t i = 0; i < pods; i++) {
		make_pod(&p, i, &t);
		double before = seconds();

		(void)store_put(s, &p, MARK_LIVE | MARK_READY | MARK_PULLED, &h, &change);
		spent += seconds() - before;
	}
	return spent;
}

static double judge_all(struct store *s)
{
	static struct pod_facts p;
	struct policy policy = { 0 };
	struct surroundings around = { .stage = STAGE_CACHE };
	struct verdict v;
	double before = seconds();

	for (int d = 0; d < DUTY__MAX; d++) {
		policy.duty[d].enable = true;
		str_list_add(&policy.duty[d].namespaces, "*", 1);
		str_list_add(&policy.duty[d].status, "ImagePullBackOff", 16);
	}
	for (uint32_t h = 0; (h = store_next(s, h));) {
		store_get(s, h, &p);
		judge_pod(&p, &policy, &around, 1770000000000, &v);
	}
	double spent = seconds() - before;

	for (int d = 0; d < DUTY__MAX; d++) {
		str_list_done(&policy.duty[d].namespaces);
		str_list_done(&policy.duty[d].status);
	}
	return spent;
}

int main(int argc, char **argv)
{
	static const struct store_ops ops = { on_removed, on_tally };
	uint64_t pods = 150000;

	if (argc > 1 && (str_to_u64(argv[1], strlen(argv[1]), &pods) < 0 || pods == 0 || pods > 10000000)) {
		(void)fprintf(stderr, "usage: bench_cache [pods], 1 to 10000000\n");
		return 64;
	}
	struct store *s = store_new(&ops, NULL);
	size_t before = resident_kb();
	double put = fill(s, (uint32_t)pods);
	size_t after = resident_kb();
	uint32_t list = store_list_begin(s);
	double again = fill(s, (uint32_t)pods), t = seconds();
	size_t swept = store_sweep(s, list, STR_LIT(""));
	double sweep = seconds() - t, judged = judge_all(s);

	printf("%-28s %12llu\n", "pods", (unsigned long long)store_count(s));
	printf("%-28s %12.1f\n", "bytes a pod, as counted", (double)store_bytes(s) / (double)pods);
	printf("%-28s %12.1f\n", "bytes a pod, resident", (double)(after - before) * 1024 / (double)pods);
	printf("%-28s %12.1f\n", "after a relist, resident",
	       (double)(resident_kb() - before) * 1024 / (double)pods);
	printf("%-28s %12.0f\n", "put, ns a pod", put * 1e9 / (double)pods);
	printf("%-28s %12.0f\n", "relist, ns a pod", again * 1e9 / (double)pods);
	printf("%-28s %12.0f\n", "sweep, ns a pod", sweep * 1e9 / (double)pods);
	printf("%-28s %12.0f\n", "unpack and judge, ns a pod", judged * 1e9 / (double)pods);
	store_free(&s);
	return swept != 0;
}
