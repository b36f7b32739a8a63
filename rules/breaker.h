/* breaker.h - do many workloads fail together? Then not each of them is at fault, and they are not scaled
 * (R25). Layer: rules.  Pure: times are milliseconds of any one clock that does not step. A burst is a set of
 * workloads that fail now and began within `within` of one another, however long ago: an outage that outlasts
 * the threshold of the duty must still be seen as one. What the registry has answered for good
 * (CAUSE_PERMANENT) is no outage. The caller names the workloads that the duty serves, and no others.
 * Workloads, hosts and nodes are numbers chosen by the caller (0 = none or unknown). */
// SPDX-License-Identifier: Apache-2.0
#ifndef RULES_BREAKER_H
#define RULES_BREAKER_H

#include "model/policy.h"

struct breaker;

struct breaker *breaker_new(void);
void breaker_free(struct breaker **b);

/* How a pod fails, and how its workload did before. */
struct breaker_failure {
	int64_t began;
	uint32_t host, node; /* it pulls from; it is on */
	enum pull_cause cause;
	bool crashes; /* it has its image */
	bool pulled;  /* its revision has had its images: only then a registry or a node took them away */
};
/* A pod of this workload (a number, not 0) fails. Called again for other pods: the earliest begin counts, a
 * second node makes it fail on "several", and so does a second host. */
void breaker_failing(struct breaker *b, uint32_t workload, const struct breaker_failure *f);
/* None of its pods fails any more. */
void breaker_recovered(struct breaker *b, uint32_t workload);

enum breaker_condition { BREAKER_NONE, BREAKER_WORKLOADS, BREAKER_PERCENT, BREAKER_HOST, BREAKER_NODE };

/* What they have in common. */
struct burst {
	enum breaker_condition condition;
	uint32_t workloads;  /* in the burst */
	uint32_t alone;      /* of them such as need no host or node in common: crashes, transient causes */
	int64_t limit;       /* that they exceed */
	uint32_t host, node; /* that most of them share (0 = none), */
	uint32_t of_host, of_node; /* and how many do */
	uint32_t transient;        /* of them by a transient cause */
	int64_t began;             /* the first of them */
	int64_t first;             /* the first of the first burst that had the same in common */
};

/* Look again. total: workloads that have pods; nodes: nodes that have pods (on the only node everything fails
 * on one node). true when the state changed from open to closed or back. */
bool breaker_update(struct breaker *b, const struct breaker_policy *policy, uint32_t total, uint32_t nodes,
		    int64_t now);
/* The limits may be others now: breaker_update looks at once. Under other limits that do not hold it closes
 * it without `release`, which waits for the failures to end and not for the operator. */
void breaker_limits_changed(struct breaker *b);
bool breaker_is_open(const struct breaker *b);
/* True when the breaker is open and this workload belongs to what opened it: it has the same host or node, or
 * anything where that is not the condition, fails since then, and not for a permanent cause. *ret_began:
 * since when it fails. */
bool breaker_holds(const struct breaker *b, uint32_t workload, int64_t *ret_began);
/* Did anything happen since breaker_update that may change its answer? */
bool breaker_dirty(const struct breaker *b);
/* When breaker_update has to be called though nothing happens; 0 = not. */
int64_t breaker_next(const struct breaker *b);
/* What opened it, or holds it open; since when. */
const struct burst *breaker_burst(const struct breaker *b, int64_t *ret_since);
/* An earlier life left it open: closed by itself when the condition does not show within `release`. What
 * fails before the first breaker_update() was part of it, so far as anybody knows: its revision counts as
 * `pulled`. */
void breaker_load(struct breaker *b, int64_t since, uint32_t workloads);
uint32_t breaker_count(const struct breaker *b);

#endif
