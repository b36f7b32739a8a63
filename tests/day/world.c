/* world.c - see world.h. */
// SPDX-License-Identifier: Apache-2.0
#include "tests/day/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

#define RETRY_MS (5 * MINUTE) /* the kubelet's longest back-off between two attempts to pull */

static const char missing[] =
	"Back-off pulling image \"app\": ErrImagePull: rpc error: code = NotFound desc = failed to "
	"resolve reference: manifest unknown";
static const char denied[] =
	"Back-off pulling image \"app\": ErrImagePull: failed to authorize: 401 Unauthorized";
static const char down[] = "Back-off pulling image \"app\": ErrImagePull: dial tcp 10.0.0.9:443: i/o timeout";

uint32_t world_random(struct world *w, uint32_t below)
{
	w->seed = w->seed * 1664525u + 1013904223u;
	return (w->seed >> 8) % below;
}

static const char *failure(const struct world *w, const struct workload *k)
{
	return k->hopeless        ? k->hopeless
	       : k->image_bad     ? missing
	       : k->no_access     ? denied
	       : w->registry_down ? down
				  : NULL;
}

static void event(struct world *w, uint32_t i)
{
	struct sim_pod *p = &w->pods[i];

	p->rv = ++w->rv;
	(void)snprintf(p->rv_text, sizeof(p->rv_text), "%llu", (unsigned long long)p->rv);
	if (w->on_event)
		w->on_event(w->ctx, i, !p->exists);
}

void world_touch(struct world *w, uint32_t pod)
{
	event(w, pod);
}

static int some_node(struct world *w)
{
	int n;

	do
		n = (int)world_random(w, NODES);
	while (!w->nodes[n].ready);
	return n;
}

/* Crash loops that are no wreck's: how long they wait and run, and are they Ready while they run? */
static const struct loop {
	int64_t waits, runs;
	bool ready;
} loops[SIT__MAX] = {
	[SIT_KILLED_NOW_AND_THEN] = { 10 * SECOND, 50 * MINUTE, true },
	[SIT_UP_IN_BETWEEN] = { 5 * MINUTE, 2 * MINUTE, true },
	[SIT_OUT_OF_STEP] = { 5 * MINUTE, 2 * MINUTE, false },
};

/* How long a container waits (even) for its next start, or runs (odd) until its next crash. */
static int64_t crash_wait(enum situation situation, unsigned flips)
{
	const struct loop *l = &loops[situation];
	const unsigned doubled = flips / 2 < 5 ? flips / 2 : 5;

	if (l->runs)
		return flips % 2 ? l->runs : l->waits;
	return flips % 2 ? 10 * SECOND : (int64_t)(10 * SECOND) << doubled;
}

/* The n-th pod of a workload. */
static enum life life_of(const struct workload *k, const char *message, int n)
{
	if (k->situation == SIT_NEVER_STARTED && n == 2)
		return LIFE_UNSCHEDULED;
	if (k->situation == SIT_TWO_WAYS && n == 0)
		return LIFE_CRASHING;
	return message ? LIFE_FAILING : k->crashes ? LIFE_CRASHING : LIFE_RUNNING;
}

static int count(const struct world *w, int workload, bool newest)
{
	const struct workload *k = &w->workloads[workload];
	int n = 0;

	for (uint32_t i = 0; i < w->n_pods; i++) {
		const struct sim_pod *p = &w->pods[i];

		n += p->exists && p->workload == workload && !p->deletion && p->life < LIFE_EVICTED &&
		     (!newest || p->revision == k->revision);
	}
	return n;
}

uint32_t world_add_pod(struct world *w, int workload)
{
	struct workload *k = &w->workloads[workload];
	const uint32_t i = w->n_pods++;
	struct sim_pod *p = &w->pods[i];
	const int nth = k->apart ? count(w, workload, true) : 0;

	if (i >= PODS_MAX)
		abort();
	*p = (struct sim_pod){ .exists = true,
			       .situation = k->situation,
			       .workload = workload,
			       .node = k->apart ? workload % NODES_KEPT : some_node(w),
			       .revision = k->revision,
			       .created = w->now,
			       .grace_s = -1 };
	p->message = failure(w, k);
	if ((p->message || k->crashes) && k->failing_revision != k->revision) {
		k->failing_revision = k->revision;
		k->failing_at = w->now;
	}
	p->life = life_of(k, p->message, nth);
	p->runs = p->life == LIFE_RUNNING;
	p->refresh_at =
		w->now + (p->life == LIFE_CRASHING ? crash_wait(p->situation, 0) + nth * MINUTE : RETRY_MS);
	(void)snprintf(p->name, sizeof(p->name), "%s-%u-%05u", k->name, k->revision, i);
	(void)snprintf(p->uid, sizeof(p->uid), "0b8f0f3e-0000-4000-8000-%012u", i);
	(void)snprintf(p->owner, sizeof(p->owner), "%s-%u", k->name, k->revision);
	(void)snprintf(p->owner_uid, sizeof(p->owner_uid), "0b8f0f3e-0000-4000-9%03u-%012d", k->revision,
		       workload);
	(void)snprintf(p->revision_text, sizeof(p->revision_text), "%u", k->revision);
	(void)snprintf(p->node_text, sizeof(p->node_text), "node-%d", p->node);
	(void)snprintf(p->image, sizeof(p->image), "%s/app:%u", k->host, k->revision);
	p->creating = p->life == LIFE_RUNNING;
	if (p->creating)
		event(w, i);
	p->creating = false;
	event(w, i);
	return i;
}

void world_terminate(struct world *w, uint32_t pod, int64_t grace_s)
{
	struct sim_pod *p = &w->pods[pod];

	if (!p->exists || p->deletion)
		return;
	p->deletion = w->now + grace_s * SECOND;
	p->grace_s = grace_s;
	event(w, pod);
}

/* One pod more or less at a time would take the day: all at once. */
void world_reconcile(struct world *w, int workload)
{
	struct workload *k = &w->workloads[workload];

	if (k->job || !k->exists)
		return;
	for (int n = count(w, workload, true); n < k->replicas; n++)
		(void)world_add_pod(w, workload);
	for (uint32_t i = 0; i < w->n_pods && k->replicas == 0; i++)
		if (w->pods[i].exists && w->pods[i].workload == workload)
			world_remove(w, i);
}

void world_remove(struct world *w, uint32_t pod)
{
	struct sim_pod *p = &w->pods[pod];

	if (!p->exists)
		return;
	p->exists = false;
	p->runs = false;
	event(w, pod);
	if (w->workloads[p->workload].replicas)
		world_reconcile(w, p->workload);
}

static void start(struct world *w, uint32_t i)
{
	struct sim_pod *p = &w->pods[i];

	p->life = w->workloads[p->workload].crashes ? LIFE_CRASHING : LIFE_RUNNING;
	p->runs = p->life == LIFE_RUNNING;
	p->message = NULL;
	p->flips = 0;
	p->refresh_at = w->now + crash_wait(p->situation, 0);
	event(w, i);
}

void world_heal(struct world *w, int workload)
{
	struct workload *k = &w->workloads[workload];

	k->image_bad = k->no_access = k->crashes = false;
	for (uint32_t i = 0; i < w->n_pods; i++)
		if (w->pods[i].exists && w->pods[i].workload == workload &&
		    (w->pods[i].life == LIFE_FAILING || w->pods[i].life == LIFE_CRASHING) && !failure(w, k))
			start(w, i);
}

static void crash(struct world *w, uint32_t i)
{
	struct sim_pod *p = &w->pods[i];

	if (++p->flips % 2 == 0)
		p->ended = w->now;
	else
		p->began = w->now;
	p->refresh_at = w->now + crash_wait(p->situation, p->flips);
	event(w, i);
}

static bool hangs(const struct sim_pod *p)
{
	return p->situation == SIT_STUCK_ENDED || p->situation == SIT_STUCK_RUNNING ||
	       p->situation == SIT_STUCK_FINALIZER || p->situation == SIT_STUCK_DEVICE;
}

/* The kubelets: those that fail try again, those that end at the end of their grace go. */
void world_tick(struct world *w)
{
	for (uint32_t i = 0; i < w->n_pods; i++) {
		struct sim_pod *p = &w->pods[i];

		if (!p->exists)
			continue;
		if (p->life == LIFE_FAILING && w->now >= p->refresh_at) {
			p->refresh_at = w->now + RETRY_MS;
			p->flips++;
			p->message = failure(w, &w->workloads[p->workload]);
			if (p->message)
				event(w, i);
			else
				start(w, i);
		}
		if (p->life == LIFE_CRASHING && w->now >= p->refresh_at)
			crash(w, i);
		if (p->deletion && w->now >= p->deletion && !hangs(p) && w->nodes[p->node].ready)
			world_remove(w, i);
	}
}

static void crash_facts(const struct sim_pod *p, struct container_facts *c)
{
	const bool runs = p->flips % 2;

	c->state = runs ? CONTAINER_RUNNING : CONTAINER_WAITING;
	c->reason = runs ? STR_LIT("") : STR_LIT("CrashLoopBackOff");
	c->started = runs;
	c->restarts = (int32_t)(p->flips / 2);
	c->last_reason = STR_LIT("Error");
	c->asked = p->situation == SIT_WANTED_RESTARTS;
	c->last_exit_code = c->asked ? 42 : 1;
	if (p->situation == SIT_SICK_DEVICE)
		c->device = STR_LIT("GPU-3");
	c->started_at = runs ? p->began : 0;
	c->last_finished_at = p->ended ? p->ended : p->created;
	c->last_started_at = runs ? c->last_finished_at : p->began; /* of the run before nobody asks */
}

static struct owner_facts owner_of(const struct workload *k, const struct sim_pod *p)
{
	const char *kind = k->job ? "Job" : "ReplicaSet", *version = k->job ? "batch/v1" : "apps/v1";

	return (struct owner_facts){ STR_C(k->kind ? k->api_version : version),
				     STR_C(k->kind ? k->kind : kind), STR_C(p->owner), STR_C(p->owner_uid) };
}

void world_facts(const struct world *w, uint32_t pod, struct pod_facts *ret)
{
	const struct sim_pod *p = &w->pods[pod];
	const struct workload *k = &w->workloads[p->workload];
	const bool reported = w->nodes[p->node].ready;
	struct container_facts *c = &ret->containers[0];

	*ret = (struct pod_facts){
		.ns = STR_C(k->ns),
		.name = STR_C(p->name),
		.uid = STR_C(p->uid),
		.rv = STR_C(p->rv_text),
		.owner = owner_of(k, p),
		.revision = STR_C(p->revision_text),
		.node = STR_C(p->node_text),
		.phase = p->life >= LIFE_EVICTED ? STR_LIT("Failed")
			 : p->life == LIFE_FAILING || p->creating || p->life == LIFE_UNSCHEDULED
				 ? STR_LIT("Pending")
				 : STR_LIT("Running"),
		.reason = p->life == LIFE_EVICTED             ? STR_LIT("Evicted")
			  : p->situation == SIT_NODE_SHUTDOWN ? STR_LIT("NodeShutdown")
							      : STR_LIT(""),
		.created = p->created,
		.start_time = p->life == LIFE_UNSCHEDULED ? 0 : p->created,
		.scheduled_at = p->life == LIFE_UNSCHEDULED ? 0 : p->created,
		.scheduled = p->life != LIFE_UNSCHEDULED,
		.initialized = true,
		.claim = p->claim ? STR_LIT("gpu") : STR_LIT(""),
		.deletion = p->deletion,
		.grace_s = p->forced ? 0 : p->grace_s,
		.ready = (p->life == LIFE_RUNNING || (p->flips % 2 && loops[p->situation].ready)) &&
			 reported && !p->deletion && !p->creating,
		.n_containers = p->life != LIFE_EVICTED && p->life != LIFE_UNSCHEDULED,
	};
	ret->unready_since = ret->ready ? 0 : p->created;
	if (p->finalizer) {
		ret->n_finalizers = 1;
		ret->finalizers[0] = STR_LIT("example.com/backup");
	}
	*c = (struct container_facts){ .name = STR_LIT("app"), .image = STR_C(p->image) };
	if (p->creating) {
		c->state = CONTAINER_WAITING;
		c->reason = STR_LIT("ContainerCreating");
	} else if (p->life == LIFE_CRASHING) {
		crash_facts(p, c);
	} else if (p->life == LIFE_FAILING) {
		c->state = CONTAINER_WAITING;
		c->reason = p->flips % 2 ? STR_LIT("ErrImagePull") : STR_LIT("ImagePullBackOff");
		c->message = STR_C(p->message);
	} else if ((p->runs && p->situation != SIT_STUCK_DEVICE) || !reported) {
		c->state = CONTAINER_RUNNING;
		c->ready = c->started = true;
	} else {
		c->state = CONTAINER_TERMINATED;
		c->reason = STR_LIT("Completed");
		c->finished_at = p->ended ? p->ended : p->deletion;
	}
}

void world_tally(const struct world *w, int workload, enum life way, uint32_t *ret_pods,
		 uint32_t *ret_failing, uint32_t *ret_ready)
{
	static struct pod_facts facts;

	*ret_pods = *ret_failing = *ret_ready = 0;
	for (uint32_t i = 0; i < w->n_pods; i++) {
		const struct sim_pod *p = &w->pods[i];

		if (!p->exists || p->workload != workload)
			continue;
		world_facts(w, i, &facts);
		*ret_ready += facts.ready;
		if (p->deletion || p->life >= LIFE_UNSCHEDULED ||
		    p->revision != w->workloads[workload].revision)
			continue;
		++*ret_pods;
		*ret_failing += p->life == way;
	}
}

uint32_t world_find(const struct world *w, const char *uid)
{
	const unsigned long i = strlen(uid) > 24 ? strtoul(uid + 24, NULL, 10) : PODS_MAX;

	return i < w->n_pods && w->pods[i].exists && strcmp(w->pods[i].uid, uid) == 0 ? (uint32_t)i
										      : PODS_MAX;
}

/* -- writes of a cleaner -- */

void world_delete(struct world *w, uint32_t pod, bool force)
{
	struct sim_pod *p = &w->pods[pod];
	const struct workload *k = &w->workloads[p->workload];

	/* It waited for its image there: what was written to it is no matter of the image. */
	if (force && p->life == LIFE_FAILING && !w->nodes[p->node].exists) {
		p->situation = SIT_NODE_REMOVED;
		w->outcomes[p->situation].objects++;
	}
	struct ledger *o = &w->outcomes[p->situation];

	o->writes++;
	if (force ? p->runs : k->job || k->kind || strcmp(k->ns, "kube-system") == 0)
		o->harm++; /* two of it may run at once; a Job loses its record; a system namespace is touched
			    */
	if (p->finalizer || p->forced)
		o->futile++;
	else if (p->writes == 0)
		o->handled++;
	p->writes++;
	if (!p->finalizer) {
		world_remove(w, pod);
	} else if (!p->forced) {
		p->forced = true;
		event(w, pod);
	}
}

void world_put_back(struct world *w, int workload)
{
	struct workload *k = &w->workloads[workload];

	w->outcomes[k->situation].writes++;
	w->outcomes[k->situation].harm++; /* nobody who answers for it has asked */
	k->replicas = k->before;
	world_reconcile(w, workload);
}

void world_scale_to_zero(struct world *w, int workload)
{
	struct workload *k = &w->workloads[workload];
	struct ledger *o = &w->outcomes[k->situation];
	uint32_t pods, failing, ready;

	if (k->replicas == 0)
		return;
	world_tally(w, workload, LIFE_FAILING, &pods, &failing, &ready);
	o->writes++;
	if (ready > 0 || k->situation == SIT_TWO_WAYS || k->job ||
	    !(k->image_bad || k->hopeless || k->situation == SIT_CRASH_LOOP ||
	      k->situation == SIT_OUT_OF_STEP))
		o->harm++; /* it serves, or it would have recovered by itself; or it is half another's */
	if (k->writes)
		o->futile++;
	else
		o->handled++;
	k->writes++;
	k->before = k->replicas;
	k->replicas = 0;
	world_reconcile(w, workload);
}

/* -- life -- */

static void first_workload(struct world *w, int i)
{
	struct workload *k = &w->workloads[i];

	*k = (struct workload){
		.exists = i < 1000, .revision = 1, .replicas = 5, .job = i >= 980 && i < 1000
	};
	(void)snprintf(k->ns, sizeof(k->ns), "%s", i < 10 ? "kube-system" : "team");
	if (i >= 10)
		(void)snprintf(k->ns + 4, sizeof(k->ns) - 4, "-%d", i % 40);
	(void)snprintf(k->name, sizeof(k->name), "app-%d", i);
	(void)snprintf(k->host, sizeof(k->host), "registry-%d.example.com", i % 3);
}

struct world *world_new(int64_t now)
{
	struct world *w = xcalloc(1, sizeof(*w));

	w->now = now;
	w->seed = 20261121;
	w->pods = xcalloc(PODS_MAX, sizeof(*w->pods));
	for (int i = 0; i < NODES; i++)
		w->nodes[i] = (struct sim_node){ true, true };
	for (int i = 0; i < WORKLOADS; i++)
		first_workload(w, i);
	w->now -= 30 * 24 * (int64_t)HOUR; /* a cluster that has been there for a month */
	for (int i = 0; i < WORKLOADS; i++)
		for (int n = 0; w->workloads[i].exists && n < w->workloads[i].replicas; n++)
			(void)world_add_pod(w, i);
	w->now = now;
	return w;
}

void world_free(struct world **w)
{
	if (!*w)
		return;
	free((*w)->pods);
	free(*w);
	*w = NULL;
}
