/* original.c - the program this one grew out of, as its description has it. Not described, and therefore
 * chosen in its favour: it serves only the namespaces of the teams, compares `Evicted` exactly and knows
 * finalizers. See cleaner.h. */
// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "base/clock.h"
#include "tests/day/cleaner.h"

/* Written to while an event is handled: what an act changes comes back as an event. */
static uint32_t pending[PODS_MAX];
static size_t n_pending;

void original_event(struct cleaner *c, uint32_t pod)
{
	(void)c;
	if (n_pending < PODS_MAX)
		pending[n_pending++] = pod;
}

/* The chain: evicted, else stuck, else an image that cannot be pulled. */
static void process(struct cleaner *c, uint32_t i)
{
	struct world *w = c->world;
	const struct sim_pod *p = &w->pods[i];
	const struct workload *k = &w->workloads[p->workload];
	const struct thresholds *t = c->thresholds;
	const int64_t now = clock_wall_ms();

	if (!p->exists || strncmp(k->ns, "team", 4) != 0)
		return;
	if (p->life == LIFE_EVICTED) {
		world_delete(w, i, false);
	} else if (p->deletion) {
		if (now - p->deletion > t->terminating_ms && !p->finalizer) {
			c->early += w->now - p->deletion <= t->terminating_ms;
			world_delete(w, i, true);
		}
	} else if (p->life == LIFE_FAILING && now - p->created > t->pull_ms) {
		c->early += w->now - k->failing_at <= t->pull_ms;
		world_scale_to_zero(w, p->workload);
	}
}

void original_step(struct cleaner *c)
{
	for (size_t i = 0; i < n_pending; i++)
		process(c, pending[i]);
	n_pending = 0;
}

/* The only list it ever makes. */
void original_restart(struct cleaner *c)
{
	n_pending = 0;
	for (uint32_t i = 0; i < c->world->n_pods; i++)
		if (c->world->pods[i].exists)
			original_event(c, i);
}
