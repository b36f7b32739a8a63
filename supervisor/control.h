/* control.h - the control socket: an operator's commands. No verb of it names a pod to act on: a question to
 * a worker (CTL_DRY_RUN) writes nothing, and a restore names an action of the history. Process: supervisor.
 * Owns: the socket and its connections. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_CONTROL_H
#define SUPERVISOR_CONTROL_H

#include "supervisor/supervisor.h"

/* Listen at path, which is borrowed. 0 or negative errno. */
int control_new(struct supervisor *s, const char *path, struct control **ret);
void control_free(struct control **c);

/* struct answers; ctx is a struct control. */
void control_answer(void *ctx, uint64_t conn, const struct msg *m);
void control_end(void *ctx, uint64_t conn, uint64_t code, const char *text);

/* An answer of a child: for the connection that asked this child and has not got the end of it, and for no
 * other. */
void control_on_answer(struct control *c, struct child *child, const struct msg *m);
/* What an answered CTL_RESTORE takes. */
void control_on_ctl_restore_row(struct control *c, struct child *reporter, const struct msg *m);
#if defined(OPC_PROBES)
void control_on_ctl_probe_row(struct control *c, const struct msg *m);
#endif
/* What a dead child was asked it cannot answer any more. code: as child_ops. */
void control_on_child_dead(struct control *c, const struct child *child, int code);

#endif
