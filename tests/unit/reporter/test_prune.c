/* test_prune.c - when a whole reporter removes old rows of the history. */
// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/xalloc.h"
#include "tests/stage/repeatable.h"
#include "tests/stage/reporter_stage.h"
#include "tests/suite.h"

#define DAY INT64_C(86400000)

static size_t rows;

static void on_msg(void *ctx, const struct msg *m)
{
	(void)ctx;
	rows += m->type == MSG_CTL_HISTORY_ROW;
}

static size_t count_rows(void)
{
	const struct msg m = { .type = MSG_CTL_HISTORY,
			       .u.ctl_history = {
				       .conn = 1, .limit = 100, .duty = -1, .outcomes = OUTCOMES_ALL } };

	rows = 0;
	reporter_stage_say(&m);
	reporter_stage_pass(100);
	return rows;
}

static void say_done(uint64_t id)
{
	struct msg m = { .type = MSG_INTENT, .u.intent = { .id = id } };
	struct msg end = { .type = MSG_RECORD,
			   .u.record = { .id = id, .outcome = OUTCOME_DONE, .at = clock_wall_ms() } };

	msg_text(&m, intent.ns, "shop");
	msg_text(&m, intent.name, "web-1");
	msg_text(&m, intent.uid, "uid-1");
	msg_text(&m, intent.action_key, "uid-1");
	msg_text(&m, intent.reason, "Evicted");
	msg_text(&end, record.reason, "Evicted");
	reporter_stage_say(&m);
	reporter_stage_say(&end);
	reporter_stage_pass(100);
}

static void say_stats_of(uint64_t cluster, bool synced, bool host_ahead)
{
	const struct msg m = { .type = MSG_WATCH_STATS,
			       .u.watch_stats = {
				       .cluster = cluster, .synced = synced, .host_ahead = host_ahead } };

	reporter_stage_say(&m);
	reporter_stage_pass(2000);
}

static void say_stats(bool synced, bool host_ahead)
{
	say_stats_of(0, synced, host_ahead);
}

static void set_up(void)
{
	const struct reporter_stage_options o = { .on_msg = on_msg };
	struct settings s;

	repeatable_begin();
	settings_init(&s);
	s.state_dir = xstrdup("/x");
	s.history_days = 30;
	s.remind_ms = s.give_up_ms = DAY;
	s.gather_ms = 60000;
	s.history_megabytes = 512;
	str_list_add(&s.cluster_names, "prod", 4);
	str_list_add(&s.cluster_names, "test", 4);
	str_list_add(&s.cluster_names, "edge", 4);
	reporter_stage_start(&o, &s);
	ck_assert(reporter_stage_lives());
}

static void tear_down(void)
{
	reporter_stage_stop();
	repeatable_end();
}

/* What is older than 30 days goes, but for the newest; not by the word of this host's clock alone. */
TEST(nothing_is_removed_by_a_clock_that_may_be_ahead)
{
	for (uint64_t id = 1; id <= 3; id++)
		say_done(id);
	clock_fake_set(clock_wall_ms() + 40 * DAY, clock_boot_ms());
	reporter_stage_pass(2000);
	ck_assert_uint_eq(count_rows(), 3);
	say_stats(false, false); /* its list is not there yet */
	ck_assert_uint_eq(count_rows(), 3);
	say_stats(true, true);
	ck_assert_uint_eq(count_rows(), 3);
	say_stats(true, false);
	ck_assert_uint_eq(count_rows(), 1);
}

/* Its clock is behind, or those of all others are ahead: most are right. */
TEST(one_server_against_two_keeps_nothing)
{
	for (uint64_t id = 1; id <= 3; id++)
		say_done(id);
	clock_fake_set(clock_wall_ms() + 40 * DAY, clock_boot_ms());
	say_stats_of(0, true, true);
	say_stats_of(1, true, false);
	ck_assert_uint_eq(count_rows(), 3);
	say_stats_of(2, true, false);
	ck_assert_uint_eq(count_rows(), 1);
}

TEST_MAIN("reporter/prune")
{
	tcase_add_checked_fixture(t, set_up, tear_down);
}
