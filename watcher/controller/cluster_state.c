/* cluster_state.c - see cluster_state.h. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/controller/cluster_state.h"

#include "base/clock.h"
#include "rules/select.h"

void cluster_init(struct cluster_state *c, uint64_t number, const struct policy *policy, uint64_t quiet_ms,
		  const struct store_ops *ops, void *ctx)
{
	*c = (struct cluster_state){
		.number = number,
		.store = store_new(ops, ctx),
		.namespaces = namespace_table_new(),
		.sync = sync_state_new(quiet_ms),
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
	sync_state_free(&c->sync);
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
	sync_state_set_quiet(c->sync, quiet_ms);
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

const char *cluster_stale(const struct cluster_state *c)
{
	return sync_state_reason(c->sync, clock_boot_ms());
}

bool cluster_in_step(const struct cluster_state *c)
{
	return sync_state_synced(c->sync) && sync_state_fresh(c->sync, clock_boot_ms());
}

bool cluster_has(const struct cluster_state *c, uint32_t h)
{
	uint64_t nominate_at;

	return store_has(c->store, h) &&
	       sync_state_namespace(c->sync, store_namespace(c->store, h), &nominate_at);
}

uint8_t cluster_mark(const struct cluster_state *c, const struct pod_facts *p)
{
	bool live = p->deletion == 0 && !pod_is_finished(p);
	uint32_t container;
	unsigned mark = pod_is_serving(p) ? MARK_READY : 0;

	if (!live)
		return (uint8_t)mark;
	mark |= MARK_LIVE;
	for (size_t i = 0; i < WORKLOAD_DUTIES; i++) {
		const enum duty d = duty_of_workload(i);

		if (cluster_failing_by((uint8_t)mark) < 0 && judge_fails(d, p, c->policy, &container))
			mark |= MARK_FAILING(i);
		else if (judge_works(d, p))
			mark |= MARK_WORKS(i);
	}
	return (uint8_t)mark;
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

bool cluster_pulls_now(const struct cluster_state *c, const struct pod_facts *p, uint8_t mark)
{
	const size_t i = (size_t)duty_workload(DUTY_IMAGE_PULL);
	const unsigned works = MARK_WORKS(i);
	struct group_tally t = { 0 };
	uint32_t h, group;

	if (!(mark & works) || !workloads_clocks(c->workloads) || !sync_state_synced(c->sync))
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
		ret->tally_known = TRI_YES;
		ret->pods = t.live;
		ret->failing = t.failing[i];
		ret->ready = t.ready;
	}
	if (t.works[i] == 0)
		ret->failing_since =
			workloads_clock(c->workloads, cluster_clock_owner(p), p->revision, i).since;
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

/* The clock of a pod that fails by the i-th duty, and what begins with others at the same time. */
static void failing(struct cluster_state *c, size_t i, const struct pod_facts *p, bool pulled,
		    struct pod_context *ret)
{
	const enum duty d = duty_of_workload(i);
	struct str owner = cluster_clock_owner(p);
	enum reason ignored;

	ret->failing_since =
		workloads_fails(c->workloads, owner, p->revision, i,
				server_clock_latest(&c->server_clock, clock_wall_ms(), clock_boot_ms()));
	if (duty_has_guard(d, GUARD_BREAKER) && select_namespace(c->policy, d, p, &ignored))
		admission_failing(c->admission, d, owner, p->revision, ret->failing_since, pulled, p);
}

void cluster_track(struct cluster_state *c, uint32_t h, const struct pod_facts *p, struct pod_context *ret)
{
	struct str owner = cluster_clock_owner(p);
	const uint8_t mark = cluster_mark(c, p);
	const int by = cluster_failing_by(mark);
	struct group_tally t;
	bool works = false;

	if (mark != store_mark(c->store, h)) /* another policy than when it was put */
		store_set_mark(c->store, h, mark);
	fill_context(c, h, p, mark, &t, ret);
	for (size_t i = 0; i < WORKLOAD_DUTIES; i++) {
		if (t.works[i] == 0 && (p->owner.uid.n || !(mark & MARK_WORKS(i))))
			continue;
		workloads_works(c->workloads, owner, p->revision, i);
		works = works || by < 0 || by == (int)i;
	}
	if (works)
		admission_recovered(c->admission, owner, p->revision);
	else if (by >= 0 && policy_of(c->policy, p)[duty_of_workload((size_t)by)].enable)
		failing(c, (size_t)by, p, t.pulled, ret);
}
