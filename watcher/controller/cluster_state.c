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
		.failing_since = failing_since_new(),
		.sync = sync_state_new(quiet_ms),
		.admission = admission_new(number),
		.counts = pod_counts_new(),
	};
	cluster_set_policy(c, policy, quiet_ms);
}

void cluster_done(struct cluster_state *c)
{
	store_free(&c->store);
	failing_since_free(&c->failing_since);
	sync_state_free(&c->sync);
	admission_free(&c->admission);
	pod_counts_free(&c->counts);
}

void cluster_set_policy(struct cluster_state *c, const struct policy *policy, uint64_t quiet_ms)
{
	c->policy = policy;
	store_set_policy(c->store, policy);
	sync_state_set_quiet(c->sync, quiet_ms);
}

void cluster_clocks(const struct cluster_state *c, struct clock_snapshot *ret)
{
	uint64_t boot = clock_boot_ms();
	int64_t wall = clock_wall_ms();

	*ret = (struct clock_snapshot){ .boot = (int64_t)boot,
					.wall = wall,
					.server = server_clock_now(&c->server_clock, wall, boot),
					.latest = server_clock_latest(&c->server_clock, wall, boot) };
}

int64_t cluster_now(const struct cluster_state *c)
{
	return server_clock_now(&c->server_clock, clock_wall_ms(), clock_boot_ms());
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
	unsigned mark = p->ready ? MARK_READY : 0;

	if (live)
		mark |= MARK_LIVE;
	if (live && judge_fails(DUTY_IMAGE_PULL, p, c->policy, &container))
		mark |= MARK_FAILING;
	else if (live && judge_works(DUTY_IMAGE_PULL, p))
		mark |= MARK_PULLED;
	return (uint8_t)mark;
}

struct str cluster_clock_owner(const struct pod_facts *p)
{
	return p->owner.uid.n ? p->owner.uid : p->uid;
}

/* false when a pod of h's revision has pulled: then nothing is failing "since". */
static bool clock_may_run(const struct cluster_state *c, uint32_t h)
{
	struct group_tally t = { 0 };
	uint32_t group = store_group(c->store, h);

	if (group)
		groups_tally(store_groups(c->store), group, &t);
	return t.pulled == 0;
}

void cluster_context(const struct cluster_state *c, uint32_t h, const struct pod_facts *p,
		     struct pod_context *ret)
{
	uint32_t group = store_group(c->store, h);
	struct group_tally t;

	*ret = (struct pod_context){ .stage = STAGE_CACHE };
	if (group) {
		groups_tally(store_groups(c->store), group, &t);
		ret->tally_known = TRI_YES;
		ret->pods = t.live;
		ret->failing = t.failing;
		ret->ready = t.ready;
	}
	if (clock_may_run(c, h))
		ret->failing_since = failing_since_get(c->failing_since, cluster_clock_owner(p), p->revision);
}

static void recovered(struct cluster_state *c, struct str owner, struct str revision)
{
	failing_since_clear(c->failing_since, owner, revision);
	admission_recovered(c->admission, owner, revision);
}

void cluster_track(struct cluster_state *c, uint32_t h, const struct pod_facts *p, struct pod_context *ret)
{
	struct str owner = cluster_clock_owner(p);
	uint8_t mark = cluster_mark(c, p);
	enum reason ignored;

	if (mark != store_mark(c->store, h)) /* another policy than when it was put */
		store_set_mark(c->store, h, mark);
	cluster_context(c, h, p, ret);
	if (!clock_may_run(c, h) || (!p->owner.uid.n && mark & MARK_PULLED)) {
		recovered(c, owner, p->revision);
	} else if (mark & MARK_FAILING && policy_of(c->policy, p)[DUTY_IMAGE_PULL].enable) {
		ret->failing_since = failing_since_failing(
			c->failing_since, owner, p->revision,
			server_clock_latest(&c->server_clock, clock_wall_ms(), clock_boot_ms()));
		if (select_namespace(c->policy, DUTY_IMAGE_PULL, p->ns, &ignored))
			admission_failing(c->admission, owner, p->revision, ret->failing_since, p);
	}
}
