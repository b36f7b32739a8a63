/* action_end.h - how an action ends, and what its result says; also the judgement, which ends most of them.
 * Each function that returns enum step_then fills in the result and is returned from a step.  Layer: worker.
 */
// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_ACTION_END_H
#define WORKER_ACTION_END_H

#include "text/texts.h"
#include "worker/action_state.h"

/* The end: STEP_END. While a write is in doubt a refusal changes nothing: what was said of the write stands.
 */
enum step_then action_end(struct action *a, enum outcome outcome, enum reason reason,
			  const struct facts *detail);
/* The same with one statement; and with one that names the step that the action is at. */
enum step_then action_end_text(struct action *a, enum outcome outcome, enum reason reason,
			       enum text statement);
enum step_then action_end_at(struct action *a, enum outcome outcome, enum reason reason, enum text statement);
/* A statement that names the step. */
struct facts action_at(const struct action *a, enum text statement);
/* The end with reason and evidence of the last verdict. */
enum step_then action_end_as_judged(struct action *a, enum outcome outcome);
/* Judged anything but ACT. A verdict that waits says when to come back. */
enum step_then action_refuse(struct action *a, const struct verdict *v);
/* The object is gone or as wanted: GONE, or UNCONFIRMED when an earlier write of ours may have done it.
 * detail NULL: none. */
enum step_then action_gone(struct action *a, enum reason reason, const struct facts *detail);
/* Begin the reading again: STEP_FIRST, or STEP_SENT for a restore, after a pause that grows; or end with this
 * when there were enough rounds. */
enum step_then action_again(struct action *a, enum outcome outcome, enum reason reason,
			    const struct facts *detail);

/* The action ends: hand words of others that are kept with it, as they were and too long for its facts, to
 * env.quote: the log of a container that crashed; of an image that cannot be pulled what is said of each
 * container, where there are several; of a pod or container a message that its facts have cut. Nothing of one
 * that changed nothing, or that is a dry run for an operator. */
void action_post_quotes(struct action *a);

/* Was an earlier write of ours possible, so that what is found may be its effect? */
bool action_may_be_ours(const struct action *a);
/* When to come back, at most an hour from now; nothing when ms is not positive. */
void action_set_retry(struct action *a, int64_t ms);
/* Whom it concerns, as the workload, what is below it, or the namespace says: into the evidence. */
void action_note_contact(struct action *a);
/* Where facts that were read live go: into the evidence of the result. While a write is in doubt they are
 * kept nowhere: the evidence of the write stands. */
struct facts *action_evidence(struct action *a);
/* "Deployment/web". */
void action_name(struct facts *f, enum fact key, struct str kind, struct str name);
static inline void action_name_owner(struct facts *f, enum fact key, const struct owner_link *o)
{
	action_name(f, key, STR_C(o->kind.kind), o->ref.name);
}
/* Forget all that was read, and the evidence. */
void action_forget(struct action *a);

/* Time by the API server's clock, Unix ms. */
int64_t action_now(const struct action *a);
/* The settings of this duty for this object. */
const struct duty_policy *action_policy(const struct action *a);
/* Since when the workload fails, for the judgement: what the grant says, or the latest floor that was read by
 * now, which is evidence then. */
void action_heed_floors(struct action *a);
/* Judge on what is known by now. False when it is anything but ACT; the result is then complete. */
bool action_judge(struct action *a, enum judge_stage stage);

#endif
