/* notifier.h - what people are told: gathers the news, and sends what waits in the outbox to the sinks of the
 * settings. Layer: process (reporter). */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_NOTIFIER_H
#define REPORTER_NOTIFIER_H

#include "process/process.h"
#include "reporter/history/db.h"
#include "reporter/report/schedule.h"
#include "reporter/state/state.h"
#include "reporter/web/stats.h"

struct notifier;

/* Everything must outlive it; *s, *schedule and *state may change between two calls. drained: after
 * notifier_drain() returned false, when nothing is on its way any more. */
struct notifier *notifier_new(struct process *p, const struct settings *s,
			      const struct report_schedule *schedule, const struct state *state,
			      struct db *db, struct stats *stats, void (*drained)(void *ctx), void *ctx);
/* Accepts NULL. */
void notifier_free(struct notifier **t);
/* Messages may be sent. Once. While the history is not open yet, what needs an operator is told from memory.
 */
void notifier_start(struct notifier *t);
/* The history is open: go on where the last end of this process left off. Once, at or behind the start. */
void notifier_history_opened(struct notifier *t);
/* Other settings are in force. */
void notifier_use_settings(struct notifier *t);
/* An action has ended, which stands in the history now: it is told with the others of the next minute
 * (tell.gather). Cheap. */
void notifier_action_ended(struct notifier *t);
/* Something was put into the outbox. */
void notifier_wake(struct notifier *t);
/* What waits for each sink, as CTL_SINK_ROW and CTL_END to that connection of the control socket. */
void notifier_answer(const struct notifier *t, uint64_t conn, void (*send)(void *ctx, const struct msg *m),
		     void *ctx);
/* Tell what was done without gathering more, and send what can be sent within seconds. The last action must
 * stand in the history. True: nothing is on its way. */
bool notifier_drain(struct notifier *t);

#endif
