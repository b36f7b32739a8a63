/* decision.h - from a pod of the cache to "go now", "wait until" or "no": rules, ladder and guards in one,
 * for the run that acts, for plan and for explain. Layer: watcher.  Changes nothing. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_CONTROLLER_DECISION_H
#define WATCHER_CONTROLLER_DECISION_H

#include "watcher/guards/guards.h"
#include "watcher/controller/controller.h"

struct decision {
	struct verdict v; /* as the rules say; ACT that is blocked is WAIT with the guard's reason */
	bool due;         /* the rules said ACT, and the ladder does not wait */
	bool blocked;     /* by `block` */
	struct due ask;   /* when due; borrows the pod and the texts */
	struct block block;
};

/* By the chain of duties, as judge_pod does. budget: NULL = the real one, else a plan's. p and s must live as
 * long as ret is used. */
void decision_make(struct controller *c, const struct pod_facts *p, const struct pod_context *s,
		   const struct budget *budget, struct decision *ret);
/* By this one duty; told (may be NULL) hears every check and then every guard. */
void decision_of_duty(struct controller *c, enum duty d, const struct pod_facts *p,
		      const struct pod_context *s, check_report_fn *told, void *ctx, struct decision *ret);
/* The object as NOMINATE, REFUSAL and CTL_PLAN_ROW name it: fills m->u.nominate. */
void decision_fill(struct controller *c, const struct pod_facts *p, const struct pod_context *s,
		   const struct decision *d, struct msg *m);

#endif
