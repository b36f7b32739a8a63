/* test_routine.c - what the report sums up has no message of its own. */
// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/reporter/message_world.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "reporter/notify/action_messages.h"
#include "reporter/notify/routine.h"

static char *routine[] = { (char *)"deleteEvictedPod" };

static void leave_to_report(void)
{
	settings.with_report = (struct str_list){ routine, 1 };
	settings.policy.duty[DUTY_RESTARTS].enable = true;
}

/* What the sink is shown of it. */
static void sum_up(const struct sink_settings *s, int64_t from_ms)
{
	struct routine r;
	struct document d;

	document_init(&d, NEWS_REPORT, (enum language)s->language, clock_wall_ms());
	ck_assert_int_eq(routine_read(w.db, routine_duties(&settings), from_ms, clock_wall_ms(), &r), 0);
	ck_assert_uint_eq(routine_any(&r, s), d.n_sections + (r.n > 0));
	routine_put(&r, s, &(const struct str_list){ 0 }, &d);
	_cleanup_free_ char *shown = document_to_text(&d);

	(void)snprintf(text, sizeof(text), "%s", shown);
	routine_done(&r);
	document_done(&d);
}

TEST(routine_waits_for_the_report)
{
	leave_to_report();
	for (uint64_t i = 1; i < 4; i++)
		act(i, ACTION_DELETE, i < 3 ? "shop" : "pay", "cron", OUTCOME_DONE, true);
	tell();
	ck_assert(!put && left == ACTIONS_LEFT_NONE);
	sum_up(&sinks[0], WORLD_NOW - 1);
	HAS("- shop: deleted 2 evicted pods\n");
	HAS("- pay: deleted 1 evicted pod\n");
	HAS("$ ops-pod-cleaner history --cluster prod -n shop --duty deleteEvictedPod\n");
	sum_up(&sinks[0], WORLD_NOW);
	HAS_NO("shop");
	sinks[0].top = 1;
	sum_up(&sinks[0], WORLD_NOW - 1);
	HAS_NO("pay");
}

TEST(a_scale_down_is_told_without_the_routine)
{
	leave_to_report();
	act(1, ACTION_DELETE, "shop", "cron", OUTCOME_DONE, true);
	act(2, ACTION_SCALE_DOWN, "shop", "web", OUTCOME_DONE, true);
	tell();
	(void)told("team");
	HAS("[prod] Scaled 1 workload to 0\n");
	HAS_NO("evicted");
}

/* Failures wait for what is told, and that is not the routine. */
TEST(failures_do_not_come_with_the_routine)
{
	leave_to_report();
	tell();
	act(1, ACTION_SCALE_DOWN, "shop", "web", OUTCOME_DONE, true);
	tell();
	(void)told("team");
	act(2, ACTION_DELETE, "shop", "cron", OUTCOME_DONE, true);
	act(3, ACTION_DELETE, "shop", "late", OUTCOME_FAILED, true);
	tell();
	ck_assert(!put && left != ACTIONS_LEFT_NONE);
	clock_fake_advance(TELL_FAILURES_MS);
	tell();
	(void)told("team");
	HAS("1 action failed");
	HAS_NO("deleted");
}

/* Dry runs and announcements have no sum; without the report there is none. */
TEST(routine_is_told_at_once_where_no_report_sums_it_up)
{
	leave_to_report();
	act(1, ACTION_DELETE, "shop", "cron", OUTCOME_WOULD, true);
	tell();
	ck_assert(put);
	(void)told("team");
	settings.policy.duty[DUTY_RESTARTS].enable = false;
	act(2, ACTION_DELETE, "shop", "cron", OUTCOME_DONE, true);
	tell();
	ck_assert(put);
	(void)told("team");
	settings.policy.duty[DUTY_RESTARTS].enable = true;
	sinks[0].news = 1 << NEWS_ACTIONS;
	act(3, ACTION_DELETE, "shop", "cron", OUTCOME_DONE, true);
	tell();
	ck_assert(put);
	(void)told("team");
	HAS("Deleted 1 evicted pod");
}

TEST_MAIN("reporter/routine")
{
	tcase_add_checked_fixture(t, tell_setup, tell_teardown);
}
