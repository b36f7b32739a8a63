/* scaled_down.c - see scaled_down.h. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/controller/scaled_down.h"

#include <stdlib.h>

#include "base/backoff.h"
#include "base/cleanup.h"
#include "base/xalloc.h"
#include "model/reasons.h"

#define ANSWER_MS 120000u /* without an answer for so long there will be none */

struct workload {
	uint64_t id; /* of the action */
	uint64_t look_at;
	enum duty duty;
};

struct scaled_down {
	const struct cluster_state *cluster;
	const struct outlet *out;
	struct workload *v;
	uint32_t n, cap;
	uint64_t asked; /* its id; 0 = nothing is asked */
	uint64_t asked_at;
};

struct scaled_down *scaled_down_new(const struct cluster_state *cluster, const struct outlet *out)
{
	struct scaled_down *s = xcalloc(1, sizeof(*s));

	s->cluster = cluster;
	s->out = out;
	return s;
}

void scaled_down_free(struct scaled_down **s)
{
	if (!*s)
		return;
	free((*s)->v);
	free(*s);
	*s = NULL;
}

static struct workload *find(const struct scaled_down *s, uint64_t id)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->v[i].id == id)
			return &s->v[i];
	return NULL;
}

static void forget(struct scaled_down *s, struct workload *w)
{
	*w = s->v[--s->n];
}

/* Spread: many that were scaled down together are not looked at together. */
static uint64_t later(const struct scaled_down *s, uint64_t now)
{
	const double every = (double)s->cluster->policy->restore_ms;

	return now + (uint64_t)(every * (1 + 0.1 * backoff_random()));
}

static struct workload *oldest(const struct scaled_down *s)
{
	struct workload *first = s->v;

	for (uint32_t i = 1; i < s->n; i++)
		if (s->v[i].id < first->id)
			first = &s->v[i];
	return first;
}

static void add(struct scaled_down *s, uint64_t id, enum duty duty, uint64_t look_at)
{
	if (!id || find(s, id))
		return;
	if (s->n == SCALED_DOWN_MAX)
		forget(s, oldest(s));
	s->v = xgrow(s->v, &s->cap, s->n, sizeof(*s->v));
	s->v[s->n++] = (struct workload){ .id = id, .duty = duty, .look_at = look_at };
}

void scaled_down_on_row(struct scaled_down *s, const struct msg_scaled_row *m, uint64_t now)
{
	add(s, m->id, (enum duty)m->duty, now); /* nobody knows for how long nobody has looked */
}

void scaled_down_on_result(struct scaled_down *s, const struct msg_nomination_result *m, uint64_t now)
{
	if (m->action == ACTION_SCALE_DOWN && OUTCOMES_WRITTEN >> m->outcome & 1)
		add(s, m->id, (enum duty)m->duty, later(s, now));
}

/* Whatever happens to the workload, this program will not put its replicas back any more. */
static bool is_over(const struct msg_restore_end *m)
{
	static const enum reason over[] = { REASON_NOT_ZERO_ANYMORE, REASON_NOT_OUR_ZERO,
					    REASON_NOT_MARKED,       REASON_OWNER_UID_DIFFERS,
					    REASON_WORKLOAD_GONE,    REASON_KIND_NOT_SCALABLE,
					    REASON_ORIGIN_NOT_SIGNED };
	const enum reason reason = reason_parse(m->reason);

	if (m->outcome == OUTCOME_DONE || m->outcome == OUTCOME_GONE)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(over); i++)
		if (m->outcome == OUTCOME_REFUSED && reason == over[i])
			return true;
	return false;
}

void scaled_down_on_restore_end(struct scaled_down *s, const struct msg_restore_end *m, uint64_t now)
{
	struct workload *w = find(s, m->id);

	if (m->id == s->asked)
		s->asked = 0;
	if (w && is_over(m))
		forget(s, w);
	else if (w)
		w->look_at = later(s, now);
}

void scaled_down_judge_anew(struct scaled_down *s, uint64_t now)
{
	for (uint32_t i = 0; i < s->n; i++)
		s->v[i].look_at = now;
}

/* Duties, as bits, whose workloads may come back anywhere. Which override is its own, a worker sees. */
static unsigned duties_that_restore(const struct policy *p)
{
	unsigned duties = 0;

	for (enum duty d = 0; d < DUTY__MAX; d++) {
		bool any = p->duty[d].restore != RESTORE_NEVER;

		for (size_t i = 0; i < p->n_overrides; i++)
			any = any || p->overrides[i].duty[d].restore != RESTORE_NEVER;
		duties |= any ? 1u << d : 0;
	}
	return p->mode == MODE_ENFORCE ? duties : 0;
}

static struct workload *first_due(const struct scaled_down *s)
{
	const unsigned duties = s->n > 0 ? duties_that_restore(s->cluster->policy) : 0;
	struct workload *first = NULL;

	for (uint32_t i = 0; duties && i < s->n; i++)
		if (duties >> s->v[i].duty & 1 && (!first || s->v[i].look_at < first->look_at))
			first = &s->v[i];
	return first;
}

int scaled_down_flush(struct scaled_down *s, uint64_t now)
{
	struct msg m = { .type = MSG_RESTORE_ASK, .u.restore_ask.cluster = s->cluster->number };
	const struct workload *w;

	if (scaled_down_next(s) > now)
		return 0;
	w = first_due(s);
	m.u.restore_ask.id = w->id;
	const int r = outlet_send(s->out, &m);

	if (r < 0)
		return r;
	s->asked = w->id;
	s->asked_at = now;
	return 0;
}

uint64_t scaled_down_next(const struct scaled_down *s)
{
	const struct workload *w = first_due(s);

	if (!w)
		return UINT64_MAX;
	return s->asked && s->asked_at + ANSWER_MS > w->look_at ? s->asked_at + ANSWER_MS : w->look_at;
}
