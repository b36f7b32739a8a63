/* action.h - carrying out one grant: read the object live, judge again, read what the judgement needs, write
 * with preconditions, say how it ended. One table of steps; each asks one thing and takes its answer. Layer:
 * worker. Threads: none. Nothing is written twice: after a write whose fate is unknown there are only reads.
 */
// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_ACTION_H
#define WORKER_ACTION_H

#include "worker/action_env.h"

struct action;
/* policy is borrowed until action_set_policy or the end. */
struct action *action_new(const struct action_env *env, const struct policy *policy,
			  const struct msg_grant *grant);
/* A dry run of the same action: read and judged alike, but where it would begin to write it ends with
 * OUTCOME_WOULD, and the RESULT says what would have been sent. Before action_start. */
void action_set_dry_run(struct action *e);
/* Cancels what runs; done is not called. Accepts NULL. */
void action_free(struct action **e);
/* Begin. */
void action_start(struct action *e);
/* Begin before the grant is there: it reads and judges, and waits for action_granted() before it writes
 * anything and before it ends. */
void action_prefetch(struct action *e);
/* The grant, with the id that the action was made with. May call done(). */
void action_granted(struct action *e, const struct msg_grant *grant);
/* The time that it asked for (action_env.wait) has passed: it reads again from the beginning. */
void action_go_on(struct action *e);
/* A new generation of settings: judged by from now on. What was judged before is read and judged again before
 * a write. */
void action_set_policy(struct action *e, const struct policy *policy);

#endif
