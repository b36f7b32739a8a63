/* control.h - the control socket: an operator's commands. No verb of it names a pod to act on: a question to
 * a worker (CTL_DRY_RUN) writes nothing, and a restore names an action of the history. Process: supervisor.
 * Owns: the socket and its connections. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_OPERATOR_CONTROL_H
#define SUPERVISOR_OPERATOR_CONTROL_H

#include "supervisor/actions/parts.h"

/* Listen at path, which is borrowed. 0 or negative errno. */
int control_new(struct supervisor *s, const char *path, struct control **ret);
/* Close all connections and remove the socket. Their questions are forgotten. */
void control_free(struct control **c);
/* Once a second: close connections that have asked nothing for long. */
void control_tick(struct control *c, uint64_t now_ms);

#if defined(OPC_PROBES)
void control_on_ctl_probe_row(struct control *c, const struct msg *m);
/* Answer the probe that a child died of: its exit code, or 1000 and the signal. */
void control_on_probed_dead(struct control *c, const struct child *child, int code);
#endif

#endif
