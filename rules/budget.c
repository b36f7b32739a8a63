/* budget.c - see budget.h.  Charges that ended are sorted by time; open ones stand apart. */
// SPDX-License-Identifier: Apache-2.0
#include "rules/budget.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

struct charge {
	int64_t at;
	uint32_t id, ns, node, pods, acts;
};

struct charges {
	struct charge *v;
	uint32_t n, cap;
};

/* Where the open charge of an id stands. */
struct place {
	uint32_t nth; /* from 1; 0 = there is none */
	enum duty duty;
};

struct budget {
	struct charges done[DUTY__MAX], open[DUTY__MAX];
	struct place *places; /* by id */
	uint32_t n_places;
};

/* A limit: what it counts, over what, how long. Shares are of pods, and their maximum depends on how many
 * there are. */
static const struct {
	int64_t ms;
	size_t max; /* offset in struct duty_policy */
	bool ns, node, share;
} limits[BUDGET__LIMITS] = {
#define MAX_OF(m) offsetof(struct duty_policy, m)
	[BUDGET_PER_MINUTE] = { BUDGET_MINUTE_MS, MAX_OF(max_per_minute), false, false, false },
	[BUDGET_PER_HOUR] = { BUDGET_HOUR_MS, MAX_OF(max_per_hour), false, false, false },
	[BUDGET_PER_DAY] = { BUDGET_DAY_MS, MAX_OF(max_per_day), false, false, false },
	[BUDGET_NAMESPACE_HOUR] = { BUDGET_HOUR_MS, MAX_OF(max_per_namespace_hour), true, false, false },
	[BUDGET_NAMESPACE_SHARE] = { BUDGET_HOUR_MS, MAX_OF(max_percent_namespace), true, false, true },
	[BUDGET_NODE_SHARE] = { BUDGET_HOUR_MS, MAX_OF(max_percent_node), false, true, true },
};

struct budget *budget_new(void)
{
	return xcalloc(1, sizeof(struct budget));
}

void budget_free(struct budget **b)
{
	if (!*b)
		return;
	for (int d = 0; d < DUTY__MAX; d++) {
		free((*b)->done[d].v);
		free((*b)->open[d].v);
	}
	free((*b)->places);
	free(*b);
	*b = NULL;
}

static struct charges copy(const struct charges *c)
{
	return (struct charges){ xmemdup(c->v, c->n * sizeof(*c->v)), c->n, c->n };
}

struct budget *budget_clone(const struct budget *b)
{
	struct budget *to = budget_new();

	for (int d = 0; d < DUTY__MAX; d++) {
		to->done[d] = copy(&b->done[d]);
		to->open[d] = copy(&b->open[d]);
	}
	to->places = xmemdup(b->places, b->n_places * sizeof(*to->places));
	to->n_places = b->n_places;
	return to;
}

/* -- asking -- */

/* The first that is younger than `ms`: a charge counts until exactly that long ago. */
static uint32_t first_within(const struct charges *c, int64_t now, int64_t ms)
{
	uint32_t from = 0, to = c->n;

	while (from < to) {
		uint32_t mid = from + (to - from) / 2;

		if (c->v[mid].at <= now - ms)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

static int64_t weight(const struct charge *c, enum budget_limit l, const struct spend *s)
{
	if ((limits[l].ns && c->ns != s->ns) || (limits[l].node && c->node != s->node))
		return 0;
	return limits[l].share ? c->pods : c->acts;
}

static int64_t sum(const struct budget *b, enum budget_limit l, const struct spend *s, int64_t now)
{
	const struct charges *done = &b->done[s->duty], *open = &b->open[s->duty];
	int64_t n = 0;

	for (size_t i = first_within(done, now, limits[l].ms); i < done->n; i++)
		n += weight(&done->v[i], l, s);
	for (size_t i = 0; i < open->n; i++)
		n += weight(&open->v[i], l, s);
	return n;
}

/* When so much of `over` has gone by that it fits; 0 when that hangs on acts that are open. */
static int64_t frees_at(const struct budget *b, enum budget_limit l, const struct spend *s, int64_t over,
			int64_t now)
{
	const struct charges *done = &b->done[s->duty];

	for (size_t i = first_within(done, now, limits[l].ms); i < done->n; i++) {
		over -= weight(&done->v[i], l, s);
		if (over <= 0)
			return done->v[i].at + limits[l].ms;
	}
	return 0;
}

/* What the limit allows in all; negative = it does not apply. */
static int64_t allowed(const struct duty_policy *p, enum budget_limit l, const struct spend *s)
{
	int64_t max, of = limits[l].node ? s->node_pods : s->ns_pods;

	memcpy(&max, (const char *)p + limits[l].max, sizeof(max));
	if (max <= 0 || (limits[l].ns && !s->ns) || (limits[l].node && !s->node))
		return -1;
	return limits[l].share ? max * of / 100 : max;
}

struct budget_verdict budget_ask(const struct budget *b, const struct duty_policy *p, const struct spend *s,
				 int64_t now)
{
	struct budget_verdict ret = { .ok = true };

	for (enum budget_limit l = 0; l < BUDGET__LIMITS; l++) {
		int64_t max = allowed(p, l, s), spent = max < 0 ? 0 : sum(b, l, s, now), more, until;

		more = limits[l].share ? s->pods : 1;
		/* A share of few pods may be none at all: one act is always allowed. */
		if (max < 0 || spent + more <= max || (limits[l].share && spent == 0))
			continue;
		int64_t over = spent + more - max;

		until = frees_at(b, l, s, limits[l].share && over > spent ? spent : over, now);
		/* 0 = with the end of an open act, which is sooner than any time known. */
		if (ret.ok || until > ret.until)
			ret = (struct budget_verdict){ false, l, spent, max, until };
	}
	return ret;
}

int64_t budget_pods(const struct budget *b, enum duty d, uint32_t ns, uint32_t node, int64_t now)
{
	const struct spend s = { .duty = d, .ns = ns, .node = node };

	return sum(b, ns ? BUDGET_NAMESPACE_SHARE : BUDGET_NODE_SHARE, &s, now);
}

/* -- spending -- */

/* Sorted by time; what is open is later than all. */
static void insert(struct charges *c, const struct charge *new)
{
	uint32_t at = c->n;

	c->v = xgrow(c->v, &c->cap, c->n, sizeof(*c->v));
	while (at > 0 && c->v[at - 1].at > new->at)
		at--;
	memmove(&c->v[at + 1], &c->v[at], (c->n - at) * sizeof(*c->v));
	c->v[at] = *new;
	c->n++;
}

static bool take_open(struct budget *b, uint32_t id, enum duty *ret_duty, struct charge *ret)
{
	const struct place was = id < b->n_places ? b->places[id] : (struct place){ 0 };
	struct charges *c = &b->open[was.duty];

	if (!was.nth)
		return false;
	*ret = c->v[was.nth - 1];
	*ret_duty = was.duty;
	c->v[was.nth - 1] = c->v[--c->n];
	b->places[c->v[was.nth - 1].id].nth = was.nth;
	b->places[id].nth = 0; /* last: it may be the one that was moved */
	return true;
}

void budget_charge(struct budget *b, uint32_t id, const struct spend *s)
{
	const struct charge new = { INT64_MAX, id, s->ns, s->node, s->pods, 1 };
	struct charges *c = &b->open[s->duty];
	struct charge old;
	enum duty d;

	(void)take_open(b, id, &d, &old);
	insert(c, &new);
	b->places = xgrow(b->places, &b->n_places, id, sizeof(*b->places));
	b->places[id] = (struct place){ c->n, s->duty };
}

bool budget_settle(struct budget *b, uint32_t id, bool written, int64_t now)
{
	struct charge c;
	enum duty d;

	if (!take_open(b, id, &d, &c))
		return false;
	c.at = now;
	c.id = 0;
	if (written)
		insert(&b->done[d], &c);
	return true;
}

void budget_load(struct budget *b, const struct spend *s, uint32_t acts, int64_t at)
{
	const struct charge new = { at, 0, s->ns, s->node, s->pods, acts };

	insert(&b->done[s->duty], &new);
}

void budget_expire(struct budget *b, int64_t now)
{
	for (int d = 0; d < DUTY__MAX; d++) {
		struct charges *c = &b->done[d];
		const uint32_t old = first_within(c, now, BUDGET_DAY_MS);

		if (old == 0)
			continue;
		c->n -= old;
		memmove(c->v, &c->v[old], c->n * sizeof(*c->v));
	}
}

bool budget_is_empty(const struct budget *b)
{
	for (int d = 0; d < DUTY__MAX; d++)
		if (b->done[d].n || b->open[d].n)
			return false;
	return true;
}
