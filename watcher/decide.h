/* decide.h - from a pod of the cache to "go now", "wait until" or "no": rules, ladder and guards in one, for
 * the turn that acts, for plan and for explain. Layer: watcher.  Changes nothing. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_DECIDE_H
#define WATCHER_DECIDE_H

#include "watcher/guards.h"
#include "watcher/judging.h"

struct decision {
	struct verdict v; /* as the rules say; ACT that is held is WAIT with the guard's reason */
	bool due;         /* the rules said ACT, and the ladder does not wait */
	bool held;        /* by `hold` */
	struct due ask;   /* when due; borrows the pod and the texts */
	struct hold hold;
};

/* By the chain of duties, as judge_pod does. budget: NULL = the real one, else a plan's. p and s must live as
 * long as ret is used. */
void decide(struct judging *j, const struct pod_facts *p, const struct surroundings *s,
	    const struct budget *budget, struct decision *ret);
/* By this one duty; told (may be NULL) hears every check and then every guard. */
void decide_duty(struct judging *j, enum duty d, const struct pod_facts *p, const struct surroundings *s,
		 check_told_fn *told, void *ctx, struct decision *ret);
/* The object as NOMINATE, REFUSAL and CTL_PLAN_ROW name it: fills m->u.nominate. */
void decide_fill(struct judging *j, const struct pod_facts *p, const struct surroundings *s,
		 const struct decision *d, struct msg *m);

#endif
