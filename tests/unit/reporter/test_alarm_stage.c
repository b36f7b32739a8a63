/* test_alarm_stage.c - what a sink hears next of an alarm, and how often of objects that join it. */
// SPDX-License-Identifier: Apache-2.0
#include "base/cleanup.h"
#include "reporter/notify/alarms.h"
#include "tests/suite.h"

#define MINUTE INT64_C(60000)
#define HOUR   (60 * MINUTE)
#define DAY    (24 * HOUR)
#define NOW    (1000 * DAY)

#define TOLD(ago, up_to_, pause)                                                                             \
	{                                                                                                    \
		.any = true, .at = NOW - (ago), .up_to = (up_to_), .pause_ms = (pause)                       \
	}
#define STANDS(newest_)                                                                                      \
	{                                                                                                    \
		.begin_at = NOW - 2 * DAY, .newest = (newest_)                                               \
	}
#define GONE(ago, newest_)                                                                                   \
	{                                                                                                    \
		.begin_at = NOW - 2 * DAY, .gone_at = NOW - (ago), .newest = (newest_)                       \
	}

static const struct {
	const char *what;
	struct alarm_state alarm;
	struct alarm_notice told;
	int64_t remind_ms;
	enum alarm_stage stage;
} rows[] = {
	{ "it stands", STANDS(0), { 0 }, DAY, STAGE_BEGUN },
	{ "it has to last", { .begin_at = NOW - MINUTE + 1, .lasting_ms = MINUTE }, { 0 }, DAY, STAGE_NONE },
	{ "it has lasted", { .begin_at = NOW - MINUTE, .lasting_ms = MINUTE }, { 0 }, DAY, STAGE_BEGUN },
	{ "another replica tells it", { .begin_at = NOW - DAY, .elsewhere = true }, { 0 }, DAY, STAGE_NONE },
	{ "told before another replica was to",
	  { .begin_at = NOW - DAY, .gone_at = NOW - MINUTE, .elsewhere = true },
	  TOLD(HOUR, 0, MINUTE),
	  DAY,
	  STAGE_OVER },
	{ "gone before it was told", GONE(DAY, 0), { 0 }, DAY, STAGE_NONE },
	{ "gone a moment ago", GONE(MINUTE - 1, 0), TOLD(HOUR, 0, MINUTE), DAY, STAGE_NONE },
	{ "gone", GONE(MINUTE, 0), TOLD(HOUR, 0, MINUTE), DAY, STAGE_OVER },
	{ "gone, and a reminder would be due", GONE(1, 0), TOLD(DAY, 0, MINUTE), DAY, STAGE_NONE },
	{ "told", STANDS(0), TOLD(DAY - 1, 0, MINUTE), DAY, STAGE_NONE },
	{ "a reminder is due", STANDS(0), TOLD(DAY, 0, MINUTE), DAY, STAGE_LASTS },
	{ "nobody wants reminders", STANDS(0), TOLD(9 * DAY, 0, MINUTE), 0, STAGE_NONE },
	{ "no other object", STANDS(7), TOLD(HOUR, 7, MINUTE), DAY, STAGE_NONE },
	{ "another object", STANDS(8), TOLD(HOUR, 7, MINUTE), DAY, STAGE_MORE },
	{ "another object, without reminders", STANDS(8), TOLD(9 * DAY, 7, MINUTE), 0, STAGE_MORE },
	{ "another object, and a reminder", STANDS(8), TOLD(DAY, 7, MINUTE), DAY, STAGE_LASTS },
	{ "another object, too soon", STANDS(8), TOLD(MINUTE - 1, 7, MINUTE), DAY, STAGE_NONE },
	{ "another object in a long pause", STANDS(8), TOLD(HOUR - 1, 7, HOUR), DAY, STAGE_NONE },
	{ "another object, gather was made longer", STANDS(8), TOLD(MINUTE - 1, 7, 1), DAY, STAGE_NONE },
	{ "another object of what is gone", GONE(1, 8), TOLD(HOUR, 7, MINUTE), DAY, STAGE_NONE },
};

TEST(what_a_sink_hears_next)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct alarm_pace pace = { NOW, MINUTE, rows[i].remind_ms };

		ck_assert_msg(alarm_stage(&rows[i].alarm, &rows[i].told, &pace) == rows[i].stage, "%s",
			      rows[i].what);
	}
}

/* An object joins every so often, for so long: how often the sink hears of them at least and at most. */
static const struct {
	int64_t every_ms, for_ms;
	unsigned min, max;
} streams[] = {
	{ MINUTE, DAY, 24, 30 },      /* the day is not full of it, and what comes waits an hour at most */
	{ MINUTE, 7 * MINUTE, 3, 3 }, /* the first ones are told soon: after 1, 2 and 4 minutes */
	{ 3 * MINUTE, DAY, 24, 30 },  { HOUR, DAY, 23, 24 }, { 3 * HOUR, DAY, 8, 8 }, /* each one by itself */
};

/* Looked at every half a minute. */
static unsigned rings(int64_t every_ms, int64_t for_ms, int64_t *ret_longest_ms)
{
	struct alarm_state alarm = { .begin_at = NOW, .newest = 1 };
	struct alarm_pace pace = { NOW, MINUTE, 0 };
	struct alarm_notice told = { 0 };
	int64_t joined_at = 0; /* the oldest that was not told */
	unsigned n = 0;

	*ret_longest_ms = 0;
	told = alarm_notice_now(&alarm, &told, &pace, STAGE_BEGUN);
	for (pace.now = NOW; pace.now <= NOW + for_ms; pace.now += MINUTE / 2) {
		if ((pace.now - NOW) % every_ms == 0 && pace.now > NOW) {
			alarm.newest++;
			joined_at = joined_at ? joined_at : pace.now;
		}
		if (alarm_stage(&alarm, &told, &pace) != STAGE_MORE)
			continue;
		if (pace.now - joined_at > *ret_longest_ms)
			*ret_longest_ms = pace.now - joined_at;
		told = alarm_notice_now(&alarm, &told, &pace, STAGE_MORE);
		ck_assert_int_eq(told.up_to, alarm.newest);
		joined_at = 0;
		n++;
	}
	return n;
}

TEST(a_stream_of_objects_is_told_soon_and_does_not_ring_all_day)
{
	for (size_t i = 0; i < ARRAY_SIZE(streams); i++) {
		int64_t longest_ms;
		const unsigned n = rings(streams[i].every_ms, streams[i].for_ms, &longest_ms);

		ck_assert_msg(n >= streams[i].min && n <= streams[i].max, "stream %zu: %u", i, n);
		ck_assert_int_le(longest_ms, ALARM_PAUSE_MAX_MS);
	}
}

TEST(after_a_quiet_time_the_pause_is_short_again)
{
	const struct alarm_state alarm = STANDS(9);
	const struct alarm_pace pace = { NOW, MINUTE, DAY };
	const struct alarm_notice busy = TOLD(2 * HOUR - 1, 7, HOUR), quiet = TOLD(2 * HOUR, 7, HOUR);

	ck_assert_int_eq(alarm_notice_now(&alarm, &busy, &pace, STAGE_MORE).pause_ms, HOUR);
	ck_assert_int_eq(alarm_notice_now(&alarm, &quiet, &pace, STAGE_MORE).pause_ms, MINUTE);
	/* A reminder tells of all, and makes no pause longer or shorter. */
	ck_assert_int_eq(alarm_notice_now(&alarm, &quiet, &pace, STAGE_LASTS).pause_ms, HOUR);
	ck_assert_int_eq(alarm_notice_now(&alarm, &quiet, &pace, STAGE_LASTS).up_to, 9);
}

TEST_MAIN("reporter/alarm_stage")
{
	tcase_set_timeout(t, 30);
}
