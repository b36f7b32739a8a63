/* test_message_joins.c - objects that join what needs an operator are told once and soon, whatever dies when;
 * and a clock that was ahead delays nothing. */
// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/reporter/message_world.h"

#include "base/clock.h"
#include "reporter/notify/alarms.h"

TEST(objects_that_join_an_alarm_are_told_once_and_soon)
{
	refuse(2, 5);
	refuse_long(1, 1);
	look(0);
	(void)told("team");
	HAS("New: ");
	HAS("kube-system: dns-1\n"); /* of the others it is not known yet */
	refuse(2, 1);
	look(MINUTE / 2);
	refuse(3, 4);
	ck_assert_str_eq(told("team"), "");
	look(MINUTE / 2);
	(void)told("team");
	HAS("More objects: ");
	HAS("More objects");
	HAS("permission denied (403)");
	HAS("kube-system: dns-2, dns-3, dns-4, +2\n");
	HAS("6 in total");
	HAS("what to do: ");
	HAS_NO("dns-1");
	for (int i = 0; i < 100; i++) {
		look(MINUTE / 2);
		refuse(1, 6);
	}
	ck_assert_str_eq(told("team"), "");
	look(DAY / 2);
	refuse(1, 6);
	look(DAY / 2);
	(void)told("team");
	HAS("Still: ");
	HAS("kube-system: dns-1, dns-2, dns-3, +3\n");
}

TEST(a_sink_that_is_new_hears_of_all_and_then_of_those_that_join)
{
	settings.n_sinks = 1;
	sinks[1].namespaces.n = 0;
	refuse_long(1, 2);
	look(0);
	(void)told("team");
	HAS("kube-system: dns-1, dns-2\n");
	settings.n_sinks = 2;
	refuse_long(3, 1);
	look(0);
	(void)told("pay");
	HAS("kube-system：dns-1, dns-2, dns-3\n");
	HAS_NO("共");
	(void)told("team");
	HAS("kube-system: dns-3\n");
	refuse_long(4, 1);
	look(0);
	(void)told("pay");
	HAS("涉及更多对象：");
	HAS("新增对象");
	HAS("kube-system：dns-4\n");
	HAS("共 4 个");
}

/* One that is refused again an hour after it was settled, and again, is another each time. */
TEST(an_object_that_comes_back_is_told_again_and_the_end_names_those_that_were_told)
{
	struct msg settled[2] = { world_intent(7, 1, "uid-2"), world_record(7, OUTCOME_DONE) };

	test_set(&settled[0], intent.ns, "kube-system");
	test_set(&settled[0], intent.name, "dns-2");
	settled[0].u.intent.duty = DUTY_EVICTED;
	settled[0].u.intent.action = ACTION_DELETE;
	refuse_long(1, 2);
	look(0);
	(void)told("team");
	HAS("kube-system: dns-1, dns-2\n");
	world_write(settled, 2);
	tell();
	(void)told("team");
	look(MINUTE);
	look(MINUTE);
	ck_assert_str_eq(told("team"), ""); /* one of two: it is not over */
	refuse_long(1, 3);
	look(0);
	(void)told("team");
	HAS("kube-system: dns-2, dns-3\n");
	HAS("3 in total");
	clock_fake_advance(DAY + 1);
	look(0);
	look(MINUTE);
	(void)told("team");
	HAS("Resolved: ");
	HAS("kube-system: dns-1, dns-2, dns-3\n");
}

/* Dead at every step: before it joins, before and after it is told, and where that cannot be written. */
TEST(objects_that_join_survive_the_death_of_the_reporter)
{
	sqlite3 *sql;

	refuse_long(1, 1);
	look(0);
	(void)told("team");
	for (unsigned i = 2; i < 6; i++) {
		char name[40];

		refuse_long(i, 1);
		start_again();
		sql = sqlite3_db_handle(db_stmt(w.db, DB_ONE_ROW));
		ck_assert_int_eq(sqlite3_exec(sql, "ALTER TABLE outbox RENAME TO away", NULL, NULL, NULL),
				 SQLITE_OK);
		const struct alarm_sources from = { w.db, state, NULL, &settings, NULL, NULL };

		ck_assert_int_lt(alarm_messages_put(&from, &put), 0);
		ck_assert_int_eq(sqlite3_exec(sql, "ALTER TABLE away RENAME TO outbox", NULL, NULL, NULL),
				 SQLITE_OK);
		look(ALARM_PAUSE_MAX_MS);
		start_again();
		look(MINUTE);
		(void)told("team");
		(void)snprintf(name, sizeof(name), "kube-system: dns-%u\n", i);
		HAS(name);
		ck_assert_ptr_null(strstr(strstr(text, name) + 1, name));
		start_again();
		look(2 * ALARM_PAUSE_MAX_MS);
		ck_assert_str_eq(told("team"), "");
	}
}

TEST_MAIN("reporter/message_joins")
{
	tcase_add_checked_fixture(t, tell_setup, tell_teardown);
	tcase_set_timeout(t, 30);
}
