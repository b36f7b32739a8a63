/* guards_saved.c - what of the guards outlives this process (SAVED, SAVED_ROW, ACTION_ROW), and what time
 * does to it.  See guards.h. */
// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/duties.h"
#include "base/log.h"
#include "watcher/guards/guards_state.h"

#define KIND_REVERTED "reverted"
#define KIND_BREAKER  "breaker"
#define KIND_NS       "share-ns"
#define KIND_NODE     "share-node"

/* -- what an earlier life knew -----------------------------------------------------------------------------
 */

static int64_t boot_of_wall(const struct clock_snapshot *now, int64_t wall)
{
	/* A time of the future is a clock that was set back: it counts as now. */
	return wall < now->wall ? now->boot - (now->wall - wall) : now->boot;
}

static void load_reverted(struct guards *g, const struct msg_saved_row *m, const struct clock_snapshot *now)
{
	const char *slash = strchr(m->key, '/');
	struct str revision = { "", 0 };
	uint32_t id;

	(void)now;
	if (!slash)
		return;
	revision = STR_C(slash + 1);
	id = guards_work(g, (struct str){ m->key, (size_t)(slash - m->key) }, revision, true);
	g->works[id].acted_on = true;
	g->works[id].reverted = (struct reverted){ m->at > 1 ? m->at : 0, m->until, (uint32_t)m->count };
}

static void load_breaker(struct guards *g, const struct msg_saved_row *m, const struct clock_snapshot *now)
{
	breaker_load(g->breaker, boot_of_wall(now, m->at), (uint32_t)m->count);
	g->opened = m->at;
	(void)snprintf(g->text, sizeof(g->text), "%s", m->text);
}

static void load_share(struct guards *g, const struct msg_saved_row *m, const struct clock_snapshot *now,
		       char kind)
{
	const char *slash = strchr(m->key, '/');
	uint64_t duty;

	if (!slash || str_to_u64(m->key, (size_t)(slash - m->key), &duty) < 0 || duty >= DUTY__MAX)
		return;
	uint32_t id = guards_place(g, kind, STR_C(slash + 1));
	struct spend s = { .duty = (enum duty)duty, .pods = (uint32_t)m->count };

	if (kind == 'n')
		s.ns = id;
	else
		s.node = id;
	g->places[id].saved |= (uint8_t)(1u << duty);
	budget_load(g->budget, &s, 0, boot_of_wall(now, m->until - BUDGET_HOUR_MS));
}

static void load_ns(struct guards *g, const struct msg_saved_row *m, const struct clock_snapshot *now)
{
	load_share(g, m, now, 'n');
}

static void load_node(struct guards *g, const struct msg_saved_row *m, const struct clock_snapshot *now)
{
	load_share(g, m, now, 'd');
}

void guards_on_saved(struct guards *g, const struct msg_saved_row *m, const struct clock_snapshot *now)
{
	static const struct {
		const char *kind;
		void (*load)(struct guards *g, const struct msg_saved_row *m,
			     const struct clock_snapshot *now);
	} kinds[] = { { KIND_REVERTED, load_reverted },
		      { KIND_BREAKER, load_breaker },
		      { KIND_NS, load_ns },
		      { KIND_NODE, load_node } };

	for (size_t i = 0; m->at && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(m->kind, kinds[i].kind) == 0)
			kinds[i].load(g, m, now);
}

void guards_on_action(struct guards *g, const struct msg_action_row *m, const struct clock_snapshot *now)
{
	const struct spend s = { .duty = (enum duty)m->duty, .ns = guards_place(g, 'n', STR_C(m->ns)) };

	/* One that is open counts from now: it may be written at any moment. */
	budget_load(g->budget, &s, 1, m->at ? boot_of_wall(now, m->at) : now->boot);
}

/* -- the breaker -------------------------------------------------------------------------------------------
 */

static void describe(struct guards *g, const struct burst *b)
{
	struct str host = guards_place_name(g, b->host), node = guards_place_name(g, b->node);
	char text[512];
	int n = snprintf(text, sizeof(text),
			 "%" PRIu32 " workloads began to fail together (limit %" PRId64 "%s)", b->workloads,
			 b->limit, b->condition == BREAKER_PERCENT ? " %" : "");

	/* Names are cut, so that all of it fits. */
	if (host.n && b->of_host > 1)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "; %" PRIu32 " pull from %.*s", b->of_host,
			      (int)(host.n < 80 ? host.n : 80), host.p);
	if (node.n && b->of_node > 1)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "; %" PRIu32 " fail only on node %.*s",
			      b->of_node, (int)(node.n < 80 ? node.n : 80), node.p);
	if (b->transient)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "; %" PRIu32 " by a transient cause",
			      b->transient);
	(void)str_copy_printable(g->text, sizeof(g->text), text, (size_t)n);
}

static void tell(const struct guards *g, bool open)
{
	if (open)
		(void)log_error(0, "breaker open: errImagePull is blocked for this cluster",
				kv_s("because", g->text));
	else
		log_info("breaker closed: errImagePull goes on");
}

bool guards_check(struct guards *g, const struct breaker_policy *p, uint32_t workloads, uint32_t nodes,
		  const struct clock_snapshot *now)
{
	bool changed = breaker_update(g->breaker, p, workloads, nodes, now->boot),
	     open = breaker_is_open(g->breaker);
	int64_t since;

	if (open && breaker_next(g->breaker) == 0)
		describe(g, breaker_burst(g->breaker, &since));
	if (!changed)
		return false;
	g->opened = open ? now->wall : 0;
	if (!open)
		g->text[0] = '\0';
	g->breaker_dirty = true;
	tell(g, open);
	return true;
}

bool guards_check_due(const struct guards *g, uint64_t boot, uint64_t *ret_at)
{
	int64_t next = breaker_next(g->breaker);

	*ret_at = next ? (uint64_t)next : UINT64_MAX;
	return breaker_dirty(g->breaker) || boot >= *ret_at;
}

const char *guards_breaker_text(const struct guards *g)
{
	return breaker_is_open(g->breaker) ? g->text : "";
}

uint32_t guards_revert_count(const struct guards *g)
{
	uint32_t n = 0;

	for (uint32_t i = 1; i < g->cap_works; i++)
		n += g->works[i].used && g->works[i].reverted.count > 0;
	return n;
}

/* -- time --------------------------------------------------------------------------------------------------
 */

void guards_share_changed(struct guards *g, enum duty d, uint32_t place)
{
	if (!place)
		return;
	g->dirty_places += !g->places[place].dirty;
	g->places[place].dirty |= (uint8_t)(1u << d);
}

static void expire_shares(struct guards *g, const struct clock_snapshot *now)
{
	for (uint32_t id = 1; id < g->cap_places; id++) {
		bool ns = g->places[id].saved && *intern_str(g->places_by, id).p == 'n';

		for (enum duty d = 0; d < DUTY__MAX; d++)
			if ((g->places[id].saved & (1u << d)) &&
			    budget_pods(g->budget, d, ns ? id : 0, ns ? 0 : id, now->boot) == 0)
				guards_share_changed(g, d, id);
	}
}

/* Names of namespaces, nodes and hosts are kept one by one, and forgotten together when nothing needs any. */
static void forget_places(struct guards *g)
{
	if (!budget_is_empty(g->budget) || breaker_count(g->breaker) || breaker_is_open(g->breaker) ||
	    g->dirty_places)
		return;
	for (uint32_t id = 1; id < g->cap_places; id++)
		if (g->places[id].saved)
			return;
	intern_free(&g->places_by);
	g->places_by = intern_new();
}

void guards_housekeeping(struct guards *g, const struct clock_snapshot *now)
{
	size_t kept = 0;

	budget_expire(g->budget, now->boot);
	expire_shares(g, now);
	for (uint32_t id = 1; id < g->cap_works; id++) {
		struct work *w = &g->works[id];

		if (w->used && w->looping && now->server > w->loop.last + LOOP_KEEP_MS) {
			w->looping = false;
			g->loops--;
			guards_work_done(g, id);
		}
		if (!w->used || !w->acted_on || (w->reverted.acted == 0 && w->reverted.until == 0) ||
		    !reverted_over(&w->reverted, now->server))
			continue;
		w->acted_on = false;
		w->reverted = (struct reverted){ 0 };
		guards_work_dirty(g, id);
	}
	for (size_t i = 0; i < g->n_pauses; i++)
		if (g->pauses[i].until == 0 || now->wall < g->pauses[i].until)
			g->pauses[kept++] = g->pauses[i];
	g->n_pauses = kept;
	forget_places(g);
}

/* -- to be remembered --------------------------------------------------------------------------------------
 */

static void saved_begin(const struct guards *g, struct msg *m, const char *kind, struct str key)
{
	memset(m, 0, sizeof(*m));
	m->type = MSG_SAVED;
	m->u.saved.cluster = g->cluster;
	msg_set(m, saved.kind, kind, strlen(kind));
	msg_set(m, saved.key, key.p, key.n);
}

static int flush_works(struct guards *g, int (*fn)(void *ctx, const struct msg *m), void *ctx)
{
	struct msg m;

	for (uint32_t id = 1; id < g->cap_works && g->dirty_works; id++) {
		struct work *w = &g->works[id];

		if (!w->used || !w->dirty)
			continue;
		saved_begin(g, &m, KIND_REVERTED, intern_str(g->works_by, id));
		/* 0 would mean "forget it": a return that was counted keeps only the block. */
		m.u.saved.at = !w->acted_on ? 0 : w->reverted.acted ? w->reverted.acted : 1;
		m.u.saved.until = w->reverted.until;
		m.u.saved.count = w->reverted.count;
		int r = fn(ctx, &m);

		if (r < 0)
			return r;
		w->dirty = false;
		g->dirty_works--;
		guards_work_done(g, id);
	}
	return 0;
}

static int flush_breaker(struct guards *g, int (*fn)(void *ctx, const struct msg *m), void *ctx)
{
	struct msg m;
	int64_t since;
	int r;

	if (!g->breaker_dirty)
		return 0;
	saved_begin(g, &m, KIND_BREAKER, STR_C(duty_name(DUTY_IMAGE_PULL)));
	m.u.saved.at = g->opened;
	m.u.saved.count = breaker_burst(g->breaker, &since)->workloads;
	msg_set(&m, saved.text, g->text, strlen(g->text));
	r = fn(ctx, &m);
	g->breaker_dirty = r < 0;
	return r;
}

static int flush_place(struct guards *g, uint32_t id, enum duty d, const struct clock_snapshot *now,
		       int (*fn)(void *ctx, const struct msg *m), void *ctx)
{
	struct str name = intern_str(g->places_by, id);
	bool ns = *name.p == 'n';
	int64_t pods = budget_pods(g->budget, d, ns ? id : 0, ns ? 0 : id, now->boot);
	char key[300];
	struct msg m;

	int n = snprintf(key, sizeof(key), "%d/%.*s", (int)d, (int)(name.n - 1), name.p + 1);

	saved_begin(g, &m, ns ? KIND_NS : KIND_NODE, (struct str){ key, (size_t)n });
	m.u.saved.at = pods ? now->wall : 0;
	m.u.saved.until = now->wall + BUDGET_HOUR_MS;
	m.u.saved.count = (uint64_t)pods;
	if (pods)
		g->places[id].saved |= (uint8_t)(1u << d);
	else
		g->places[id].saved &= (uint8_t) ~(1u << d);
	return fn(ctx, &m);
}

static int flush_places(struct guards *g, const struct clock_snapshot *now,
			int (*fn)(void *ctx, const struct msg *m), void *ctx)
{
	for (uint32_t id = 1; id < g->cap_places && g->dirty_places; id++) {
		for (enum duty d = 0; d < DUTY__MAX; d++) {
			if (!(g->places[id].dirty & (1u << d)))
				continue;
			int r = flush_place(g, id, d, now, fn, ctx);

			if (r < 0)
				return r;
			g->places[id].dirty &= (uint8_t) ~(1u << d);
			g->dirty_places -= g->places[id].dirty == 0;
		}
	}
	return 0;
}

int guards_flush(struct guards *g, const struct clock_snapshot *now,
		 int (*fn)(void *ctx, const struct msg *m), void *ctx)
{
	int r = flush_works(g, fn, ctx);

	if (r == 0)
		r = flush_breaker(g, fn, ctx);
	if (r == 0 && g->dirty_places)
		r = flush_places(g, now, fn, ctx);
	return r;
}
