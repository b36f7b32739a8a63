/* schedule.c - see schedule.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/report/schedule.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/rfc3339.h"
#include "base/xalloc.h"
#include "config/zone.h"
#include "reporter/report/digest.h"
#include "reporter/notify/routine.h"
#include "reporter/notify/sink_select.h"

int report_schedule_parse(const struct settings *s, struct report_schedule *ret, enum text *ret_why)
{
	_cleanup_(report_schedule_done) struct report_schedule o = { 0 };
	const char *schedule = s->schedule ? s->schedule : "";

	o.sample = policy_enables(&s->policy, DUTY_RESTARTS);
	o.window_ms = (int64_t)s->report_window_ms;
	o.enable = policy_enables(&s->policy, DUTY_RESTARTS) && select_any(s, NEWS_REPORT);
	if (o.enable && cron_parse(schedule, &o.cron, NULL) < 0) {
		*ret_why = TEXT_NO_SCHEDULE;
		return -EINVAL;
	}
	if (s->zone_size > 0 && zone_parse(s->zone_data, s->zone_size, &o.zone) < 0) {
		*ret_why = TEXT_ZONE_DAMAGED;
		return -EINVAL;
	}
	o.schedule = xasprintf("%s|%s", schedule, s->time_zone ? s->time_zone : "UTC");
	o.title = digest_clean(s->msg_title ? s->msg_title : "");
	o.routine = routine_duties(s);
	o.cluster_title = s->cluster_title ? digest_clean(s->cluster_title) : NULL;
	o.links = &s->links;
	o.sinks = s->sinks;
	o.n_sinks = s->n_sinks;
	str_list_add_all(&o.clusters, &s->cluster_names);
	*ret = o;
	o = (struct report_schedule){ 0 };
	return 0;
}

void report_schedule_done(struct report_schedule *o)
{
	zone_free(&o->zone);
	free(o->schedule);
	free(o->title);
	free(o->cluster_title);
	str_list_done(&o->clusters);
	*o = (struct report_schedule){ 0 };
}

/* -- which run is due -- */

#define MINUTE_MS INT64_C(60000)
#define STEPS_MAX 5000

/* Walk on from the run at `at`, at most STEPS_MAX runs; *ret_all says whether the last one was reached. */
static int64_t walk(const struct cron *c, const struct zone *zone, int64_t at, int64_t now, int *ret_all)
{
	*ret_all = 1;
	for (int i = 0; i < STEPS_MAX; i++) {
		const int64_t next = cron_next(c, zone, at);

		if (next == 0 || next > now)
			return at;
		at = next;
	}
	*ret_all = 0;
	return at;
}

int64_t schedule_due(const struct cron *c, const struct zone *zone, int64_t last, int64_t now)
{
	/* After a long absence of a frequent schedule: look back in windows, the shortest first. */
	static const int64_t windows[] = { MINUTE_MS, 60 * MINUTE_MS, 1440 * MINUTE_MS,
					   32 * 1440 * MINUTE_MS };
	int64_t at = cron_next(c, zone, last > now ? now : last);
	int all = 0;

	if (at == 0 || at > now)
		return 0;
	at = walk(c, zone, at, now, &all);
	for (size_t i = 0; !all && i < ARRAY_SIZE(windows); i++) {
		const int64_t near = cron_next(c, zone, now - windows[i]);

		if (near > at && near <= now)
			at = walk(c, zone, near, now, &all);
	}
	return at;
}
