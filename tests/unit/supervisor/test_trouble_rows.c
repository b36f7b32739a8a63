/* test_trouble_rows.c - what the reporter hears of a trouble that has several parts. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>

#include "base/clock.h"
#include "supervisor/supervisor.h"
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

TEST_MAIN("supervisor/trouble_rows")
{
	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_set_timeout(t, 60);
}
