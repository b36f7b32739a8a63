/* questions.h - what operators and digests ask about the cache, answered in rows, a slice at a time: why a
 * pod goes or stays, what would be done now and when next, what restarts too often. Layer: watcher.
 * Threads: none.  A question changes nothing. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_CONTROLLER_QUESTIONS_H
#define WATCHER_CONTROLLER_QUESTIONS_H

#include "watcher/controller/controller.h"

/* Open at once; one more is answered with an error. */
#define QUESTIONS_EXPLAIN_MAX 8u
#define QUESTIONS_PLAN_MAX    4u

struct questions;

/* Both are borrowed. */
struct questions *questions_new(const struct controller *c, const struct outlet *out);
/* Accepts NULL. */
void questions_free(struct questions **q);

/* Takes a question in; false = the message is none. It is
 *   CTL_EXPLAIN  what each duty says about one pod of the cache, or about every pod of a workload: for each
 *                pod and duty a CTL_EXPLAIN_ROW with the verdict (an ACT that a guard blocks is a WAIT with
 *                that reason) and, when `rules` was asked for, one for each check and then each guard; right
 *                behind a verdict that a plan would show, its CTL_PLAN_ROW: with it a worker can be asked;
 * then CTL_END, with code 1 when there is no such pod or workload in the cache CTL_PLAN     every pod through
 * the same rules and guards as the run that acts, in the order in which they would go: a CTL_PLAN_ROW for
 * each that is due, that will be at a known time or that is blocked, and for each that is refused; one for
 * all pods of a workload that share a verdict. Budgets are spent on a copy. Then CTL_END, with an error when
 * the cache is not in step DIGEST_GET   a DIGEST_ROW for every pod that restarts too often, then DIGEST_END;
 * another digest that is on its way is ended as not complete */
bool questions_on_msg(struct questions *q, const struct msg *m);
/* Is any not answered to the end? */
bool questions_open(const struct questions *q);
/* Answer on: of each kind some hundred pods. 0; or -EAGAIN of the outlet: call again when there is room. */
int questions_step(struct questions *q);

#endif
