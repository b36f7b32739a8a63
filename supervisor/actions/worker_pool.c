/* worker_pool.c - see worker_pool.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/actions/worker_pool.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "supervisor/actions/concurrency.h"

#define REST_MS    300000u                 /* a worker that was given nothing for so long rests */
#define NOBODY_MS  10000u                  /* a question waits this long for the first worker to be ready */
#define SHARE      (WORKER_LEASES_MAX / 2) /* things for one worker before another is started */
#define QUEUED_MAX 1024u

struct queued {
	struct queued *next;
	uint64_t cluster, since_ms;
	worker_pool_deliver *deliver;
	struct msg_packed *packed;
};

struct worker_pool {
	struct lifecycle *root;
	struct supervisor *above;
	struct concurrency clusters[CLUSTERS_MAX]; /* most == 0: not loaded yet */
	uint64_t used_ms[CHILDREN_MAX];            /* boot time when a child was last given something */
	struct queued *first, **last;              /* oldest first */
	size_t n;
};

static const struct children *all(const struct worker_pool *p)
{
	return lifecycle_children(p->root);
}

static bool rests(const struct child *c)
{
	const enum fsm_state state = child_info(c)->state;

	return state == FSM_RESTING || state == FSM_LEAVING;
}

/* Workers of the cluster that run or are on their way. */
static unsigned count_running(const struct worker_pool *p, uint64_t cluster)
{
	unsigned n = 0;
	size_t i = 0;

	for (const struct child *w; (w = children_next_of(all(p), ROLE_WORKER, cluster, &i));)
		n += !rests(w) && child_info(w)->state != FSM_DOWN;
	return n;
}

void worker_pool_on_loaded(struct worker_pool *p)
{
	const struct generation *g = lifecycle_generation(p->root);
	const long processors = sysconf(_SC_NPROCESSORS_ONLN);

	for (uint64_t c = 0; generation_next(g, &c); c++)
		if (p->clusters[c].most == 0)
			concurrency_init(&p->clusters[c], (unsigned)g->workers_min[c],
					 (unsigned)g->workers[c], processors > 0 ? (unsigned)processors : 1);
}

void worker_pool_start(struct worker_pool *p, uint64_t cluster, size_t things)
{
	const size_t wanted = (things + SHARE - 1) / SHARE, limit = p->clusters[cluster].limit;
	unsigned n = count_running(p, cluster);
	size_t i = 0;

	for (struct child *w;
	     n < wanted && n < limit && (w = children_next_of(all(p), ROLE_WORKER, cluster, &i));) {
		if (child_info(w)->state != FSM_RESTING)
			continue;
		child_event(w, FSM_EV_START);
		n++;
	}
}

bool worker_pool_may_act(const struct worker_pool *p, const struct child *worker)
{
	const uint64_t cluster = child_info(worker)->cluster;
	const struct concurrency *c = &p->clusters[cluster];
	const struct child *w;
	unsigned before = 0;
	size_t i = 0;

	if (c->limit >= c->most)
		return true;
	while ((w = children_next(all(p), ROLE_WORKER, cluster, &i)) && w != worker)
		before++;
	return before < c->limit;
}

void worker_pool_note_used(struct worker_pool *p, const struct child *worker)
{
	p->used_ms[child_info(worker)->index] = clock_boot_ms();
}

void worker_pool_note_end(struct worker_pool *p, uint64_t cluster, uint64_t took_ms, uint64_t http)
{
	concurrency_note(&p->clusters[cluster], took_ms, http == 429);
}

/* -- questions -- */

static void deliver_first(struct worker_pool *p, struct queued **at, struct child *worker)
{
	struct queued *q = *at;
	struct msg m;

	*at = q->next;
	if (!*at)
		p->last = at;
	p->n--;
	msg_unpack(q->packed, &m);
	if (worker)
		worker_pool_note_used(p, worker);
	q->deliver(p->above, worker, &m);
	free(q->packed);
	free(q);
}

/* Is there any that will be ready? */
static bool can_answer(const struct worker_pool *p, uint64_t cluster)
{
	bool any = false;
	size_t i = 0;

	if (cluster >= lifecycle_generation(p->root)->all.clusters)
		return false;
	for (const struct child *w; (w = children_next_of(all(p), ROLE_WORKER, cluster, &i));)
		any = any || (child_info(w)->state != FSM_DOWN && child_info(w)->state != FSM_STOPPED);
	return any;
}

void worker_pool_ask(struct worker_pool *p, uint64_t cluster, const struct msg *m,
		     worker_pool_deliver *deliver)
{
	const bool can = can_answer(p, cluster) && p->n < QUEUED_MAX;
	struct child *worker = can ? children_find(all(p), ROLE_WORKER, cluster) : NULL;

	if (worker)
		worker_pool_note_used(p, worker);
	if (worker || !can) {
		deliver(p->above, worker, m);
		return;
	}
	struct queued *q = xcalloc(1, sizeof(*q));

	*q = (struct queued){
		.cluster = cluster, .since_ms = clock_boot_ms(), .deliver = deliver, .packed = msg_pack(m)
	};
	*p->last = q;
	p->last = &q->next;
	p->n++;
	worker_pool_start(p, cluster, 1);
}

void worker_pool_on_ready(struct worker_pool *p, struct child *worker)
{
	const uint64_t cluster = child_info(worker)->cluster;

	worker_pool_note_used(p, worker);
	for (struct queued **at = &p->first; *at;) {
		if ((*at)->cluster == cluster)
			deliver_first(p, at, worker);
		else
			at = &(*at)->next;
	}
}

/* Workers that do not start keep nobody waiting. */
static void expire_questions(struct worker_pool *p, uint64_t now_ms)
{
	while (p->first && now_ms - p->first->since_ms >= NOBODY_MS)
		deliver_first(p, &p->first, NULL);
}

/* -- once a second -- */

/* What a worker holds ends within half a minute, or it is killed: who was given nothing for longer holds
 * nothing. */
static void rest_idle(struct worker_pool *p, uint64_t cluster, uint64_t now_ms)
{
	size_t i = 0;

	for (struct child *w; (w = children_next(all(p), ROLE_WORKER, cluster, &i));)
		if (child_info(w)->on_demand && now_ms - p->used_ms[child_info(w)->index] >= REST_MS)
			child_event(w, FSM_EV_REST);
}

void worker_pool_tick(struct worker_pool *p, bool (*waits)(void *ctx, uint64_t cluster), void *ctx,
		      uint64_t now_ms)
{
	const struct generation *g = lifecycle_generation(p->root);

	expire_questions(p, now_ms);
	for (uint64_t c = 0; g && lifecycle_is_running(p->root) && generation_next(g, &c); c++) {
		concurrency_tick(&p->clusters[c], waits(ctx, c), now_ms);
		rest_idle(p, c, now_ms);
	}
}

void worker_pool_describe(const struct worker_pool *p, uint64_t cluster, struct msg *ret)
{
	const struct concurrency *c = &p->clusters[cluster];

	*ret = (struct msg){ .type = MSG_WORKER_STATS,
			     .u.worker_stats = { .cluster = cluster,
						 .workers = count_running(p, cluster),
						 .workers_limit = c->limit } };
	msg_text(ret, worker_stats.workers_why, text_code(c->why));
}

/* -- life -- */

struct worker_pool *worker_pool_new(struct lifecycle *root, struct supervisor *s)
{
	struct worker_pool *p = xcalloc(1, sizeof(*p));

	p->root = root;
	p->above = s;
	p->last = &p->first;
	return p;
}

void worker_pool_free(struct worker_pool **pp)
{
	struct worker_pool *p = *pp;

	while (p->first) {
		struct queued *q = p->first;

		p->first = q->next;
		free(q->packed);
		free(q);
	}
	free(p);
	*pp = NULL;
}
