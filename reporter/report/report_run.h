/* report_run.h - one report in the making: the rows that the watchers sent, what the samples say of them,
 * what workers saw of those that will be shown, and from all that a message for each sink. Layer: process
 * (reporter), report. Asks nobody: who makes it asks, and hands the answers in. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_REPORT_REPORT_RUN_H
#define REPORTER_REPORT_REPORT_RUN_H

#include "config/settings.h"
#include "reporter/report/digest.h"
#include "reporter/report/schedule.h"
#include "reporter/history/db.h"
#include "reporter/news/document.h"

/* Workers are asked about so many rows at most, and about so many at once. */
#define REPORT_RUN_INSPECTIONS_MAX  100u
#define REPORT_RUN_INSPECTIONS_OPEN 4u
/* The first report counts this long, in ms. */
#define REPORT_RUN_FIRST_MS (INT64_C(7) * 86400000)

enum run_state {
	RUN_CLAIMED, /* rows are collected */
	RUN_DONE,    /* its messages are in the outbox */
	RUN_EMPTY,   /* nothing to report */
	RUN_STATE__MAX
};
/* "done"; "?" outside the range. */
const char *run_state_name(enum run_state s);

/* A run is named by the time when it is due (Unix ms). */
struct scheduled_run {
	int64_t due_at;
	enum run_state state;
	uint64_t workloads, pods;
	int64_t collected_at; /* when its rows were complete: its window ends there */
	bool late;
	const char *incomplete; /* clusters without a full answer, or ""; borrowed from the report */
};

struct report_run;

/* What it is made by, beside the schedule; copied. */
struct report_run_options {
	const struct str_list *clusters; /* names by index */
	int64_t last_at; /* when the rows of the last report were complete, Unix ms; 0 = there was none */
	bool is_preview; /* the history is only read */
	uint64_t number; /* of the first question to a worker */
};

struct report_run *report_run_new(void);
/* Accepts NULL. */
void report_run_free(struct report_run **e);
void report_run_add(struct report_run *e, const struct msg_digest_row *row);

/* No more rows come, as of run->collected_at. Writes them down as samples (not for a preview), counts what
 * came in the window, finds what is new and what has recovered, and sets what is counted in *run. answered:
 * by index of the cluster, did it give a full answer; borrowed. 0, or negative errno when the history could
 * not be read or written: then it says less. */
int report_run_collected(struct report_run *e, struct db *db, const struct report_schedule *schedule,
			 const struct report_run_options *o, const bool *answered, struct scheduled_run *run);

/* These sinks are told: what they will be shown is to be looked at. */
void report_run_want_inspections(struct report_run *e, const struct sink_settings *s);
/* The next question that may be asked now, an INSPECT; false when there is none. */
bool report_run_next_inspection(struct report_run *e, struct msg *ret);
/* False: it answers nothing that was asked here. */
bool report_run_on_inspected(struct report_run *e, const struct msg_inspected *m);
bool report_run_waits_for_inspections(const struct report_run *e);

/* The message for one sink; lost: earlier reports that it did not get; attention may be NULL. False, and *ret
 * is empty, when there is nothing to tell it. */
bool report_run_compose(const struct report_run *e, const struct report_schedule *schedule,
			const struct sink_settings *s, int64_t lost, const struct attention *attention,
			struct document *ret);

/* Remember what this report said, for the next one, in the transaction of the caller. 0 or negative errno. */
int report_run_remember(const struct report_run *e, struct db *db);

#endif
