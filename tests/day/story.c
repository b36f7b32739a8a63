/* story.c - what happens on the day: a table of events made from one seed, told in order of time. See
 * world.h. */
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>

#include "base/xalloc.h"
#include "tests/day/world.h"

#define ENTRIES_MAX 4096

struct story {
	struct world *world;
	int64_t begin, clock_off;
	bool restarts;
	size_t n, next;
	struct entry {
		int64_t at;
		void (*fn)(struct story *s, int arg);
		int arg;
	} entries[ENTRIES_MAX];
};

/* Which node is lost, and what its pods are from then on. */
#define NODE_CUT_OFF NODES_KEPT
#define NODE_DEAD    (NODES_KEPT + 1)

static void add(struct story *s, int64_t at, void (*fn)(struct story *s, int arg), int arg)
{
	if (s->n == ENTRIES_MAX)
		abort();
	s->entries[s->n++] = (struct entry){ s->begin + at, fn, arg };
}

/* A pod that runs, of a Deployment to which nothing else happens. */
static uint32_t some_pod(struct world *w)
{
	for (;;) {
		const uint32_t i = world_random(w, w->n_pods);
		const struct sim_pod *p = &w->pods[i];

		if (p->exists && p->situation == SIT_ORDINARY && p->life == LIFE_RUNNING && !p->deletion &&
		    p->workload >= 10 && p->workload < 500 && p->node != NODE_CUT_OFF && p->node != NODE_DEAD)
			return i;
	}
}

static void becomes(struct world *w, uint32_t pod, enum situation situation)
{
	w->pods[pod].situation = situation;
	w->outcomes[situation].objects++;
}

/* -- rollouts -- */

static void good_rollout(struct story *s, int arg)
{
	struct world *w = s->world;
	const uint32_t had = w->n_pods;

	w->workloads[arg].revision++;
	world_reconcile(w, arg);
	for (uint32_t i = 0; i < had; i++)
		if (w->pods[i].exists && w->pods[i].workload == arg && w->pods[i].situation == SIT_ORDINARY)
			world_remove(w, i);
}

/* One more pod than wanted is made, it fails, and the rollout stops there: maxSurge 1, maxUnavailable 0. */
static void bad_rollout(struct story *s, int arg)
{
	struct workload *k = &s->world->workloads[arg];

	k->situation = SIT_BAD_ROLLOUT;
	s->world->outcomes[k->situation].objects++;
	k->revision++;
	k->image_bad = true;
	(void)world_add_pod(s->world, arg);
}

static void appear(struct story *s, int arg, enum situation situation, bool bad, bool denied)
{
	struct workload *k = &s->world->workloads[arg];

	k->situation = situation;
	k->exists = true;
	k->apart = arg >= 1110; /* what happens to a node is not what is looked at */
	k->image_bad = bad;
	k->no_access = denied;
	s->world->outcomes[situation].objects++;
	world_reconcile(s->world, arg);
}

static void new_bad_image(struct story *s, int arg)
{
	appear(s, arg, SIT_NEW_BAD_IMAGE, true, false);
}

static void of_one_registry(struct workload *k)
{
	(void)snprintf(k->host, sizeof(k->host), "registry-0.example.com");
}

/* All of one team, with one pull secret, from one registry. */
static void no_access(struct story *s, int arg)
{
	struct workload *k = &s->world->workloads[arg];

	(void)snprintf(k->ns, sizeof(k->ns), "team-30");
	of_one_registry(k);
	appear(s, arg, SIT_NO_ACCESS, false, true);
}

static void access_given(struct story *s, int arg)
{
	world_heal(s->world, arg);
}

static void hopeless(struct story *s, int arg, enum situation situation, const char *says)
{
	s->world->workloads[arg].hopeless = says;
	appear(s, arg, situation, false, false);
}

static void typing_mistake(struct story *s, int arg)
{
	hopeless(s, arg, SIT_TYPING_MISTAKE,
		 "Back-off pulling image \"app\": ErrImagePull: failed to resolve reference \"app\": pull "
		 "access denied, repository does not exist or may require authorization: server message: "
		 "insufficient_scope: authorization failed");
}

static void broken_before(struct story *s, int arg)
{
	of_one_registry(&s->world->workloads[arg]);
	hopeless(s, arg, SIT_BROKEN_BEFORE,
		 "Back-off pulling image \"app\": ErrImagePull: failed to resolve reference \"app\": "
		 "unauthorized: authentication required");
}

static void wrong_chart(struct story *s, int arg)
{
	of_one_registry(&s->world->workloads[arg]);
	appear(s, arg, SIT_WRONG_CHART, true, false);
}

static void no_registry(struct story *s, int arg)
{
	hopeless(s, arg, SIT_NO_REGISTRY,
		 "Back-off pulling image \"app\": ErrImagePull: failed to do request: Head \"x\": dial tcp: "
		 "lookup registry.exmaple.com on 10.0.0.10:53: no such host");
}

static void own_timeout(struct story *s, int arg)
{
	hopeless(s, arg, SIT_OWN_TIMEOUT,
		 "Back-off pulling image \"app\": ErrImagePull: rpc error: code = DeadlineExceeded desc = "
		 "context deadline exceeded");
}

static void crashes_on_start(struct story *s, int arg, enum situation situation)
{
	s->world->workloads[arg].crashes = true;
	appear(s, arg, situation, false, false);
}

static void crash_loop(struct story *s, int arg)
{
	crashes_on_start(s, arg, SIT_CRASH_LOOP);
}

static void crash_heals(struct story *s, int arg)
{
	crashes_on_start(s, arg, SIT_CRASH_HEALS);
}

static void wanted_restarts(struct story *s, int arg)
{
	crashes_on_start(s, arg, SIT_WANTED_RESTARTS);
}

static void sick_device(struct story *s, int arg)
{
	crashes_on_start(s, arg, SIT_SICK_DEVICE);
}

/* What crashes, and of which each has so many pods. */
static void loops(struct story *s, int arg, enum situation situation, int replicas)
{
	s->world->workloads[arg].replicas = replicas;
	crashes_on_start(s, arg, situation);
}

static void killed_now_and_then(struct story *s, int arg)
{
	loops(s, arg, SIT_KILLED_NOW_AND_THEN, 1);
}

static void up_in_between(struct story *s, int arg)
{
	loops(s, arg, SIT_UP_IN_BETWEEN, 1);
}

static void out_of_step(struct story *s, int arg)
{
	loops(s, arg, SIT_OUT_OF_STEP, 6);
}

static void never_started(struct story *s, int arg)
{
	s->world->workloads[arg].replicas = 3;
	appear(s, arg, SIT_NEVER_STARTED, true, false);
}

static void two_ways(struct story *s, int arg)
{
	s->world->workloads[arg].replicas = 3;
	appear(s, arg, SIT_TWO_WAYS, true, false);
}

static void came_back(struct story *s, int arg)
{
	appear(s, arg, SIT_CAME_BACK, true, false);
}

/* The operator above it looks every two minutes. */
static void operator_looks(struct story *s, int arg)
{
	struct workload *k = &s->world->workloads[arg];

	if (k->exists && k->replicas == 0)
		k->replicas = k->before;
	world_reconcile(s->world, arg);
}

/* -- the registry -- */

static void registry_down(struct story *s, int arg)
{
	s->world->registry_down = arg;
}

static void moved(struct story *s, int arg)
{
	struct world *w = s->world;
	const uint32_t had = w->n_pods;

	w->workloads[arg].situation = SIT_OUTAGE;
	w->outcomes[SIT_OUTAGE].objects++;
	for (uint32_t i = 0; i < had; i++)
		if (w->pods[i].exists && w->pods[i].workload == arg)
			world_remove(w, i);
}

/* -- pods -- */

static void evict(struct world *w, uint32_t pod, enum situation situation)
{
	becomes(w, pod, situation);
	w->pods[pod].life = LIFE_EVICTED;
	w->pods[pod].runs = false;
	world_touch(w, pod);
	world_reconcile(w, w->pods[pod].workload);
}

static void ended(struct story *s, int arg)
{
	struct world *w = s->world;
	const uint32_t pod = some_pod(w);

	becomes(w, pod, (enum situation)arg);
	w->pods[pod].life = LIFE_ENDED;
	w->pods[pod].runs = false;
	w->pods[pod].ended = w->now;
	world_touch(w, pod);
	world_reconcile(w, w->pods[pod].workload);
}

static void evicted(struct story *s, int arg)
{
	(void)arg;
	evict(s->world, some_pod(s->world), SIT_EVICTED);
}

static void evicted_of(struct story *s, int arg)
{
	struct world *w = s->world;

	for (uint32_t i = 0; i < w->n_pods; i++) {
		if (!w->pods[i].exists || w->pods[i].workload != arg || w->pods[i].life != LIFE_RUNNING)
			continue;
		evict(w, i, w->workloads[arg].job ? SIT_EVICTED_JOB : SIT_EVICTED_SYSTEM);
		return;
	}
}

static void stuck(struct story *s, int arg)
{
	struct world *w = s->world;
	const uint32_t pod = some_pod(w);

	becomes(w, pod, (enum situation)arg);
	w->pods[pod].runs = arg == SIT_STUCK_RUNNING || arg == SIT_SLOW_SHUTDOWN || arg == SIT_STUCK_DEVICE;
	w->pods[pod].claim = arg == SIT_STUCK_DEVICE;
	w->pods[pod].finalizer = arg == SIT_STUCK_FINALIZER;
	world_terminate(w, pod, arg == SIT_SLOW_SHUTDOWN ? 1800 : 30);
	world_reconcile(w, w->pods[pod].workload);
}

/* -- nodes -- */

static void node_lost(struct story *s, int arg)
{
	struct world *w = s->world;

	w->nodes[arg].ready = false;
	for (uint32_t i = 0; i < w->n_pods; i++) {
		struct sim_pod *p = &w->pods[i];

		if (!p->exists || p->node != arg || p->life != LIFE_RUNNING)
			continue;
		becomes(w, i, arg == NODE_DEAD ? SIT_NODE_REMOVED : SIT_NODE_LOST);
		p->runs = arg != NODE_DEAD;
		p->claim = i % 2;
		world_touch(w, i); /* Ready becomes False */
	}
}

/* The taint manager, five minutes later. */
static void node_pods_deleted(struct story *s, int arg)
{
	struct world *w = s->world;
	const uint32_t had = w->n_pods;

	for (uint32_t i = 0; i < had; i++) {
		if (!w->pods[i].exists || w->pods[i].node != arg)
			continue;
		world_terminate(w, i, 30);
		world_reconcile(w, w->pods[i].workload);
	}
}

static void node_back(struct story *s, int arg)
{
	s->world->nodes[arg].ready = true;
}

static void node_removed(struct story *s, int arg)
{
	s->world->nodes[arg] = (struct sim_node){ 0 };
}

/* -- the cleaner's own host -- */

static void clock_stepped(struct story *s, int arg)
{
	s->clock_off = (int64_t)arg * MINUTE;
}

static void restarted(struct story *s, int arg)
{
	(void)arg;
	s->restarts = true;
}

/* -- the day -- */

static int64_t some_time(struct world *w, int64_t from, int64_t to)
{
	return from + (int64_t)world_random(w, (uint32_t)((to - from) / SECOND)) * SECOND;
}

static void plan_workloads(struct story *s, int64_t length)
{
	struct world *w = s->world;

	for (int i = 0; i < 300; i++)
		add(s, some_time(w, 0, 24 * HOUR), good_rollout, 10 + (int)world_random(w, 490));
	for (int i = 0; i < 30; i++)
		add(s, some_time(w, 0, 20 * HOUR), bad_rollout, 520 + i);
	for (int i = 0; i < 24; i++)
		add(s, some_time(w, 0, 20 * HOUR), new_bad_image, 1000 + i);
	const int64_t without = some_time(w, 0, 20 * HOUR);

	for (int i = 0; i < 8; i++) {
		add(s, without + i * MINUTE, no_access, 1030 + i);
		add(s, without + 3 * HOUR, access_given, 1030 + i);
	}
	for (int i = 0; i < 4; i++)
		add(s, some_time(w, 0, 6 * HOUR), came_back, 1040 + i);
	for (int64_t at = 0; at < length; at += 2 * MINUTE)
		add(s, at, operator_looks, 1040 + (int)(at / (2 * MINUTE)) % 4);
	add(s, 10 * HOUR, registry_down, 1);
	for (int i = 0; i < 120; i++)
		add(s, 10 * HOUR + (1 + i % 10) * MINUTE, moved, 600 + i);
	add(s, 11 * HOUR + 30 * MINUTE, registry_down, 0);
}

static void plan_pods(struct story *s)
{
	static const struct {
		enum situation situation;
		int n;
	} stuck_pods[] = { { SIT_STUCK_ENDED, 20 },
			   { SIT_STUCK_RUNNING, 8 },
			   { SIT_STUCK_FINALIZER, 12 },
			   { SIT_SLOW_SHUTDOWN, 30 } };
	struct world *w = s->world;

	for (int i = 0; i < 200; i++)
		add(s, some_time(w, 0, 24 * HOUR - MINUTE), evicted, 0);
	for (int i = 0; i < 20; i++)
		add(s, some_time(w, 0, 24 * HOUR - MINUTE), evicted_of, 980 + i);
	for (int i = 0; i < 6; i++)
		add(s, some_time(w, 0, 24 * HOUR - MINUTE), evicted_of, i);
	for (size_t k = 0; k < sizeof(stuck_pods) / sizeof(stuck_pods[0]); k++)
		for (int i = 0; i < stuck_pods[k].n; i++)
			add(s, some_time(w, 0, 22 * HOUR), stuck, (int)stuck_pods[k].situation);
}

/* After all else is drawn: what was there before these duties stays as it was. */
static void plan_ends_and_crashes(struct story *s)
{
	struct world *w = s->world;

	for (int i = 0; i < 40; i++)
		add(s, some_time(w, 0, 20 * HOUR), ended, i < 25 ? SIT_NODE_SHUTDOWN : SIT_ENDED_BADLY);
	for (int i = 0; i < 12; i++)
		add(s, some_time(w, 0, 20 * HOUR), crash_loop, 1050 + i);
	for (int i = 0; i < 8; i++) {
		const int64_t at = some_time(w, 0, 20 * HOUR);

		add(s, at, crash_heals, 1070 + i);
		add(s, at + 40 * MINUTE, access_given, 1070 + i);
	}
}

static void plan_hopeless(struct story *s)
{
	for (int i = 0; i < 6; i++) {
		add(s, some_time(s->world, 0, 20 * HOUR), typing_mistake, 1080 + i);
		add(s, some_time(s->world, 0, 20 * HOUR), no_registry, 1090 + i);
	}
	for (int i = 0; i < 4; i++)
		add(s, some_time(s->world, 0, 20 * HOUR), own_timeout, 1100 + i);
}

/* Devices, and restarts that are asked for. */
static void plan_devices(struct story *s)
{
	for (int i = 0; i < 10; i++)
		add(s, some_time(s->world, 0, 20 * HOUR), stuck, SIT_STUCK_DEVICE);
	for (int i = 0; i < 8; i++)
		add(s, some_time(s->world, 0, 20 * HOUR), wanted_restarts, 1110 + i);
	for (int i = 0; i < 4; i++)
		add(s, some_time(s->world, 0, 20 * HOUR), sick_device, 1120 + i);
}

/* What the breaker must not take for an outage. */
static void plan_no_outages(struct story *s)
{
	for (int i = 0; i < 12; i++) {
		add(s, 0, broken_before, 1130 + i);
		add(s, 13 * HOUR, wrong_chart, 1142 + i);
	}
}

/* One pod of a workload that runs to completion and is owned by no Job. */
static void evicted_workflow(struct story *s, int arg)
{
	static const char *const kinds[][2] = { { "argoproj.io/v1alpha1", "Workflow" },
						{ "kubeflow.org/v1", "PyTorchJob" },
						{ "example.com/v1", "Widget" } };
	struct world *w = s->world;
	struct workload *k = &w->workloads[arg];
	const uint32_t pod = w->n_pods;

	k->situation = SIT_EVICTED_WORKFLOW;
	k->exists = k->apart = true;
	k->replicas = 1;
	k->api_version = kinds[arg % 3][0];
	k->kind = kinds[arg % 3][1];
	world_reconcile(w, arg);
	evict(w, pod, SIT_EVICTED_WORKFLOW);
}

static void queued_job(struct story *s, int arg)
{
	s->world->workloads[arg].job = true;
	appear(s, arg, SIT_QUEUED_JOB, true, false);
	(void)world_add_pod(s->world, arg);
}

/* Whoever looks after it finds the mark, and knows whether it shall serve again. */
static void old_mark(struct story *s, int arg)
{
	struct workload *k = &s->world->workloads[arg];

	k->situation = SIT_OLD_MARK;
	k->exists = true;
	k->before = k->replicas;
	k->replicas = 0;
	s->world->outcomes[SIT_OLD_MARK].objects++;
}

/* What runs to completion, and a history that counts from 1 again. */
static void plan_owners(struct story *s)
{
	for (int i = 0; i < 9; i++)
		add(s, (int64_t)(3 + i) * HOUR, evicted_workflow, 1180 + i);
	for (int i = 0; i < 4; i++) {
		add(s, (int64_t)(4 + 3 * i) * HOUR, queued_job, 1190 + i);
		add(s, 0, old_mark, 1194 + i);
	}
}

/* What works in between, what never does, and pods that prove nothing. */
static void plan_edges(struct story *s)
{
	static void (*const edges[])(struct story * s, int arg) = { killed_now_and_then, up_in_between,
								    out_of_step, never_started, two_ways };
	int arg = 1160;

	for (size_t k = 0; k < sizeof(edges) / sizeof(edges[0]); k++)
		for (int i = 0; i < 4; i++)
			add(s, (int64_t)(2 + 4 * i) * HOUR + (int64_t)k * 7 * MINUTE, edges[k], arg++);
}

static int by_time(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return x->at != y->at ? (x->at > y->at) - (x->at < y->at) : (x->arg > y->arg) - (x->arg < y->arg);
}

struct story *story_new(struct world *w, int64_t length)
{
	struct story *s = xcalloc(1, sizeof(*s));

	s->world = w;
	s->begin = w->now;
	plan_workloads(s, length);
	plan_pods(s);
	plan_ends_and_crashes(s);
	plan_hopeless(s);
	plan_devices(s);
	plan_no_outages(s);
	plan_edges(s);
	plan_owners(s);
	for (int node = NODE_CUT_OFF; node <= NODE_DEAD; node++) {
		add(s, 14 * HOUR, node_lost, node);
		add(s, 14 * HOUR + 5 * MINUTE, node_pods_deleted, node);
	}
	add(s, 16 * HOUR, node_removed, NODE_DEAD);
	add(s, 17 * HOUR, node_back, NODE_CUT_OFF);
	add(s, 18 * HOUR, clock_stepped, 60);
	add(s, 18 * HOUR + 10 * MINUTE, clock_stepped, 0);
	add(s, 12 * HOUR + 30 * MINUTE, restarted, 0);
	add(s, 20 * HOUR, restarted, 0);
	qsort(s->entries, s->n, sizeof(s->entries[0]), by_time);
	return s;
}

void story_free(struct story **s)
{
	free(*s);
	*s = NULL;
}

void story_tell(struct story *s)
{
	s->restarts = false;
	while (s->next < s->n && s->entries[s->next].at <= s->world->now) {
		const struct entry *e = &s->entries[s->next++];

		e->fn(s, e->arg);
	}
}

int64_t story_clock_off(const struct story *s)
{
	return s->clock_off;
}

bool story_restarts(const struct story *s)
{
	return s->restarts;
}
