/* reporter.h - the reporter's part of process/process.h: wires the history, the report, the notifications and
 * the listener to the supervisor's channel. Process: reporter. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_REPORTER_H
#define REPORTER_REPORTER_H

#include "process/process.h"

/* What the process does when it starts, gets settings and messages, drains and ends. */
extern const struct process_spec reporter_spec;

#endif
