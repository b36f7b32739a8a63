/* status_snapshot.h - the status page: the present state, the history and the outbox, gathered when it is
 * asked for. Nothing is kept for it.  Layer: process (reporter). */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_STATUS_SNAPSHOT_H
#define REPORTER_STATUS_SNAPSHOT_H

#include "reporter/history/history.h"
#include "reporter/report/schedule.h"
#include "reporter/web/stats.h"

/* Where the page comes from; all is borrowed. */
struct status_sources {
	const struct settings *settings;
	const struct report_schedule *schedule;
	const struct state *state;
	struct db *db;
	const struct history *history;
	struct stats *stats;
};
/* CTL_TALLY_ROW of each cluster, in the order of the settings, into ret, which has room for all. conn: whose
 * question. Negative errno: the history cannot be read, and what it counts is 0 there. */
int status_snapshot_tally(const struct status_sources *from, uint64_t conn, struct msg_ctl_tally_row *ret);
/* Make *ret the answer to "/", in the language that the request asks for. */
void status_snapshot_serve(const struct status_sources *from, const struct web_request *request,
			   struct listener_answer *ret);

#endif
