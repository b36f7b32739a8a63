/* budget.h - how many acts were done lately, and whether one more is allowed.
 * Layer: rules.  Pure: times are milliseconds of any one clock that does not step.
 * An act is charged when it is asked for and counts as "now" for as long as its end is not known; then it is
 * stamped with that time, or given back when nothing was written. So no window of real writes, however slow
 * they are, ever holds more than the limit. Namespaces and nodes are numbers chosen by the caller (0 = none).
 */
// SPDX-License-Identifier: Apache-2.0
#ifndef RULES_BUDGET_H
#define RULES_BUDGET_H

#include "model/policy.h"

#define BUDGET_MINUTE_MS INT64_C(60000)
#define BUDGET_HOUR_MS   INT64_C(3600000)
#define BUDGET_DAY_MS    INT64_C(86400000)

struct budget;

struct budget *budget_new(void);
void budget_free(struct budget **b);
/* A copy that can be charged without touching the original: for plans. */
struct budget *budget_clone(const struct budget *b);

/* What one act of a duty would spend. */
struct spend {
	enum duty duty;
	uint32_t ns, node;
	uint32_t pods;               /* that it ends: 1, or those of a workload that is scaled */
	uint32_t ns_pods, node_pods; /* how many there are in the namespace and on the node; 0 = unknown */
};

enum budget_limit {
	BUDGET_PER_MINUTE,
	BUDGET_PER_HOUR,
	BUDGET_PER_DAY,
	BUDGET_NAMESPACE_HOUR,
	BUDGET_NAMESPACE_SHARE,
	BUDGET_NODE_SHARE,
	BUDGET__LIMITS
};

struct budget_verdict {
	bool ok;
	enum budget_limit limit; /* when not ok: the one that frees last */
	int64_t spent, max;      /* of that limit; of a share: pods */
	int64_t until;           /* when it frees as far as it is known; 0 = with the end of an open act */
};

/* May this be spent at `now`, by these limits? Changes nothing. A share always allows one act. */
struct budget_verdict budget_ask(const struct budget *b, const struct duty_policy *limits,
				 const struct spend *s, int64_t now);
/* It is spent: id (not 0, and small: 8 bytes are kept for each up to the greatest) names the charge until it
 * is settled. A second charge of an id replaces the first. */
void budget_charge(struct budget *b, uint32_t id, const struct spend *s);
/* The act of id ended at `now`; written: did it (or may it have) changed anything? Otherwise it is given
 * back. false: no such charge. */
bool budget_settle(struct budget *b, uint32_t id, bool written, int64_t now);
/* What an earlier life spent. acts: 1 for an act that counts by itself; 0 for pods only, of a share whose
 * acts are counted elsewhere. */
void budget_load(struct budget *b, const struct spend *s, uint32_t acts, int64_t at);
/* Forget what no limit can ask for any more. */
void budget_expire(struct budget *b, int64_t now);
/* Nothing is charged that a limit can ask for. */
bool budget_is_empty(const struct budget *b);
/* Pods that ended within the last hour in this namespace (or, ns 0, on this node), for one duty. */
int64_t budget_pods(const struct budget *b, enum duty d, uint32_t ns, uint32_t node, int64_t now);

#endif
