/* watcher.h - the watcher's part of process/process.h: wires the watch of one cluster to the supervisor's
 * channel. Process: watcher. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_WATCHER_H
#define WATCHER_WATCHER_H

#include "process/process.h"

/* What the process does when it starts, gets settings and messages, drains and ends. */
extern const struct process_spec watcher_spec;

#endif
