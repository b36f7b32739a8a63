/* decision.h - from a pod of the cache to "go now", "wait until" or "no": rules, escalation and guards in
 * one, for the run that acts, for plan and for explain. Layer: watcher.  Changes nothing. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_CONTROLLER_DECISION_H
#define WATCHER_CONTROLLER_DECISION_H

#include "ipc/msg.h"
#include "watcher/controller/cluster_state.h"

struct decision {
	struct verdict v; /* as the rules say; ACT that is blocked is WAIT with the guard's reason */
	bool due;         /* the rules said ACT, and no fresh attempt is waited for */
	bool blocked;     /* by `block` */
	struct due ask;   /* when due; borrows the pod and the texts */
	struct block block;
};

/* By the chain of duties, as judge_pod does. budget: NULL = the real one, else a plan's. p and s must live as
 * long as ret is used. */
void decision_make(const struct cluster_state *c, const struct pod_facts *p, const struct pod_context *s,
		   const struct budget *budget, struct decision *ret);
/* By this one duty; report (may be NULL) is called with every check and then every guard. */
void decision_of_duty(const struct cluster_state *c, enum duty d, const struct pod_facts *p,
		      const struct pod_context *s, check_report_fn *report, void *ctx, struct decision *ret);
/* The object as NOMINATE, REFUSAL and CTL_PLAN_ROW name it: fills m->u.nominate. */
void decision_fill(const struct cluster_state *c, const struct pod_facts *p, const struct pod_context *s,
		   const struct decision *d, struct msg *m);

#endif
