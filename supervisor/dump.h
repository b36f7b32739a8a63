/* dump.h - what `status` would answer, into the log: for a machine where nobody may use the control socket,
 * or where it does not answer. Process: supervisor. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_DUMP_H
#define SUPERVISOR_DUMP_H

#include "supervisor/supervisor.h"

/* One line for the service, each process, cluster and pause, at level info. */
void supervisor_dump(struct supervisor *s);

#endif
