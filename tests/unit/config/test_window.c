/* test_window.c - when a duty may act: both sides of every border, clock changes, and zones by name. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "config/window.h"
#include "config/zone_file.h"
#include "tests/suite.h"
#include "tests/unit/config/at.h"
#include "tests/unit/config/chinese.h"

static bool is_open(struct windows *w, const char *text, const char *now, int64_t *ret_until)
{
	struct str_list texts = { 0 };

	str_list_add(&texts, text, strlen(text));
	const bool open = windows_are_open(w, &texts, at(now), ret_until);
	str_list_done(&texts);
	return open;
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
	struct windows *w = windows_new();
	int64_t until;
	const bool open = is_open(w, rows[_i].spec, rows[_i].now, &until);

	ck_assert_msg(open == rows[_i].open, "%s at %s", rows[_i].spec, rows[_i].now);
	if (rows[_i].until)
		ck_assert_int_eq(until, at(rows[_i].until));
	else if (!open)
		ck_assert_int_eq(until, 0);
	windows_free(&w);
}

TEST(a_zone_of_its_own)
{
	static const char text[] = "CRON_TZ=America/New_York 0 1 * * * for 1h";
	struct windows *w = windows_new();
	void *tzif = NULL, *block = NULL;
	size_t n = 0, block_n = 0;
	int64_t until;

	ck_assert_int_eq(zone_load("America/New_York", &tzif, &n), 0);
	windows_pack_zone(&block, &block_n, "", NULL, 0);
	windows_pack_zone(&block, &block_n, "America/New_York", tzif, n);
	windows_set_zones(w, block, block_n);
	/* The hour that the end of summer time repeats opens it once, six fields, too. */
	for (int six = 0; six < 2; six++) {
		const char *spec = six ? "CRON_TZ=America/New_York 0 0 1 * * * for 1h" : text;

		ck_assert(!is_open(w, spec, "2012-11-04T00:59:59-04:00", &until));
		ck_assert(is_open(w, spec, "2012-11-04T01:00:00-04:00", &until));
		ck_assert_int_eq(until, at("2012-11-04T02:00:00-04:00"));
		ck_assert(!is_open(w, spec, "2012-11-04T01:30:00-05:00", &until));
		ck_assert_int_eq(until, at("2012-11-05T01:00:00-05:00"));
	}
	/* Without a zone, and in one that the block does not hold. */
	ck_assert(!is_open(w, "0 1 * * * for 1h", "2012-11-04T01:30:00-04:00", &until));
	ck_assert(is_open(w, "0 1 * * * for 1h", "2012-11-04T01:30:00Z", &until));
	ck_assert(is_open(w, "CRON_TZ=Asia/Shanghai 0 1 * * * for 1h", "2012-11-04T01:30:00Z", &until));
	/* Every cut of the block but between two zones is refused, none is read beyond. */
	for (size_t i = 0; i < block_n; i++) {
		void *copy = malloc(i ? i : 1);

		memcpy(copy, block, i);
		windows_set_zones(w, copy, i);
		ck_assert(is_open(w, "0 * * * * for 1h", "2012-11-04T01:30:00Z", &until) ==
			  (i == 0 || i == 3));
		free(copy);
	}
	windows_free(&w);
	free(block);
	free(tzif);
}

#define LONG                                                                                                 \
	"0 "                                                                                                 \
	"0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0," \
	"0"

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
	{ LONG LONG " for 8h", 200, "longer than 200 bytes" },
};

TEST_LOOP(tells_place_and_remedy, 0, ARRAY_SIZE(errors))
{
	struct schedule_error why = { .pos = 999 };
	struct window w;

	ck_assert_int_eq(window_parse(errors[_i].spec, &w, &why), -EINVAL);
	ck_assert_msg(why.pos == errors[_i].pos, "\"%s\": %zu %s", errors[_i].spec, why.pos,
		      words(why.why, LANGUAGE_EN));
	ck_assert_msg(strstr(words(why.why, LANGUAGE_EN), errors[_i].says) != NULL, "\"%s\": %s",
		      errors[_i].spec, words(why.why, LANGUAGE_EN));
}

TEST_LOOP(tells_it_in_chinese, 0, ARRAY_SIZE(errors))
{
	struct schedule_error why;
	struct window w;

	ck_assert_int_eq(window_parse(errors[_i].spec, &w, &why), -EINVAL);
	ck_assert_uint_eq(why.pos, errors[_i].pos);
	assert_chinese(words(why.why, LANGUAGE_ZH));
}

TEST_MAIN("config/window")
{
	tcase_set_timeout(t, 60);
}
