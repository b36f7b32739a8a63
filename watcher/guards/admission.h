/* admission.h - what the guards beyond the single object know (rules/admit.h), and what of it must outlive
 * this process: pauses, leadership, windows, the breaker, reverts, evict loops and budgets. Layer: watcher.
 * Threads: none; no I/O, no timers.  Owns: copies of all names it is given. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_GUARDS_ADMISSION_H
#define WATCHER_GUARDS_ADMISSION_H

#include "model/pod.h"
#include "rules/admit.h"
#include "watcher/guards/clocks.h"
#include "watcher/guards/outlet.h"
#include "watcher/guards/workloads.h"

struct admission;

/* workloads is borrowed. */
struct admission *admission_new(uint64_t cluster, struct workloads *workloads);
void admission_free(struct admission **g);

/* Name of the cluster, for pauses; TZif bytes of the zones that windows name (config/window.h; n 0 = UTC for
 * all). Copied. */
void admission_set_place(struct admission *g, const char *name, const void *zones, size_t n);

/* -- what other processes report -- */

/* The rows of an answer that broke off, what was spent among them, come again. Nothing was nominated yet. */
void admission_forget_spent(struct admission *g);
void admission_on_saved_row(struct admission *g, const struct msg_saved_row *m,
			    const struct clock_snapshot *now);
void admission_on_action_row(struct admission *g, const struct msg_action_row *m,
			     const struct clock_snapshot *now);
/* true when something changed for this cluster. */
bool admission_on_pause(struct admission *g, const struct msg_pause *m);
/* Other settings: the breaker is looked at again. */
void admission_judge_anew(struct admission *g);
/* What is asked for now is dry runs (mode observe): they spend budgets of their own, which hold no write up.
 */
void admission_set_observe(struct admission *g, bool observe);
/* Without a call: leading. */
void admission_set_leader(struct admission *g, bool leading, const char *holder);

/* -- what is seen -- */

/* Pod p of this revision fails by duty d, by its clock since `since` (server's time). pulled: a pod of the
 * revision has had its images. */
void admission_failing(struct admission *g, enum duty d, struct str owner, struct str revision, int64_t since,
		       bool pulled, const struct pod_facts *p);
/* None of its pods fails now. */
void admission_recovered(struct admission *g, struct str owner, struct str revision);

/* -- what is asked -- */

struct due {
	enum duty duty;
	/* The policy in force for the pod, whether it is a fresh attempt, how many pods the action ends, of
	 * how many, quiet, clocks, cache; the rest is filled in when it is asked. */
	struct admit_ask known;
	bool finishes;        /* the rest of a deletion that was begun: nothing more is spent on it */
	const char *override; /* name of the policy's, "" = none */
	const struct pod_facts *pod;
	struct str owner;      /* whose clock: the controller's uid, or the pod's own */
	struct str action_key; /* at most one open action may concern it */
};
/* To be called when the pod is due and could go; never for a plan: counts a return as a revert, and notes the
 * newest of an evict loop. true: one that was kept as the newest until now may go. */
bool admission_note_due(struct admission *g, const struct due *d, const struct clock_snapshot *now);
/* May it go? budget: NULL = the real one, else a clone for a plan. Changes nothing. */
bool admission_ask(const struct admission *g, const struct budget *budget, const struct due *d,
		   const struct clock_snapshot *now, struct block *ret);
/* Every guard in order, for the operator. */
void admission_trace(const struct admission *g, const struct due *d, const struct clock_snapshot *now,
		     void (*fn)(void *ctx, enum guard gd, bool passes, const struct block *h), void *ctx);
/* How often it came back. */
uint32_t admission_reverts(const struct admission *g, const struct due *d, const struct clock_snapshot *now);
/* Key of the bin in which it waits: whatever shares it waits for the same. Returns the length. */
size_t admission_bin_key(const struct due *d, const struct block *h, char *buf, size_t size);

/* What it would spend: for a plan, which spends a clone of the budget. */
struct spend admission_spend(const struct admission *g, const struct due *d);
struct budget *admission_budget_clone(const struct admission *g);
/* It is about to be nominated. What that changes of the saved state leaves with the next admission_flush(),
 * which must come before the nomination: a next watcher has to know of it. */
void admission_charge(struct admission *g, const struct due *d, const struct clock_snapshot *now);
/* It was not nominated after all. */
void admission_give_back(struct admission *g, struct str action_key, const struct clock_snapshot *now);
/* NOMINATION_RESULT. false = it was none of ours. */
bool admission_on_result(struct admission *g, const struct msg_nomination_result *m,
			 const struct clock_snapshot *now);
/* The NOMINATION_RESULT of an action that an earlier life of this process nominated, once the saved state has
 * come: it is a fresh attempt or a scale-down of its workload all the same. */
void admission_on_earlier_result(struct admission *g, const struct msg_nomination_result *m,
				 const struct clock_snapshot *now);
/* -- time and saved state -- */

/* Check the breaker when something changed, or its time came. workloads, nodes: that have pods. true when it
 * opened or closed. */
bool admission_check(struct admission *g, const struct breaker_policy *p, uint32_t workloads, uint32_t nodes,
		     const struct clock_snapshot *now);
/* Does admission_check have something to do at `boot`? *ret_at: when it next has (UINT64_MAX = not before a
 * change). */
bool admission_check_due(const struct admission *g, uint64_t boot, uint64_t *ret_at);
void admission_housekeeping(struct admission *g, const struct clock_snapshot *now);
/* Did the saved state change? It is sent at once: a next watcher has to know of it. */
bool admission_is_unsaved(const struct admission *g);
/* Send what changed of the saved state until the outlet is full; 0 or what it said. */
int admission_flush(struct admission *g, const struct clock_snapshot *now, const struct outlet *out);

/* What the workloads have in common that the breaker blocks; NULL when it is closed. */
const struct facts *admission_breaker(const struct admission *g);
/* Workloads that came back and are remembered. */
uint32_t admission_revert_count(const struct admission *g);

#endif
