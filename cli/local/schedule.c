/* schedule.c - see schedule.h. */
// SPDX-License-Identifier: Apache-2.0
#include "cli/local/schedule.h"
#include "cli/view/output.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "config/cron.h"
#include "config/window.h"
#include "config/zone_file.h"
#include "model/duties.h"

#define RUNS 3

void schedule_time(int64_t ms, const struct zone *zone, char ret[static SCHEDULE_TIME_MAX])
{
	int64_t until;
	const int32_t east = zone_offset(zone, ms / 1000, &until);
	const int32_t minutes = (east < 0 ? -east : east) / 60;
	char buf[RFC3339_MAX];

	rfc3339_format(ms + (int64_t)east * 1000, false, buf);
	if (east == 0)
		(void)snprintf(ret, SCHEDULE_TIME_MAX, "%s", buf);
	else
		(void)snprintf(ret, SCHEDULE_TIME_MAX, "%.*s%c%02d:%02d", (int)strlen(buf) - 1, buf,
			       east < 0 ? '-' : '+', minutes / 60, minutes % 60);
}

/* One schedule as it is written, with the zone that it names or else is read by. */
static void add(json_t *all, const char *key, const char *text, const struct cron *cron,
		const char *zone_name, int64_t now_ms)
{
	const char *name = cron->zone[0] ? cron->zone : zone_name ? zone_name : "UTC";
	_cleanup_free_ void *bytes = NULL;
	char time[SCHEDULE_TIME_MAX];
	json_t *next = json_array();
	struct zone *zone = NULL;
	size_t n = 0;

	if (zone_load(name, &bytes, &n) == 0 && bytes)
		(void)zone_parse(bytes, n, &zone);
	for (int i = 0; i < RUNS && (now_ms = cron_next(cron, zone, now_ms)) != 0; i++) {
		schedule_time(now_ms, zone, time);
		json_array_append_new(next, json_string(time));
	}
	json_array_append_new(all, json_pack("{s:s, s:s, s:s, s:o}", "key", key, "schedule", text, "zone",
					     name, "next", next));
	zone_free(&zone);
}

static void add_windows(json_t *all, const char *before, enum duty d, const struct str_list *windows,
			const char *zone, int64_t now_ms)
{
	_cleanup_free_ char *key = xasprintf("%s%s.windows", before, duty_name(d));
	struct window w;

	for (size_t i = 0; i < windows->n; i++)
		if (window_parse(windows->v[i], &w, NULL) == 0)
			add(all, key, windows->v[i], &w.cron, zone, now_ms);
}

static bool same_list(const struct str_list *a, const struct str_list *b)
{
	for (size_t i = 0; i < a->n && i < b->n; i++)
		if (strcmp(a->v[i], b->v[i]) != 0)
			return false;
	return a->n == b->n;
}

json_t *schedule_json(const struct config *c, int64_t now_ms)
{
	const struct settings *s = &c->settings;
	const struct policy *p = &s->policy;
	json_t *all = json_array();
	struct cron cron;

	if (policy_enables(p, DUTY_RESTARTS) && s->schedule && cron_parse(s->schedule, &cron, NULL) == 0)
		add(all, "tooManyRestart.duration", s->schedule, &cron,
		    s->time_zone ? s->time_zone : s->window_zone, now_ms);
	for (size_t i = 0; i < DUTY__MAX; i++) {
		const enum duty d = duty_at(i);
		const struct str_list *windows = &p->duty[d].windows;

		if (!policy_enables(p, d))
			continue;
		add_windows(all, "", d, windows, s->window_zone, now_ms);
		for (size_t k = 0; k < p->n_overrides; k++) {
			const struct policy_override *o = &p->overrides[k];
			_cleanup_free_ char *before = xasprintf("override %s: ", o->name);

			if (!same_list(windows, &o->duty[d].windows))
				add_windows(all, before, d, &o->duty[d].windows, s->window_zone, now_ms);
		}
	}
	return all;
}

static const char *text_of(const json_t *o, const char *key)
{
	return json_string_value(json_object_get(o, key));
}

static char *times_of(const json_t *times)
{
	char *all = xstrdup("");
	json_t *time;
	size_t i;

	json_array_foreach (times, i, time) {
		_cleanup_free_ char *before = all;

		all = xconcat(before, *before ? " " : "", json_string_value(time), NULL);
	}
	return all;
}

void schedule_print(const struct config *c, int64_t now_ms, FILE *out)
{
	json_auto_t *all = schedule_json(c, now_ms);
	json_t *one;
	size_t i;

	if (json_array_size(all) > 0)
		(void)fprintf(out, "%s\n", TEXT(CONFIG_NEXT_RUNS));
	json_array_foreach (all, i, one) {
		_cleanup_free_ char *times = times_of(json_object_get(one, "next"));

		table_indented(out, 2, "%s \"%s\", %s:", text_of(one, "key"), text_of(one, "schedule"),
			       text_of(one, "zone"));
		table_indented(out, 4, "%s", times);
	}
}
