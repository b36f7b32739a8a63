/* worker_pool.c - see worker_pool.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/actions/worker_pool.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/xalloc.h"

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

static bool rests(const struct child *c)
{
	const enum fsm_state state = child_info(c)->state;

	return state == FSM_RESTING || state == FSM_LEAVING;
}

/* Workers of the cluster that run or are on their way. */
static unsigned count_running(const struct supervisor *s, uint64_t cluster)
{
	unsigned n = 0;
	size_t i = 0;

	for (const struct child *w; (w = children_next_of(s->children, ROLE_WORKER, cluster, &i));)
		n += !rests(w) && child_info(w)->state != FSM_DOWN;
	return n;
}

void worker_pool_on_loaded(struct supervisor *s)
{
	const struct generation *g = settings(s);
	const long processors = sysconf(_SC_NPROCESSORS_ONLN);

	for (uint64_t c = 0; generation_next(g, &c); c++)
		if (s->concurrency[c].most == 0)
			concurrency_init(&s->concurrency[c], (unsigned)g->workers_min[c],
					 (unsigned)g->workers[c], processors > 0 ? (unsigned)processors : 1);
}

void worker_pool_start(struct supervisor *s, uint64_t cluster, size_t things)
{
	const size_t wanted = (things + SHARE - 1) / SHARE, limit = s->concurrency[cluster].limit;
	unsigned n = count_running(s, cluster);
	size_t i = 0;

	for (struct child *w;
	     n < wanted && n < limit && (w = children_next_of(s->children, ROLE_WORKER, cluster, &i));) {
		if (child_info(w)->state != FSM_RESTING)
			continue;
		child_event(w, FSM_EV_START);
		n++;
	}
}

bool worker_pool_may_act(const struct supervisor *s, const struct child *worker)
{
	const uint64_t cluster = child_info(worker)->cluster;
	const struct concurrency *c = &s->concurrency[cluster];
	const struct child *w;
	unsigned before = 0;
	size_t i = 0;

	if (c->limit >= c->most)
		return true;
	while ((w = children_next(s->children, ROLE_WORKER, cluster, &i)) && w != worker)
		before++;
	return before < c->limit;
}

void worker_pool_note_used(struct supervisor *s, const struct child *worker)
{
	s->used_ms[child_info(worker)->index] = clock_boot_ms();
}

void worker_pool_note_end(struct supervisor *s, uint64_t cluster, uint64_t took_ms, uint64_t http)
{
	concurrency_note(&s->concurrency[cluster], took_ms, http == 429);
}

/* -- questions -- */

static void deliver_first(struct supervisor *s, struct queued **at, struct child *worker)
{
	struct queued *q = *at;
	struct msg m;

	*at = q->next;
	s->n_queued--;
	msg_unpack(q->packed, &m);
	if (worker)
		worker_pool_note_used(s, worker);
	q->deliver(s, worker, &m);
	free(q->packed);
	free(q);
}

/* Is there any that will be ready? */
static bool can_answer(const struct supervisor *s, uint64_t cluster)
{
	bool any = false;
	size_t i = 0;

	if (cluster >= settings(s)->all.clusters)
		return false;
	for (const struct child *w; (w = children_next_of(s->children, ROLE_WORKER, cluster, &i));)
		any = any || (child_info(w)->state != FSM_DOWN && child_info(w)->state != FSM_STOPPED);
	return any;
}

void worker_pool_ask(struct supervisor *s, uint64_t cluster, const struct msg *m,
		     worker_pool_deliver *deliver)
{
	const bool can = can_answer(s, cluster) && s->n_queued < QUEUED_MAX;
	struct child *worker = can ? children_find(s->children, ROLE_WORKER, cluster) : NULL;

	if (worker)
		worker_pool_note_used(s, worker);
	if (worker || !can) {
		deliver(s, worker, m);
		return;
	}
	struct queued **end = &s->queued;

	while (*end)
		end = &(*end)->next;
	*end = xcalloc(1, sizeof(**end));
	**end = (struct queued){
		.cluster = cluster, .since_ms = clock_boot_ms(), .deliver = deliver, .packed = msg_pack(m)
	};
	s->n_queued++;
	worker_pool_start(s, cluster, 1);
}

void worker_pool_on_ready(struct supervisor *s, struct child *worker)
{
	const uint64_t cluster = child_info(worker)->cluster;

	worker_pool_note_used(s, worker);
	for (struct queued **at = &s->queued; *at;) {
		if ((*at)->cluster == cluster)
			deliver_first(s, at, worker);
		else
			at = &(*at)->next;
	}
}

/* Workers that do not start keep nobody waiting. */
static void expire_questions(struct supervisor *s, uint64_t now_ms)
{
	while (s->queued && now_ms >= s->queued->since_ms + NOBODY_MS)
		deliver_first(s, &s->queued, NULL);
}

/* -- once a second -- */

/* What a worker holds ends within half a minute, or it is killed: who was given nothing for longer holds
 * nothing. */
static void rest_idle(struct supervisor *s, uint64_t cluster, uint64_t now_ms)
{
	size_t i = 0;

	for (struct child *w; (w = children_next(s->children, ROLE_WORKER, cluster, &i));)
		if (child_info(w)->on_demand && now_ms >= s->used_ms[child_info(w)->index] + REST_MS)
			child_event(w, FSM_EV_REST);
}

void worker_pool_tick(struct supervisor *s, uint64_t now_ms)
{
	const struct generation *g = settings(s);

	expire_questions(s, now_ms);
	for (uint64_t c = 0; g && lifecycle_is_running(s->root) && generation_next(g, &c); c++) {
		concurrency_tick(&s->concurrency[c], lease_is_waiting(s->leases, c), now_ms);
		rest_idle(s, c, now_ms);
	}
}

void worker_pool_describe(const struct supervisor *s, uint64_t cluster, struct msg *ret)
{
	const struct concurrency *c = &s->concurrency[cluster];

	*ret = (struct msg){ .type = MSG_WORKER_STATS,
			     .u.worker_stats = { .cluster = cluster,
						 .workers = count_running(s, cluster),
						 .workers_limit = c->limit } };
	msg_text(ret, worker_stats.workers_why, text_code(c->why));
}

void worker_pool_free(struct supervisor *s)
{
	while (s->queued) {
		struct queued *q = s->queued;

		s->queued = q->next;
		free(q->packed);
		free(q);
	}
}
