/* test_time.c - timestamps against the C library's calendar, and backoff. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/backoff.h"
#include "base/rfc3339.h"
#include "tests/suite.h"

TEST(round_trip_against_libc)
{
	for (int64_t s = -62135596800; s < 253402300800; s += 86400 * 37 + 12345) {
		const time_t t = (time_t)s;
		struct tm tm;
		char want[RFC3339_MAX], got[RFC3339_MAX];
		int64_t back;

		(void)gmtime_r(&t, &tm);
		(void)snprintf(want, sizeof(want), "%04d-%02d-%02dT%02d:%02d:%02dZ", tm.tm_year + 1900,
			       tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
		rfc3339_format(s * 1000, false, got);
		ck_assert_str_eq(got, want);
		ck_assert_int_eq(rfc3339_parse(got, strlen(got), &back), 0);
		ck_assert_int_eq(back, s * 1000);
	}
}

TEST(forms)
{
	static const struct {
		const char *text;
		int64_t ms; /* -1 = refused */
	} cases[] = {
		{ "1970-01-01T00:00:00Z", 0 },
		{ "1970-01-01T00:00:00.5Z", 500 },
		{ "1970-01-01T00:00:00.123456Z", 123 },
		{ "1970-01-01T01:00:00+01:00", 0 },
		{ "1970-01-01T00:00:01z", 1000 },
		{ "2024-02-29T00:00:00Z", 1709164800000 },
		{ "2023-02-29T00:00:00Z", -1 },
		{ "1900-02-29T00:00:00Z", -1 },
		{ "2024-13-01T00:00:00Z", -1 },
		{ "2024-01-01T24:00:00Z", -1 },
		{ "2024-01-01T00:00:00", -1 },
		{ "2024-01-01T00:00:00.Z", -1 },
		{ "2024-01-01T00:00:00ZZ", -1 },
		{ "2024-01-01 00:00:00Z", -1 },
		{ "0000-01-01T00:00:00Z", -1 },
		{ "", -1 },
		{ "1970-01-01t00:00:00z", 0 },
		{ "1970-01-01T00:00:00\x1a", -1 },
		{ "1970\r01-01T00:00:00Z", -1 },
		{ "1970-01\r01T00:00:00Z", -1 },
		{ "1970-01-01T00\x1a"
		  "00:00Z",
		  -1 },
		{ "1970-01-01\x14"
		  "00:00:00Z",
		  -1 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int64_t ms = -1;
		const int r = rfc3339_parse(cases[i].text, strlen(cases[i].text), &ms);

		ck_assert_msg(r == (cases[i].ms < 0 ? -EINVAL : 0), "%s", cases[i].text);
		ck_assert_int_eq(ms, cases[i].ms);
	}
}

TEST(http_dates)
{
	int64_t ms = 0;

	ck_assert_int_eq(http_date_parse("Sun, 06 Nov 1994 08:49:37 GMT", 29, &ms), 0);
	ck_assert_int_eq(ms, 784111777000);
	ck_assert_int_eq(http_date_parse("Sun, 06 Nov 1994 08:49:37 CET", 29, &ms), -EINVAL);
	ck_assert_int_eq(http_date_parse("Sunday, 06-Nov-94 08:49:37 GMT", 30, &ms), -EINVAL);
	ck_assert_int_eq(http_date_parse("Sun, 31 Feb 1994 08:49:37 GMT", 29, &ms), -EINVAL);
	ck_assert_int_eq(http_date_parse("Sun", 3, &ms), -EINVAL);
	ck_assert_int_eq(http_date_parse("Sun, 06\0Nov 1994 08:49:37 GMT", 29, &ms), -EINVAL);
	ck_assert_int_eq(http_date_parse("Sun, 06 Nov\0"
					 "1994 08:49:37 GMT",
					 29, &ms),
			 -EINVAL);
	ck_assert_int_eq(http_date_parse("Sun, 06 Nov 1994 08\x1a"
					 "49:37 GMT",
					 29, &ms),
			 -EINVAL);
	ck_assert_int_eq(http_date_parse("Sun,\n06 Nov 1994 08:49:37 GMT", 29, &ms), -EINVAL);
}

TEST(backoff_doubles_to_its_cap)
{
	static const struct backoff_policy p = { 800, 30000, 1.0 };
	static const uint64_t want[] = { 800, 1600, 3200, 6400, 12800, 25600, 30000, 30000 };

	for (unsigned i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		ck_assert_uint_eq(backoff_delay_ms(&p, i + 1, 0), want[i]);
		ck_assert_uint_le(backoff_delay_ms(&p, i + 1, 0.999), 2 * want[i]);
	}
	ck_assert_uint_eq(backoff_delay_ms(&p, 4000000000u, 0), 30000);
	for (int i = 0; i < 1000; i++)
		ck_assert(backoff_random() >= 0 && backoff_random() < 1);
}

SUITE("base/time");
