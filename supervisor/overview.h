/* overview.h - what the supervisor tells people of the whole: which configuration and which clusters, in the
 * log and to `status`; and the trouble of clusters that cannot be loaded, which no watcher can tell. Process:
 * supervisor. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_OVERVIEW_H
#define SUPERVISOR_OVERVIEW_H

#include "supervisor/supervisor.h"

/* A load has ended: log what is new, tell the reporter. */
void overview_on_loaded(struct supervisor *s);
/* WATCH_STATS to the reporter: as the watcher has last said, with the trouble of loading where it has none of
 * its own; of a cluster that waits this alone. Nothing where there is nothing to say. */
void overview_send_stats_of(struct supervisor *s, uint64_t cluster);
/* The same of all clusters: a watcher speaks when something changes, so what it said to an earlier reporter
 * the next one must hear, too. */
void overview_send_stats(struct supervisor *s);
/* The answer to CTL_STATUS. */
void overview_answer(struct supervisor *s, uint64_t conn);

#endif
