/* stats.h - what messages and commits mean for metrics and health.  Layer: process (reporter), web. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_WEB_STATS_H
#define REPORTER_WEB_STATS_H

#include "base/str.h"
#include "reporter/history/history.h"
#include "reporter/state/state.h"
#include "reporter/web/listener.h"
#include "reporter/web/metrics.h"

/* Everything that is served over HTTP. */
struct stats {
	struct metrics *metrics;
	bool is_writable; /* the history, when it was asked last */
	int statm_fd;     /* opened before the sandbox */
	const struct state *state;
	const struct str_list *clusters;
};

/* Before the sandbox. state: what is shown of the present; clusters: their names; both must outlive the
 * stats, and may change. */
void stats_init(struct stats *s, const struct state *state, const struct str_list *clusters);
/* A zero-initialised one is left alone. */
void stats_done(struct stats *s);
/* Settings took effect, with this mode. */
void stats_use_settings(struct stats *s, bool observe);

void stats_committed(struct stats *s, const struct history_entry *e);
/* REQUESTS and TIMING of that cluster. */
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

/* Make the gauges of the state. stats_serve() does it by itself. */
void stats_read_state(struct stats *s);
/* As /readyz says, now. */
bool stats_is_ready(struct stats *s, const struct history *h);
/* The answers of the HTTP listener: /metrics, /healthz, /livez, /readyz; anything else is 404. What is read
 * when it is asked for is read first. */
void stats_serve(struct stats *s, const struct history *h, const struct web_request *request,
		 struct listener_answer *ret);

#endif
