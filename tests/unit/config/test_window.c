/* test_window.c - when a duty may act: both sides of every border, clock changes, and zones by name. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/rfc3339.h"
#include "config/window.h"
#include "config/zone_file.h"
#include "tests/suite.h"

static int64_t at(const char *text)
{
	int64_t ms;

	ck_assert_int_eq(rfc3339_parse(text, strlen(text), &ms), 0);
	return ms;
}

static struct window parse(const char *spec)
{
	struct str_error why = { .pos = 999 };
	struct window w;

	ck_assert_msg(window_parse(spec, &w, &why) == 0, "\"%s\" at %zu: %s", spec, why.pos, why.text);
	return w;
}

/* 2026-11-20 is a Friday. */
static const struct {
	const char *spec, *now;
	bool open;
	const char *until; /* NULL = never */
} rows[] = {
	{ "0 9 * * 1-5 for 8h", "2026-11-20T08:59:59.999Z", false, "2026-11-20T09:00:00Z" },
	{ "0 9 * * 1-5 for 8h", "2026-11-20T09:00:00Z", true, "2026-11-20T17:00:00Z" },
	{ "0 9 * * 1-5 for 8h", "2026-11-20T16:59:59.999Z", true, "2026-11-20T17:00:00Z" },
	{ "0 9 * * 1-5 for 8h", "2026-11-20T17:00:00Z", false, "2026-11-23T09:00:00Z" },
	{ "0 22 * * * for 4h", "2026-11-21T01:00:00Z", true, "2026-11-21T02:00:00Z" },   /* over midnight */
	{ "0 * * * * for 90m", "2026-11-20T10:00:00Z", true, NULL },                     /* never closes */
	{ "0 8,9 * * * for 2h", "2026-11-20T08:30:00Z", true, "2026-11-20T11:00:00Z" },  /* overlap */
	{ "0 8,10 * * * for 2h", "2026-11-20T08:30:00Z", true, "2026-11-20T12:00:00Z" }, /* touch */
	{ "0 0 30 2 * for 1h", "2026-11-20T08:30:00Z", false, NULL },
	{ "30 0 9 * * 5 for 1m", "2026-11-20T09:00:29Z", false, "2026-11-20T09:00:30Z" }, /* six fields */
	{ "30 0 9 * * 5 for 1m", "2026-11-20T09:01:29Z", true, "2026-11-20T09:01:30Z" },
};

TEST_LOOP(both_sides_of_a_border, 0, ARRAY_SIZE(rows))
{
	const struct window w = parse(rows[_i].spec);
	int64_t until;
	bool open = window_open(&w, NULL, at(rows[_i].now), &until);

	ck_assert_msg(open == rows[_i].open, "%s at %s", rows[_i].spec, rows[_i].now);
	if (rows[_i].until)
		ck_assert_int_eq(until, at(rows[_i].until));
	else if (!open)
		ck_assert_int_eq(until, 0);
}

TEST(a_zone_of_its_own)
{
	const struct window w = parse("CRON_TZ=America/New_York 0 1 * * * for 1h");
	struct zones *zones = NULL;
	void *tzif = NULL, *block = NULL;
	size_t n = 0, block_n = 0;
	int64_t until;

	ck_assert_str_eq(w.cron.zone, "America/New_York");
	ck_assert_int_eq(zone_load("America/New_York", &tzif, &n), 0);
	zones_pack(&block, &block_n, "", NULL, 0);
	zones_pack(&block, &block_n, "America/New_York", tzif, n);
	ck_assert_int_eq(zones_parse(block, block_n, &zones), 0);
	ck_assert_ptr_null(zones_find(zones, ""));
	ck_assert_ptr_null(zones_find(zones, "Asia/Shanghai"));
	const struct zone *z = zones_find(zones, w.cron.zone);

	ck_assert_ptr_nonnull(z);
	/* The hour that the end of summer time repeats opens it twice, one after the other. */
	ck_assert(!window_open(&w, z, at("2012-11-04T00:59:59-04:00"), &until));
	ck_assert(window_open(&w, z, at("2012-11-04T01:00:00-04:00"), &until));
	ck_assert_int_eq(until, at("2012-11-04T02:00:00-05:00"));
	ck_assert(!window_open(&w, NULL, at("2012-11-04T01:30:00-04:00"), &until));
	/* Every cut of the block is refused, none is read beyond. */
	for (size_t i = 0; i < block_n; i++) {
		struct zones *cut = NULL;
		void *copy = malloc(i ? i : 1);

		memcpy(copy, block, i);
		int r = zones_parse(copy, i, &cut);

		ck_assert(r == -EBADMSG || i == 0 || i == 5);
		zones_free(&cut);
		free(copy);
	}
	zones_free(&zones);
	free(block);
	free(tzif);
}

static const struct {
	const char *spec;
	size_t pos;
	const char *says;
} errors[] = {
	{ "0 9 * * 1-5", 11, "how long" },
	{ "0 9 * * 1-5 for", 15, "how long" },
	{ "0 9 * * 1-5 for 8", 16, "unit" },
	{ "0 9 * * 1-5 for 59s", 16, "at least 1m" },
	{ "0 9 * * 1-5 for 745h", 16, "at most 744h" },
	{ "0 9 * * 1-5 for -1h", 16, "at least 1m" },
	{ "0 25 * * 1-5 for 1h", 2, "" },
	{ "@every 1h for 1h", 0, "@every" },
	{ "CRON_TZ= 0 9 * * 1 for 1h", 8, "time zone" },
	{ " for 1h", 0, "" },
	{ "", 0, "how long" },
};

TEST_LOOP(tells_place_and_remedy, 0, ARRAY_SIZE(errors))
{
	struct str_error why = { .pos = 999 };
	struct window w;

	ck_assert_int_eq(window_parse(errors[_i].spec, &w, &why), -EINVAL);
	ck_assert_msg(why.pos == errors[_i].pos, "\"%s\": %zu %s", errors[_i].spec, why.pos, why.text);
	ck_assert_msg(strstr(why.text, errors[_i].says) != NULL, "\"%s\": %s", errors[_i].spec, why.text);
}

TEST_MAIN("config/window")
{
	tcase_set_timeout(t, 60);
}
