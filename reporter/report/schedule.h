/* schedule.h - what the settings say about the digest, ready for use, and which run of its schedule is due.
 * Layer: process (reporter), report.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_REPORT_SCHEDULE_H
#define REPORTER_REPORT_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "config/cron.h"
#include "config/settings.h"
#include "config/zone.h"
#include "text/texts.h"

struct report_schedule {
	bool enable;
	bool sample;       /* count restarts every hour, with or without reports */
	int64_t window_ms; /* of what a report counts; 0 = since the last one */
	struct cron cron;
	struct zone *zone; /* NULL = UTC */
	char *schedule;    /* expression and zone: runs of another one are not this one's */
	char *title;
	char *cluster_title;               /* of the only cluster, for people; NULL = its name */
	uint64_t routine;                  /* duties whose deletions the report sums up (routine.h) */
	const struct link_settings *links; /* of the settings, too */
	const struct sink_settings *sinks; /* of the settings: they have to live as long */
	size_t n_sinks;
	struct str_list clusters;
};

/* 0, or -EINVAL and why in *ret_why. *ret is
 * disabled when the duty is, or when no sink is told reports. */
int report_schedule_parse(const struct settings *s, struct report_schedule *ret, enum text *ret_why);
void report_schedule_done(struct report_schedule *o);

/* Latest run after `last` and not after now; 0 when there is none. A last in the future (the clock was set
 * back) counts as now. All Unix ms. */
int64_t schedule_due(const struct cron *c, const struct zone *zone, int64_t last, int64_t now);

#endif
