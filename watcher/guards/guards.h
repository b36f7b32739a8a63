/* guards.h - what the guards beyond the single object know (rules/admit.h), and what of it must outlive this
 * process: pauses, leadership, windows, the breaker, reverts, evict loops and budgets. Layer: watcher.
 * Threads: none; no I/O, no timers.  Owns: copies of all names it is given. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_GUARDS_GUARDS_H
#define WATCHER_GUARDS_GUARDS_H

#include "model/pod.h"
#include "rules/admit.h"
#include "watcher/guards/clocks.h"
#include "watcher/guards/outbox.h"

struct guards;

struct guards *guards_new(uint64_t cluster);
void guards_free(struct guards **g);

/* Name of the cluster, for pauses; TZif bytes of the zones that windows name (config/window.h; n 0 = UTC for
 * all). Copied. */
void guards_set_cluster(struct guards *g, const char *name);
void guards_set_zones(struct guards *g, const void *zones, size_t n);

/* -- what other processes report -- */

void guards_on_saved_row(struct guards *g, const struct msg_saved_row *m, const struct clock_snapshot *now);
void guards_on_action_row(struct guards *g, const struct msg_action_row *m, const struct clock_snapshot *now);
/* true when something changed for this cluster. */
bool guards_on_pause(struct guards *g, const struct msg_pause *m);
/* Without a call: leading. */
void guards_set_leader(struct guards *g, bool leading, const char *holder);

/* -- what is seen -- */

/* A pod of this revision fails to pull, by its clock since `began` (server's time). */
void guards_failing(struct guards *g, struct str owner, struct str revision, int64_t began,
		    const struct pod_facts *p);
/* None of its pods fails now. */
void guards_recovered(struct guards *g, struct str owner, struct str revision);

/* -- what is asked -- */

struct due {
	enum duty duty;
	bool retry;                       /* a fresh attempt, not the duty itself */
	const struct duty_policy *policy; /* in force for this pod */
	const char *override;             /* its name, "" = none */
	const struct pod_facts *pod;
	struct str owner;            /* whose clock: the controller's uid, or the pod's own */
	struct str action_key;       /* at most one open action may concern it */
	uint32_t pods;               /* that the action ends */
	uint32_t ns_pods, node_pods; /* 0 = unknown */
	int64_t quiet_until;         /* boot ms */
	int64_t clock_off;
	const char *stale; /* NULL = fresh */
};
/* To be called when the pod is due and could go; never for a plan: counts a return as a revert, and notes the
 * newest of an evict loop. true: one that was kept as the newest until now may go. */
bool guards_note_due(struct guards *g, const struct due *d, const struct clock_snapshot *now);
/* May it go? budget: NULL = the real one, else a clone for a plan. Changes nothing. */
bool guards_ask(const struct guards *g, const struct budget *budget, const struct due *d,
		const struct clock_snapshot *now, struct block *ret);
/* Every guard in order, for the operator. */
void guards_trace(const struct guards *g, const struct due *d, const struct clock_snapshot *now,
		  void (*fn)(void *ctx, enum guard gd, bool passes, const struct block *h), void *ctx);
/* How often it came back. */
uint32_t guards_reverts(const struct guards *g, const struct due *d, const struct clock_snapshot *now);
/* Key of the bin in which it waits: whatever shares it waits for the same. Returns the length. */
size_t guards_bin_key(const struct due *d, const struct block *h, char *buf, size_t size);

/* What it would spend: for a plan, which spends a clone of the budget. */
struct spend guards_spend(const struct guards *g, const struct due *d);
struct budget *guards_budget_clone(const struct guards *g);
/* It is about to be nominated. What that changes of the saved state leaves with the next guards_flush(),
 * which must come before the nomination: a next watcher has to know of it. */
void guards_charge(struct guards *g, const struct due *d, const struct clock_snapshot *now);
/* Whose clock the open action on this key is about; false = there is none, or it is no fresh attempt. */
bool guards_retried(const struct guards *g, struct str action_key, struct str *ret_owner,
		    struct str *ret_revision);
/* It was not nominated after all. */
void guards_give_back(struct guards *g, struct str action_key, const struct clock_snapshot *now);
/* NOMINATION_RESULT. false = it was none of ours. */
bool guards_on_result(struct guards *g, const struct msg_nomination_result *m, bool observe,
		      const struct clock_snapshot *now);
/* Nothing of this owner counts as reverted any more: an operator put its replicas back. */
void guards_forgive(struct guards *g, struct str owner);

/* -- time and saved state -- */

/* Check the breaker when something changed, or its time came. workloads, nodes: that have pods. true when it
 * opened or closed. */
bool guards_check(struct guards *g, const struct breaker_policy *p, uint32_t workloads, uint32_t nodes,
		  const struct clock_snapshot *now);
/* Does guards_check have something to do at `boot`? *ret_at: when it next has (UINT64_MAX = not before a
 * change). */
bool guards_check_due(const struct guards *g, uint64_t boot, uint64_t *ret_at);
void guards_housekeeping(struct guards *g, const struct clock_snapshot *now);
/* Send what changed of the saved state until the outbox is full; 0 or what it said. */
int guards_flush(struct guards *g, const struct clock_snapshot *now, const struct outbox *out);

/* What the breaker says, "" when it is closed. */
const char *guards_breaker_text(const struct guards *g);
/* Workloads that came back and are remembered. */
uint32_t guards_revert_count(const struct guards *g);

#endif
