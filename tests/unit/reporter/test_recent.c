/* test_recent.c - the newest of the history, bounded; and the page of a report, which holds what concerns its
 * sink. */
// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/reporter/history_world.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "reporter/report/attach.h"
#include "reporter/report/samples.h"
#include "reporter/history/attention.h"
#include "reporter/history/query.h"
#include "tests/suite.h"
#include "tests/unit/reporter/support.h"
#include "tests/facts_en.h"

static void act(uint64_t id)
{
	char uid[16];

	(void)snprintf(uid, sizeof(uid), "uid-%u", (unsigned)id);
	const struct msg m[] = { world_intent(id, 0, uid), world_record(id, OUTCOME_DONE) };

	world_write(m, 2);
	clock_fake_advance(1000);
}

TEST(the_newest_come_first_and_no_more_than_asked)
{
	struct msg_ctl_history_row rows[4];
	size_t n = 9;

	ck_assert_int_eq(recent_rows(w.db, RECENT_ACTIONS, 4, rows, &n), 0);
	ck_assert_uint_eq(n, 0);
	for (uint64_t id = 1; id <= 6; id++)
		act(id);
	const struct msg open = world_intent(7, 1, "uid-7");

	world_write(&open, 1);
	ck_assert_int_eq(recent_rows(w.db, RECENT_ACTIONS, 4, rows, &n), 0);
	ck_assert_uint_eq(n, 4);
	for (size_t i = 0; i < n; i++)
		ck_assert_uint_eq(rows[i].id, 7 - i);
	ck_assert_int_eq(rows[0].outcome, OUTCOME_OPEN);
	ck_assert_str_eq(rows[0].cluster_name, "staging");
	ck_assert_int_eq(rows[1].outcome, OUTCOME_DONE);
}

/* Instructions of SQLite since the last call. */
static unsigned steps(void)
{
	unsigned n = 0;

	for (int id = 0; id < DB__MAX; id++)
		n += (unsigned)sqlite3_stmt_status(db_stmt(w.db, (enum db_stmt)id), SQLITE_STMTSTATUS_VM_STEP,
						   true);
	return n;
}

/* Instructions of SQLite that the newest action and a prune with nothing to remove take, with so many
 * actions. */
static unsigned cost_with(uint64_t first, uint64_t last)
{
	const struct msg question = { .type = MSG_CTL_HISTORY,
				      .u.ctl_history = { .limit = 1,
							 .duty = -1,
							 .outcomes = OUTCOMES_ALL,
							 .refusals = true,
							 .quotes = true } };
	uint64_t days = 30;
	struct query *q = NULL;
	bool more;

	for (uint64_t id = first; id <= last; id++) {
		const struct msg m[] = { world_intent(id, 0, "u"), world_record(id, OUTCOME_DONE) };

		ck_assert(history_add(w.h, &m[0]) && history_add(w.h, &m[1]));
	}
	ck_assert_int_eq(history_flush(w.h), 0);
	(void)steps();
	ck_assert_int_eq(query_history(w.db, w.h, &question, &q), 0);
	ck_assert_int_eq(history_prune(w.h, &days, &more), 0);
	query_free(&q);
	return steps();
}

/* Ten million actions would keep the process from its heartbeat. */
TEST(a_question_and_a_prune_do_not_read_all)
{
	const unsigned few = cost_with(1, 20);

	ck_assert_uint_le(cost_with(21, 2000), few + 200);
}

static int take_long(unsigned type, void *ctx, void *statement, void *sql)
{
	(void)type, (void)ctx, (void)statement, (void)sql;
	clock_fake_advance(8000);
	return 0;
}

/* What no index leads to is looked for in all of it, but not for longer than a heartbeat can wait. */
TEST(a_question_that_takes_too_long_is_refused)
{
	struct msg m = { .type = MSG_CTL_HISTORY,
			 .u.ctl_history = { .limit = 1, .duty = -1, .outcomes = OUTCOMES_ALL } };
	sqlite3 *sql = sqlite3_db_handle(db_stmt(w.db, DB_ONE_ROW));
	struct query *q = NULL;
	struct msg end;

	test_set(&m, ctl_history.ns, "nowhere");
	(void)cost_with(1, 2000);
	ck_assert_int_eq(query_history(w.db, w.h, &m, &q), 0);
	query_free(&q);
	ck_assert_int_eq(sqlite3_trace_v2(sql, SQLITE_TRACE_STMT, take_long, NULL), SQLITE_OK);
	const int r = query_history(w.db, w.h, &m, &q);

	ck_assert_int_eq(r, -ETIME);
	ck_assert_ptr_null(q);
	query_failed(1, r, &end);
	ck_assert_ptr_nonnull(strstr(EN(end.u.ctl_end.why), "--since"));
	ck_assert_uint_gt(cost_with(2001, 2002), 0); /* nothing else is limited */
	ck_assert_int_eq(sqlite3_trace_v2(sql, 0, NULL, NULL), SQLITE_OK);
}

static int pass_time(void *ctx)
{
	(void)ctx;
	clock_fake_advance(10);
	return 0;
}

static uint64_t count_done(void)
{
	uint64_t n[2] = { 99, 99 };

	ck_assert_int_eq(history_count(w.h, DB_DONE_COUNTS, n), 0);
	ck_assert_uint_eq(n[1], 0);
	return n[0];
}

/* Who asks for what takes long to count, again and again, keeps the process from nothing. */
TEST(what_takes_long_is_counted_seldom)
{
	sqlite3 *sql = sqlite3_db_handle(db_stmt(w.db, DB_ONE_ROW));

	act(1);
	ck_assert_uint_eq(count_done(), 1);
	act(2);
	ck_assert_uint_eq(count_done(), 2);
	sqlite3_progress_handler(sql, 1, pass_time, NULL);
	const uint64_t begin = clock_boot_ms();

	ck_assert_uint_eq(count_done(), 2);
	const uint64_t took = clock_boot_ms() - begin;

	ck_assert_uint_ge(took, 100);
	sqlite3_progress_handler(sql, 0, NULL, NULL);
	act(3); /* a second */
	ck_assert_uint_eq(count_done(), 2);
	clock_fake_advance(20 * (int64_t)took - 1000);
	ck_assert_uint_eq(count_done(), 3);
}

TEST(refusals_stand_in_the_order_in_which_they_were_seen)
{
	struct msg_ctl_history_row rows[4];
	size_t n = 0;

	for (int i = 0; i < 2; i++) {
		const struct msg first = world_refusal("u1", "HasFinalizers"),
				 second = world_refusal("u2", "HasFinalizers");

		world_write(i == 0 ? &first : &second, 1);
		clock_fake_advance(1000);
	}
	const struct msg again = world_refusal("u1", "HasFinalizers");

	world_write(&again, 1);
	ck_assert_int_eq(recent_rows(w.db, RECENT_REFUSALS, 4, rows, &n), 0);
	ck_assert_uint_eq(n, 2);
	ck_assert_str_eq(rows[0].uid, "u1");
	ck_assert_str_eq(rows[1].uid, "u2");
	ck_assert_str_eq(rows[0].reason, "HasFinalizers");
	ck_assert_int_eq(rows[0].outcome, OUTCOME_REFUSED);
}

TEST(pauses_that_are_over_are_not_told)
{
	const int64_t now = clock_wall_ms();
	struct msg m = { .type = MSG_PAUSE,
			 .u.pause = { .duty = DUTY_ALL, .on = true, .at = now, .until = now + 5000 } };
	struct msg_pause rows[4];
	size_t n = 0;

	test_set(&m, pause.by, "alice");
	m.u.pause.why = quoting("incident");
	world_write(&m, 1);
	ck_assert_int_eq(recent_rows(w.db, RECENT_PAUSES, 4, rows, &n), 0);
	ck_assert_uint_eq(n, 1);
	ck_assert_str_eq(rows[0].by, "alice");
	clock_fake_advance(6000);
	ck_assert_int_eq(recent_rows(w.db, RECENT_PAUSES, 4, rows, &n), 0);
	ck_assert_uint_eq(n, 0);
}

TEST(only_what_stands_now_needs_an_operator)
{
	const struct msg refused = world_refusal("u1", "HasFinalizers");
	const struct facts budget = quoting("9 of 10");
	struct attention a;

	world_write(&refused, 1); /* of one object: among the refusals */
	ck_assert_int_eq(attention_note_guards(w.db, GUARD_BIT(BUDGET), &budget, "prod"), 0);
	ck_assert_int_eq(attention_present(w.db, 4, &a), 0);
	ck_assert_uint_eq(a.n, 1);
	ck_assert_str_eq(a.v[0].cluster, "prod");
	ck_assert_str_eq(a.v[0].reason, "BudgetSpent");
	ck_assert_str_eq(EN(*a.v[0].detail), "9 of 10");
	ck_assert_int_eq(a.v[0].first_at, clock_wall_ms());
	attention_done(&a);
	ck_assert_int_eq(attention_note_guards(w.db, 0, &budget, "prod"), 0);
	ck_assert_int_eq(attention_present(w.db, 4, &a), 0);
	ck_assert_uint_eq(a.n, 0);
}

/* -- the page of a report -- */

static void restart_often(const char *cluster, const char *ns, const char *workload, uint64_t restarts)
{
	struct msg_digest_row r = test_row(0, 1, ns, workload, workload, 0).u.digest_row;
	const int64_t now = clock_wall_ms();

	r.created = now - 100 * 3600000;
	for (int i = 0; i < 2; i++) {
		r.restarts = i == 0 ? 0 : restarts;
		ck_assert_int_eq(db_begin(w.db), 0);
		ck_assert_int_eq(samples_put(w.db, &r, cluster, now - (2 - i) * 3600000), 0);
		ck_assert_int_eq(samples_answered(w.db, cluster, true, now - (2 - i) * 3600000), 0);
		ck_assert_int_eq(db_end(w.db, 0), 0);
	}
}

static void restart(const char *cluster, const char *ns, const char *workload)
{
	restart_often(cluster, ns, workload, 3);
}

static char *page_of(const struct sink_settings *s)
{
	struct document d;

	document_init(&d, NEWS_REPORT, LANGUAGE_EN, clock_wall_ms());
	document_set(&d.title, "report");
	digest_attach_page(w.db, s, NULL, false, &d);
	char *page = TAKE_PTR(d.html);

	document_done(&d);
	ck_assert_ptr_nonnull(page);
	return page;
}

TEST(a_page_shows_what_concerns_its_sink)
{
	struct sink_settings s = { .name = (char[]){ "mail" } };

	restart("prod", "shop", "web");
	restart("prod", "pay", "ledger");
	restart("staging", "shop", "cart");
	act(1);
	_cleanup_free_ char *all = page_of(NULL);

	ck_assert(strstr(all, "shop/web") && strstr(all, "pay/ledger") && strstr(all, "shop/cart"));
	ck_assert_ptr_nonnull(strstr(all, "Actions by day"));
	_cleanup_free_ char *unrestricted = page_of(&s);

	ck_assert_str_eq(unrestricted, all);
	str_list_add(&s.namespaces, "shop", 4);
	_cleanup_free_ char *shop = page_of(&s);

	ck_assert(strstr(shop, "shop/web") && strstr(shop, "shop/cart"));
	ck_assert_ptr_null(strstr(shop, "ledger"));
	ck_assert_ptr_null(strstr(shop, "<b>pay</b>"));
	ck_assert_ptr_null(strstr(shop, "Actions by day"));
	str_list_add(&s.clusters, "stag*", 5);
	_cleanup_free_ char *cart = page_of(&s);

	ck_assert_ptr_nonnull(strstr(cart, "shop/cart"));
	ck_assert_ptr_null(strstr(cart, "shop/web"));
	str_list_done(&s.namespaces);
	str_list_done(&s.clusters);
}

/* What is held back elsewhere takes no room on the page of a part. */
TEST(a_page_of_a_part_has_rows_of_its_own)
{
	struct sink_settings s = { .name = (char[]){ "mail" } };
	struct msg m = world_refusal("u", "HasFinalizers");
	char uid[16];

	for (unsigned i = 0; i <= SERIES_HELD_MAX; i++) {
		(void)snprintf(uid, sizeof(uid), "uid-%u", i);
		test_set(&m, refusal.uid, uid);
		test_set(&m, refusal.ns, i == SERIES_HELD_MAX ? "pay" : "shop");
		test_set(&m, refusal.name, i == SERIES_HELD_MAX ? "ledger-0" : uid);
		world_write(&m, 1);
		clock_fake_advance(1000);
	}
	_cleanup_free_ char *all = page_of(NULL);

	ck_assert_ptr_null(strstr(all, "pay/ledger-0"));
	ck_assert_ptr_nonnull(strstr(all, "… and 1 more"));
	str_list_add(&s.namespaces, "pay", 3);
	_cleanup_free_ char *part = page_of(&s);

	ck_assert_ptr_nonnull(strstr(part, "pay/ledger-0"));
	ck_assert_ptr_null(strstr(part, "… and 1 more"));
	str_list_done(&s.namespaces);
}

/* As the titles of the lists say. */
TEST(the_worst_stands_first_on_a_page)
{
	static const char *const order[] = { "Most restarts", "<b>pay/ledger</b>", "<b>shop/web</b>",
					     "<b>ci/job</b>", "busiest first",     "<b>pay</b>",
					     "<b>shop</b>",   "<b>ci</b>" };

	restart_often("prod", "shop", "web", 5);
	restart_often("prod", "ci", "job", 2);
	restart_often("staging", "pay", "ledger", 40);
	_cleanup_free_ char *page = page_of(NULL);
	const char *at = page;

	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		ck_assert_msg((at = strstr(at, order[i])) != NULL, "%s", order[i]);
}

TEST_MAIN("reporter/recent")
{
	tcase_add_checked_fixture(t, world_setup, world_teardown);
}
