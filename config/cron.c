/* cron.c - see cron.h. A zone is a row of spans of
 * constant offset: in each, the next matching local time is found by the calendar alone and taken if it still
 * lies in the span. So a skipped local time cannot fire and a repeated one fires twice, in every zone; the
 * second time is left out where once is meant. */
// SPDX-License-Identifier: Apache-2.0
#include "config/cron.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/duration.h"
#include "base/rfc3339.h"
#include "config/zone.h"

#define DAY       INT64_C(86400)
#define YEARS_MAX 5
#define SET_BACK  INT64_C(10800) /* seconds: a zone's change by more is no repetition (as in Vixie's cron) */
/* 0001-01-01 and 9990-01-01: the calendar is not asked further out. */
#define FROM_MIN (-INT64_C(62135596800))
#define FROM_MAX INT64_C(253086768000)

/* -- the text of a schedule -- */

static const char *const month_names[] = { "jan", "feb", "mar", "apr", "may", "jun",
					   "jul", "aug", "sep", "oct", "nov", "dec" };
static const char *const weekday_names[] = { "sun", "mon", "tue", "wed", "thu", "fri", "sat" };

static const struct field {
	enum phrase name;
	unsigned min, max;
	const char *const *names; /* of min, min + 1, ... */
	size_t n_names;
} fields[6] = {
	{ PHRASE_DIAG_CRON_SECOND, 0, 59, NULL, 0 },
	{ PHRASE_DIAG_CRON_MINUTE, 0, 59, NULL, 0 },
	{ PHRASE_DIAG_CRON_HOUR, 0, 23, NULL, 0 },
	{ PHRASE_DIAG_CRON_DAY, 1, 31, NULL, 0 },
	{ PHRASE_DIAG_CRON_MONTH, 1, 12, month_names, ARRAY_SIZE(month_names) },
	{ PHRASE_DIAG_CRON_WEEKDAY, 0, 6, weekday_names, ARRAY_SIZE(weekday_names) },
};

struct parse {
	const char *spec;
	struct schedule_error *err; /* never NULL */
};

#define FAIL(p, at, ...)                                                                                     \
	((p)->err->pos = (size_t)((at) - (p)->spec), sentence_make((p)->err->why, __VA_ARGS__))

#define BLANKS " \t\n\v\f\r"

/* The first word of *rest, which is then what stands behind it. */
static struct str next_word(struct str *rest)
{
	struct str word = { rest->p, 0 };

	while (word.n < rest->n && !strchr(BLANKS, word.p[word.n]))
		word.n++;
	*rest = str_trim((struct str){ word.p + word.n, rest->n - word.n }, BLANKS);
	return word;
}

/* The part of s before the first `stop`; *rest is behind it, or NULL at the end. */
static struct str split(struct str s, char stop, struct str *rest)
{
	const char *at = s.n ? memchr(s.p, stop, s.n) : NULL;

	if (!at) {
		*rest = (struct str){ 0 };
		return s;
	}
	*rest = (struct str){ at + 1, s.n - (size_t)(at + 1 - s.p) };
	return (struct str){ s.p, (size_t)(at - s.p) };
}

/* Characters that other cron programs know. */
static int fail_value(struct parse *p, const struct field *f, struct str s)
{
	if (s.n == 0)
		return FAIL(p, s.p, CRON_MISSING, WORD(f->name));
	if (memchr(s.p, '#', s.n) || str_is_word(s, "l") || str_is_word(s, "w") ||
	    (s.p[s.n - 1] | 32) == 'l' || (s.p[s.n - 1] | 32) == 'w')
		return FAIL(p, s.p, CRON_LETTERS, WORD(f->name));
	if (f->names)
		return FAIL(p, s.p, CRON_NAMED, WORD(f->name), f->min, f->max, f->names[0],
			    f->names[f->n_names - 1]);
	return FAIL(p, s.p, CRON_VALUE, WORD(f->name), f->min, f->max);
}

static int parse_value(struct parse *p, const struct field *f, struct str s, unsigned *ret)
{
	uint64_t v = 0;
	int r;

	for (size_t i = 0; i < f->n_names; i++)
		if (str_is_word(s, f->names[i])) {
			*ret = f->min + (unsigned)i;
			return 0;
		}
	r = str_to_u64(s.p, s.n, &v);
	if (r == -EINVAL)
		return fail_value(p, f, s);
	if (r < 0 || v > f->max)
		return FAIL(p, s.p, CRON_ABOVE, (int)(s.n > 20 ? 20 : s.n), s.p, f->max, WORD(f->name),
			    f->max == 6 ? WORD(PHRASE_DIAG_CRON_SUNDAY) : "");
	if (v < f->min)
		return FAIL(p, s.p, CRON_BELOW, (unsigned long long)v, f->min, WORD(f->name));
	*ret = (unsigned)v;
	return 0;
}

static int parse_step(struct parse *p, const struct field *f, struct str s, unsigned *ret)
{
	uint64_t v;

	if (s.n > 0 && memchr(s.p, '/', s.n))
		return FAIL(p, s.p, CRON_SLASHES, WORD(f->name));
	if (str_to_u64(s.p, s.n, &v) < 0 || v == 0)
		return FAIL(p, s.p, CRON_STEP, WORD(f->name));
	*ret = v > f->max ? f->max + 1 : (unsigned)v;
	return 0;
}

/* "*", "a", "a-b", each with "/step"; adds its bits. */
static int parse_range(struct parse *p, const struct field *f, struct str s, uint64_t *bits, bool *star)
{
	struct str step_text, high_text;
	const struct str range = split(s, '/', &step_text), low_text = split(range, '-', &high_text);
	unsigned low = f->min, high = f->max, step = 1;
	int r = 0;

	if (step_text.p)
		r = parse_step(p, f, step_text, &step);
	if (r < 0)
		return r;
	if (str_is(range, "*") || str_is(range, "?")) {
		*star = true;
	} else {
		r = parse_value(p, f, low_text, &low);
		if (r == 0 && high_text.p)
			r = parse_value(p, f, high_text, &high);
		else if (!step_text.p)
			high = low; /* "a/step" goes on to the largest */
		if (r < 0)
			return r;
	}
	if (low > high)
		return FAIL(p, low_text.p, CRON_BACKWARDS, (int)range.n, range.p, WORD(f->name));
	for (unsigned v = low; v <= high; v += step)
		*bits |= UINT64_C(1) << v;
	return 0;
}

static int parse_field(struct parse *p, const struct field *f, struct str s, uint64_t *ret, bool *star)
{
	*ret = 0;
	*star = false;
	do {
		struct str rest;
		const struct str part = split(s, ',', &rest);
		const int r = parse_range(p, f, part, ret, star);

		if (r < 0)
			return r;
		s = rest;
	} while (s.p);
	return 0;
}

static int parse_fields(struct parse *p, struct str s, struct cron *c)
{
	uint64_t *const bits[6] = { &c->second, &c->minute, &c->hour, &c->day, &c->month, &c->weekday };
	struct str word[7] = { 0 };
	bool star[6] = { 0 };
	size_t n = 0;

	for (struct str rest = s; rest.n > 0 && n < ARRAY_SIZE(word);)
		word[n++] = next_word(&rest);
	if (n < 5 || n > 6)
		return FAIL(p, n > 6 ? word[6].p : s.p, CRON_FIELDS, n > 6 ? WORD(PHRASE_DIAG_CRON_MORE) : "",
			    n);
	c->five_fields = n == 5;
	c->once = n == 5;
	c->second = 1;
	for (size_t i = 0, f = 6 - n; i < n; i++, f++) {
		const int r = parse_field(p, &fields[f], word[i], bits[f], &star[f]);

		if (r < 0)
			return r;
	}
	c->rhythm = star[1] || star[2];
	c->day_star = star[3];
	c->weekday_star = star[5];
	return 0;
}

static const struct descriptor {
	const char *name, *fields;
} descriptors[] = {
	{ "@yearly", "0 0 0 1 1 *" }, { "@annually", "0 0 0 1 1 *" }, { "@monthly", "0 0 0 1 * *" },
	{ "@weekly", "0 0 0 * * 0" }, { "@daily", "0 0 0 * * *" },    { "@midnight", "0 0 0 * * *" },
	{ "@hourly", "0 0 * * * *" },
};

static int parse_descriptor(struct parse *p, struct str s, struct cron *c)
{
	struct duration_error why;
	struct str rest = s;
	int64_t ns;

	for (size_t i = 0; i < ARRAY_SIZE(descriptors); i++)
		if (str_is(s, descriptors[i].name)) {
			const int r = parse_fields(p, STR_C(descriptors[i].fields), c);

			c->once = true;
			return r;
		}
	if (!str_is(next_word(&rest), "@every") || rest.n == 0)
		return FAIL(p, s.p, CRON_DESCRIPTOR);
	if (duration_parse(rest.p, rest.n, &ns, &why) < 0)
		return p->err->pos = (size_t)(rest.p - p->spec), sentence_of_duration(p->err->why, &why);
	if (ns < 1000000000)
		return FAIL(p, rest.p, CRON_EVERY);
	c->every_s = (uint64_t)(ns / 1000000000);
	return 0;
}

/* "TZ=Area/City " or "CRON_TZ=Area/City " goes from *s. */
static int parse_zone(struct parse *p, struct str *s, struct cron *c)
{
	struct str rest = *s, zone = next_word(&rest);
	const size_t prefix = strncmp(zone.p, "CRON_TZ=", 8) == 0 ? 8
			      : strncmp(zone.p, "TZ=", 3) == 0    ? 3
								  : 0;

	if (prefix == 0)
		return 0;
	zone.p += prefix;
	zone.n -= prefix;
	if (zone.n == 0 || zone.n >= sizeof(c->zone))
		return FAIL(p, zone.p, CRON_ZONE);
	memcpy(c->zone, zone.p, zone.n);
	*s = rest;
	return s->n == 0 ? FAIL(p, s->p, CRON_BEHIND) : 0;
}

static int parse(struct parse *p, struct cron *c)
{
	struct str s = str_trim(STR_C(p->spec), BLANKS);

	if (parse_zone(p, &s, c) < 0)
		return -EINVAL;
	if (s.n == 0)
		return FAIL(p, s.p, CRON_EMPTY);
	return *s.p == '@' ? parse_descriptor(p, s, c) : parse_fields(p, s, c);
}

int cron_parse(const char *spec, struct cron *ret, struct schedule_error *reterr)
{
	struct schedule_error unread;
	struct parse p = { spec, reterr ? reterr : &unread };
	struct cron c = { 0 };
	const int r = parse(&p, &c);

	if (r == 0)
		*ret = c;
	return r;
}

/* -- when it fires -- */

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

/* Was that local time there before, less than SET_BACK ago, by an offset that held then? */
static bool is_repeated(const struct zone *zone, int64_t t, int32_t offset)
{
	int64_t until;
	const int32_t before = zone_offset(zone, t - SET_BACK, &until);
	const int64_t first = t + offset - before;

	return first < t && zone_offset(zone, first, &until) == before;
}

static bool fires_once(const struct cron *c)
{
	return c->once && !c->rhythm;
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

		if (local != INT64_MAX && local - offset < until) {
			t = local - offset;
			if (!fires_once(c) || !is_repeated(zone, t, offset))
				return t * 1000;
			t++;
			continue;
		}
		if (until == INT64_MAX || year_of(until + offset) > last_year)
			return 0;
		t = until;
	}
}
