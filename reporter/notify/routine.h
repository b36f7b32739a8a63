/* routine.h - deletions that a report sums up: those of the duties in tell.withReport, for sinks that are
 * told actions and the report. Their own message would say each time that a janitor cleans.
 * Layer: process (reporter), notify. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_NOTIFY_ROUTINE_H
#define REPORTER_NOTIFY_ROUTINE_H

#include "config/settings.h"
#include "reporter/history/db.h"
#include "reporter/news/document.h"

/* Deletions of one duty in one namespace. */
struct routine_row {
	char *cluster, *ns;
	int64_t duty, deleted;
};
/* Zeroed = empty. Most deletions first. */
struct routine {
	struct routine_row *v;
	size_t n;
};

/* The duties whose deletions are summed up, as a set of bits; none where no report is made. */
uint64_t routine_duties(const struct settings *s);
/* Is it so for this sink? Others are told at once. */
bool routine_concerns(const struct sink_settings *s, uint64_t duties, int64_t duty);

/* What ended in from_ms < t <= to_ms, Unix ms. 0, or negative errno and *ret holds what was read; it is the
 * caller's either way. */
int routine_read(struct db *db, uint64_t duties, int64_t from_ms, int64_t to_ms, struct routine *ret);
void routine_done(struct routine *r);
/* Is there a row for the sink? */
bool routine_any(const struct routine *r, const struct sink_settings *s);
/* A section of the document, with at most s->top rows; none where nothing concerns the sink. Of several
 * clusters each row names its own. */
void routine_put(const struct routine *r, const struct sink_settings *s, const struct str_list *clusters,
		 struct document *d);

#endif
