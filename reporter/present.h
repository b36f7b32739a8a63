/* present.h - what is known of the present that is no metric: the words of what is wrong. And the status
 * page, made of it, of metrics and of the history when it is asked for: nothing is kept for it. Layer:
 * process (reporter). */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_PRESENT_H
#define REPORTER_PRESENT_H

#include "reporter/history/db.h"
#include "reporter/history/history.h"
#include "reporter/page/status_page.h"
#include "reporter/web/listener.h"
#include "reporter/web/stats.h"

struct settings;
struct present;

struct present *present_new(void);
/* Accepts NULL. */
void present_free(struct present **p);

/* m is of that cluster. */
void present_watch(struct present *p, const char *cluster, const struct msg_watch_stats *m);
void present_trouble(struct present *p, const struct msg_trouble_row *m);

/* Where the rest of the page comes from; borrowed. */
struct present_sources {
	const struct settings *settings;
	struct db *db;
	const struct history *history;
	struct stats *stats;
};
/* The answer to "/". */
void present_serve(const struct present *p, const struct present_sources *from,
		   const struct web_request *request, struct listener_answer *ret);

#endif
