/* admission.c - see admission.h.  What each guard knows is in a file of its own; here they are asked and
 * charged together. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/guards/admission.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "config/window.h"
#include "rules/cause.h"
#include "text/facts_text.h"
#include "watcher/cache/intern.h"
#include "watcher/guards/shares.h"
#include "watcher/guards/workloads.h"

/* An action that is open, by the id of its key. */
struct open_action {
	uint32_t workload; /* or evict loop; 0 = neither */
	uint32_t ns, node; /* whose share it spends, 0 = no limit on it */
	int64_t created;   /* of the pod */
	int64_t asked;     /* the latest that the API server's clock can have shown */
	enum duty duty;
	bool used, retry;
	bool observe; /* whose budgets it spends */
};

struct admission {
	uint64_t cluster;
	char name[64];
	struct msg_pause *pauses; /* of this cluster, or of all */
	size_t n_pauses;
	struct windows *windows;
	struct shares *shares[2]; /* of writes; of dry runs */
	bool observe;             /* dry runs are what is asked for */
	struct workloads *workloads;
	struct intern *keys;      /* of actions */
	struct open_action *open; /* by their ids */
	uint32_t cap;
	struct breaker *breaker;
	struct intern *names; /* of registry hosts and of nodes: their numbers in the breaker */
	struct facts common;  /* what the workloads have in common that fail together */
	int64_t opened;       /* wall; 0 = closed */
	bool breaker_dirty;   /* to be saved */
	bool follows;         /* another replica leads: */
	char holder[254];
};

struct admission *admission_new(uint64_t cluster, struct workloads *workloads)
{
	struct admission *g = xcalloc(1, sizeof(*g));

	g->cluster = cluster;
	g->windows = windows_new();
	for (size_t i = 0; i < ARRAY_SIZE(g->shares); i++)
		g->shares[i] = shares_new();
	g->breaker = breaker_new();
	g->names = intern_new();
	g->workloads = workloads;
	g->keys = intern_new();
	return g;
}

void admission_free(struct admission **g)
{
	if (!*g)
		return;
	free((*g)->pauses);
	windows_free(&(*g)->windows);
	for (size_t i = 0; i < ARRAY_SIZE((*g)->shares); i++)
		shares_free(&(*g)->shares[i]);
	breaker_free(&(*g)->breaker);
	intern_free(&(*g)->names);
	intern_free(&(*g)->keys);
	free((*g)->open);
	free(*g);
	*g = NULL;
}

void admission_set_place(struct admission *g, const char *name, const void *zones, size_t n)
{
	(void)snprintf(g->name, sizeof(g->name), "%s", name ? name : "");
	windows_set_zones(g->windows, zones, n);
}

bool admission_on_pause(struct admission *g, const struct msg_pause *m)
{
	const bool all = *m->cluster_name == '\0', everything = !m->on && all && m->duty < 0;
	size_t kept = 0;

	if (!all && strcmp(m->cluster_name, g->name) != 0)
		return false;
	for (size_t i = 0; i < g->n_pauses; i++) {
		const struct msg_pause *p = &g->pauses[i];

		if (!everything && (p->duty != m->duty || (*p->cluster_name == '\0') != all))
			g->pauses[kept++] = *p;
	}
	g->n_pauses = kept;
	if (!m->on)
		return true;
	g->pauses = xreallocarray(g->pauses, g->n_pauses + 1, sizeof(*g->pauses));
	g->pauses[g->n_pauses++] = *m;
	return true;
}

/* The pause of this duty that lasts longest, NULL when there is none. */
static const struct msg_pause *pause_of(const struct admission *g, enum duty d, int64_t wall)
{
	const struct msg_pause *found = NULL;

	for (const struct msg_pause *v = g->pauses; v < g->pauses + g->n_pauses; v++)
		if ((v->duty < 0 || v->duty == (int)d) && (v->until == 0 || wall < v->until) &&
		    (!found || v->until == 0 || (found->until && v->until > found->until)))
			found = v;
	return found;
}

void admission_judge_anew(struct admission *g)
{
	breaker_limits_changed(g->breaker);
}

void admission_set_observe(struct admission *g, bool observe)
{
	g->observe = observe;
}

static struct shares *spent_by(const struct admission *g, bool observe)
{
	return g->shares[observe];
}

static struct shares *shares_now(const struct admission *g)
{
	return spent_by(g, g->observe);
}

void admission_set_leader(struct admission *g, bool leading, const char *holder)
{
	g->follows = !leading;
	(void)snprintf(g->holder, sizeof(g->holder), "%s", holder ? holder : "");
}

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

/* What nobody saw begin, because it was there with the first list or after a gap, began no later than the pod
 * that never ran was made. */
static int64_t began_at(const struct pod_facts *p, int64_t since)
{
	for (uint32_t i = 0; i < p->n_containers && i < POD_CONTAINERS_MAX; i++)
		if (p->containers[i].state != CONTAINER_WAITING || p->containers[i].restarts > 0)
			return since;
	return p->created > 0 && p->created < since ? p->created : since;
}

void admission_failing(struct admission *g, enum duty d, struct str owner, struct str revision, int64_t since,
		       bool pulled, const struct pod_facts *p)
{
	struct breaker_failure f = { .began = began_at(p, since),
				     .crashes = d == DUTY_CRASH_LOOP,
				     .pulled = pulled };
	const struct str host = failing_host(p, &f.cause);

	f.host = intern_once(g->names, host);
	f.node = intern_once(g->names, p->node);
	breaker_failing(g->breaker, workloads_failing(g->workloads, owner, revision), &f);
}

void admission_recovered(struct admission *g, struct str owner, struct str revision)
{
	uint32_t id = breaker_count(g->breaker) ? workloads_find(g->workloads, owner, revision) : 0;

	if (workloads_recovered(g->workloads, id))
		breaker_recovered(g->breaker, id);
}

/* -- asking -- */

static uint32_t workload_of(const struct admission *g, const struct due *d)
{
	return duty_has_guard(d->duty, GUARD_REVERTED)
		       ? workloads_find(g->workloads, d->owner, d->pod->revision)
		       : 0;
}

/* Can the pod be part of an evict loop? */
static bool may_loop(const struct due *d)
{
	return duty_has_guard(d->duty, GUARD_EVICT_LOOP) && d->pod->owner.uid.n && d->pod->node.n;
}

static uint32_t loop_of(const struct admission *g, const struct due *d)
{
	return may_loop(d) ? workloads_loop(g->workloads, d->pod->owner.uid, d->pod->node) : 0;
}

bool admission_note_due(struct admission *g, const struct due *d, const struct clock_snapshot *now)
{
	const uint32_t loop = d->finishes ? 0 : loop_of(g, d);

	workloads_note_due(g->workloads, workload_of(g, d), d->pod->created, now->server);
	return loop && workloads_loop_seen(g->workloads, loop, d->pod->created);
}

static struct reverted reverted_of(const struct admission *g, const struct due *d,
				   const struct clock_snapshot *now)
{
	return workloads_reverted(g->workloads, workload_of(g, d), d->pod->created, now->server);
}

uint32_t admission_reverts(const struct admission *g, const struct due *d, const struct clock_snapshot *now)
{
	return reverted_of(g, d, now).count;
}

struct spend admission_spend(const struct admission *g, const struct due *d)
{
	struct spend s = d->known.spend;

	s.duty = d->duty;
	s.ns = shares_find(shares_now(g), SHARE_NAMESPACE, s.duty, d->pod->ns);
	s.node = shares_find(shares_now(g), SHARE_NODE, s.duty, d->pod->node);
	return s;
}

static void ask_loop(const struct admission *g, const struct due *d, const struct clock_snapshot *now,
		     struct admit_ask *a)
{
	const uint32_t id = d->finishes ? 0 : loop_of(g, d);
	const struct evict_loop *loop = id ? workloads_evict_loop(g->workloads, id) : NULL;
	int64_t until;

	if (!loop || !evict_loop_keeps(loop, d->pod->created, now->server, &until))
		return;
	a->loop_until = now->boot + (until - now->server);
	a->loop_count = loop->count;
}

/* What has lasted longer is no outage that anybody waits for. */
#define BREAKER_LAST_MS INT64_C(86400000)
static int64_t breaker_limit(const struct duty_policy *dp)
{
	return dp->hours_ms > BREAKER_LAST_MS ? dp->hours_ms : BREAKER_LAST_MS;
}

static void ask_breaker(const struct admission *g, const struct due *d, const struct clock_snapshot *now,
			struct admit_ask *a)
{
	const uint32_t id = d->known.retry ? 0 : workload_of(g, d);
	int64_t began, ends;

	if (!id || !breaker_holds(g->breaker, id, &began))
		return;
	ends = began + breaker_limit(d->known.policy);
	if (now->server >= ends)
		return;
	a->breaker = g->breaker;
	a->breaker_until = clocks_boot(now, ends, now->server);
}

static void fill_ask(const struct admission *g, const struct budget *budget, const struct due *d,
		     const struct clock_snapshot *now, struct admit_ask *a)
{
	const struct msg_pause *p = pause_of(g, d->duty, now->wall);
	int64_t at;

	*a = d->known;
	a->now = now->boot;
	a->spend = admission_spend(g, d);
	a->common = &g->common;
	a->reverted = reverted_of(g, d, now);
	if (!d->finishes)
		a->budget = budget ? budget : shares_budget(shares_now(g));
	if (p) {
		a->paused = true;
		a->paused_by = p->by;
		a->paused_why = &p->why;
		a->paused_until = clocks_boot(now, p->until, now->wall);
	}
	if (g->follows)
		a->leader = g->holder;
	if (!windows_are_open(g->windows, &d->known.policy->windows, now->server, &at)) {
		a->window_closed = true;
		a->window_opens = clocks_boot(now, at, now->server);
	}
	ask_loop(g, d, now, a);
	ask_breaker(g, d, now, a);
	a->reverted.until = clocks_boot(now, a->reverted.until, now->server);
}

bool admission_ask(const struct admission *g, const struct budget *budget, const struct due *d,
		   const struct clock_snapshot *now, struct block *ret)
{
	struct admit_ask a;

	fill_ask(g, budget, d, now, &a);
	return admit_ask(&a, ret);
}

void admission_trace(const struct admission *g, const struct due *d, const struct clock_snapshot *now,
		     void (*fn)(void *ctx, enum guard gd, bool passes, const struct block *h), void *ctx)
{
	struct admit_ask a;

	fill_ask(g, NULL, d, now, &a);
	admit_trace(&a, fn, ctx);
}

size_t admission_bin_key(const struct due *d, const struct block *h, char *buf, size_t size)
{
	const struct str scopes[] = {
		[BLOCK_NAMESPACE] = d->pod->ns,
		[BLOCK_NODE] = d->pod->node,
		[BLOCK_WORKLOAD] = d->owner,
		[BLOCK_WORKLOAD_NODE] = d->owner,
	};
	const struct str scope = h->scope < ARRAY_SIZE(scopes) ? scopes[h->scope] : (struct str){ 0 };
	const struct str node = h->scope == BLOCK_WORKLOAD_NODE ? d->pod->node : (struct str){ 0 };
	const int n = snprintf(buf, size, "%d/%d/%.100s/%.*s/%.*s", (int)h->guard,
			       h->scope == BLOCK_ALL ? -1 : (int)d->duty, d->override, STR_ARG(scope),
			       STR_ARG(node));

	return n < (int)size ? (size_t)n : size - 1;
}

/* -- spending -- */

struct budget *admission_budget_clone(const struct admission *g)
{
	return budget_clone(shares_budget(shares_now(g)));
}

void admission_charge(struct admission *g, const struct due *d, const struct clock_snapshot *now)
{
	struct shares *shares = shares_now(g);
	const uint32_t ns = shares_make(shares, SHARE_NAMESPACE, d->duty, d->pod->ns),
		       node = shares_make(shares, SHARE_NODE, d->duty, d->pod->node);
	const struct spend s = admission_spend(g, d);
	const uint32_t id = intern_once(g->keys, d->action_key);
	struct open_action *a;

	g->open = xgrow(g->open, &g->cap, id, sizeof(*g->open));
	a = &g->open[id];
	if (a->workload) /* it is asked for again: it ends once */
		workloads_open(g->workloads, a->workload, false);
	*a = (struct open_action){ .ns = d->known.policy->max_percent_namespace ? ns : 0,
				   .node = d->known.policy->max_percent_node ? node : 0,
				   .created = d->pod->created,
				   .asked = now->latest,
				   .observe = g->observe,
				   .duty = d->duty,
				   .used = true,
				   .retry = d->known.retry };
	if (duty_has_guard(d->duty, GUARD_REVERTED))
		a->workload = workloads_act(g->workloads, d->owner, d->pod->revision);
	else if (may_loop(d))
		a->workload = workloads_make_loop(g->workloads, d->pod->owner.uid, d->pod->node);
	if (a->workload)
		workloads_open(g->workloads, a->workload, true);
	budget_charge(shares_budget(shares), id, &s);
	shares_changed(shares, a->ns);
	shares_changed(shares, a->node);
}

/* spent: something was written, may have been, or would have been; done: but for the last. */
static bool end_action(struct admission *g, struct str action_key, bool spent, bool done,
		       const struct clock_snapshot *now)
{
	const uint32_t id = intern_find(g->keys, action_key);
	struct open_action a;
	struct shares *shares;

	if (!id || !g->open[id].used)
		return false;
	a = g->open[id];
	shares = spent_by(g, a.observe);
	(void)budget_settle(shares_budget(shares), id, spent, now->boot);
	shares_changed(shares, a.ns);
	shares_changed(shares, a.node);
	done = done && !a.retry;
	if (a.workload)
		workloads_open(g->workloads, a.workload, false);
	if (a.workload && !duty_has_guard(a.duty, GUARD_EVICT_LOOP))
		workloads_acted(g->workloads, a.workload, done, a.asked);
	else if (a.workload && done)
		workloads_loop_deleted(g->workloads, a.workload, a.created, now->latest);
	g->open[id] = (struct open_action){ 0 };
	intern_unref(g->keys, id);
	return true;
}

bool admission_on_result(struct admission *g, const struct msg_nomination_result *m,
			 const struct clock_snapshot *now)
{
	const bool written = OUTCOMES_WRITTEN >> m->outcome & 1, spent = OUTCOMES_SPENT >> m->outcome & 1,
		   done = OUTCOMES_KNOWN_WRITTEN >> m->outcome & 1;
	const uint32_t id = intern_find(g->keys, STR_C(m->action_key));

	/* A fresh attempt is remembered with the clock it belongs to. */
	if (id && g->open[id].retry && done)
		workloads_attempted(g->workloads, g->open[id].workload, g->open[id].duty, now->latest);
	const bool ours = end_action(g, STR_C(m->action_key), spent, written, now);

	/* What an operator put back gets its whole time again, and that it comes back is no revert. */
	if (done && m->action == ACTION_RESTORE)
		workloads_forgive(g->workloads, STR_C(m->action_key));
	return ours;
}

void admission_on_earlier_result(struct admission *g, const struct msg_nomination_result *m,
				 const struct clock_snapshot *now)
{
	const bool attempt = m->action == ACTION_FRESH_ATTEMPT;
	uint32_t id;

	if (!(OUTCOMES_WRITTEN >> m->outcome & 1) || !(attempt || m->action == ACTION_SCALE_DOWN))
		return;
	id = workloads_act(g->workloads, STR_C(m->action_key), STR_C(m->revision));
	if (attempt && OUTCOMES_KNOWN_WRITTEN >> m->outcome & 1)
		workloads_attempted(g->workloads, id, (enum duty)m->duty, now->latest);
	workloads_acted(g->workloads, id, !attempt, now->latest);
}

void admission_give_back(struct admission *g, struct str action_key, const struct clock_snapshot *now)
{
	(void)end_action(g, action_key, false, false, now);
}

/* -- saved state -- */

static void load_breaker(struct admission *g, const struct msg_saved_row *m, const struct clock_snapshot *now)
{
	breaker_load(g->breaker, clocks_boot_of_saved(now, m->at), (uint32_t)m->count);
	g->opened = m->at;
	g->common = m->evidence;
}

static int flush_breaker(struct admission *g, const struct outlet *out)
{
	const struct str key = STR_C(duty_name(DUTY_IMAGE_PULL));
	int64_t since;
	int r;

	if (!g->breaker_dirty)
		return 0;
	r = outlet_send_saved(out, g->cluster, GUARD_BREAKER, key, g->opened, 0,
			      breaker_burst(g->breaker, &since)->workloads, &g->common);
	g->breaker_dirty = r < 0;
	return r;
}

static bool is_of(const struct msg_saved_row *m, enum guard guard)
{
	return strcmp(m->kind, guard_desc(guard)->saved) == 0;
}

void admission_on_saved_row(struct admission *g, const struct msg_saved_row *m,
			    const struct clock_snapshot *now)
{
	if (!m->at)
		return;
	if (is_of(m, GUARD_BREAKER))
		load_breaker(g, m, now);
	else if (is_of(m, GUARD_REVERTED))
		workloads_on_saved(g->workloads, m);
	else if (is_of(m, GUARD_EVICT_LOOP))
		workloads_on_saved_loop(g->workloads, m);
	else if (is_of(m, GUARD_BUDGET))
		shares_on_saved(spent_by(g, false), m, now);
}

bool admission_is_unsaved(const struct admission *g)
{
	return g->breaker_dirty || workloads_are_unsaved(g->workloads) ||
	       shares_are_unsaved(spent_by(g, false));
}

int admission_flush(struct admission *g, const struct clock_snapshot *now, const struct outlet *out)
{
	int r = flush_breaker(g, out);

	if (r == 0)
		r = workloads_flush(g->workloads, g->cluster, out);
	return r < 0 ? r : shares_flush(spent_by(g, false), g->cluster, now, out);
}

void admission_forget_spent(struct admission *g)
{
	for (size_t i = 0; i < ARRAY_SIZE(g->shares); i++) {
		shares_free(&g->shares[i]);
		g->shares[i] = shares_new();
	}
}

void admission_on_action_row(struct admission *g, const struct msg_action_row *m,
			     const struct clock_snapshot *now)
{
	struct shares *shares = spent_by(g, m->observe);
	const struct spend s = { .duty = (enum duty)m->duty,
				 .ns = shares_make(shares, SHARE_NAMESPACE, (enum duty)m->duty,
						   STR_C(m->ns)) };

	/* One that is open counts from now: it may be written at any moment. */
	budget_load(shares_budget(shares), &s, 1, m->at ? clocks_boot_of_saved(now, m->at) : now->boot);
}

/* -- time -- */

static void describe(struct admission *g, const struct burst *b)
{
	const struct str host = intern_str(g->names, b->host), node = intern_str(g->names, b->node);
	struct facts *f = &g->common;

	facts_clear(f);
	facts_finding(f, b->condition == BREAKER_PERCENT ? TEXT_BREAKER_PERCENT : TEXT_BREAKER);
	facts_count(f, FACT_WORKLOADS, b->workloads);
	facts_count(f, FACT_LIMIT, b->limit);
	if (host.n && b->of_host > 1) {
		facts_count(f, FACT_OF_HOST, b->of_host);
		facts_name(f, FACT_HOST, host);
	}
	if (node.n && b->of_node > 1) {
		facts_count(f, FACT_OF_NODE, b->of_node);
		facts_name(f, FACT_NODE, node);
	}
	if (b->transient)
		facts_count(f, FACT_TRANSIENT, b->transient);
}

static void log_opened(const struct admission *g)
{
	_cleanup_free_ char *because = facts_render(&g->common, NULL);

	(void)log_error(0, "breaker open: duties that it concerns are blocked for this cluster",
			kv_s("because", because));
}

bool admission_check(struct admission *g, const struct breaker_policy *p, uint32_t workloads, uint32_t nodes,
		     const struct clock_snapshot *now)
{
	const bool changed = breaker_update(g->breaker, p, workloads, nodes, now->boot),
		   open = breaker_is_open(g->breaker);
	int64_t since;

	if (open && breaker_next(g->breaker) == 0)
		describe(g, breaker_burst(g->breaker, &since));
	if (!changed)
		return false;
	g->opened = open ? now->wall : 0;
	g->breaker_dirty = true;
	if (open) {
		log_opened(g);
	} else {
		facts_clear(&g->common);
		log_info("breaker closed: the duties that it concerns go on");
	}
	return true;
}

bool admission_check_due(const struct admission *g, uint64_t boot, uint64_t *ret_at)
{
	const int64_t next = breaker_next(g->breaker);

	*ret_at = next ? (uint64_t)next : UINT64_MAX;
	return breaker_dirty(g->breaker) || boot >= *ret_at;
}

void admission_housekeeping(struct admission *g, const struct clock_snapshot *now)
{
	for (size_t i = 0; i < ARRAY_SIZE(g->shares); i++)
		shares_expire(g->shares[i], now);
	workloads_expire(g->workloads, now);
	/* Names of hosts and nodes are kept one by one, and forgotten together when nothing needs any. */
	if (breaker_count(g->breaker) == 0 && !breaker_is_open(g->breaker)) {
		intern_free(&g->names);
		g->names = intern_new();
	}
}

const struct facts *admission_breaker(const struct admission *g)
{
	return breaker_is_open(g->breaker) ? &g->common : NULL;
}

uint32_t admission_revert_count(const struct admission *g)
{
	return workloads_reverts(g->workloads);
}
