/* status_snapshot.h - what is known of the present that is no metric: the words of what is wrong. And the
 * status page, made of it, of metrics and of the history when it is asked for: nothing is kept for it. Layer:
 * process (reporter). */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_STATUS_SNAPSHOT_H
#define REPORTER_STATUS_SNAPSHOT_H

#include "reporter/history/db.h"
#include "reporter/history/history.h"
#include "reporter/page/status_page.h"
#include "reporter/web/listener.h"
#include "reporter/web/stats.h"

struct settings;
struct status_snapshot;

struct status_snapshot *status_snapshot_new(void);
/* Accepts NULL. */
void status_snapshot_free(struct status_snapshot **p);

/* m is of that cluster. */
void status_snapshot_watch(struct status_snapshot *p, const char *cluster, const struct msg_watch_stats *m);
void status_snapshot_trouble(struct status_snapshot *p, const struct msg_trouble_row *m);

/* Where the rest of the page comes from; borrowed. */
struct status_snapshot_sources {
	const struct settings *settings;
	struct db *db;
	const struct history *history;
	struct stats *stats;
};
/* The answer to "/". */
void status_snapshot_serve(const struct status_snapshot *p, const struct status_snapshot_sources *from,
			   const struct web_request *request, struct listener_answer *ret);

#endif
