/* figures.h - what messages and commits mean for metrics and health.  Layer: process (reporter). */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_FIGURES_H
#define REPORTER_FIGURES_H

#include "base/str.h"
#include "reporter/digest_run.h"
#include "reporter/health.h"
#include "reporter/history.h"
#include "reporter/metrics.h"

/* Everything that is served over HTTP. */
struct figures {
	struct metrics *metrics;
	struct health ready; /* checks of /readyz */
	struct health live;
	int statm_fd; /* opened before the sandbox */
	struct str_list clusters;
};

void figures_init(struct figures *f);
void figures_done(struct figures *f);
/* A check for every cluster, red until its watcher says otherwise. */
void figures_set_clusters(struct figures *f, const struct str_list *clusters);

void figures_watch(struct figures *f, const char *cluster, const struct msg_watch_stats *s);
/* True when it says that the watcher of its cluster is not ready. */
bool figures_child(struct figures *f, const struct msg_child_stats *s);
void figures_watch_down(struct figures *f, const char *cluster);
void figures_committed(struct figures *f, const struct history_entry *e);
void figures_digest(struct figures *f, const struct digest_end *e);
/* Figures that are read when asked for: call before serving. */
void figures_refresh(struct figures *f, const struct history *h);

#endif
