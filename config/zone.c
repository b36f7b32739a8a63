/* zone.c - see zone.h: the table of a file, and the rule behind it. */
// SPDX-License-Identifier: Apache-2.0
#include "config/zone.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/rfc3339.h"
#include "base/xalloc.h"

#define HEADER      44u
#define YEARS_10000 INT64_C(315576000000) /* seconds; no calendar further out */

/* The POSIX TZ rule at the end of a file ("CET-1CEST,M3.5.0,M10.5.0/3"), for times after its table. */
struct day {
	enum { DAY_JULIAN, DAY_ZERO, DAY_WEEK } kind; /* Jn, n, Mm.w.d */
	int64_t month, week, day;
	int64_t second; /* of that day, local time; may be negative or above a day (RFC 8536 3.3.1) */
};

struct rule {
	int32_t standard, summer; /* seconds east of UTC */
	bool has_summer;
	struct day begin, end; /* of summer time */
};

struct zone {
	size_t n; /* transitions */
	int64_t *at;
	int32_t *offset; /* from at[i] on */
	int32_t first;   /* before at[0] */
	bool has_rule;
	struct rule rule; /* after the last */
};

/* -- the rule -- */

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

static struct day day_rule(struct scan *s)
{
	struct day d = { .kind = DAY_ZERO, .second = 7200 };

	if (!take(s, ',')) {
		s->bad = true;
	} else if (take(s, 'J')) {
		d.kind = DAY_JULIAN;
		d.day = number(s, 1, 365);
	} else if (take(s, 'M')) {
		d.kind = DAY_WEEK;
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

static int rule_parse(const char *text, size_t n, struct rule *ret)
{
	struct scan s = { text, text + n, false };
	struct rule rule = { 0 };

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
static int64_t day_seconds(const struct day *d, int64_t year)
{
	const int64_t first = days_from_civil(year, 1, 1);
	int64_t day;

	if (d->kind == DAY_ZERO) {
		day = first + d->day;
	} else if (d->kind == DAY_JULIAN) { /* 29 February is never counted */
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

static int32_t rule_offset(const struct rule *rule, int64_t t, int64_t *ret_until)
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

/* -- the bytes -- */

/* One of the two blocks of a file. */
struct block {
	const uint8_t *p;
	size_t isut, isstd, leap, time, type, chars;
	size_t width; /* bytes of a time: 4 or 8 */
	size_t size;  /* with its header */
};

static int64_t big_endian(const uint8_t *p, size_t n)
{
	uint64_t v = (p[0] & 0x80) ? UINT64_MAX : 0;

	for (size_t i = 0; i < n; i++)
		v = v << 8 | p[i];
	return (int64_t)v;
}

static int block_parse(const uint8_t *p, size_t n, size_t width, struct block *ret)
{
	struct block b = { .p = p, .width = width };
	size_t *const counts[] = { &b.isut, &b.isstd, &b.leap, &b.time, &b.type, &b.chars };

	if (n < HEADER || memcmp(p, "TZif", 4) != 0)
		return -EBADMSG;
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		*counts[i] = (uint32_t)big_endian(p + 20 + 4 * i, 4);
		if (*counts[i] > n)
			return -EBADMSG;
	}
	if (b.type > 256)
		return -EBADMSG;
	b.size = HEADER + b.time * (width + 1) + b.type * 6 + b.chars + b.leap * (width + 4) + b.isstd +
		 b.isut;
	if (b.size > n)
		return -EBADMSG;
	*ret = b;
	return 0;
}

static int block_load(struct zone *z, const struct block *b)
{
	const uint8_t *times = b->p + HEADER, *index = times + b->time * b->width, *types = index + b->time;

	if (b->type == 0)
		return -EBADMSG;
	for (size_t i = 0; i < b->type; i++) {
		const int64_t offset = big_endian(types + i * 6, 4);

		if (offset < -93600 || offset > 93600) /* RFC 8536 3.2: about 25 to 26 hours */
			return -EBADMSG;
	}
	z->n = b->time;
	z->at = xcalloc(z->n, sizeof(*z->at));
	z->offset = xcalloc(z->n, sizeof(*z->offset));
	z->first = (int32_t)big_endian(types, 4);
	for (size_t i = 0; i < z->n; i++) {
		z->at[i] = big_endian(times + i * b->width, b->width);
		if (index[i] >= b->type || (i > 0 && z->at[i] <= z->at[i - 1]))
			return -EBADMSG;
		z->offset[i] = (int32_t)big_endian(types + index[i] * 6u, 4);
	}
	return 0;
}

/* "\n<rule>\n" behind the second block. */
static int footer_load(struct zone *z, const uint8_t *p, size_t n)
{
	const uint8_t *end = n > 1 ? memchr(p + 1, '\n', n - 1) : NULL;

	if (!end || p[0] != '\n')
		return -EBADMSG;
	if (end == p + 1)
		return 0;
	z->has_rule = true;
	return rule_parse((const char *)p + 1, (size_t)(end - p - 1), &z->rule);
}

static int load(struct zone *z, const uint8_t *p, size_t n)
{
	struct block first, second;
	int r = block_parse(p, n, 4, &first);

	if (r < 0)
		return r;
	if (p[4] == '\0')
		return block_load(z, &first);
	r = block_parse(p + first.size, n - first.size, 8, &second);
	if (r == 0)
		r = block_load(z, &second);
	if (r < 0)
		return r;
	return footer_load(z, second.p + second.size, n - first.size - second.size);
}

int zone_parse(const void *p, size_t n, struct zone **ret)
{
	struct zone *z;
	int r;

	if (n > ZONE_SIZE_MAX)
		return -EBADMSG;
	z = xcalloc(1, sizeof(*z));
	r = load(z, p, n);
	if (r < 0)
		zone_free(&z);
	else
		*ret = z;
	return r;
}

void zone_free(struct zone **z)
{
	if (!*z)
		return;
	free((*z)->at);
	free((*z)->offset);
	free(*z);
	*z = NULL;
}

int32_t zone_offset(const struct zone *z, int64_t t, int64_t *ret_until)
{
	size_t low = 0, high = z ? z->n : 0; /* the first transition after t is in [low, high] */

	*ret_until = INT64_MAX;
	if (!z)
		return 0;
	while (low < high) {
		const size_t mid = low + (high - low) / 2;

		if (z->at[mid] <= t)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == z->n && z->has_rule)
		return rule_offset(&z->rule, t, ret_until);
	if (low < z->n)
		*ret_until = z->at[low];
	return low == 0 ? z->first : z->offset[low - 1];
}
