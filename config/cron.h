/* cron.h - when a schedule fires next. Six fields mean what robfig/cron v1 makes of them (seconds first);
 * five are a crontab line. Layer: config.  Pure: no clock, no file; the time zone comes as bytes
 * (config/zone.h). */
// SPDX-License-Identifier: Apache-2.0
#ifndef CONFIG_CRON_H
#define CONFIG_CRON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/diag.h"

struct zone;

#define CRON_ZONE_MAX 64

struct cron {
	uint64_t second, minute, hour, day, month, weekday; /* bit n = value n fires */
	bool day_star, weekday_star;                        /* the field begins with * or ? */
	bool rhythm;                                        /* the hour or the minute begins with * or ? */
	bool five_fields;                                   /* seconds were left out: read as a crontab */
	bool once; /* a local time that comes twice fires the first time only; not of six fields: robfig/cron
		      v1 */
	uint64_t every_s;         /* @every; 0 = the fields above */
	char zone[CRON_ZONE_MAX]; /* of a TZ= or CRON_TZ= prefix; "" = none */
};

/* Why a text is no schedule, no window. */
struct schedule_error {
	size_t pos; /* byte of the text */
	char why[SENTENCE_MAX];
};

/* Fields: numbers, names (jan-dec, sun-sat), ranges, lists, steps, "*" and "?"; weekday 0-6; day and weekday
 * both given: either suffices; one of them "*" (also "*" with a step): both must hold. Descriptors: @yearly
 * @annually
 * @monthly @weekly @daily @midnight @hourly, "@every <Go duration of at least 1s>".
 * 0, or -EINVAL. reterr may be NULL. */
int cron_parse(const char *spec, struct cron *ret, struct schedule_error *reterr);

/* First moment after from_ms (strictly, whole seconds) whose local time in zone (NULL = UTC) matches; a local
 * time that a clock change skips does not fire. One that it repeats fires once where `once` says so and the
 * schedule names hours and minutes (as Vixie's cron does; with "*" in one of them it is a rhythm, which goes
 * on), else twice. 0 when there is none up to the end of the fifth following year. All times Unix
 * milliseconds. */
int64_t cron_next(const struct cron *c, const struct zone *zone, int64_t from_ms);

#endif
