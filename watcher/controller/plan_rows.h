/* plan_rows.h - what would be done now, and when next: every pod of the cache through the same rules and
 * guards as the run that acts, a slice at a time. Layer: watcher.  Threads: none. Budgets are spent on a
 * copy, in the order in which the pods would go: those that are blocked, oldest first, then the others.
 * A plan changes nothing else. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_CONTROLLER_PLAN_ROWS_H
#define WATCHER_CONTROLLER_PLAN_ROWS_H

#include "watcher/controller/controller.h"

#define PLAN_ROWS_MAX 4u

struct intern;

/* Questions not answered to the end yet, oldest first. Zero-initialised is empty. */
struct plan_rows {
	struct msg_ctl_plan asked[PLAN_ROWS_MAX];
	size_t n;
	/* of the oldest */
	uint32_t *pods; /* NULL = not begun */
	uint32_t n_pods, next;
	struct budget *budget;
	struct intern *sent; /* action keys of which a row was sent */
};

void plan_rows_done(struct plan_rows *p);
/* CTL_PLAN. More than PLAN_ROWS_MAX at once: the new one is answered with an error. */
void plan_rows_ask(struct plan_rows *p, const struct msg_ctl_plan *m, const struct outbox *out);
/* Judge some hundred pods: a CTL_PLAN_ROW for each that is due, that will be at a known time or that is
 * blocked, and for each that is refused; one for all pods of a workload that share a verdict. Then CTL_END,
 * with an error when the cache is not in step. 0; or -EAGAIN of the outbox: call again when there is room. */
int plan_rows_step(struct plan_rows *p, const struct controller *c, const struct outbox *out);

#endif
