/* zone_rule.c - see zone_rule.h. */
// SPDX-License-Identifier: Apache-2.0
#include "config/zone_rule.h"

#include <errno.h>

#include "base/rfc3339.h"
#include "base/cleanup.h"

#define YEARS_10000 INT64_C(315576000000) /* seconds; no calendar further out */

struct scan {
	const char *p, *end;
	bool bad;
};

static bool take(struct scan *s, char c)
{
	if (s->p == s->end || *s->p != c)
		return false;
	s->p++;
	return true;
}

static int64_t number(struct scan *s, int64_t min, int64_t max)
{
	const char *from = s->p;
	int64_t v = 0;

	while (s->p < s->end && *s->p >= '0' && *s->p <= '9' && v <= max)
		v = v * 10 + (*s->p++ - '0');
	if (s->p == from || v < min || v > max)
		s->bad = true;
	return v;
}

/* Three letters or more, or anything quoted in <>. */
static void name(struct scan *s)
{
	const char *from = s->p;
	const bool quoted = take(s, '<');

	while (s->p < s->end && (quoted ? *s->p != '>' : ((*s->p | 32) >= 'a' && (*s->p | 32) <= 'z')))
		s->p++;
	if (s->p - from < 3 || (quoted && !take(s, '>')))
		s->bad = true;
}

/* [+-]hh[:mm[:ss]] in seconds */
static int64_t clock_time(struct scan *s, int64_t max_hours)
{
	const bool minus = take(s, '-');
	int64_t v;

	if (!minus)
		(void)take(s, '+');
	v = number(s, 0, max_hours) * 3600;
	if (take(s, ':')) {
		v += number(s, 0, 59) * 60;
		if (take(s, ':'))
			v += number(s, 0, 59);
	}
	return minus ? -v : v;
}

static struct zone_day day_rule(struct scan *s)
{
	struct zone_day d = { .kind = ZONE_DAY_ZERO, .second = 7200 };

	if (!take(s, ',')) {
		s->bad = true;
	} else if (take(s, 'J')) {
		d.kind = ZONE_DAY_JULIAN;
		d.day = number(s, 1, 365);
	} else if (take(s, 'M')) {
		d.kind = ZONE_DAY_WEEK;
		d.month = number(s, 1, 12);
		s->bad |= !take(s, '.');
		d.week = number(s, 1, 5);
		s->bad |= !take(s, '.');
		d.day = number(s, 0, 6);
	} else {
		d.day = number(s, 0, 365);
	}
	if (take(s, '/'))
		d.second = clock_time(s, 167);
	return d;
}

int zone_rule_parse(const char *text, size_t n, struct zone_rule *ret)
{
	struct scan s = { text, text + n, false };
	struct zone_rule rule = { 0 };

	name(&s);
	rule.standard = (int32_t)-clock_time(&s, 24);
	if (!s.bad && s.p < s.end) {
		rule.has_summer = true;
		name(&s);
		rule.summer = rule.standard + 3600;
		if (s.p < s.end && *s.p != ',')
			rule.summer = (int32_t)-clock_time(&s, 24);
		rule.begin = day_rule(&s);
		rule.end = day_rule(&s);
	}
	if (s.bad || s.p != s.end)
		return -EBADMSG;
	*ret = rule;
	return 0;
}

static bool is_leap(int64_t year)
{
	return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

/* Local seconds since 1970 at which the rule falls in that year. */
static int64_t day_seconds(const struct zone_day *d, int64_t year)
{
	const int64_t first = days_from_civil(year, 1, 1);
	int64_t day;

	if (d->kind == ZONE_DAY_ZERO) {
		day = first + d->day;
	} else if (d->kind == ZONE_DAY_JULIAN) { /* 29 February is never counted */
		day = first + d->day - 1 + (is_leap(year) && d->day >= 60);
	} else {
		const int64_t start = days_from_civil(year, (unsigned)d->month, 1);
		const int64_t next = d->month == 12 ? days_from_civil(year + 1, 1, 1)
						    : days_from_civil(year, (unsigned)d->month + 1, 1);
		const int64_t weekday = ((start + 4) % 7 + 7) % 7; /* 1970-01-01 was a Thursday */

		day = start + (d->day - weekday + 7) % 7 + (d->week - 1) * 7;
		if (day >= next)
			day -= 7;
	}
	return day * 86400 + d->second;
}

int32_t zone_rule_offset(const struct zone_rule *rule, int64_t t, int64_t *ret_until)
{
	int32_t offset = rule->standard;
	int64_t year, last = INT64_MIN;
	unsigned month, day;

	*ret_until = INT64_MAX;
	if (!rule->has_summer || t > YEARS_10000 || t < -YEARS_10000)
		return offset;
	civil_from_days((t + rule->standard) / 86400, &year, &month, &day);
	/* Each year's two changes; where an end and a beginning coincide (summer all year) the beginning
	 * wins. */
	for (int64_t y = year - 1; y <= year + 1; y++) {
		const struct {
			int64_t at;
			int32_t offset;
		} change[] = {
			{ day_seconds(&rule->end, y) - rule->summer, rule->standard },
			{ day_seconds(&rule->begin, y) - rule->standard, rule->summer },
		};

		for (size_t i = 0; i < ARRAY_SIZE(change); i++) {
			if (change[i].at > t) {
				*ret_until = change[i].at < *ret_until ? change[i].at : *ret_until;
			} else if (change[i].at > last || (change[i].at == last && i == 1)) {
				last = change[i].at;
				offset = change[i].offset;
			}
		}
	}
	return offset;
}
