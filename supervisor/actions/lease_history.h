/* lease_history.h - leases and the history. INTENTs and RECORDs go to the reporter, signed; it acknowledges
 * each, and what it has not is sent again to the next one. And what the history says was open when the last
 * life ended: it may keep intents, not invent them, so only what an earlier life of the supervisor signed,
 * what had not ended, and one action an object is taken up. Anything else is not carried out; its row ends as
 * unconfirmed, and a log line says so. Process: supervisor. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_ACTIONS_LEASE_HISTORY_H
#define SUPERVISOR_ACTIONS_LEASE_HISTORY_H

#include "supervisor/actions/parts.h"

/* Send INTENTs of the cluster, as many as may be on their way at once: call when one was added, and when one
 * was acknowledged. Those that the reporter cannot take wait for lease_history_send_all(). */
void lease_history_send_intents(const struct supervisor *s, uint64_t cluster);
/* Send the quotes and the RECORD of l, which is LEASE_RECORDING. */
void lease_history_send_record(const struct supervisor *s, struct lease *l);
/* Send everything that has to be sent and is not on its way. */
void lease_history_send_all(const struct supervisor *s);

/* OPEN_INTENT, before OPEN_END. */
void open_intents_take(struct supervisor *s, const struct msg *m);
/* OPEN_END. Nothing of an earlier life is taken up behind the first one. */
void open_intents_end(struct supervisor *s, uint64_t next_id);

#endif
