/* breaker.c - see breaker.h.
 * Members are kept in the order in which they began; one pass with two ends looks at every burst, and
 * counters by host and node go along with it. There is a pass only after a change. */
// SPDX-License-Identifier: Apache-2.0
#include "rules/breaker.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "rules/cause.h"

#define SEVERAL     UINT32_MAX
#define PERCENT_MIN 3 /* a share of fewer workloads than this says nothing */

struct member {
	struct breaker_failure f;
	bool used;
};

struct breaker {
	struct member *v; /* by workload */
	uint32_t cap;
	uint32_t *order; /* workloads by began */
	uint32_t n, cap_order;
	uint32_t *by_host, *by_node; /* counters of a pass, 0 between passes */
	uint32_t hosts, nodes;       /* their lengths */
	struct burst burst;
	int64_t since, gone;          /* open since; the condition is gone since (0 = it holds) */
	struct breaker_policy limits; /* of the last look */
	bool open, dirty, loaded;     /* loaded: nobody knows by which limits it was opened */
};

struct breaker *breaker_new(void)
{
	return xcalloc(1, sizeof(struct breaker));
}

void breaker_free(struct breaker **b)
{
	if (!*b)
		return;
	free((*b)->v);
	free((*b)->order);
	free((*b)->by_host);
	free((*b)->by_node);
	free(*b);
	*b = NULL;
}

/* -- members -- */

/* First place whose member did not begin before `began`. */
static uint32_t place_of(const struct breaker *b, int64_t began)
{
	uint32_t from = 0, to = b->n;

	while (from < to) {
		uint32_t mid = from + (to - from) / 2;

		if (b->v[b->order[mid]].f.began < began)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

static void enter(struct breaker *b, uint32_t workload)
{
	uint32_t at = place_of(b, b->v[workload].f.began);

	b->order = xgrow(b->order, &b->cap_order, b->n, sizeof(*b->order));
	memmove(&b->order[at + 1], &b->order[at], (b->n - at) * sizeof(*b->order));
	b->order[at] = workload;
	b->n++;
}

static void leave(struct breaker *b, uint32_t workload)
{
	uint32_t at = place_of(b, b->v[workload].f.began);

	while (b->order[at] != workload)
		at++;
	b->n--;
	memmove(&b->order[at], &b->order[at + 1], (b->n - at) * sizeof(*b->order));
}

/* One of two values that were seen: the one that is known, or "several". */
static uint32_t both(uint32_t a, uint32_t b)
{
	if (a == 0 || a == b)
		return b;
	return b == 0 ? a : SEVERAL;
}

static bool same_failure(const struct breaker_failure *a, const struct breaker_failure *b)
{
	return a->began == b->began && a->host == b->host && a->node == b->node && a->cause == b->cause &&
	       a->crashes == b->crashes && a->pulled == b->pulled;
}

void breaker_failing(struct breaker *b, uint32_t workload, const struct breaker_failure *f)
{
	b->v = xgrow(b->v, &b->cap, workload, sizeof(*b->v));
	struct member *m = &b->v[workload];
	const struct member before = *m;

	m->f = *f;
	m->f.pulled = f->pulled || b->loaded;
	m->used = true;
	if (before.used) {
		m->f.began = before.f.began < f->began ? before.f.began : f->began;
		m->f.host = both(before.f.host, f->host);
		m->f.node = both(before.f.node, f->node);
		m->f.cause = f->cause ? f->cause : before.f.cause;
		m->f.pulled = before.f.pulled || m->f.pulled;
	}
	const bool moves = !before.used || before.f.began != m->f.began;

	if (before.used && moves) {
		const struct member now = *m;

		*m = before;
		leave(b, workload);
		*m = now;
	}
	if (moves)
		enter(b, workload);
	b->dirty = b->dirty || !before.used || !same_failure(&m->f, &before.f);
}

void breaker_recovered(struct breaker *b, uint32_t workload)
{
	if (workload >= b->cap || !b->v[workload].used)
		return;
	leave(b, workload);
	b->v[workload] = (struct member){ 0 };
	b->dirty = true;
}

/* -- a pass -- */

/* The condition that this set of workloads meets, and by how much it is above; a shared host or node says
 * most about the cause and is asked first. */
static enum breaker_condition meets(const struct breaker_policy *p, const struct burst *s, uint32_t total,
				    uint32_t nodes, int64_t *ret_limit)
{
	const struct {
		enum breaker_condition condition;
		int64_t limit, is;
	} t[] = {
		{ BREAKER_HOST, p->same_host, s->of_host },
		{ BREAKER_NODE, nodes > 1 ? p->same_node : 0, s->of_node },
		{ BREAKER_WORKLOADS, p->workloads, s->alone },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		*ret_limit = t[i].limit;
		if (t[i].limit > 0 && t[i].is > t[i].limit)
			return t[i].condition;
	}
	*ret_limit = p->percent;
	return p->percent > 0 && s->alone >= PERCENT_MIN &&
			       (int64_t)s->alone * 100 > p->percent * (int64_t)total
		       ? BREAKER_PERCENT
		       : BREAKER_NONE;
}

/* Can it be part of an outage? The registry answers a permanent cause, whoever asks. */
static bool is_outage(const struct breaker_failure *f)
{
	return f->crashes || f->cause != CAUSE_PERMANENT;
}

/* Is it by itself a sign of one? */
static bool is_sign(const struct breaker_failure *f)
{
	return f->crashes || cause_may_heal(f->cause);
}

static uint32_t one_of(uint32_t id)
{
	return id == SEVERAL ? 0 : id;
}

/* The host or node for which it counts; 0: none. */
static uint32_t host_of(const struct breaker_failure *f)
{
	const bool counts = is_sign(f) || (is_outage(f) && f->pulled);

	return counts && f->cause != CAUSE_NODE ? one_of(f->host) : 0;
}

static uint32_t node_of(const struct breaker_failure *f)
{
	return f->crashes || f->cause == CAUSE_NODE || (is_outage(f) && f->pulled) ? one_of(f->node) : 0;
}

static void make_counters(struct breaker *b)
{
	for (uint32_t i = 0; i < b->n; i++) {
		const struct breaker_failure *f = &b->v[b->order[i]].f;

		b->by_host = xgrow(b->by_host, &b->hosts, host_of(f), sizeof(*b->by_host));
		b->by_node = xgrow(b->by_node, &b->nodes, node_of(f), sizeof(*b->by_node));
	}
}

/* The window over the members in their order, while it moves. */
struct window {
	uint32_t lo, alone, all;
};

static void count(struct breaker *b, struct window *w, uint32_t place, bool in)
{
	const struct breaker_failure *f = &b->v[b->order[place]].f;
	uint32_t *host = &b->by_host[host_of(f)], *node = &b->by_node[node_of(f)];

	*host = in ? *host + 1 : *host - 1;
	*node = in ? *node + 1 : *node - 1;
	w->alone = in ? w->alone + is_sign(f) : w->alone - is_sign(f);
	w->all = in ? w->all + is_outage(f) : w->all - is_outage(f);
}

/* Does the burst share more with this member than was known? */
static void look_at(const struct breaker *b, uint32_t place, struct burst *s)
{
	const struct breaker_failure *f = &b->v[b->order[place]].f;
	const uint32_t host = host_of(f), node = node_of(f);

	s->transient += !f->crashes && cause_may_heal(f->cause);
	if (host && b->by_host[host] > s->of_host) {
		s->host = host;
		s->of_host = b->by_host[host];
	}
	if (node && b->by_node[node] > s->of_node) {
		s->node = node;
		s->of_node = b->by_node[node];
	}
}

/* Have two bursts the same in common, by what opens the breaker? */
static bool is_alike(const struct burst *a, const struct burst *b)
{
	return a->condition == b->condition && (a->condition != BREAKER_HOST || a->host == b->host) &&
	       (a->condition != BREAKER_NODE || a->node == b->node);
}

/* The largest burst that meets a condition. */
static struct burst look(struct breaker *b, const struct breaker_policy *p, uint32_t total, uint32_t nodes)
{
	struct burst best = { 0 };
	struct window w = { 0 };

	make_counters(b);
	for (uint32_t hi = 0; hi < b->n; hi++) {
		count(b, &w, hi, true);
		while (b->v[b->order[hi]].f.began - b->v[b->order[w.lo]].f.began > p->within_ms)
			count(b, &w, w.lo++, false);
		struct burst s = { .workloads = w.all, .alone = w.alone };

		s.began = s.first = b->v[b->order[w.lo]].f.began;
		/* The newest tells whether it is one: everything else was looked at before that came. The
		 * others count only for what people are told. */
		look_at(b, hi, &s);
		s.condition = meets(p, &s, total, nodes, &s.limit);
		if (s.condition == BREAKER_NONE || s.workloads < best.workloads)
			continue;
		for (uint32_t i = w.lo; i < hi; i++)
			look_at(b, i, &s);
		if (nodes <= 1) /* says nothing */
			s.node = s.of_node = 0;
		if (is_alike(&s, &best))
			s.first = best.first;
		best = s;
	}
	while (w.lo < b->n)
		count(b, &w, w.lo++, false);
	return best;
}

static bool same_limits(const struct breaker_policy *a, const struct breaker_policy *b)
{
	return a->workloads == b->workloads && a->percent == b->percent && a->same_host == b->same_host &&
	       a->same_node == b->same_node && a->within_ms == b->within_ms;
}

void breaker_limits_changed(struct breaker *b)
{
	b->dirty = true;
}

static void close_breaker(struct breaker *b)
{
	b->open = false;
	b->since = b->gone = 0;
	b->burst = (struct burst){ 0 };
}

bool breaker_update(struct breaker *b, const struct breaker_policy *p, uint32_t total, uint32_t nodes,
		    int64_t now)
{
	struct burst burst = look(b, p, total, nodes);
	const bool was = b->open, others = !b->loaded && !same_limits(&b->limits, p);

	b->dirty = b->loaded = false;
	b->limits = *p;
	if (burst.condition != BREAKER_NONE) {
		b->burst = burst;
		b->since = was ? b->since : now;
		b->gone = 0;
		b->open = true;
		return !was;
	}
	if (was && b->gone == 0)
		b->gone = now;
	if (was && (others || now >= b->gone + p->release_ms))
		close_breaker(b);
	return was != b->open;
}

void breaker_load(struct breaker *b, int64_t since, uint32_t workloads)
{
	b->open = b->dirty = b->loaded = true;
	b->since = since;
	b->burst =
		(struct burst){ .condition = BREAKER_WORKLOADS, .workloads = workloads, .first = INT64_MIN };
}

/* -- asking -- */

bool breaker_is_open(const struct breaker *b)
{
	return b->open;
}

bool breaker_holds(const struct breaker *b, uint32_t workload, int64_t *ret_began)
{
	const struct member *m = b->open && workload < b->cap ? &b->v[workload] : NULL;

	if (!m || !m->used || !is_outage(&m->f) || m->f.began < b->burst.first)
		return false;
	*ret_began = m->f.began;
	return (b->burst.condition != BREAKER_HOST || m->f.host == b->burst.host || m->f.host == SEVERAL) &&
	       (b->burst.condition != BREAKER_NODE || m->f.node == b->burst.node);
}

bool breaker_dirty(const struct breaker *b)
{
	return b->dirty;
}

int64_t breaker_next(const struct breaker *b)
{
	return b->open && b->gone ? b->gone + b->limits.release_ms : 0;
}

const struct burst *breaker_burst(const struct breaker *b, int64_t *ret_since)
{
	*ret_since = b->since;
	return &b->burst;
}

uint32_t breaker_count(const struct breaker *b)
{
	return b->n;
}
