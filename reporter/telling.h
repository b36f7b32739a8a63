/* telling.h - what people are told: gathers the news, and sends what waits in the outbox to the sinks of the
 * settings. Layer: process (reporter). */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_TELLING_H
#define REPORTER_TELLING_H

#include "process/process.h"
#include "reporter/history/db.h"
#include "reporter/web/stats.h"

struct telling;

/* Everything must outlive it; *s may change between two calls. drained: after telling_drain() returned
 * false, when nothing is on its way any more. */
struct telling *telling_new(struct process *p, const struct settings *s, struct db *db, struct stats *stats,
			    void (*drained)(void *ctx), void *ctx);
/* Accepts NULL. */
void telling_free(struct telling **t);
/* Messages may be sent. Once. While the history is not open yet, what needs an operator is told from memory.
 */
void telling_start(struct telling *t);
/* The history is open: go on where the last end of this process left off. Once, at or behind the start. */
void telling_history_opened(struct telling *t);
/* Other settings are in force. */
void telling_use_settings(struct telling *t);
/* An action has ended, which stands in the history now: it is told with the others of the next minute
 * (tell.gather). Cheap. */
void telling_action_ended(struct telling *t);
/* A trouble of the program begins or ends. */
void telling_trouble(struct telling *t, const struct msg_trouble_row *m);
/* Something was put into the outbox. */
void telling_wake(struct telling *t);
/* What waits for each sink, as CTL_SINK_ROW and CTL_END to that connection of the control socket. */
void telling_answer(const struct telling *t, uint64_t conn, void (*send)(void *ctx, const struct msg *m),
		    void *ctx);
/* Tell what was done without gathering more, and send what can be sent within seconds. The last action must
 * stand in the history. True: nothing is on its way. */
bool telling_drain(struct telling *t);

#endif
