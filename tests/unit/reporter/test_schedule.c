/* test_schedule.c - which run is due; how its time is written. */
// SPDX-License-Identifier: Apache-2.0
#include "base/cleanup.h"
#include "config/zone_file.h"
#include "reporter/report/schedule.h"
#include "reporter/news/words.h"
#include "tests/suite.h"
#include "tests/unit/reporter/support.h"

#define MON INT64_C(1699866000000) /* 2023-11-13T09:00:00Z */
#define DAY INT64_C(86400000)

static const struct {
	const char *spec;
	int64_t last, now, due;
} cases[] = {
	{ "0 0 9 * * *", MON - 1000, MON - 1, 0 },
	{ "0 0 9 * * *", MON - 1000, MON, MON },
	{ "0 0 9 * * *", MON, MON, 0 },
	{ "0 0 9 * * *", MON, MON + DAY - 1, 0 },
	{ "0 0 9 * * *", MON - 5 * DAY, MON + 3600000, MON },
	{ "0 0 9 * * *", MON + DAY, MON, 0 }, /* the clock was set back */
	{ "*/3 * * * * *", MON - 400 * DAY, MON + 1000, MON },
	{ "*/3 * * * * *", MON - 400 * DAY, MON + 3000, MON + 3000 },
	{ "*/1 * 0 * * *", MON - 400 * DAY, MON, MON - 8 * 3600000 - 1000 },
	{ "0 0 0 30 2 *", MON, MON + 4000 * DAY, 0 },
	{ "@every 1h", MON, MON + 3 * 3600000 + 5, MON + 3 * 3600000 },
};

TEST_LOOP(latest_run_is_found, 0, (int)(sizeof(cases) / sizeof(cases[0])))
{
	struct cron c;
	struct schedule_error err;

	ck_assert_msg(cron_parse(cases[_i].spec, &c, &err) == 0, "%zu", err.pos);
	ck_assert_int_eq(schedule_due(&c, NULL, cases[_i].last, cases[_i].now), cases[_i].due);
}

static const struct {
	const char *zone, *text;
} zones[] = {
	{ NULL, "2023-11-13 09:00 UTC" },
	{ "Asia/Kolkata", "2023-11-13 14:30 UTC+5:30" },
	{ "America/St_Johns", "2023-11-13 05:30 UTC-3:30" },
};

TEST_LOOP(times_are_written_in_their_zone, 0, (int)(sizeof(zones) / sizeof(zones[0])))
{
	char text[WHEN_IN_ZONE_MAX];
	struct zone *z = NULL;
	void *bytes = NULL;
	size_t size = 0;

	if (zones[_i].zone) {
		ck_assert_int_eq(zone_load(zones[_i].zone, &bytes, &size), 0);
		ck_assert_int_eq(zone_parse(bytes, size, &z), 0);
	}
	when_format_in_zone(MON, z, text);
	ck_assert_str_eq(text, zones[_i].text);
	when_format_in_zone(0, z, text);
	ck_assert_str_eq(text, "?");
	zone_free(&z);
	free(bytes);
}

/* In the line of facts, too: a deadline in UTC is missed by hours in Shanghai. */
TEST(facts_are_told_in_the_zone)
{
	struct facts f = { 0 };
	struct zone *z = NULL;
	void *bytes = NULL;
	size_t size = 0;

	ck_assert_int_eq(zone_load("Asia/Shanghai", &bytes, &size), 0);
	ck_assert_int_eq(zone_parse(bytes, size, &z), 0);
	facts_time(&f, FACT_DEADLINE, MON);
	_cleanup_free_ char *line = facts_in_zone(&f, z, LANGUAGE_ZH);

	ck_assert_str_eq(line, "期限 2023-11-13 17:00 UTC+8");
	zone_free(&z);
	free(bytes);
}

SUITE("reporter/schedule");
