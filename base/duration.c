/* duration.c - see duration.h. Accepts what Go 1.26 time.ParseDuration accepts, with the same rounding, and
 * days; refuses parts that overflow together, which Go takes for what is left of them. */
// SPDX-License-Identifier: Apache-2.0
#include "base/duration.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/str.h"

#define LIMIT (UINT64_C(1) << 63)

static const struct unit {
	const char *name;
	uint64_t ns;
} units[] = {
	{ "ns", 1 },
	{ "us", 1000 },
	{ "\xc2\xb5s", 1000 }, /* U+00B5 */
	{ "\xce\xbcs", 1000 }, /* U+03BC */
	{ "ms", 1000000 },
	{ "s", UINT64_C(1000000000) },
	{ "m", UINT64_C(60000000000) },
	{ "h", UINT64_C(3600000000000) },
	{ "d", UINT64_C(86400000000000) }, /* of 24 hours; not Go's */
};

/* reterr may be NULL. */
struct scan {
	const char *p, *end;
	struct duration_error *reterr;
};

static int fail(const struct scan *scan, enum duration_fault kind, const char *s, size_t n)
{
	if (scan->reterr) {
		*scan->reterr = (struct duration_error){ .kind = kind };
		(void)str_copy_printable(scan->reterr->text, sizeof(scan->reterr->text), s, n);
	}
	return kind == DURATION_RANGE ? -ERANGE : -EINVAL;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Digits before the point. False on overflow. */
static bool scan_whole(struct scan *s, uint64_t *ret)
{
	*ret = 0;
	for (; s->p < s->end && is_digit(*s->p); s->p++) {
		if (*ret > LIMIT / 10)
			return false;
		*ret = *ret * 10 + (uint64_t)(*s->p - '0');
		if (*ret > LIMIT)
			return false;
	}
	return true;
}

/* Digits behind it: value / scale. Digits beyond 63 bits are dropped. */
static void scan_fraction(struct scan *s, uint64_t *ret, double *ret_scale)
{
	bool full = false;

	*ret = 0;
	*ret_scale = 1;
	for (; s->p < s->end && is_digit(*s->p); s->p++) {
		uint64_t next;

		full = full || *ret > (LIMIT - 1) / 10;
		if (full)
			continue;
		next = *ret * 10 + (uint64_t)(*s->p - '0');
		if (next > LIMIT) {
			full = true;
			continue;
		}
		*ret = next;
		*ret_scale *= 10;
	}
}

static const struct unit *scan_unit(struct scan *s, struct str *ret_text)
{
	const char *from = s->p;

	while (s->p < s->end && *s->p != '.' && !is_digit(*s->p))
		s->p++;
	*ret_text = (struct str){ from, (size_t)(s->p - from) };
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (str_is(*ret_text, units[i].name))
			return &units[i];
	return NULL;
}

/* The hours of so many days or weeks in words that are no units; 0: it is another unit. */
static uint64_t hours_of(struct str unit, uint64_t count)
{
	const bool days = str_is(unit, "day") || str_is(unit, "days"),
		   weeks = str_is(unit, "w") || str_is(unit, "week") || str_is(unit, "weeks");

	if (count == 0 || count > 100000)
		count = 1;
	return days ? 24 * count : weeks ? 168 * count : 0;
}

/* One number with its unit, added to *sum. */
static int scan_term(struct scan *s, uint64_t *sum)
{
	const char *all = s->p;
	const size_t n = (size_t)(s->end - s->p);
	const char *from = s->p;
	uint64_t whole, fraction = 0;
	double scale = 1;
	struct str text;

	if (!scan_whole(s, &whole))
		return fail(s, DURATION_RANGE, all, n);
	bool digits = s->p != from;
	if (s->p < s->end && *s->p == '.') {
		from = ++s->p;
		scan_fraction(s, &fraction, &scale);
		digits = digits || s->p != from;
	}
	if (!digits)
		return fail(s, DURATION_NONE, all, n);
	const struct unit *u = scan_unit(s, &text);
	if (text.n == 0)
		return fail(s, DURATION_NO_UNIT, all, n);
	if (!u) {
		(void)fail(s, DURATION_UNIT, all, n);
		if (s->reterr)
			s->reterr->hours = hours_of(text, whole);
		return -EINVAL;
	}
	if (whole > LIMIT / u->ns)
		return fail(s, DURATION_RANGE, all, n);
	whole *= u->ns;
	if (fraction > 0)
		whole += (uint64_t)((double)fraction * ((double)u->ns / scale));
	if (whole > LIMIT || *sum > LIMIT - whole)
		return fail(s, DURATION_RANGE, all, n);
	*sum += whole;
	return 0;
}

int duration_parse(const char *s, size_t n, int64_t *ret_ns, struct duration_error *reterr)
{
	uint64_t sum = 0;
	bool minus = false;

	if (n == 0)
		s = ""; /* an empty text that was decoded may have no address */
	struct scan scan = { s, s + n, reterr };

	if (n > 0 && (*s == '-' || *s == '+')) {
		minus = *s == '-';
		scan.p++;
	}
	if (scan.p == scan.end)
		return fail(&scan, DURATION_NONE, s, n);
	if (scan.end - scan.p == 1 && *scan.p == '0') {
		*ret_ns = 0;
		return 0;
	}
	while (scan.p < scan.end) {
		const int r = scan_term(&scan, &sum);

		if (r < 0)
			return r;
	}
	if (sum > LIMIT - 1 && !minus)
		return fail(&scan, DURATION_RANGE, s, n);
	*ret_ns = minus ? (int64_t)(0 - sum) : (int64_t)sum;
	return 0;
}

/* v / unit as a decimal without trailing zeros, then the unit's name. */
static size_t print_fraction(char *dst, size_t size, uint64_t v, uint64_t unit, const char *name)
{
	char digits[24];
	int n = 0;
	uint64_t rest = v % unit;

	for (uint64_t place = unit / 10; rest > 0; place /= 10) {
		digits[n++] = (char)('0' + rest / place);
		rest %= place;
	}
	digits[n] = '\0';
	const int w =
		snprintf(dst, size, "%llu%s%s%s", (unsigned long long)(v / unit), n ? "." : "", digits, name);
	return (size_t)w;
}

size_t duration_format(int64_t ns, char ret[static DURATION_MAX])
{
	const uint64_t s = UINT64_C(1000000000), abs = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
	size_t w = 0;

	if (ns < 0)
		ret[w++] = '-';
	if (abs == 0)
		return (size_t)snprintf(ret, DURATION_MAX, "0s");
	if (abs < 1000)
		return w + print_fraction(ret + w, DURATION_MAX - w, abs, 1, "ns");
	if (abs < 1000000)
		return w + print_fraction(ret + w, DURATION_MAX - w, abs, 1000, "\xc2\xb5s");
	if (abs < s)
		return w + print_fraction(ret + w, DURATION_MAX - w, abs, 1000000, "ms");
	if (abs >= 3600 * s)
		w += (size_t)snprintf(ret + w, DURATION_MAX - w, "%lluh",
				      (unsigned long long)(abs / s / 3600));
	if (abs >= 60 * s)
		w += (size_t)snprintf(ret + w, DURATION_MAX - w, "%llum",
				      (unsigned long long)(abs / s / 60 % 60));
	return w + print_fraction(ret + w, DURATION_MAX - w, abs % (60 * s), s, "s");
}

const char *duration_short(int64_t ms, char buf[static DURATION_MAX])
{
	static const struct {
		int64_t ms;
		const char *unit;
	} spans[] = { { 86400000, "d" }, { 3600000, "h" }, { 60000, "m" }, { 1000, "s" } };
	size_t i, n;

	if (ms > 0 && ms < 1000) {
		(void)snprintf(buf, DURATION_MAX, "%" PRId64 "ms", ms);
		return buf;
	}
	for (i = 0; i < ARRAY_SIZE(spans) && ms >= 0; i++) {
		if (ms < spans[i].ms)
			continue;
		n = (size_t)snprintf(buf, DURATION_MAX, "%" PRId64 "%s", ms / spans[i].ms, spans[i].unit);
		ms %= spans[i].ms;
		if (i + 1 < ARRAY_SIZE(spans) && ms >= spans[i + 1].ms)
			(void)snprintf(buf + n, DURATION_MAX - n, "%" PRId64 "%s", ms / spans[i + 1].ms,
				       spans[i + 1].unit);
		return buf;
	}
	(void)snprintf(buf, DURATION_MAX, "0s");
	return buf;
}
