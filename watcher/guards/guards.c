/* guards.c - see guards.h.  Memory of it is in guards_saved.c. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/guards/guards.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "rules/cause.h"
#include "watcher/guards/guards_state.h"

#define KEY_MAX 320

struct guards *guards_new(uint64_t cluster)
{
	struct guards *g = xcalloc(1, sizeof(*g));

	g->cluster = cluster;
	g->windows = windows_new();
	g->budget = budget_new();
	g->breaker = breaker_new();
	g->works_by = intern_new();
	g->acts_by = intern_new();
	g->places_by = intern_new();
	return g;
}

void guards_free(struct guards **g)
{
	if (!*g)
		return;
	windows_free(&(*g)->windows);
	budget_free(&(*g)->budget);
	breaker_free(&(*g)->breaker);
	intern_free(&(*g)->works_by);
	intern_free(&(*g)->acts_by);
	intern_free(&(*g)->places_by);
	free((*g)->works);
	free((*g)->acts);
	free((*g)->places);
	free((*g)->pauses);
	free((*g)->name);
	free(*g);
	*g = NULL;
}

void guards_set_cluster(struct guards *g, const char *name)
{
	free(g->name);
	g->name = xstrdup(name ? name : "");
}

void guards_set_zones(struct guards *g, const void *zones, size_t n)
{
	windows_set_zones(g->windows, zones, n);
}

/* -- names -------------------------------------------------------------------------------------------------
 */

uint32_t guards_work(struct guards *g, struct str owner, struct str revision, bool make)
{
	char key[KEY_MAX];
	int n = snprintf(key, sizeof(key), "%.*s/%.*s", STR_ARG(owner), STR_ARG(revision));
	struct str s = { key, n < (int)sizeof(key) ? (size_t)n : sizeof(key) - 1 };
	uint32_t id = intern_find(g->works_by, s);

	if (id || !make)
		return id;
	id = intern_ref(g->works_by, s);
	g->works = xgrow(g->works, &g->cap_works, id, sizeof(*g->works));
	g->works[id] = (struct work){ .used = true };
	return id;
}

void guards_work_done(struct guards *g, uint32_t id)
{
	struct work *w = &g->works[id];

	if (!w->used || w->acted_on || w->looping || w->failing || w->dirty)
		return;
	w->used = false;
	intern_unref(g->works_by, id);
}

void guards_work_dirty(struct guards *g, uint32_t id)
{
	g->dirty_works += !g->works[id].dirty;
	g->works[id].dirty = true;
}

uint32_t guards_place(struct guards *g, char kind, struct str name)
{
	char key[KEY_MAX];
	uint32_t id;
	int n;

	if (str_empty(name))
		return 0;
	n = snprintf(key, sizeof(key), "%c%.*s", kind, STR_ARG(name));
	struct str s = { key, n < (int)sizeof(key) ? (size_t)n : sizeof(key) - 1 };

	id = intern_find(g->places_by, s);
	if (id)
		return id;
	id = intern_ref(g->places_by, s);
	g->places = xgrow(g->places, &g->cap_places, id, sizeof(*g->places));
	g->places[id] = (struct place){ 0 };
	return id;
}

struct str guards_place_name(const struct guards *g, uint32_t id)
{
	struct str s = intern_str(g->places_by, id);

	return s.n ? (struct str){ s.p + 1, s.n - 1 } : s;
}

static uint32_t find_place(const struct guards *g, char kind, struct str name)
{
	char key[KEY_MAX];
	int n = snprintf(key, sizeof(key), "%c%.*s", kind, STR_ARG(name));

	return intern_find(g->places_by,
			   (struct str){ key, n < (int)sizeof(key) ? (size_t)n : sizeof(key) - 1 });
}

/* -- pause and leadership ----------------------------------------------------------------------------------
 */

bool guards_on_pause(struct guards *g, const struct msg_pause *m)
{
	bool all = *m->cluster_name == '\0', everything = !m->on && all && m->duty < 0;
	size_t kept = 0;

	if (!all && strcmp(m->cluster_name, g->name ? g->name : "") != 0)
		return false;
	for (size_t i = 0; i < g->n_pauses; i++)
		if (!everything && (g->pauses[i].duty != m->duty || g->pauses[i].all != all))
			g->pauses[kept++] = g->pauses[i];
	g->n_pauses = kept;
	if (!m->on)
		return true;
	g->pauses = xreallocarray(g->pauses, g->n_pauses + 1, sizeof(*g->pauses));
	struct pause *p = &g->pauses[g->n_pauses++];

	*p = (struct pause){ .duty = (int)m->duty, .all = all, .until = m->until };
	(void)snprintf(p->text, sizeof(p->text), "%s%s%s%s", *m->by ? "by " : "", m->by,
		       *m->by && *m->why ? ": " : "", m->why);
	return true;
}

/* The pause of this duty that lasts longest, NULL when there is none. */
static const struct pause *pause_of(const struct guards *g, enum duty d, int64_t wall)
{
	const struct pause *found = NULL;

	for (size_t i = 0; i < g->n_pauses; i++) {
		const struct pause *p = &g->pauses[i];

		if ((p->duty >= 0 && p->duty != (int)d) || (p->until && wall >= p->until))
			continue;
		if (!found || p->until == 0 || (found->until && p->until > found->until))
			found = p;
	}
	return found;
}

void guards_set_leader(struct guards *g, bool leading, const char *holder)
{
	g->follows = !leading;
	(void)snprintf(g->holder, sizeof(g->holder), "%s", holder ? holder : "");
}

/* -- what is seen ------------------------------------------------------------------------------------------
 */

/* The first container that fails: what it pulls, and why it cannot. */
static struct str failing_host(const struct pod_facts *p, enum pull_cause *ret)
{
	for (uint32_t i = 0; i < p->n_containers && i < POD_CONTAINERS_MAX; i++) {
		const struct container_facts *c = &p->containers[i];

		if (c->kind == CONTAINER_EPHEMERAL || c->state != CONTAINER_WAITING || str_empty(c->image))
			continue;
		*ret = cause_of(c);
		return image_host(c->image);
	}
	*ret = CAUSE_UNKNOWN;
	return (struct str){ 0 };
}

void guards_failing(struct guards *g, struct str owner, struct str revision, int64_t began,
		    const struct pod_facts *p)
{
	uint32_t id = guards_work(g, owner, revision, true);
	enum pull_cause cause;
	struct str host = failing_host(p, &cause);

	g->works[id].failing = true;
	breaker_failing(g->breaker, id, began, guards_place(g, 'h', host), guards_place(g, 'd', p->node),
			cause);
}

void guards_recovered(struct guards *g, struct str owner, struct str revision)
{
	uint32_t id = breaker_count(g->breaker) ? guards_work(g, owner, revision, false) : 0;

	if (!id || !g->works[id].failing)
		return;
	g->works[id].failing = false;
	breaker_recovered(g->breaker, id);
	guards_work_done(g, id);
}

/* -- asking ------------------------------------------------------------------------------------------------
 */

static uint32_t work_of(const struct guards *g, const struct due *d)
{
	if (!duty_has_guard(d->duty, GUARD_REVERTED) || !d->pod)
		return 0;
	return guards_work((struct guards *)(uintptr_t)g, d->owner, d->pod->revision, false);
}

/* How it stands for this pod; one that comes back now counts. */
static struct reverted reverted_of(const struct guards *g, const struct due *d,
				   const struct clock_snapshot *now)
{
	struct reverted after = { 0 };
	uint32_t id = work_of(g, d);

	if (id && g->works[id].acted_on)
		(void)reverted_would(&g->works[id].reverted, d->pod->created, now->server, &after);
	return after;
}

/* The evict loop that this pod belongs to, if it is of one. */
static uint32_t loop_of(const struct guards *g, const struct due *d, bool make)
{
	char key[300];

	if (!duty_has_guard(d->duty, GUARD_EVICT_LOOP) || !d->pod->owner.uid.n || !d->pod->node.n)
		return 0;
	int n = snprintf(key, sizeof(key), "/%.*s", STR_ARG(d->pod->node));

	return guards_work((struct guards *)(uintptr_t)g, d->pod->owner.uid,
			   (struct str){ key, n < (int)sizeof(key) ? (size_t)n : sizeof(key) - 1 }, make);
}

static void ask_loop(const struct guards *g, const struct due *d, const struct clock_snapshot *now,
		     struct admit_ask *a)
{
	uint32_t id = loop_of(g, d, false);
	int64_t until;

	if (!id || !evict_loop_keeps(&g->works[id].loop, d->pod->created, now->server, &until))
		return;
	a->loop_until = now->boot + (until - now->server);
	a->loop_count = g->works[id].loop.count;
}

bool guards_note_due(struct guards *g, const struct due *d, const struct clock_snapshot *now)
{
	uint32_t id = work_of(g, d), loop = loop_of(g, d, false);

	if (id && g->works[id].acted_on &&
	    reverted_seen(&g->works[id].reverted, d->pod->created, now->server))
		guards_work_dirty(g, id);
	return loop && evict_loop_seen(&g->works[loop].loop, d->pod->created);
}

uint32_t guards_reverts(const struct guards *g, const struct due *d, const struct clock_snapshot *now)
{
	return reverted_of(g, d, now).count;
}

static struct spend spend_of(const struct guards *g, const struct due *d)
{
	return (struct spend){ .duty = d->duty,
			       .ns = find_place(g, 'n', d->pod->ns),
			       .node = find_place(g, 'd', d->pod->node),
			       .pods = d->pods ? d->pods : 1,
			       .ns_pods = d->ns_pods,
			       .node_pods = d->node_pods };
}

/* From a time of another clock to the one that does not step; 0 stays 0. */
static int64_t boot_of(const struct clock_snapshot *now, int64_t at, int64_t same_clock)
{
	return at ? now->boot + (at - same_clock) : 0;
}

static void fill_ask(const struct guards *g, const struct budget *budget, const struct due *d,
		     const struct clock_snapshot *now, struct admit_ask *a)
{
	const struct pause *p = pause_of(g, d->duty, now->wall);
	int64_t at;

	*a = (struct admit_ask){ .policy = d->policy,
				 .now = now->boot,
				 .retry = d->retry,
				 .spend = spend_of(g, d),
				 .stale = d->stale,
				 .clock_off = d->clock_off,
				 .quiet_until = d->quiet_until,
				 .breaker = d->retry ? NULL : g->breaker,
				 .breaker_text = g->text,
				 .budget = budget ? budget : g->budget };
	if (p) {
		a->paused = p->text;
		a->paused_until = boot_of(now, p->until, now->wall);
	}
	if (g->follows)
		a->leader = g->holder;
	if (!windows_are_open(g->windows, &d->policy->windows, now->server, &at)) {
		a->window_closed = true;
		a->window_opens = boot_of(now, at, now->server);
	}
	ask_loop(g, d, now, a);
	a->fight = reverted_of(g, d, now);
	a->fight.until = boot_of(now, a->fight.until, now->server);
}

bool guards_ask(const struct guards *g, const struct budget *budget, const struct due *d,
		const struct clock_snapshot *now, struct block *ret)
{
	struct admit_ask a;

	fill_ask(g, budget, d, now, &a);
	return admit_ask(&a, ret);
}

void guards_trace(const struct guards *g, const struct due *d, const struct clock_snapshot *now,
		  void (*fn)(void *ctx, enum guard gd, bool passes, const struct block *h), void *ctx)
{
	struct admit_ask a;

	fill_ask(g, NULL, d, now, &a);
	admit_trace(&a, fn, ctx);
}

size_t guards_bin_key(const struct due *d, const struct block *h, char *buf, size_t size)
{
	const struct str scope[] = {
		[BLOCK_ALL] = { "", 0 },     [BLOCK_DUTY] = { "", 0 },    [BLOCK_NAMESPACE] = d->pod->ns,
		[BLOCK_NODE] = d->pod->node, [BLOCK_WORKLOAD] = d->owner, [BLOCK_WORKLOAD_NODE] = d->owner,
	};
	struct str s = scope[h->scope], node = { "", 0 };
	int n;

	if (h->scope == BLOCK_WORKLOAD_NODE)
		node = d->pod->node;
	n = snprintf(buf, size, "%d/%d/%.100s/%.*s/%.*s", (int)h->guard,
		     h->scope == BLOCK_ALL ? -1 : (int)d->duty, d->override, STR_ARG(s), STR_ARG(node));

	return n < (int)size ? (size_t)n : size - 1;
}

/* -- spending ----------------------------------------------------------------------------------------------
 */

struct budget *guards_budget_clone(const struct guards *g)
{
	return budget_clone(g->budget);
}

void guards_charge(struct guards *g, struct budget *budget, const struct due *d,
		   const struct clock_snapshot *now)
{
	uint32_t id = intern_find(g->acts_by, d->action_key), ns = guards_place(g, 'n', d->pod->ns),
		 node = guards_place(g, 'd', d->pod->node);
	struct spend s = spend_of(g, d);

	if (budget) {
		/* A plan: it is never settled. */
		budget_load(budget, &s, 1, now->boot);
		return;
	}
	if (!id) {
		id = intern_ref(g->acts_by, d->action_key);
		g->acts = xgrow(g->acts, &g->cap_acts, id, sizeof(*g->acts));
	}
	g->acts[id] = (struct act){ .ns = d->policy->max_percent_namespace ? ns : 0,
				    .node = d->policy->max_percent_node ? node : 0,
				    .created = d->pod->created,
				    .asked = now->latest,
				    .duty = d->duty,
				    .used = true,
				    .retry = d->retry };
	if (duty_has_guard(d->duty, GUARD_REVERTED)) {
		g->acts[id].work = guards_work(g, d->owner, d->pod->revision, true);
		g->works[g->acts[id].work].acted_on = true;
	} else if ((g->acts[id].work = loop_of(g, d, g->loops < LOOPS_MAX))) {
		g->loops += !g->works[g->acts[id].work].looping;
		g->works[g->acts[id].work].looping = true;
	}
	budget_charge(g->budget, id, &s);
	guards_share_changed(g, d->duty, g->acts[id].ns);
	guards_share_changed(g, d->duty, g->acts[id].node);
}

/* A workload that was scaled: what of it is created from now on came back. */
static void note_ended(struct guards *g, const struct act *a, bool done, const struct clock_snapshot *now)
{
	struct work *w = &g->works[a->work];

	if (duty_has_guard(a->duty, GUARD_EVICT_LOOP)) {
		if (done)
			evict_loop_deleted(&w->loop, a->created, now->latest);
	} else if (done) {
		reverted_acted(&w->reverted, a->asked);
		guards_work_dirty(g, a->work);
	} else if (w->reverted.acted == 0 && w->reverted.count == 0) {
		w->acted_on = false;
		guards_work_done(g, a->work);
	}
}

bool guards_retried(const struct guards *g, struct str action_key, struct str *ret_owner,
		    struct str *ret_revision)
{
	uint32_t id = intern_find(g->acts_by, action_key);
	struct str key;
	const char *slash;

	if (!id || !g->acts[id].used || !g->acts[id].retry)
		return false;
	key = intern_str(g->works_by, g->acts[id].work);
	slash = memchr(key.p, '/', key.n);
	*ret_owner = (struct str){ key.p, (size_t)(slash - key.p) };
	*ret_revision = (struct str){ slash + 1, key.n - ret_owner->n - 1 };
	return true;
}

static bool settle(struct guards *g, struct str action_key, bool written, bool observe,
		   const struct clock_snapshot *now)
{
	uint32_t id = intern_find(g->acts_by, action_key);
	struct act a;

	if (!id || !g->acts[id].used)
		return false;
	a = g->acts[id];
	(void)budget_settle(g->budget, id, written, now->boot);
	guards_share_changed(g, a.duty, a.ns);
	guards_share_changed(g, a.duty, a.node);
	if (a.work)
		note_ended(g, &a, written && !observe && !a.retry, now);
	g->acts[id] = (struct act){ 0 };
	intern_unref(g->acts_by, id);
	return true;
}

bool guards_on_result(struct guards *g, const struct msg_nomination_result *m, bool observe,
		      const struct clock_snapshot *now)
{
	const bool written = m->outcome == OUTCOME_DONE || m->outcome == OUTCOME_UNCONFIRMED;

	return settle(g, STR_C(m->action_key), written, observe, now);
}

void guards_give_back(struct guards *g, struct str action_key, const struct clock_snapshot *now)
{
	(void)settle(g, action_key, false, false, now);
}

void guards_forgive(struct guards *g, struct str owner)
{
	for (uint32_t id = 1; id < g->cap_works; id++) {
		struct work *w = &g->works[id];
		const struct str key =
			w->used && w->acted_on ? intern_str(g->works_by, id) : (struct str){ 0 };

		if (key.n <= owner.n || key.p[owner.n] != '/' || memcmp(key.p, owner.p, owner.n) != 0)
			continue;
		w->reverted = (struct reverted){ 0 };
		w->acted_on = false;
		guards_work_dirty(g, id);
	}
}
