/* test_cron.c - schedules. golden/config/cron.tsv holds what robfig/cron 1.2.0 itself answered: spec, zone,
 * from, next and the one after (Unix ms). */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "config/cron.h"
#include "config/zone_file.h"
#include "tests/suite.h"
#include "tests/unit/config/at.h"
#include "tests/unit/config/chinese.h"

static struct cron parse(const char *spec)
{
	struct schedule_error why = { .pos = 999 };
	struct cron c;

	ck_assert_msg(cron_parse(spec, &c, &why) == 0, "\"%s\" at %zu: %s", spec, why.pos,
		      words(why.why, LANGUAGE_EN));
	return c;
}

static struct zone *zone(const char *name)
{
	struct zone *z = NULL;
	void *p = NULL;
	size_t n;

	ck_assert_int_eq(zone_load(name, &p, &n), 0);
	if (p)
		ck_assert_int_eq(zone_parse(p, n, &z), 0);
	free(p);
	return z;
}

TEST(agrees_with_robfig)
{
	FILE *f = fopen(GOLDEN_DIR "/cron.tsv", "re");
	char line[256], spec[64], name[64];
	long long from, first, second;
	int n = 0;

	ck_assert_ptr_nonnull(f);
	for (; fgets(line, sizeof(line), f); n++) {
		ck_assert_int_eq(sscanf(line, "%63[^\t]\t%63[^\t]\t%lld\t%lld\t%lld", spec, name, &from,
					&first, &second),
				 5);
		struct zone *z = zone(name);
		const struct cron c = parse(spec);
		const int64_t next = cron_next(&c, z, from);

		ck_assert_msg(next == first, "%s in %s from %lld: %lld, robfig says %lld", spec, name, from,
			      (long long)next, first);
		if (next != 0)
			ck_assert_int_eq(cron_next(&c, z, next), second);
		zone_free(&z);
	}
	(void)fclose(f);
	ck_assert_int_gt(n, 500);
}

/* The table of clock changes that the documentation promises: New York 2012. */
static const struct {
	const char *spec, *from, *next;
} changes[] = {
	{ "0 0 2 * * ?", "2012-03-11T00:00:00-05:00", "2012-03-12T02:00:00-04:00" }, /* skipped */
	{ "0 0 * * * ?", "2012-03-11T01:00:00-05:00", "2012-03-11T03:00:00-04:00" },
	{ "0 30 2 11 Mar ?", "2012-03-10T00:00:00-05:00", "2013-03-11T02:30:00-04:00" },
	{ "0 0 1 * * ?", "2012-11-04T00:00:00-04:00", "2012-11-04T01:00:00-04:00" },
	{ "0 0 1 * * ?", "2012-11-04T01:00:00-04:00", "2012-11-04T01:00:00-05:00" }, /* twice */
	{ "0 0 1 * * ?", "2012-11-04T01:00:00-05:00", "2012-11-05T01:00:00-05:00" },
	{ "0 0 2 * * ?", "2012-11-04T00:00:00-04:00", "2012-11-04T02:00:00-05:00" },
	{ "0 0 2 * * ?", "2012-11-04T02:00:00-05:00", "2012-11-05T02:00:00-05:00" },
	/* a crontab's line: once, whichever of the two hours is looked from */
	{ "0 1 * * *", "2012-11-04T00:00:00-04:00", "2012-11-04T01:00:00-04:00" },
	{ "0 1 * * *", "2012-11-04T01:00:00-04:00", "2012-11-05T01:00:00-05:00" },
	{ "0 1 * * *", "2012-11-04T01:59:59-04:00", "2012-11-05T01:00:00-05:00" },
	{ "45 1 * * *", "2012-11-04T01:30:00-05:00", "2012-11-05T01:45:00-05:00" },
	{ "0 2 * * *", "2012-11-04T01:00:00-05:00", "2012-11-04T02:00:00-05:00" },
	{ "0 0 * * *", "2012-11-04T00:00:00-04:00", "2012-11-05T00:00:00-05:00" },
	/* a rhythm goes on */
	{ "0 * * * *", "2012-11-04T01:00:00-04:00", "2012-11-04T01:00:00-05:00" },
	{ "*/20 1 * * *", "2012-11-04T01:40:00-04:00", "2012-11-04T01:00:00-05:00" },
	{ "@hourly", "2012-11-04T01:00:00-04:00", "2012-11-04T01:00:00-05:00" },
};

TEST_LOOP(clock_changes, 0, ARRAY_SIZE(changes))
{
	struct zone *z = zone("America/New_York");
	const struct cron c = parse(changes[_i].spec);

	ck_assert_int_eq(cron_next(&c, z, at(changes[_i].from)), at(changes[_i].next));
	zone_free(&z);
}

/* In Havana the hour behind midnight comes twice. */
TEST(a_word_for_a_day_fires_once)
{
	struct zone *z = zone("America/Havana");
	const struct cron daily = parse("@daily"), six = parse("0 0 0 * * *");
	const int64_t first = at("2012-11-04T00:00:00-04:00");

	ck_assert_int_eq(cron_next(&daily, z, first), at("2012-11-05T00:00:00-05:00"));
	ck_assert_int_eq(cron_next(&six, z, first), at("2012-11-04T00:00:00-05:00"));
	zone_free(&z);
}

static const struct {
	const char *spec, *from, *next; /* UTC; next NULL = never */
} cases[] = {
	/* v1 keeps the star of a step: day and weekday must both hold */
	{ "0 0 0 */5 Apr,Aug,Oct Mon", "2012-07-09T23:35:00Z", "2012-08-06T00:00:00Z" },
	{ "0 0 0 1,15 * Sun", "2012-07-09T23:35:00Z", "2012-07-15T00:00:00Z" },
	{ "0 0 0 1,15 * Mon", "2012-07-15T00:00:00Z", "2012-07-16T00:00:00Z" }, /* either */
	/* five fields are a crontab, not v1's five */
	{ "0 9 * * 1", "2026-01-01T00:00:00Z", "2026-01-05T09:00:00Z" },
	{ "*/3 * * * * *", "2026-01-01T00:00:00.500Z", "2026-01-01T00:00:03Z" },
	{ "*/3 * * * * *", "2026-01-01T00:00:03Z", "2026-01-01T00:00:06Z" }, /* strictly after */
	{ "0 0 0 30 2 ?", "2026-01-01T00:00:00Z", NULL },
	{ "0 0 0 29 2 *", "2096-03-01T00:00:00Z", NULL }, /* 2100 is no leap year: beyond five years */
	{ "0 0 0 29 2 *", "2026-01-01T00:00:00Z", "2028-02-29T00:00:00Z" },
	{ "59 59 23 31 12 *", "2026-12-31T23:59:59Z", "2027-12-31T23:59:59Z" },
	{ "5/20 * * * * *", "2026-01-01T00:00:26Z", "2026-01-01T00:00:45Z" },
	{ "  0   0 0 1 jAn *  ", "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z" },
	{ "@weekly", "2026-01-01T00:00:00Z", "2026-01-04T00:00:00Z" },
	{ "@annually", "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z" },
	{ " @midnight ", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z" },
	{ "@every 1h30m10.9s", "2026-01-01T00:00:00.900Z", "2026-01-01T01:30:10Z" },
};

TEST_LOOP(next_in_utc, 0, ARRAY_SIZE(cases))
{
	const struct cron c = parse(cases[_i].spec);
	const int64_t next = cron_next(&c, NULL, at(cases[_i].from));

	ck_assert_msg(next == (cases[_i].next ? at(cases[_i].next) : 0), "%s: %lld", cases[_i].spec,
		      (long long)next);
}

static const struct {
	const char *spec;
	size_t pos;
	const char *text;
} errors[] = {
	{ "", 0, "empty" },
	{ "   ", 3, "empty" },
	{ "* * * *", 0, "4 fields" },
	{ "* * * * * * *", 12, "more than 6" },
	{ "60 * * * * *", 0, "60 is above 59, the largest second" },
	{ "0 0 24 * * *", 4, "24 is above 23" },
	{ "0 0 0 0 * *", 6, "0 is below 1" },
	{ "0 0 0 * * 7", 10, "Sunday is 0" },
	{ "0 0 0 * * mo", 10, "sun to sat" },
	{ "0 0 0 L * *", 6, "not supported" },
	{ "0 0 0 * * 5#3", 10, "not supported" },
	{ "0 0 0 15W * *", 6, "not supported" },
	{ "0 5-1 * * * *", 2, "backwards" },
	{ "0 */0 * * * *", 4, "step" },
	{ "0 1//2 * * * *", 4, "more than one /" },
	{ "0 1--2 * * * *", 4, "minute" },
	{ "0 -1 * * * *", 2, "missing" },
	{ "0 1,,2 * * * *", 4, "missing" },
	{ "0 1, * * * *", 4, "missing" },
	{ "0 *-5 * * * *", 2, "not a minute" },
	{ "0 x * * * *", 2, "not a minute" },
	{ "0 99999999999999999999 * * * *", 2, "above 59" },
	{ "@reboot", 0, "no such descriptor" },
	{ "@every", 0, "no such descriptor" },
	{ "@every 2w", 7, "use 336h" },
	{ "@every 500ms", 7, "at least 1s" },
	{ "@every -5s", 7, "at least 1s" },
	{ "TZ= * * * * *", 3, "time zone is missing" },
	{ "CRON_TZ=Asia/Shanghai", 21, "schedule behind" },
	{ "CRON_TZ=UTC 0 0 25 * * *", 16, "25 is above 23" },
};

TEST_LOOP(tells_place_and_remedy, 0, ARRAY_SIZE(errors))
{
	struct schedule_error why = { .pos = 999 };
	struct cron c = { .every_s = 42 };

	ck_assert_int_eq(cron_parse(errors[_i].spec, &c, &why), -EINVAL);
	ck_assert_msg(strstr(words(why.why, LANGUAGE_EN), errors[_i].text), "\"%s\": %s", errors[_i].spec,
		      words(why.why, LANGUAGE_EN));
	ck_assert_msg(why.pos == errors[_i].pos, "\"%s\": at %zu, %zu was expected", errors[_i].spec, why.pos,
		      errors[_i].pos);
	ck_assert_uint_eq(c.every_s, 42);
}

TEST_LOOP(tells_it_in_chinese, 0, ARRAY_SIZE(errors))
{
	struct schedule_error why;
	struct cron c;

	ck_assert_int_eq(cron_parse(errors[_i].spec, &c, &why), -EINVAL);
	ck_assert_uint_eq(why.pos, errors[_i].pos);
	assert_chinese(words(why.why, LANGUAGE_ZH));
}

TEST(knows_its_form)
{
	ck_assert(parse("0 9 * * 1").five_fields);
	ck_assert(!parse("0 0 9 * * 1").five_fields);
	ck_assert_str_eq(parse("CRON_TZ=Asia/Shanghai 0 0 9 * * 1").zone, "Asia/Shanghai");
	ck_assert_str_eq(parse("TZ=UTC @daily").zone, "UTC");
	ck_assert_str_eq(parse("@daily").zone, "");
}

/* The definition itself: what fires matches, and nothing between does, whichever second is asked from. */
TEST(nothing_between_matches)
{
	static const char *const specs[] = { "7 */7 * * * *", "*/13 5-40/7 1-3,22 * * *", "0,30 */5 * * * *",
					     "0 30 1,2 * 3,10,11 0" };
	static const char *const zones[] = { "America/New_York", "Australia/Lord_Howe", "UTC" };

	for (size_t i = 0; i < ARRAY_SIZE(specs) * ARRAY_SIZE(zones); i++) {
		struct zone *z = zone(zones[i / ARRAY_SIZE(specs)]);
		const struct cron c = parse(specs[i % ARRAY_SIZE(specs)]);
		int64_t next = cron_next(&c, z, 1793491200000), until; /* 2026-11-01T00:00:00Z */

		for (int64_t t = 1793491201; t < 1793491200 + 12 * 3600; t++) {
			const int64_t local = t + zone_offset(z, t, &until), day = local / 86400,
				      sec = local % 86400;
			int64_t year;
			unsigned month, mday;

			civil_from_days(day, &year, &month, &mday);
			const bool fires = (c.second >> sec % 60 & 1) && (c.minute >> sec / 60 % 60 & 1) &&
					   (c.hour >> sec / 3600 & 1) && (c.month >> month & 1) &&
					   (c.day >> mday & 1) && (c.weekday >> (day + 4) % 7 & 1);

			const int64_t from_here = cron_next(&c, z, t * 1000);

			ck_assert_msg(next == (fires ? t * 1000 : from_here) && from_here > t * 1000,
				      "%s in %s at %lld", specs[i % ARRAY_SIZE(specs)],
				      zones[i / ARRAY_SIZE(specs)], (long long)t);
			next = from_here;
		}
		zone_free(&z);
	}
}

TEST(absurd_times_are_never)
{
	const struct cron c = parse("* * * * * *");

	ck_assert_int_eq(cron_next(&c, NULL, INT64_MAX), 0);
	ck_assert_int_eq(cron_next(&c, NULL, INT64_MIN), 0);
	ck_assert_int_eq(cron_next(&c, NULL, -1500), -1000);
}

TEST_MAIN("config/cron")
{
	tcase_set_timeout(t, 60);
}
