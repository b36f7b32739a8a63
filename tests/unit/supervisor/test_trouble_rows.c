/* test_trouble_rows.c - what the reporter hears of a trouble that has several parts. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <string.h>

#include "base/clock.h"
#include "supervisor/supervisor.h"
#include "supervisor/trouble_check.h"
#include "supervisor/trouble_list.h"
#include "world.h"

#define FIRST_DUTY  0
#define SECOND_DUTY 1

/* What stands: the details of two duties, NULL = of that one nothing. */
static void look(const char *first, const char *second)
{
	struct trouble_list *troubles = stage_supervisor(w.s)->troubles;

	forget();
	clock_fake_advance(600000); /* what lasts is told again */
	trouble_list_begin(troubles);
	if (first)
		trouble_list_add(troubles, TROUBLE_FORBIDDEN, 0, FIRST_DUTY, first);
	if (second)
		trouble_list_add(troubles, TROUBLE_FORBIDDEN, 0, SECOND_DUTY, second);
	trouble_list_end(troubles, clock_boot_ms(), clock_wall_ms());
	stage_run(w.s);
}

static const struct msg_trouble_row *last_row(void)
{
	ck_assert_uint_gt(count(MSG_TROUBLE_ROW), 0);
	return &heard(MSG_TROUBLE_ROW, count(MSG_TROUBLE_ROW) - 1)->u.trouble_row;
}

TEST(it_is_all_that_stands_of_it)
{
	open_history();
	look("evicted: no", "finished: no");
	ck_assert_uint_eq(last_row()->n, 2);
	ck_assert_str_eq(last_row()->detail, "evicted: no; finished: no");
	const uint64_t since = (uint64_t)last_row()->since;

	look("evicted: no", "finished: not allowed");
	ck_assert_str_eq(last_row()->detail, "evicted: no; finished: not allowed");
	look(NULL, "finished: not allowed");
	ck_assert_uint_eq(last_row()->n, 1);
	ck_assert_str_eq(last_row()->detail, "finished: not allowed");
	ck_assert_uint_eq((uint64_t)last_row()->since, since);
	look(NULL, NULL);
	ck_assert_uint_eq(last_row()->n, 0);
}

static bool watcher_stays_away(void)
{
	const struct children *all = lifecycle_children(stage_supervisor(w.s)->root);

	for (size_t i = 0; i < children_count(all); i++)
		if (child_info(children_get(all, i))->role == ROLE_WATCHER)
			return child_is_slow(children_get(all, i));
	ck_abort();
}

/* What the last one said before it died does not take turns with its death: the log would have a line of each
 * every minute. */
TEST(a_watcher_that_stays_away_is_one_trouble_with_one_detail)
{
	struct msg m = { .type = MSG_WATCH_STATS };
	const struct msg not_its_own = { .type = MSG_SAVED_END };

	open_history();
	strcpy(m.u.watch_stats.error, "no answer from the API server");
	say(ROLE_WATCHER, &m);
	for (int i = 0; i < 100 && !watcher_stays_away(); i++)
		say(ROLE_WATCHER, &not_its_own); /* for which it is killed */
	ck_assert(watcher_stays_away());
	trouble_check(stage_supervisor(w.s));
	stage_run(w.s);
	forget();
	for (int i = 0; i < 5; i++) {
		clock_fake_advance(60000);
		trouble_check(stage_supervisor(w.s));
	}
	stage_run(w.s);
	ck_assert_uint_eq(count(MSG_TROUBLE_ROW), 0);
	clock_fake_advance(300000); /* what lasts is told again */
	trouble_check(stage_supervisor(w.s));
	stage_run(w.s);
	size_t unseen = 0;

	for (size_t i = 0; i < count(MSG_TROUBLE_ROW); i++) {
		const struct msg_trouble_row *row = &heard(MSG_TROUBLE_ROW, i)->u.trouble_row;

		if (row->trouble != TROUBLE_CLUSTER_UNSEEN)
			continue;
		unseen++;
		ck_assert_str_eq(row->cluster_name, "test");
		ck_assert_msg(strstr(row->detail, "the watcher: ") == row->detail, "%s", row->detail);
	}
	ck_assert_uint_eq(unseen, 1);
}

TEST_MAIN("supervisor/trouble_rows")
{
	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_set_timeout(t, 60);
}
