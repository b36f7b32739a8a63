/* worker.h - the worker's part of process/process.h: carries out the actions that the supervisor grants.
 * Process: worker. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_WORKER_H
#define WORKER_WORKER_H

#include "process/process.h"

/* What the process does when it starts, gets settings and messages, drains and ends. */
extern const struct process_spec worker_spec;

#endif
