/* cron.c - when a parsed schedule fires; see cron.h, parsing is in cron_parse.c. A zone is a row of spans of
 * constant offset: in each, the next matching local time is found by the calendar alone and taken if it still
 * lies in the span. So a skipped local time cannot fire and a repeated one fires twice, in every zone. */
// SPDX-License-Identifier: Apache-2.0
#include "config/cron.h"

#include "base/rfc3339.h"
#include "config/zone.h"

#define DAY       INT64_C(86400)
#define YEARS_MAX 5
/* 0001-01-01 and 9990-01-01: the calendar is not asked further out. */
#define FROM_MIN (-INT64_C(62135596800))
#define FROM_MAX INT64_C(253086768000)

static int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

static int64_t year_of(int64_t local)
{
	int64_t year;
	unsigned month, day;

	civil_from_days(floor_div(local, DAY), &year, &month, &day);
	return year;
}

/* Lowest set bit at or above `from`; 64 when there is none. */
static unsigned next_bit(uint64_t bits, unsigned from)
{
	bits = from > 63 ? 0 : bits >> from << from;
	return bits ? (unsigned)__builtin_ctzll(bits) : 64;
}

/* Second of the day at or after `from` that matches, or -1. */
static int64_t next_in_day(const struct cron *c, int64_t from)
{
	const unsigned hour = (unsigned)(from / 3600), minute = (unsigned)(from / 60 % 60),
		       second = (unsigned)(from % 60);
	unsigned h = next_bit(c->hour, hour), m, s;

	if (h == hour) {
		m = next_bit(c->minute, minute);
		s = next_bit(c->second, m == minute ? second : 0);
		if (s == 64) {
			m = next_bit(c->minute, minute + 1);
			s = next_bit(c->second, 0);
		}
		if (m != 64)
			return h * INT64_C(3600) + m * 60 + s;
		h = next_bit(c->hour, hour + 1);
	}
	if (h == 64)
		return -1;
	return h * INT64_C(3600) + next_bit(c->minute, 0) * 60 + next_bit(c->second, 0);
}

static bool is_day(const struct cron *c, unsigned day, int64_t days)
{
	const unsigned weekday = (unsigned)(((days + 4) % 7 + 7) % 7); /* 1970-01-01 was a Thursday */
	const bool by_day = (c->day >> day) & 1, by_weekday = (c->weekday >> weekday) & 1;

	return c->day_star || c->weekday_star ? by_day && by_weekday : by_day || by_weekday;
}

/* First matching local second at or after `local`, in years up to last_year; or INT64_MAX. */
static int64_t next_local(const struct cron *c, int64_t local, int64_t last_year)
{
	int64_t days = floor_div(local, DAY), from = local - days * DAY;

	for (;; days++, from = 0) {
		int64_t year, second;
		unsigned month, day;

		civil_from_days(days, &year, &month, &day);
		if (year > last_year)
			return INT64_MAX;
		if (!((c->month >> month) & 1) || !is_day(c, day, days))
			continue;
		second = next_in_day(c, from);
		if (second >= 0)
			return days * DAY + second;
	}
}

int64_t cron_next(const struct cron *c, const struct zone *zone, int64_t from_ms)
{
	const int64_t from = floor_div(from_ms, 1000);
	int64_t until, t = from + 1;

	if (from < FROM_MIN || from > FROM_MAX)
		return 0;
	if (c->every_s > 0)
		return (from + (int64_t)c->every_s) * 1000;

	const int64_t last_year = year_of(t + zone_offset(zone, t, &until)) + YEARS_MAX;

	for (;;) {
		const int32_t offset = zone_offset(zone, t, &until);
		const int64_t local = next_local(c, t + offset, last_year);

		if (local != INT64_MAX && local - offset < until)
			return (local - offset) * 1000;
		if (until == INT64_MAX || year_of(until + offset) > last_year)
			return 0;
		t = until;
	}
}
