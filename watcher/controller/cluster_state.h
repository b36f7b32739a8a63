/* cluster_state.h - what is known of one cluster: its pods, since when they fail, its clocks, what the guards
 * know, and whether all of it is up to date. Layer: watcher.  Threads: none; no I/O, no timers. The
 * controller keeps it; decisions, plan, explain and the rows of restarts read it. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_CONTROLLER_CLUSTER_STATE_H
#define WATCHER_CONTROLLER_CLUSTER_STATE_H

#include "base/server_clock.h"
#include "model/policy.h"
#include "rules/judge.h"
#include "watcher/cache/store.h"
#include "watcher/controller/pod_counts.h"
#include "watcher/guards/admission.h"
#include "watcher/guards/pulls.h"
#include "watcher/guards/sync_state.h"

struct cluster_state {
	uint64_t number;             /* of the cluster, in messages */
	const struct policy *policy; /* borrowed */
	struct store *store;
	struct namespace_table *namespaces; /* empty unless the policy asks for their labels, */
	bool asks_labels;                   /* which is this */
	struct server_clock server_clock;
	struct workloads *workloads;
	struct sync_state sync;
	struct admission *admission;
	struct pulls *pulls;
	struct pod_counts *counts;
};

/* policy is borrowed until the next cluster_set_policy; ops and ctx are the store's. quiet_ms: no nomination
 * this long after the first sync. */
void cluster_init(struct cluster_state *c, uint64_t number, const struct policy *policy, uint64_t quiet_ms,
		  const struct store_ops *ops, void *ctx);
void cluster_done(struct cluster_state *c);
void cluster_set_policy(struct cluster_state *c, const struct policy *policy, uint64_t quiet_ms);

struct clock_snapshot cluster_clocks(const struct cluster_state *c);
/* Is this host's clock further ahead of the API server's than is believed? */
bool cluster_host_is_ahead(const struct cluster_state *c);
/* Why nothing is judged now, for the operator; "" when the cache is in step. */
enum text cluster_stale(const struct cluster_state *c);
/* Is every list complete, and did bytes arrive lately? */
bool cluster_in_step(const struct cluster_state *c);
/* Is there a pod h, in a namespace that is kept in step? */
bool cluster_has(const struct cluster_state *c, uint32_t h);

/* What a pod counts as in its group, by the policy in force: a set of MARK_*. */
uint8_t cluster_mark(const struct cluster_state *c, const struct pod_facts *p);
/* The uid whose clock it is: the controller's, or the pod's own without one. */
struct str cluster_clock_owner(const struct pod_facts *p);
struct clock_key cluster_clock_key(const struct pod_facts *p, size_t i);
/* Which of the duties that concern workloads a pod of that mark fails by: 0 to WORKLOAD_DUTIES - 1; -1 = by
 * none. */
int cluster_failing_by(uint8_t mark);
/* The pod p is about to be put into the store, as `mark`: does it show that its image was pulled just now?
 * Not when it is new to us, nor when another pod of its revision works: that image may have lain on the node.
 */
bool cluster_pulls_now(const struct cluster_state *c, const struct pod_facts *p, uint8_t mark);
/* The tally of a group changed: is a pod of the workload Ready? */
void cluster_note_tally(struct cluster_state *c, uint32_t group);
/* What is known around pod h, whose facts are p. */
void cluster_context(const struct cluster_state *c, uint32_t h, const struct pod_facts *p,
		     struct pod_context *ret);
/* The same, and pod h is taken into what is known beyond it: marks, clocks, breaker. */
void cluster_track(struct cluster_state *c, uint32_t h, const struct pod_facts *p, struct pod_context *ret);

#endif
