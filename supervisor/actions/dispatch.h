/* dispatch.h - the way of one action: NOMINATE -> INTENT on disk -> GRANT -> RESULT on disk ->
 * NOMINATION_RESULT. The state is lease.h's; here are the messages, and which worker gets what.
 * Process: supervisor. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_ACTIONS_DISPATCH_H
#define SUPERVISOR_ACTIONS_DISPATCH_H

#include "supervisor/actions/parts.h"

/* Make the leases, which may be granted as this file says. */
void dispatch_init(struct supervisor *s);

/* Messages; the sender is of the role that may say them. */
/* A watcher that nominates a restore breaks the protocol: those are an operator's. Before the first OPEN_END
 * it is asked to come back. */
void dispatch_on_nominate(struct supervisor *s, struct child *watcher, const struct msg *m);
/* On its way to the history: since when a workload is known to fail begins, or ends. */
void dispatch_on_failing_since(struct supervisor *s, const struct msg_failing_since *m);
void dispatch_on_intent_ack(struct supervisor *s, struct child *reporter, const struct msg *m);
/* Kept until the RECORD of that action goes to the history. */
void dispatch_on_quote(struct supervisor *s, struct child *worker, const struct msg *m);
void dispatch_on_result(struct supervisor *s, struct child *worker, const struct msg *m);
void dispatch_on_record_ack(struct supervisor *s, struct child *reporter, const struct msg *m);
/* Both once a life of the reporter, OPEN_END last. What an earlier life of the supervisor signed is taken up,
 * at the first OPEN_END of its own life; anything else is not carried out, and its row ends as unconfirmed.
 */
void dispatch_on_open_intent(struct supervisor *s, struct child *reporter, const struct msg *m);
/* The history is open; lifecycle_open() follows. False: a protocol error. */
bool dispatch_on_open_end(struct supervisor *s, struct child *reporter, const struct msg *m);

void dispatch_on_reporter_ready(struct supervisor *s);
void dispatch_on_worker_dead(struct supervisor *s, struct child *worker);
/* What it was given by the idle function is done. */
void dispatch_worker_idle(struct supervisor *s, const struct child *worker);
void dispatch_tick(struct supervisor *s, uint64_t now_ms);

/* Hand what waits in a cluster to its workers. One that holds no lease then is offered to the idle function:
 * true, it works on something else until dispatch_worker_idle(). */
void dispatch_cluster(struct supervisor *s, uint64_t cluster);
void dispatch_all(struct supervisor *s);
/* Is the supervisor's signature on that CTL_RESTORE_ROW? Its cluster is one of the configuration. */
bool dispatch_vouches(const struct supervisor *s, const struct msg *row);
/* Open a lease that takes an action back (CTL_RESTORE_ROW); its end is reported to conn. No pause stops what
 * an operator has asked for. False when it cannot be. */
bool dispatch_restore(struct supervisor *s, const struct msg *row, uint64_t conn, bool by_operator);

/* Is this duty paused in that cluster, by whoever? */
bool dispatch_is_paused(const struct supervisor *s, uint64_t cluster, uint64_t duty);

/* Number of leases that a worker or the history still works on. */
size_t dispatch_count_busy(const struct supervisor *s);
unsigned dispatch_leases_of(const struct supervisor *s, const struct child *worker);

#endif
