/* rfc3339.c - see rfc3339.h. Calendar arithmetic is done here because gmtime and friends read the time zone
 * files, which a sandboxed role cannot. */
// SPDX-License-Identifier: Apache-2.0
#include "base/rfc3339.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

#define DAY_MS 86400000

/* Eras of 400 years, years starting in March: the leap day is the last day of the year. */
int64_t days_from_civil(int64_t year, unsigned month, unsigned day)
{
	const int64_t y = month <= 2 ? year - 1 : year;
	const int64_t era = (y >= 0 ? y : y - 399) / 400;
	const int64_t yoe = y - era * 400;
	const int64_t doy = (int64_t)((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day) - 1;
	const int64_t doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;

	return era * 146097 + doe - 719468;
}

void civil_from_days(int64_t days, int64_t *ret_year, unsigned *ret_month, unsigned *ret_day)
{
	const int64_t z = days + 719468;
	const int64_t era = (z >= 0 ? z : z - 146096) / 146097;
	const int64_t doe = z - era * 146097;
	const int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	const int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	const int64_t mp = (5 * doy + 2) / 153;

	*ret_day = (unsigned)(doy - (153 * mp + 2) / 5 + 1);
	*ret_month = (unsigned)(mp < 10 ? mp + 3 : mp - 9);
	*ret_year = yoe + era * 400 + (*ret_month <= 2);
}

static bool digits(const char **p, const char *end, unsigned n, unsigned *ret)
{
	unsigned v = 0;

	if ((size_t)(end - *p) < n)
		return false;
	for (unsigned i = 0; i < n; i++, (*p)++) {
		if (**p < '0' || **p > '9')
			return false;
		v = v * 10 + (unsigned)(**p - '0');
	}
	*ret = v;
	return true;
}

/* A letter in either case; anything else as it is: with the bit of lower case set, NUL would be a space. */
static bool lit(const char **p, const char *end, char c)
{
	if (*p == end || (**p != c && !(c >= 'A' && c <= 'Z' && **p == (c | 0x20))))
		return false;
	(*p)++;
	return true;
}

static bool milliseconds(const char **p, const char *end, unsigned *ret_ms)
{
	unsigned scale = 100;

	*ret_ms = 0;
	if (*p == end || **p != '.')
		return true;
	(*p)++;
	if (*p == end || **p < '0' || **p > '9')
		return false;
	for (; *p < end && **p >= '0' && **p <= '9'; (*p)++, scale /= 10)
		*ret_ms += (unsigned)(**p - '0') * scale;
	return true;
}

static bool offset(const char **p, const char *end, int64_t *ret_min)
{
	unsigned h, m;

	if (lit(p, end, 'Z')) {
		*ret_min = 0;
		return true;
	}
	if (*p == end || (**p != '+' && **p != '-'))
		return false;
	const int sign = *(*p)++ == '-' ? -1 : 1;

	if (!digits(p, end, 2, &h) || !lit(p, end, ':') || !digits(p, end, 2, &m) || h > 23 || m > 59)
		return false;
	*ret_min = sign * (int64_t)(h * 60 + m);
	return true;
}

static bool date_ok(unsigned y, unsigned mo, unsigned d, unsigned h, unsigned mi, unsigned s)
{
	static const unsigned char len[] = { 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	const bool leap = (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;

	if (y == 0 || mo < 1 || mo > 12 || d < 1 || d > len[mo - 1] || (mo == 2 && d == 29 && !leap))
		return false;
	return h <= 23 && mi <= 59 && s <= 60;
}

static int64_t to_ms(unsigned y, unsigned mo, unsigned d, unsigned h, unsigned mi, unsigned s)
{
	return ((days_from_civil(y, mo, d) * 24 + h) * 60 + mi) * 60000 + (int64_t)s * 1000;
}

int rfc3339_parse(const char *s, size_t n, int64_t *ret_ms)
{
	const char *p = s, *end = s + n;
	unsigned y, mo, d, h, mi, sec, frac;
	int64_t off;

	if (!digits(&p, end, 4, &y) || !lit(&p, end, '-') || !digits(&p, end, 2, &mo) || !lit(&p, end, '-') ||
	    !digits(&p, end, 2, &d) || !lit(&p, end, 'T') || !digits(&p, end, 2, &h) || !lit(&p, end, ':') ||
	    !digits(&p, end, 2, &mi) || !lit(&p, end, ':') || !digits(&p, end, 2, &sec) ||
	    !milliseconds(&p, end, &frac) || !offset(&p, end, &off) || p != end ||
	    !date_ok(y, mo, d, h, mi, sec))
		return -EINVAL;
	*ret_ms = to_ms(y, mo, d, h, mi, sec) + frac - off * 60000;
	return 0;
}

void rfc3339_format(int64_t ms, bool with_ms, char ret[static RFC3339_MAX])
{
	const int64_t days = ms / DAY_MS - (ms % DAY_MS < 0);
	const unsigned rest = (unsigned)(ms - days * DAY_MS), s = rest / 1000;
	unsigned month, day;
	int64_t year;
	char fraction[8] = "";

	civil_from_days(days, &year, &month, &day);
	if (with_ms)
		(void)snprintf(fraction, sizeof(fraction), ".%03u", rest % 1000);
	(void)snprintf(ret, RFC3339_MAX, "%04d-%02u-%02uT%02u:%02u:%02u%sZ", (int)year, month, day, s / 3600,
		       s / 60 % 60, s % 60, fraction);
}

int http_date_parse(const char *s, size_t n, int64_t *ret_ms)
{
	static const char months[12][4] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
					    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };
	const char *p = s + 4, *end = s + n;
	unsigned y, mo = 0, d, h, mi, sec;

	if (n != 29 || s[3] != ',' || !lit(&p, end, ' ') || !digits(&p, end, 2, &d) || !lit(&p, end, ' '))
		return -EINVAL;
	for (unsigned i = 0; i < ARRAY_SIZE(months); i++)
		if (memcmp(p, months[i], 3) == 0)
			mo = i + 1;
	p += 3;
	if (!lit(&p, end, ' ') || !digits(&p, end, 4, &y) || !lit(&p, end, ' ') || !digits(&p, end, 2, &h) ||
	    !lit(&p, end, ':') || !digits(&p, end, 2, &mi) || !lit(&p, end, ':') ||
	    !digits(&p, end, 2, &sec) || memcmp(p, " GMT", 4) != 0 || !date_ok(y, mo, d, h, mi, sec))
		return -EINVAL;
	*ret_ms = to_ms(y, mo, d, h, mi, sec);
	return 0;
}
