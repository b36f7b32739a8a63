/* stats.h - what messages and commits mean for metrics and health.  Layer: process (reporter), web. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_WEB_STATS_H
#define REPORTER_WEB_STATS_H

#include "base/str.h"
#include "reporter/history/history.h"
#include "reporter/web/health.h"
#include "reporter/web/listener.h"
#include "reporter/web/metrics.h"

/* Everything that is served over HTTP. */
struct stats {
	struct metrics *metrics;
	struct health ready; /* checks of /readyz */
	struct health live;
	int statm_fd; /* opened before the sandbox */
	const struct str_list *clusters;
};

/* Before the sandbox. clusters: their names; must outlive the stats, and may change: then stats_use_settings.
 */
void stats_init(struct stats *s, const struct str_list *clusters);
/* A zero-initialised one is left alone. */
void stats_done(struct stats *s);
/* Settings took effect, with this mode. There is a check for every cluster, red until its watcher says
 * otherwise. */
void stats_use_settings(struct stats *s, bool observe);

/* m is a WATCH_STATS of that cluster. */
void stats_watch(struct stats *s, const char *cluster, const struct msg *m);
/* True when it says that the watcher of its cluster is not ready. */
bool stats_child(struct stats *s, const struct msg_child_stats *m);
/* Is the cache of its watcher complete? */
void stats_set_synced(struct stats *s, const char *cluster, bool synced);
void stats_trouble(struct stats *s, const struct msg_trouble_row *m);
void stats_committed(struct stats *s, const struct history_entry *e);
/* DUE_ROW, REQUESTS and TIMING of that cluster. */
void stats_due(struct stats *s, const char *cluster, const struct msg_due_row *m);
void stats_requests(struct stats *s, const char *cluster, const struct msg_requests *m);
void stats_timings(struct stats *s, const char *cluster, const struct msg_timing *m);
/* Something took so long, in this cluster (NULL: it is of none). */
void stats_timing(struct stats *s, const char *cluster, enum timing t, uint64_t us);

/* Of a sink: n messages wait to be sent, the oldest since then (Unix ms; 0 = none). */
void stats_outbox(struct stats *s, const char *sink, uint64_t n, int64_t oldest_ms);
/* What came of a message, or of a try to send it: a word of a short list, as "sent", "failed", "given-up". */
void stats_sink_message(struct stats *s, const char *sink, const char *outcome);
/* That sink is no longer configured. */
void stats_sink_gone(struct stats *s, const char *sink);

/* As /livez and /readyz say, now. */
bool stats_is_live(struct stats *s);
bool stats_is_ready(struct stats *s, const struct history *h);
/* The answers of the HTTP listener: /metrics, /healthz, /livez, /readyz; anything else is 404. What is read
 * when it is asked for is read first. */
void stats_serve(struct stats *s, const struct history *h, const struct web_request *request,
		 struct listener_answer *ret);

#endif
