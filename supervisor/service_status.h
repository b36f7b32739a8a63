/* service_status.h - what is said of the whole: the service manager's line, `status`, the stats of each child
 * for the reporter.  Process: supervisor. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_SERVICE_STATUS_H
#define SUPERVISOR_SERVICE_STATUS_H

#include "supervisor/supervisor.h"

/* A watcher speaks when something changes: what it said to an earlier reporter, this one must hear too. */
void service_status_on_reporter_ready(struct supervisor *s);
/* CHILD_STATS to the reporter. */
void service_status_send_child(struct supervisor *s, const struct child *c);
/* Once a second. */
void service_status_tick(struct supervisor *s);

/* The answer to CTL_STATUS. */
void service_status_answer(struct supervisor *s, uint64_t conn);
/* "2/2 clusters synced, 1204 pods, 17 actions" */
void service_status_describe(const struct supervisor *s, char *ret, size_t size);

#endif
