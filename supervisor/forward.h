/* forward.h - whom a message is for, as ipc/messages.def says.  Process: supervisor.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_FORWARD_H
#define SUPERVISOR_FORWARD_H

#include "ipc/msg.h"

/* The supervisor itself, when it is among the receivers; else the one receiver, to whom the message is
 * forwarded as it is. ROLE__MAX when there are several: such a message is the supervisor's own. */
enum role forward_to(enum msg_type type);

/* The member of that name, "cluster" or "conn". False when the message has none. */
bool forward_get(const struct msg *m, const char *name, uint64_t *ret);
/* Set it; nothing happens when the message has none. */
void forward_set(struct msg *m, const char *name, uint64_t value);
/* The member cluster_name, "" when the message has none. */
const char *forward_cluster_name(const struct msg *m);

#endif
