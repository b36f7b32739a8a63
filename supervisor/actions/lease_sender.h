/* lease_sender.h - INTENTs and RECORDs of leases to the reporter, signed. It acknowledges each of them: what
 * it has not, is sent again to the next one. Process: supervisor. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_ACTIONS_LEASE_SENDER_H
#define SUPERVISOR_ACTIONS_LEASE_SENDER_H

#include "supervisor/actions/parts.h"

/* Send INTENTs of the cluster, as many as may be on their way at once: call when one was added, and when one
 * was acknowledged. Those that the reporter cannot take wait for lease_sender_send_all(). */
void lease_sender_send_intents(const struct supervisor *s, uint64_t cluster);
/* Send the quotes and the RECORD of l, which is LEASE_RECORDING. */
void lease_sender_send_record(const struct supervisor *s, struct lease *l);
/* Send everything that has to be sent and is not on its way. */
void lease_sender_send_all(const struct supervisor *s);

#endif
