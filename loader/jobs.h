/* jobs.h - all that a load may have to wait for (plugins, name servers), at the same time, each in a process
 * of its own: one that hangs or crashes costs its own cluster and no other.  Process: loader. */
// SPDX-License-Identifier: Apache-2.0
#ifndef LOADER_JOBS_H
#define LOADER_JOBS_H

#include "ipc/channel.h"
#include "loader/loader.h"

struct event_base;

/* Load every cluster, and the settings of the reporter, and send them over c, which runs on base and has
 * nothing queued. A cluster that cannot be loaded within l->limit_ms is sent as such, with the credential
 * that l->kept holds for it, if any. False when the settings of the reporter cannot be sent. */
bool loader_run_jobs(struct loader *l, struct channel *c, struct event_base *base);

#endif
