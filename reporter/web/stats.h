/* stats.h - what messages and commits mean for metrics and health.  Layer: process (reporter). */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_WEB_STATS_H
#define REPORTER_WEB_STATS_H

#include "base/str.h"
#include "reporter/digest/run.h"
#include "reporter/web/health.h"
#include "reporter/history/history.h"
#include "reporter/web/metrics.h"

/* Everything that is served over HTTP. */
struct stats {
	struct metrics *metrics;
	struct health ready; /* checks of /readyz */
	struct health live;
	int statm_fd; /* opened before the sandbox */
	struct str_list clusters;
};

void stats_init(struct stats *f);
void stats_done(struct stats *f);
/* A check for every cluster, red until its watcher says otherwise. */
void stats_set_clusters(struct stats *f, const struct str_list *clusters);

void stats_watch(struct stats *f, const char *cluster, const struct msg_watch_stats *s);
/* True when it says that the watcher of its cluster is not ready. */
bool stats_child(struct stats *f, const struct msg_child_stats *s);
void stats_watch_down(struct stats *f, const char *cluster);
void stats_committed(struct stats *f, const struct history_entry *e);
void stats_digest(struct stats *f, const struct digest_end *e);
/* Figures that are read when asked for: call before serving. */
void stats_refresh(struct stats *f, const struct history *h);

#endif
