/* cluster_state.c - see cluster_state.h. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/controller/cluster_state.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "rules/select.h"
#include "watcher/cache/pack.h"

void cluster_init(struct cluster_state *c, uint64_t number, const struct policy *policy, uint64_t quiet_ms,
		  const struct store_ops *ops, void *ctx)
{
	*c = (struct cluster_state){
		.number = number,
		.store = store_new(ops, ctx),
		.namespaces = namespace_table_new(),
		.workloads = workloads_new(),
		.counts = pod_counts_new(),
		.pulls = pulls_new(),
	};
	c->admission = admission_new(number, c->workloads);
	cluster_set_policy(c, policy, quiet_ms);
}

void cluster_done(struct cluster_state *c)
{
	store_free(&c->store);
	namespace_table_free(&c->namespaces);
	sync_state_done(&c->sync);
	admission_free(&c->admission);
	workloads_free(&c->workloads);
	pod_counts_free(&c->counts);
	pulls_free(&c->pulls);
}

void cluster_set_policy(struct cluster_state *c, const struct policy *policy, uint64_t quiet_ms)
{
	c->policy = policy;
	store_set_policy(c->store, policy);
	c->asks_labels = policy_needs_namespaces(policy);
	store_set_namespaces(c->store, c->asks_labels ? c->namespaces : NULL);
	admission_set_observe(c->admission, policy->mode == MODE_OBSERVE);
	c->sync.quiet_ms = quiet_ms;
}

struct clock_snapshot cluster_clocks(const struct cluster_state *c)
{
	uint64_t boot = clock_boot_ms();
	int64_t wall = clock_wall_ms();

	return (struct clock_snapshot){ .boot = (int64_t)boot,
					.wall = wall,
					.server = server_clock_now(&c->server_clock, wall, boot),
					.latest = server_clock_latest(&c->server_clock, wall, boot) };
}

bool cluster_host_is_ahead(const struct cluster_state *c)
{
	return server_clock_excess(&c->server_clock, clock_wall_ms(), clock_boot_ms()) < 0;
}

enum text cluster_stale(const struct cluster_state *c)
{
	return sync_state_reason(&c->sync, clock_boot_ms());
}

bool cluster_in_step(const struct cluster_state *c)
{
	return sync_state_synced(&c->sync) && sync_state_fresh(&c->sync, clock_boot_ms());
}

bool cluster_has(const struct cluster_state *c, uint32_t h)
{
	uint64_t nominate_at;

	return store_has(c->store, h) &&
	       sync_state_namespace(&c->sync, store_namespace(c->store, h), &nominate_at);
}

/* Of a live pod that fails by no duty. */
static unsigned proofs(const struct pod_facts *p)
{
	unsigned mark = 0;

	for (enum container_kind kind = CONTAINER_MAIN; kind <= CONTAINER_INIT; kind++)
		mark |= judge_proves(p, kind) ? MARK_PROVES(kind) : 0;
	return mark;
}

/* What never restarted is judged alike at any time: then nobody looks at the clock, which costs an event more
 * than all else. */
static bool has_restarted(const struct pod_facts *p)
{
	for (uint32_t i = 0; i < p->n_containers && i < POD_CONTAINERS_MAX; i++)
		if (p->containers[i].restarts > 0)
			return true;
	return false;
}

static int64_t now_of(const struct cluster_state *c, const struct pod_facts *p)
{
	return has_restarted(p) ? cluster_clocks(c).server : 0;
}

uint8_t cluster_mark(const struct cluster_state *c, const struct pod_facts *p)
{
	bool live = p->deletion == 0 && !pod_is_finished(p);
	const int64_t now = live ? now_of(c, p) : 0;
	unsigned mark = pod_is_serving(p) ? MARK_READY : 0;

	if (!live)
		return (uint8_t)mark;
	mark |= MARK_LIVE;
	for (size_t i = 0; i < WORKLOAD_DUTIES; i++) {
		const enum duty d = duty_of_workload(i);

		if (cluster_failing_by((uint8_t)mark) < 0 && judge_fails(d, p, c->policy, now, NULL))
			mark |= MARK_FAILING(i);
		else if (judge_works(d, p, now))
			mark |= MARK_WORKS(i);
	}
	return (uint8_t)(cluster_failing_by((uint8_t)mark) < 0 ? mark | proofs(p) : mark);
}

int cluster_failing_by(uint8_t mark)
{
	for (int i = 0; i < WORKLOAD_DUTIES; i++)
		if (mark & MARK_FAILING(i))
			return i;
	return -1;
}

struct str cluster_clock_owner(const struct pod_facts *p)
{
	return p->owner.uid.n ? p->owner.uid : p->uid;
}

struct clock_key cluster_clock_key(const struct pod_facts *p, size_t i)
{
	return (struct clock_key){ cluster_clock_owner(p), p->revision, i };
}

bool cluster_pulls_now(const struct cluster_state *c, const struct pod_facts *p, uint8_t mark)
{
	const size_t i = (size_t)duty_workload(DUTY_IMAGE_PULL);
	const unsigned works = MARK_WORKS(i);
	struct group_tally t = { 0 };
	uint32_t h, group;

	if (!(mark & works) || !workloads_clocks(c->workloads) || !sync_state_synced(&c->sync))
		return false;
	h = store_find(c->store, p->ns, p->name);
	if (!h || (store_mark(c->store, h) & works))
		return false;
	group = store_group(c->store, h);
	if (group)
		groups_tally(store_groups(c->store), group, &t);
	return t.works[i] == 0;
}

/* Long enough ago for this pod to have tried again; no longer ago than its threshold asks for. */
static int64_t others_pulled_at(const struct cluster_state *c, const struct pod_facts *p)
{
	const int64_t hours = policy_of(c->policy, p)[DUTY_IMAGE_PULL].hours_ms;
	const int64_t settled = hours < PULLS_SETTLE_MS ? hours : PULLS_SETTLE_MS;

	return pulls_of_others(c->pulls, cluster_clock_owner(p), p, cluster_clocks(c).server - settled);
}

/* Of what the pods of the group say where p fails by the i-th duty. */
static void fill_tally(const struct cluster_state *c, const struct pod_facts *p, size_t i,
		       const struct group_tally *t, struct pod_context *ret)
{
	uint32_t container = 0, failing = 0;
	enum container_kind kind = CONTAINER_MAIN;

	if (judge_fails(duty_of_workload(i), p, c->policy, now_of(c, p), &container) &&
	    p->containers[container].kind == CONTAINER_INIT)
		kind = CONTAINER_INIT;
	for (size_t k = 0; k < WORKLOAD_DUTIES; k++)
		failing += t->failing[k];
	ret->tally_known = TRI_YES;
	ret->failing = t->failing[i];
	ret->otherwise = failing - t->failing[i];
	ret->pods = failing + t->proves[kind];
	ret->silent = t->live - ret->pods;
	ret->ready = t->ready;
}

static void fill_clock(const struct cluster_state *c, const struct pod_facts *p, size_t i,
		       struct pod_context *ret)
{
	const struct clock_key k = cluster_clock_key(p, i);
	const struct failing f = workloads_clock(c->workloads, k);

	ret->failing_since = f.since;
	ret->restarts_before = f.restarts;
	ret->ready_ms = f.measured ? workloads_ready_ms(c->workloads, k, cluster_clocks(c).server) : 0;
}

/* Has `other` ended later? What ended at once is in the order in which it was made, and of its uid. */
static bool is_newer(const struct pod_facts *other, int64_t other_at, const struct pod_facts *p, int64_t at)
{
	if (other_at != at)
		return other_at > at;
	if (other->created != p->created)
		return other->created > p->created;
	return other->uid.n == p->uid.n && memcmp(other->uid.p, p->uid.p, p->uid.n) > 0;
}

/* Of all revisions of the owner; no more than are kept. */
static uint32_t count_newer(const struct cluster_state *c, uint32_t group, enum duty d,
			    const struct pod_facts *p, const struct duty_policy *dp)
{
	const struct groups *groups = store_groups(c->store);
	struct pack_text text;
	_uninitialized_ struct pod_facts other;
	int64_t at, other_at;
	uint32_t n = 0;

	if (dp->keep_newest == 0 || !judge_is_ended(d, p, dp, &at))
		return 0;
	for (uint32_t g = groups_chain_first(groups, group); g; g = groups_chain_next(groups, g))
		for (uint32_t h = store_group_first(c->store, g); h && n < dp->keep_newest;
		     h = store_group_next(c->store, h)) {
			if (store_mark(c->store, h) & MARK_LIVE)
				continue;
			store_read(c->store, h, &text, &other);
			n += judge_is_ended(d, &other, dp, &other_at) && other.deletion == 0 &&
			     is_newer(&other, other_at, p, at);
		}
	return n;
}

static void fill_newer(const struct cluster_state *c, uint32_t group, const struct pod_facts *p,
		       struct pod_context *ret)
{
	const struct duty_policy *dp = policy_of(c->policy, p);

	ret->newer_known = TRI_YES;
	for (int d = 0; d < DUTY__MAX; d++)
		ret->newer[d] = count_newer(c, group, (enum duty)d, p, &dp[d]);
}

/* Of the duty by which the pod fails, by its mark: no other asks for clock and tally. When a pod of the
 * revision works, nothing is failing "since". *ret_tally is that of h's group; nothing is in it without one.
 */
static void fill_context(const struct cluster_state *c, uint32_t h, const struct pod_facts *p, uint8_t mark,
			 struct group_tally *ret_tally, struct pod_context *ret)
{
	const uint32_t group = store_group(c->store, h);
	const int by = cluster_failing_by(mark);
	const size_t i = by < 0 ? 0 : (size_t)by;
	struct group_tally t = { 0 };

	*ret = (struct pod_context){ .stage = STAGE_CACHE };
	if (group) {
		groups_tally(store_groups(c->store), group, &t);
		fill_tally(c, p, i, &t, ret);
	}
	if (group && !(mark & MARK_LIVE))
		fill_newer(c, group, p, ret);
	if (t.works[i] == 0)
		fill_clock(c, p, i, ret);
	if (by >= 0 && duty_of_workload(i) == DUTY_IMAGE_PULL)
		ret->others_pulled_at = others_pulled_at(c, p);
	*ret_tally = t;
}

void cluster_context(const struct cluster_state *c, uint32_t h, const struct pod_facts *p,
		     struct pod_context *ret)
{
	struct group_tally t;

	fill_context(c, h, p, cluster_mark(c, p), &t, ret);
}

/* How often a container of the group, or of p alone, has restarted at most. */
static int32_t most_restarts(const struct cluster_state *c, uint32_t group, const struct pod_facts *p)
{
	_uninitialized_ struct pod_facts other;
	int32_t most = pod_most_restarts(p);

	for (uint32_t h = group ? store_group_first(c->store, group) : 0; h;
	     h = store_group_next(c->store, h)) {
		store_get(c->store, h, &other);
		most = pod_most_restarts(&other) > most ? pod_most_restarts(&other) : most;
	}
	return most;
}

/* How crashes are counted, and how long a pod is Ready between them. */
static void measure(struct cluster_state *c, uint32_t h, size_t i, const struct pod_facts *p,
		    struct pod_context *ret)
{
	const struct clock_key k = cluster_clock_key(p, i);

	if (duty_of_workload(i) != DUTY_CRASH_LOOP)
		return;
	if (!workloads_clock(c->workloads, k).measured) {
		const int64_t now = cluster_clocks(c).server;

		workloads_measure(c->workloads, k, policy_of(c->policy, p)[DUTY_CRASH_LOOP].hours_ms,
				  c->policy->plans_only ? 0 : most_restarts(c, store_group(c->store, h), p),
				  now);
		workloads_ready(c->workloads, k, ret->ready > 0, now);
	}
	fill_clock(c, p, i, ret);
}

/* The clock of a pod that fails by the i-th duty, and what begins with others at the same time. */
static void failing(struct cluster_state *c, uint32_t h, size_t i, const struct pod_facts *p, bool pulled,
		    struct pod_context *ret)
{
	const bool only_begins = cluster_failing_by(store_mark(c->store, h)) < 0;
	const int64_t now = server_clock_latest(&c->server_clock, clock_wall_ms(), clock_boot_ms());
	const enum duty d = duty_of_workload(i);
	const struct clock_key k = cluster_clock_key(p, i);
	enum reason ignored;

	ret->failing_since = workloads_fails(c->workloads, k, now);
	if (c->policy->plans_only)
		ret->failing_since = workloads_failed_before(c->workloads, k, judge_unready_since(p, now));
	measure(c, h, i, p, ret);
	pulled = workloads_pulled(c->workloads, k, pulled);
	if (only_begins) {
		workloads_idle(c->workloads, k, (int64_t)clock_boot_ms());
		return;
	}
	if (duty_has_guard(d, GUARD_BREAKER) && select_namespace(c->policy, d, p, &ignored))
		admission_failing(c->admission, d, k.owner, k.revision, ret->failing_since, pulled, p);
}

/* Does the pod show that its revision worked after the i-th clock began? */
static bool worked_since(const struct cluster_state *c, size_t i, const struct pod_facts *p)
{
	const int64_t since = workloads_clock(c->workloads, cluster_clock_key(p, i)).since;

	return since > 0 && judge_worked_at(duty_of_workload(i), p, cluster_clocks(c).server) > since;
}

/* It crashes, and since its clock began hardly has: a loop crashes several times an hour, and one that does
 * not for an hour ends the clock. It rested while this watcher did not run, and what comes is another loop.
 */
static bool rested(const struct cluster_state *c, size_t i, const struct pod_facts *p)
{
	const struct failing f = workloads_clock(c->workloads, cluster_clock_key(p, i));
	const int64_t crashes = (int64_t)pod_most_restarts(p) - f.restarts;

	return duty_of_workload(i) == DUTY_CRASH_LOOP && f.since > 0 && p->created <= f.since &&
	       crashes >= 0 && cluster_clocks(c).server - f.since > (crashes + 2) * WORKLOADS_IDLE_MS;
}

/* The duty by which p fails or has begun to: 0 to WORKLOAD_DUTIES - 1, -1: by none. */
static int begun_by(const struct cluster_state *c, const struct pod_facts *p, uint8_t mark)
{
	const int by = cluster_failing_by(mark);

	if (by < 0 && (mark & MARK_LIVE) && judge_begins(DUTY_CRASH_LOOP, p, c->policy, now_of(c, p)))
		return duty_workload(DUTY_CRASH_LOOP);
	return by;
}

/* What crashes beside a pod that serves belongs to no workload that has stopped to. */
static bool clock_runs(const struct cluster_state *c, size_t i, const struct pod_facts *p,
		       const struct pod_context *s)
{
	const enum duty d = duty_of_workload(i);

	return policy_of(c->policy, p)[d].enable &&
	       (d != DUTY_CRASH_LOOP || s->ready == 0 ||
		workloads_clock(c->workloads, cluster_clock_key(p, i)).since > 0);
}

void cluster_track(struct cluster_state *c, uint32_t h, const struct pod_facts *p, struct pod_context *ret)
{
	const uint8_t mark = cluster_mark(c, p);
	const int by = begun_by(c, p, mark);
	struct group_tally t;
	bool works = false;

	if (mark != store_mark(c->store, h)) /* another policy than when it was put, or another time */
		store_set_mark(c->store, h, mark);
	fill_context(c, h, p, mark, &t, ret);
	for (size_t i = 0; i < WORKLOAD_DUTIES; i++) {
		const bool proved = t.works[i] > 0 || (!p->owner.uid.n && (mark & MARK_WORKS(i)));

		if (proved || worked_since(c, i, p) || (by == (int)i && rested(c, i, p)))
			workloads_works(c->workloads, cluster_clock_key(p, i));
		works = works || (proved && (by < 0 || by == (int)i));
	}
	if (works)
		admission_recovered(c->admission, cluster_clock_owner(p), p->revision);
	else if (by >= 0 && clock_runs(c, (size_t)by, p, ret))
		failing(c, h, (size_t)by, p, t.pulled, ret);
}

void cluster_note_tally(struct cluster_state *c, uint32_t group)
{
	const struct groups *groups = store_groups(c->store);
	const size_t crash = (size_t)duty_workload(DUTY_CRASH_LOOP);
	struct group_tally t;

	groups_tally(groups, group, &t);
	for (uint32_t g = groups_chain_first(groups, group); g; g = groups_chain_next(groups, g)) {
		struct owner_facts owner;
		struct str revision;
		char uid[37];

		groups_owner(groups, g, &owner, &revision, uid);
		const struct clock_key k = { owner.uid, revision, crash };

		if (workloads_clock(c->workloads, k).measured)
			workloads_ready(c->workloads, k, t.ready > 0, cluster_clocks(c).server);
	}
}
