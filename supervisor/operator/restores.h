/* restores.h - scale-downs that are taken back without an operator, because somebody has corrected the
 * workload (RESTORE_ASK). A watcher names the number of an action and nothing else. What it was the history
 * says; a worker looks at the object (a dry run); and when that allows it, it goes the way of every action,
 * on which a worker reads and decides again. One at a time in each cluster. Process: supervisor. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_OPERATOR_RESTORES_H
#define SUPERVISOR_OPERATOR_RESTORES_H

#include "supervisor/actions/parts.h"

/* RESTORE_ASK of a watcher. It is answered by one RESTORE_END, now or later. */
void restores_on_restore_ask(struct supervisor *s, const struct msg *m);

#endif
