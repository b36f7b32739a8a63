/* plan_rows.h - what would be done now, and when next: every pod of the cache through the same rules and
 * guards as the run that acts, a slice at a time. Layer: watcher.  Threads: none. Budgets are spent on a
 * copy, in the order in which the pods would go: those that are blocked, oldest first, then the others.
 * Nothing that acts is changed by a plan. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_CONTROLLER_PLAN_ROWS_H
#define WATCHER_CONTROLLER_PLAN_ROWS_H

#include "watcher/controller/controller.h"

#define PLAN_MAX 4u

struct budget;
struct intern;

/* Questions not answered to the end yet, oldest first. Zero-initialised is empty. */
struct plan {
	struct msg_ctl_plan asked[PLAN_MAX];
	size_t n;
	/* of the oldest */
	uint32_t *pods; /* NULL = not begun */
	uint32_t n_pods, next;
	struct budget *budget;
	struct intern *told; /* subjects of which a row was sent */
};

void plan_done(struct plan *p);
/* CTL_PLAN. More than PLAN_MAX at once: the new one is answered with an error. */
void plan_ask(struct plan *p, const struct msg_ctl_plan *m, controller_send_fn *send, void *ctx);
/* Look at some hundred pods: a CTL_PLAN_ROW for each that is due, that will be at a known time or that is
 * blocked, and for each that is refused; one for all pods of a workload that share a verdict. Then CTL_END,
 * with an error when the cache is not in step. 0; or -EAGAIN of send: call again when there is room. */
int plan_step(struct plan *p, struct controller *c, controller_send_fn *send, void *ctx);

#endif
